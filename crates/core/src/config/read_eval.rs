//! Reads an eval, in the present spelling and in the older one.

use crate::config::raw::{RawEval, RawPrompt, RawTest};
use crate::config::read::{self, Fields};
use crate::config::read_action::action;
use crate::config::read_setup::variables;
use crate::config::read_test::test;
use crate::config::yaml::Node;
use crate::diagnostic::{Diagnostic, Diagnostics};

pub(super) fn eval(node: Node, problems: &mut Diagnostics) -> Option<RawEval> {
    let place = node.place;
    let mut fields = Fields::open(node, "an eval", problems)?;
    let eval = RawEval {
        file: place.file,
        place,
        name: fields.optional("name", read::filled_text),
        description: fields.optional("description", read::text),
        prompt: prompt(&mut fields),
        repetitions: fields.optional("repetitions", read::count),
        timeout_seconds: fields.optional("timeoutSeconds", read::positive),
        prepare: fields.list("prepare", action),
        before: fields.list("before", action),
        tests: tests(&mut fields),
        env: fields.optional("env", variables).unwrap_or_default(),
        tags: fields.optional("tags", read::texts).unwrap_or_default(),
    };
    fields.close();
    Some(eval)
}

fn prompt(fields: &mut Fields<'_>) -> Option<RawPrompt> {
    let inline = fields.take_with_key("prompt");
    let file = fields.take_with_key("promptFile");
    match (inline, file) {
        (Some((_, node)), None) => read::filled_text(node, fields.problems).map(RawPrompt::Inline),
        (None, Some((_, node))) => read::filled_text(node, fields.problems).map(RawPrompt::File),
        (None, None) => {
            fields.problems.push(
                Diagnostic::error("missing key `prompt`")
                    .at(fields.place, "an eval needs a `prompt` (or a `promptFile`)"),
            );
            None
        }
        (Some((inline, _)), Some((file, _))) => {
            fields.problems.push(
                Diagnostic::error("both `prompt` and `promptFile` are given")
                    .at(file.place, "one of the two is enough")
                    .beside(inline.place, "the prompt is here"),
            );
            None
        }
    }
}

/// `tests`, or one of its older names, `eval` and `evaluate`.
fn tests(fields: &mut Fields<'_>) -> Vec<RawTest> {
    let present = fields.take_with_key("tests");
    let mut tests =
        present.clone().map(|(_, node)| read::list(node, fields.problems, test)).unwrap_or_default();
    for older in ["eval", "evaluate"] {
        let Some((key, node)) = fields.take_with_key(older) else { continue };
        if let Some((new, _)) = &present {
            fields.problems.push(
                Diagnostic::error(format!("both `tests` and `{older}` are given"))
                    .at(key.place, format!("`{older}` is the older spelling of `tests`"))
                    .beside(new.place, "the tests are here"),
            );
            continue;
        }
        fields.problems.push(
            Diagnostic::warning(format!("`{older}` is the older spelling of `tests`"))
                .at(key.place, "write `tests` here"),
        );
        tests.extend(read::list(node, fields.problems, test));
    }
    tests
}

/// A suite's `evals`, or their older name, `tests`.
pub(super) fn older_evals(mut evals: Vec<RawEval>, fields: &mut Fields<'_>) -> Vec<RawEval> {
    if let Some((key, node)) = fields.take_with_key("tests") {
        fields.problems.push(
            Diagnostic::warning("`tests` of a suite is the older spelling of `evals`")
                .at(key.place, "write `evals` here"),
        );
        evals.extend(read::list(node, fields.problems, eval));
    }
    evals
}
