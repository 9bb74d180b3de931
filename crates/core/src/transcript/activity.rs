//! The agent's present activity in few words: its last tool call with the most telling argument.
//!
//! ```text
//! $ npm test
//! read_file src/fib.js
//! ```
//!
//! People watch this line while it changes, so it has to be calm: results, token counts and pieces of text
//! between two calls do not change it. An agent that calls no tools is shown by its words.

use serde_json::Value;

use crate::text::excerpt::first_line;
use crate::transcript::tool_arguments::{bare_command, main_argument, shell_command};
use crate::transcript::{Role, Step};

/// The latest part of a session that is worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    text: String,
    /// Whether the agent has called a tool. From then on only calls are shown.
    acts: bool,
}

impl Activity {
    /// Returns the line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Notes a step. Callers pass its headline because they have it already.
    pub fn note(&mut self, step: &Step, headline: &str) {
        match step {
            Step::ToolCall { tool, input, .. } => {
                self.acts = true;
                self.text = call(tool, input);
            }
            Step::Error { .. } => headline.clone_into(&mut self.text),
            Step::Message {
                role: Role::Assistant,
                ..
            }
            | Step::Reasoning { .. }
                if !self.acts && !headline.is_empty() =>
            {
                headline.clone_into(&mut self.text);
            }
            _ => {}
        }
    }
}

/// Returns `$ npm test` for a shell under any name, else the tool's own name and main argument.
fn call(tool: &str, input: &Value) -> String {
    match input.as_object().and_then(shell_command) {
        Some(command) => format!("$ {}", first_line(bare_command(&command))),
        None => format!("{tool} {}", main_argument(input))
            .trim_end()
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(steps: &[Step]) -> String {
        let mut activity = Activity::default();
        for step in steps {
            activity.note(step, &step.headline());
        }
        activity.text().to_owned()
    }

    fn called(tool: &str, input: Value) -> Step {
        Step::ToolCall {
            id: None,
            tool: tool.into(),
            input,
            server: None,
            server_tool: None,
        }
    }

    fn said(text: &str) -> Step {
        Step::Message {
            role: Role::Assistant,
            text: text.into(),
        }
    }

    #[test]
    fn a_call_with_the_argument_that_tells_most() {
        for (tool, input, text) in [
            (
                "Bash",
                json!({"command": "npm test", "description": "Runs the tests"}),
                "$ npm test",
            ),
            (
                "run_shell_command",
                json!({"command": "\n  npm ci\nnpm test"}),
                "$ npm ci",
            ),
            (
                "shell",
                json!({"command": ["bash", "-lc", "ls -la"]}),
                "$ ls -la",
            ),
            (
                "command_execution",
                json!({"command": "/bin/bash -lc 'sleep 9'"}),
                "$ sleep 9",
            ),
            (
                "run_commands",
                json!({"commands": ["node fib.js"]}),
                "$ node fib.js",
            ),
            (
                "write",
                json!({"content": "function fib", "filePath": "src/fib.js"}),
                "write src/fib.js",
            ),
            (
                "editor",
                json!({"command": "view", "path": "a.rs"}),
                "editor view",
            ),
            (
                "file_change",
                json!({"changes": [{"path": "a.rs"}, {"path": "b.rs"}]}),
                "file_change a.rs b.rs",
            ),
            (
                "Grep",
                json!({"pattern": "fn main", "output_mode": "count"}),
                "Grep fn main",
            ),
            (
                "mcp__docs__lookup",
                json!({"limit": 3, "topic": "auth"}),
                "mcp__docs__lookup auth",
            ),
            ("TodoWrite", json!({"todos": [{"id": 1}]}), "TodoWrite"),
            ("Bash", json!({"command": ""}), "Bash"),
            ("odd", json!(null), "odd"),
        ] {
            assert_eq!(after(&[called(tool, input)]), text);
        }
    }

    #[test]
    fn what_passes_in_a_moment_is_no_news() {
        let call = called("Bash", json!({"command": "npm test"}));
        let result = Step::ToolResult {
            id: None,
            ok: true,
            output: Some("6 passed".into()),
        };
        let prompt = Step::Message {
            role: Role::User,
            text: "do it".into(),
        };
        assert_eq!(
            after(&[prompt, said("I begin."), call.clone(), result, said("so")]),
            "$ npm test"
        );
        assert_eq!(
            after(&[
                call,
                Step::Error {
                    text: "429, trying again".into()
                }
            ]),
            "error: 429, trying again"
        );
    }

    #[test]
    fn an_agent_without_tools_is_known_by_its_words() {
        assert_eq!(after(&[said("one"), said("two"), said("")]), "two");
        assert_eq!(
            after(&[Step::Reasoning {
                text: "why?".into()
            }]),
            "thinking: why?"
        );
    }
}
