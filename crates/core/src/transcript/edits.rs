//! The changes that a tool call makes to files, from its arguments.

use serde_json::{Map, Value};

use super::Step;
use super::tool_arguments::{changed_paths, path_argument};

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The file.
    pub path: &'a str,
    /// The change.
    pub change: Change<'a>,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'a> {
    /// A part of it is replaced.
    Replaced {
        /// The old text.
        before: &'a str,
        /// The new text.
        after: &'a str,
    },
    /// It is written as a whole.
    Written(&'a str),
    /// The lines of a patch.
    Patched(Vec<&'a str>),
    /// The call does not say.
    Unknown,
}

const BEFORE: [&str; 6] = [
    "old_string", "old_str", "oldString", "oldText", "old_text", "search",
];
const AFTER: [&str; 6] = [
    "new_string", "new_str", "newString", "newText", "new_text", "replace",
];
const WHOLE: [&str; 4] = ["content", "file_text", "contents", "fileText"];
const PATCHES: [&str; 4] = ["patch", "diff", "input", "patchText"];

/// Returns the changes of a call; nothing for a call that changes no file.
pub fn edits(step: &Step) -> Vec<Edit<'_>> {
    let Step::ToolCall {
        input,
        server: None,
        ..
    } = step
    else {
        return Vec::new();
    };
    match input {
        Value::String(text) => patched(text),
        Value::Object(arguments) => of_arguments(arguments),
        _ => Vec::new(),
    }
}

fn of_arguments(arguments: &Map<String, Value>) -> Vec<Edit<'_>> {
    let patch = text(arguments, &PATCHES).map(patched).unwrap_or_default();
    if !patch.is_empty() {
        return patch;
    }
    if let Some(paths) = changed_paths(arguments) {
        let unknown = |path| Edit {
            path,
            change: Change::Unknown,
        };
        return paths.into_iter().map(unknown).collect();
    }
    let Some(path) = path_argument(arguments) else {
        return Vec::new();
    };
    let several = arguments.get("edits").and_then(Value::as_array);
    let replaced = match several {
        Some(edits) => edits
            .iter()
            .filter_map(Value::as_object)
            .filter_map(replaced)
            .collect(),
        None => Vec::from_iter(replaced(arguments)),
    };
    let written = || text(arguments, &WHOLE).map(Change::Written);
    let changes = match replaced.is_empty() {
        true => Vec::from_iter(written()),
        false => replaced,
    };
    changes
        .into_iter()
        .map(|change| Edit { path, change })
        .collect()
}

fn replaced(arguments: &Map<String, Value>) -> Option<Change<'_>> {
    let after = text(arguments, &AFTER)?;
    let before = text(arguments, &BEFORE).unwrap_or_default();
    Some(Change::Replaced { before, after })
}

fn text<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| arguments.get(*name)?.as_str())
}

/// Reads a patch in the form `*** Update File: src/a.rs`.
fn patched(patch: &str) -> Vec<Edit<'_>> {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    if !patch.trim_start().starts_with("*** Begin Patch") {
        return edits;
    }
    for line in patch.lines() {
        let file = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|title| line.strip_prefix(title));
        if let Some(path) = file {
            edits.push(Edit {
                path: path.trim(),
                change: Change::Patched(Vec::new()),
            });
        } else if let Some(Edit {
            change: Change::Patched(lines),
            ..
        }) = edits.last_mut()
            && !line.starts_with("*** ")
        {
            lines.push(line);
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(input: Value) -> Step {
        Step::ToolCall {
            id: None,
            tool: "edit".to_owned(),
            input,
            server: None,
            server_tool: None,
        }
    }

    #[test]
    fn changes_in_the_forms_of_agents() {
        let step = call(json!({"file_path": "a", "old_string": "1", "new_string": "2"}));
        let replaced = Change::Replaced {
            before: "1",
            after: "2",
        };
        assert_eq!(
            edits(&step),
            [Edit {
                path: "a",
                change: replaced.clone()
            }]
        );
        let step = call(
            json!({"path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"newText": "3"}]}),
        );
        assert_eq!(edits(&step).len(), 2);
        let step = call(json!({"filePath": "a", "content": "x\ny"}));
        assert_eq!(edits(&step)[0].change, Change::Written("x\ny"));
        let patch =
            "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Add File: b\n+3\n*** End Patch\n";
        for step in [call(json!({"input": patch})), call(json!(patch))] {
            let found = edits(&step);
            assert_eq!(found[0].change, Change::Patched(vec!["@@", "-1", "+2"]));
            assert_eq!((found[1].path, found.len()), ("b", 2));
        }
        for other in [
            json!({"command": "ls"}),
            json!({"content": "x"}),
            json!(null),
        ] {
            assert_eq!(edits(&call(other)), []);
        }
    }
}
