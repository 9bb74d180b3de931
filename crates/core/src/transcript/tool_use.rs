//! Sorts tool calls by what they do: files read, files written, commands, and tools of MCP servers.
//!
//! Agents name their tools and arguments as they like. A call that tells nothing is in no list.

use serde_json::{Map, Value};

use super::Step;
use super::edits::edits;
use super::tool_arguments::{bare_command, main_argument, path_argument, shell_command};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseKind {
    /// It reads a file.
    Read,
    /// It writes a file.
    Write,
    /// It runs a command.
    Command,
    /// It is a tool of an MCP server.
    Mcp,
}

impl UseKind {
    /// All kinds, in the order of lists.
    pub const ALL: [UseKind; 4] = [
        UseKind::Read,
        UseKind::Write,
        UseKind::Command,
        UseKind::Mcp,
    ];

    /// Returns the title of a list of such calls.
    pub fn title(self) -> &'static str {
        match self {
            UseKind::Read => "Files read",
            UseKind::Write => "Files written",
            UseKind::Command => "Commands",
            UseKind::Mcp => "MCP calls",
        }
    }
}

/// Words in the names of tools that read a file.
const READING: [&str; 4] = ["read", "view", "open", "cat"];

/// Returns the kind of a call, and the files, the command or the tool that it is about.
pub fn uses(step: &Step) -> Vec<(UseKind, String)> {
    let Step::ToolCall {
        tool,
        input,
        server,
        server_tool,
        ..
    } = step
    else {
        return Vec::new();
    };
    if let Some(server) = server {
        let tool = server_tool.as_ref().unwrap_or(tool);
        let about = format!("{server} {tool} {}", main_argument(input));
        return vec![(UseKind::Mcp, about.trim_end().to_owned())];
    }
    let written: Vec<(UseKind, String)> = edits(step)
        .into_iter()
        .map(|edit| (UseKind::Write, edit.path.to_owned()))
        .collect();
    if !written.is_empty() {
        return written;
    }
    let Some(arguments) = input.as_object() else {
        return Vec::new();
    };
    if let Some(command) = shell_command(arguments) {
        return vec![(UseKind::Command, bare_command(&command).to_owned())];
    }
    let read = path_argument(arguments).filter(|_| is_reading(tool, arguments));
    read.map(|path| (UseKind::Read, path.to_owned()))
        .into_iter()
        .collect()
}

fn is_reading(tool: &str, arguments: &Map<String, Value>) -> bool {
    let command = arguments.get("command").and_then(Value::as_str);
    let has_word = |name: &str| {
        let name = name.to_lowercase();
        READING.iter().any(|word| name.contains(word))
    };
    has_word(tool) || command.is_some_and(has_word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_of_many_agents() {
        use UseKind::{Command, Mcp, Read, Write};
        for (tool, server, input, expected) in [
            (
                "Read",
                None,
                json!({"file_path": "a.rs"}),
                Some((Read, "a.rs")),
            ),
            (
                "read_file",
                None,
                json!({"absolute_path": "/w/a.rs"}),
                Some((Read, "/w/a.rs")),
            ),
            (
                "editor",
                None,
                json!({"command": "view", "path": "a.rs"}),
                Some((Read, "a.rs")),
            ),
            (
                "Write",
                None,
                json!({"file_path": "a.rs", "content": "x"}),
                Some((Write, "a.rs")),
            ),
            (
                "Edit",
                None,
                json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"}),
                Some((Write, "a.rs")),
            ),
            (
                "file_change",
                None,
                json!({"changes": [{"path": "a.rs", "kind": "add"}]}),
                Some((Write, "a.rs")),
            ),
            (
                "Bash",
                None,
                json!({"command": "bash -lc 'npm test'"}),
                Some((Command, "npm test")),
            ),
            ("Grep", None, json!({"pattern": "x", "path": "src"}), None),
            (
                "mcp__docs__find",
                Some("docs"),
                json!({"query": "limit"}),
                Some((Mcp, "docs mcp__docs__find limit")),
            ),
            ("TodoWrite", None, json!({"todos": []}), None),
            ("odd", None, json!(null), None),
        ] {
            let step = Step::ToolCall {
                id: None,
                tool: tool.to_owned(),
                input,
                server: server.map(str::to_owned),
                server_tool: None,
            };
            let found = uses(&step).pop();
            let expected = expected.map(|(kind, about): (UseKind, &str)| (kind, about.to_owned()));
            assert_eq!(found, expected, "{tool}");
        }
    }
}
