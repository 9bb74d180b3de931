//! Reads actions: what is copied, written or run before the agent starts.

use crate::config::raw::{RawAction, RawCommand};
use crate::config::read::{self, Fields, Patch, Read};
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

pub(super) fn action(node: Node, problems: &mut Diagnostics) -> Option<RawAction> {
    let place = node.place;
    let mut fields = Fields::open(node, "an action", problems)?;
    let given: Vec<Located<String>> = fields
        .remaining()
        .filter(|key| KINDS.contains(&key.value.as_str()))
        .cloned()
        .collect();
    let copy = fields.given("copy", copies);
    let files = fields.given("files", files_to_write);
    let command = fields.given("command", command);
    let has_unknown = fields.remaining().next().is_some();
    fields.close();
    match given.as_slice() {
        [] if has_unknown => None, // probably a misspelt kind: said already
        [_] => copy
            .map(RawAction::Copy)
            .or(files.map(RawAction::Files))
            .or(command.map(RawAction::Command)),
        [] => {
            let message = format!(
                "an action needs one of {}",
                prose::quoted_list(&KINDS, "or")
            );
            problems.push(
                Diagnostic::error(Code::AsksNothing, message).at(place, "nothing to do here"),
            );
            None
        }
        [first, second, ..] => {
            problems.push(
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!(
                        "an action does one thing, this one has `{}` and `{}`",
                        first.value, second.value
                    ),
                )
                .at(second.place, "a second kind")
                .beside(first.place, "the first kind")
                .help("make it two entries of the list"),
            );
            None
        }
    }
}

const KINDS: [&str; 3] = ["copy", "files", "command"];

/// A shell command, or `{command, timeoutSeconds}`.
pub(super) fn command(node: Node, problems: &mut Diagnostics) -> Option<RawCommand> {
    if !matches!(node.value, Value::Map(_)) {
        return read::command(node, problems).map(|command| RawCommand {
            command,
            timeout_seconds: None,
        });
    }
    let mut fields = Fields::open(node, "a command", problems)?;
    let command = fields.required("command", read::command);
    let timeout_seconds = fields.optional("timeoutSeconds", read::positive);
    fields.close();
    Some(RawCommand {
        command: command?,
        timeout_seconds,
    })
}

fn copies(
    node: Node,
    problems: &mut Diagnostics,
) -> Option<Vec<(Located<String>, Located<String>)>> {
    pairs(node, problems, read::filled_text, "a destination")
}

fn files_to_write(
    node: Node,
    problems: &mut Diagnostics,
) -> Option<Vec<(Located<String>, Located<String>)>> {
    pairs(node, problems, read::plain_text, "the file's content")
}

fn pairs(
    node: Node,
    problems: &mut Diagnostics,
    read: Read<Located<String>>,
    expected: &str,
) -> Option<Vec<(Located<String>, Located<String>)>> {
    let entries = read::map_of(node, problems, read)?;
    let mut pairs = Vec::new();
    for (key, value) in entries {
        match value {
            Patch::Set(value) => pairs.push((key, value)),
            Patch::Keep | Patch::Remove => {
                let message = format!("`{}` has no value", key.value);
                problems.push(
                    Diagnostic::error(Code::MissingKey, message)
                        .at(key.place, format!("expected {expected} after it")),
                );
            }
        }
    }
    Some(pairs)
}
