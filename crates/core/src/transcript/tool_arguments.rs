//! The arguments of a tool call, whatever the agent calls them: which one says what the call is about.

use serde_json::{Map, Value};

use crate::text::prose::first_line;

/// Arguments that hold a shell command, under the names that agents give them.
const COMMANDS: [&str; 3] = ["command", "commands", "cmd"];
/// Arguments that hold a path.
const PATHS: [&str; 8] = [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "absolute_path",
    "notebook_path",
    "dir_path",
    "target_directory",
];
/// Other arguments that tell what a call is about.
const SUBJECTS: [&str; 5] = ["query", "pattern", "url", "description", "prompt"];

/// A tool that takes a command and no path is a shell.
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

/// The argument that tells most: the command, the file, what is looked for, or the first text there is.
pub(crate) fn main_argument(input: &Value) -> String {
    let Some(arguments) = input.as_object() else {
        return String::new();
    };
    let known = || COMMANDS.iter().chain(&PATHS).chain(&SUBJECTS);
    let told = known().find_map(|key| arguments.get(*key).and_then(words));
    let told = told
        .or_else(|| changed(arguments))
        .or_else(|| arguments.values().find_map(words));
    told.as_deref().map(first_line).unwrap_or_default()
}

/// A text, or texts in a row.
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

/// The files of a change that comes as a list of them.
fn changed(arguments: &Map<String, Value>) -> Option<String> {
    let changes = arguments.get("changes")?.as_array()?;
    let paths: Vec<&str> = changes
        .iter()
        .filter_map(|change| change.get("path")?.as_str())
        .collect();
    (!paths.is_empty()).then(|| paths.join(" "))
}
