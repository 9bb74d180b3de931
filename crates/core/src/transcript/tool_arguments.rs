//! Finds the argument of a tool call that says most about it, under the names that agents use.

use serde_json::{Map, Value};

use crate::text::excerpt::first_line;

/// Arguments that hold a shell command, under the names that agents give them.
const COMMANDS: [&str; 3] = ["command", "commands", "cmd"];
/// Arguments that hold a path.
const PATHS: [&str; 8] = [
    "file_path", "filePath", "filepath", "path", "absolute_path", "notebook_path", "dir_path",
    "target_directory",
];
/// Other arguments that describe a call.
const SUBJECTS: [&str; 5] = ["query", "pattern", "url", "description", "prompt"];

/// Returns the command of a shell: a tool that takes a command and no path.
pub(crate) fn shell_command(arguments: &Map<String, Value>) -> Option<String> {
    if PATHS.iter().any(|key| arguments.contains_key(*key)) {
        return None;
    }
    COMMANDS
        .iter()
        .find_map(|key| arguments.get(*key))
        .and_then(words)
        .filter(|command| !command.is_empty())
}

/// Returns the path that a call names.
pub(crate) fn path_argument(arguments: &Map<String, Value>) -> Option<&str> {
    PATHS.iter().find_map(|key| arguments.get(*key)?.as_str())
}

/// Removes the shell in front of a command, which is the same every time.
pub(crate) fn bare_command(command: &str) -> &str {
    let shells = [
        "/bin/bash -lc ", "/bin/bash -c ", "bash -lc ", "bash -c ", "/bin/sh -c ", "sh -c ",
    ];
    let Some(inner) = shells.iter().find_map(|shell| command.strip_prefix(shell)) else {
        return command;
    };
    let unquoted = ['\'', '"'].iter().find_map(|quote| {
        inner
            .strip_prefix(*quote)
            .map(|rest| rest.strip_suffix(*quote).unwrap_or(rest))
    });
    unquoted.unwrap_or(inner)
}

/// Returns the most telling argument: the command, the file, the search term, or else the first text.
pub(crate) fn main_argument(input: &Value) -> String {
    let Some(arguments) = input.as_object() else {
        return String::new();
    };
    COMMANDS
        .iter()
        .chain(&PATHS)
        .chain(&SUBJECTS)
        .find_map(|key| arguments.get(*key).and_then(words))
        .or_else(|| Some(changed_paths(arguments)?.join(" ")).filter(|paths| !paths.is_empty()))
        .or_else(|| arguments.values().find_map(words))
        .as_deref()
        .map(first_line)
        .unwrap_or_default()
}

/// Returns a text, or texts joined by spaces.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            items
                .filter(|items| !items.is_empty())
                .map(|items| items.join(" "))
        }
        _ => None,
    }
}

/// Returns the files of a change that names them in a list.
pub(crate) fn changed_paths(arguments: &Map<String, Value>) -> Option<Vec<&str>> {
    let changes = arguments.get("changes")?.as_array()?.iter();
    let paths = changes.filter_map(|change| change.get("path")?.as_str());
    Some(paths.collect())
}
