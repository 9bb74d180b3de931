//! Reads an eval, in the present spelling and in the older one.

use crate::config::raw::{RawEval, RawPrompt, RawTest};
use crate::config::read::{self, Fields, Read};
use crate::config::read_action::action;
use crate::config::read_setup::variables;
use crate::config::read_test::test;
use crate::config::yaml::Node;
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::Located;

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
    let key = |name| fields.remaining().find(|key| key.value == name).cloned();
    let keys = (key("prompt"), key("promptFile"));
    let inline = fields.given("prompt", read::filled_text);
    let file = fields.given("promptFile", read::filled_text);
    match keys {
        (Some(_), None) => inline.map(RawPrompt::Inline),
        (None, Some(_)) => file.map(RawPrompt::File),
        (None, None) => {
            fields.problems.push(
                Diagnostic::error(Code::MissingKey, read::missing("prompt"))
                    .at(fields.place, "an eval needs a `prompt` (or a `promptFile`)"),
            );
            None
        }
        (Some(inline), Some(file)) => {
            fields.problems.push(
                Diagnostic::error(
                    Code::ConflictingKeys,
                    "both `prompt` and `promptFile` are given",
                )
                .at(file.place, "one of the two is enough")
                .beside(inline.place, "the prompt is here"),
            );
            None
        }
    }
}

/// `tests`, or one of its older names, `eval` and `evaluate`.
fn tests(fields: &mut Fields<'_>) -> Vec<RawTest> {
    renamed(fields, "tests", &["eval", "evaluate"], test)
}

/// A suite's `evals`, or their older name, `tests`.
pub(super) fn evals(fields: &mut Fields<'_>) -> Vec<RawEval> {
    renamed(fields, "evals", &["tests"], eval)
}

/// A list whose key was once called otherwise. Two of its names at once are an error: which one is meant?
fn renamed<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    older_names: &[&'static str],
    read: Read<T>,
) -> Vec<T> {
    let mut first: Option<Located<String>> = None;
    let mut entries = Vec::new();
    let present = fields.take_with_key(name);
    let older = older_names
        .iter()
        .filter_map(|older| fields.take_older(older))
        .collect::<Vec<_>>();
    for (key, node) in present.into_iter().chain(older) {
        entries.extend(
            fields
                .problems
                .about(&key.value, |problems| read::list(node, problems, read)),
        );
        match &first {
            Some(first) => fields.problems.push(two_spellings(first, &key, name)),
            None if key.value != name => fields.problems.push(older_spelling(&key, name)),
            None => {}
        }
        first.get_or_insert(key);
    }
    entries
}

fn older_spelling(key: &Located<String>, name: &str) -> Diagnostic {
    Diagnostic::warning(
        Code::OlderSpelling,
        format!("`{}` is the older spelling of `{name}`", key.value),
    )
    .at(key.place, format!("write `{name}` here"))
}

fn two_spellings(first: &Located<String>, second: &Located<String>, name: &str) -> Diagnostic {
    Diagnostic::error(
        Code::ConflictingKeys,
        format!("both `{}` and `{}` are given", first.value, second.value),
    )
    .at(second.place, format!("an older spelling of `{name}`"))
    .beside(first.place, "the first is here")
    .help(format!("put all entries under `{name}`"))
}
