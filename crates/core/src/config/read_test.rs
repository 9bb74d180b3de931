//! Reads a test of an eval. Whether it has exactly one kind is judged when it is resolved.

use crate::config::raw::{RawTest, RawTestKind};
use crate::config::read::{self, Fields, Read};
use crate::config::read_setup;
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::Located;

pub(super) fn test(node: Node, problems: &mut Diagnostics) -> Option<RawTest> {
    let place = node.place;
    let mut fields = Fields::open(node, "a test", problems)?;
    let mut test = RawTest {
        place,
        name: fields.optional("name", read::filled_text),
        kinds: Vec::new(),
        unreadable: false,
        weight: fields.optional("weight", read::positive),
        timeout_seconds: fields.optional("timeoutSeconds", read::positive),
    };
    for (key, read) in KINDS {
        let Some((key, node)) = fields.take_with_key(key) else {
            continue;
        };
        match fields
            .problems
            .about(&key.value, |problems| read(node, problems))
        {
            Some(kind) => test.kinds.push(Located::new(kind, key.place)),
            None => test.unreadable = true,
        }
    }
    test.unreadable |= fields.remaining().next().is_some();
    fields.close();
    Some(test)
}

const KINDS: [(&str, Read<RawTestKind>); 8] = [
    ("commandSuccess", command_success),
    ("fileExists", file_exists),
    ("fileContains", file_contains),
    ("commandScore", command_score),
    ("transcript", transcript),
    ("changedFiles", changed_files),
    ("budget", budget),
    ("judge", judge),
];

fn command_success(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    if !matches!(node.value, Value::Map(_)) {
        let command = read::command(node, problems)?;
        return Some(RawTestKind::CommandSuccess {
            command,
            output_contains: None,
            output_matches: None,
        });
    }
    let mut fields = Fields::open(node, "`commandSuccess`", problems)?;
    let command = fields.required("command", read::command);
    let output_contains = fields.optional("outputContains", read::plain_text);
    let output_matches = fields.optional("outputMatches", read::filled_text);
    fields.close();
    Some(RawTestKind::CommandSuccess {
        command: command?,
        output_contains,
        output_matches,
    })
}

fn file_exists(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    if node.value == Value::List(Vec::new()) {
        problems.push(
            Diagnostic::error(Code::AsksNothing, "`fileExists` names no file")
                .at(node.place, "expected a path or a list of paths"),
        );
        return None;
    }
    let paths = read::texts(node, problems)?;
    // Paths that could not be read are among the problems already.
    (!paths.is_empty()).then_some(RawTestKind::FileExists(paths))
}

fn file_contains(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    let place = node.place;
    let mut fields = Fields::open(node, "`fileContains`", problems)?;
    let path = fields.required("path", read::filled_text);
    let text = fields.optional("text", read::plain_text);
    let matches = fields.optional("matches", read::filled_text);
    fields.close();
    let path = path?;
    if text.is_none() && matches.is_none() {
        problems.push(
            Diagnostic::error(
                Code::MissingKey,
                "`fileContains` needs a `text` or `matches`",
            )
            .at(place, "nothing to look for"),
        );
        return None;
    }
    Some(RawTestKind::FileContains {
        path,
        text,
        matches,
    })
}

fn command_score(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    read::command(node, problems).map(RawTestKind::CommandScore)
}

fn transcript(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    asks_something(&node, "transcript", "usedTool: 'mcp_*'", problems)?;
    let mut fields = Fields::open(node, "`transcript`", problems)?;
    let kind = RawTestKind::Transcript {
        used_tool: fields.optional("usedTool", read::texts).unwrap_or_default(),
        not_used_tool: fields
            .optional("notUsedTool", read::texts)
            .unwrap_or_default(),
        output_contains: fields.optional("outputContains", read::plain_text),
        max_tool_calls: fields.optional("maxToolCalls", read::whole),
    };
    fields.close();
    Some(kind)
}

fn changed_files(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    asks_something(&node, "changedFiles", "only: ['src/**']", problems)?;
    let mut fields = Fields::open(node, "`changedFiles`", problems)?;
    let kind = RawTestKind::ChangedFiles {
        only: fields.optional("only", read::texts),
        never: fields.optional("never", read::texts).unwrap_or_default(),
    };
    fields.close();
    Some(kind)
}

fn budget(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    asks_something(&node, "budget", "maxCostUsd: 0.5", problems)?;
    let mut fields = Fields::open(node, "`budget`", problems)?;
    let kind = RawTestKind::Budget {
        max_tokens: fields.optional("maxTokens", read::whole),
        max_cost_usd: fields.optional("maxCostUsd", read::not_negative),
        max_seconds: fields.optional("maxSeconds", read::positive),
        max_requests: fields.optional("maxRequests", read::whole),
    };
    fields.close();
    Some(kind)
}

/// A test that asks for nothing would always pass.
fn asks_something(
    node: &Node,
    kind: &str,
    such_as: &str,
    problems: &mut Diagnostics,
) -> Option<()> {
    let Value::Map(entries) = &node.value else {
        return Some(());
    };
    let silent = |value: &Value| match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        _ => false,
    };
    // `only: []` is a demand: nothing may be changed.
    if entries
        .iter()
        .any(|(key, node)| !silent(&node.value) || key.value == "only")
    {
        return Some(());
    }
    problems.push(
        Diagnostic::error(Code::AsksNothing, format!("`{kind}` asks for nothing"))
            .at(node.place, "this test would always pass")
            .help(format!("say what is asked for, such as `{such_as}`")),
    );
    None
}

fn judge(node: Node, problems: &mut Diagnostics) -> Option<RawTestKind> {
    let mut fields = Fields::open(node, "`judge`", problems)?;
    let rubric = fields.required("rubric", read::filled_text);
    let agent = fields.optional("agent", read_setup::agent);
    let model = fields.optional("model", read::filled_text);
    let config = fields.optional("config", read_setup::config);
    let pass_score = fields.optional("passScore", pass_score);
    fields.close();
    Some(RawTestKind::Judge {
        rubric: rubric?,
        agent,
        model,
        config,
        pass_score,
    })
}

fn pass_score(node: Node, problems: &mut Diagnostics) -> Option<Located<f64>> {
    let score = read::share(node, problems)?;
    if score.value > 0.0 {
        return Some(score);
    }
    problems.push(
        Diagnostic::error(Code::AsksNothing, "`passScore` is reached by any work")
            .at(score.place, "this test would always pass")
            .help("a score above 0, such as 0.8, is as good as 1 when the judge gives it"),
    );
    None
}
