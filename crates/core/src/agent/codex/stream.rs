//! Reads the stream of Codex and the rollout files it keeps.

use crate::agent::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct CodexStream {
    /// The calls that the stream shows.
    shown_calls: BTreeSet<String>,
    /// The calls that the model asked for, according to the rollout files.
    asked_calls: BTreeSet<String>,
    /// The tokens of the main thread, according to the stream.
    turn_usage: Usage,
    has_begun: bool,
    /// The end of the only turn of a session, with the reason where it failed.
    turn: Option<Result<(), String>>,
    /// The error of the requests since the last sign of life.
    trouble: Option<String>,
}

impl CodexStream {
    fn item(&mut self, item: &Value, completed: bool, session: &mut Session) {
        let kind = item.text("type");
        if kind == "error" {
            // A warning.
            let message = item.text("message");
            session.note(message);
            session.notice(message);
            return;
        }
        self.trouble = None;
        match kind {
            "agent_message" if completed => session.message(Role::Assistant, item.text("text")),
            "reasoning" if completed => session.reasoning(item.text("text")),
            _ => self.call(item, completed, session),
        }
    }

    /// Adds an item that is a call when it is first heard of, and its result when it is over. Calls without a name of their
    /// own are named after the kind of item.
    fn call(&mut self, item: &Value, completed: bool, session: &mut Session) {
        let kind = item.text("type");
        let input = |name: &str| json!({ name: item[name] });
        let is_done = item["status"] == "completed";
        let mut tool = kind.to_owned();
        let mut server = None;
        let mut output = None;
        let (input, ok) = match kind {
            "command_execution" => {
                output = Some(item.text("aggregated_output").to_owned());
                (input("command"), item["exit_code"] == 0)
            }
            "file_change" => (input("changes"), is_done),
            "web_search" => (input("query"), true),
            // A call that starts or steers subagents.
            "collab_tool_call" => {
                tool = item.text("tool").to_owned();
                (input("prompt"), is_done)
            }
            "mcp_tool_call" => {
                let called = ServerTool {
                    server: item.text("server").to_owned(),
                    tool: item.text("tool").to_owned(),
                };
                tool = format!("mcp__{}__{}", called.server, called.tool);
                server = Some(called);
                let error = item["error"].owned("message");
                let has_result = error.is_none() && item["result"].is_object();
                output = error.or_else(|| text_of(&item["result"]["content"]));
                // `failed` also for a result that the server itself calls an error.
                (
                    item["arguments"].clone(),
                    has_result && item["status"] != "failed",
                )
            }
            _ => return,
        };
        let id = item.owned("id");
        if self.shown_calls.insert(item.text("id").to_owned()) {
            session.call(id.clone(), tool, input, server);
        }
        if completed {
            session.result(id, ok, output);
        }
    }
}

impl Protocol for CodexStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        match event.text("type") {
            "turn.started" => self.has_begun = true,
            "turn.completed" => {
                if event["usage"].is_object() {
                    self.turn_usage = Tokens::read(&event["usage"]).usage();
                }
                self.turn = Some(Ok(()));
            }
            "turn.failed" => {
                let message = event["error"].text("message");
                // Usually the same words have just come as an error.
                if self.trouble.as_deref() != Some(message) {
                    session.error(message);
                }
                self.turn = Some(Err(message.to_owned()));
            }
            "item.started" | "item.updated" => self.item(&event["item"], false, session),
            "item.completed" => self.item(&event["item"], true, session),
            // Mostly about a request that is tried again.
            "error" => {
                let message = event.text("message");
                self.trouble = Some(message.to_owned());
                if message.starts_with("Reconnecting") {
                    session.notice(message);
                } else {
                    session.error(message);
                }
            }
            _ => {}
        }
    }

    /// Keeps the words that say why; otherwise how they began, for an error of the settings takes several lines.
    fn stderr(&mut self, text: &str, session: &mut Session) {
        if text.starts_with("WARNING") || text.starts_with("Reading ") {
            return;
        }
        if errors::classify(None, text).is_some() {
            session.remember_last(text);
        } else {
            session.remember_more(text);
        }
    }

    /// Reads a line of a rollout file. Every thread has its own, subagents too.
    fn side_event(&mut self, line: Value, session: &mut Session) {
        let payload = &line["payload"];
        match (line.text("type"), payload.text("type")) {
            // One for each answer of the model.
            ("token_usage_record", _) => {
                let id = payload.text("response_id").to_owned();
                session.answers.insert(id, Tokens::read(&payload["usage"]));
            }
            ("response_item", "function_call" | "custom_tool_call") => {
                self.asked_calls.extend(payload.owned("call_id"));
            }
            _ => {}
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        // The stream lacks the calls of subagents and refused calls, the rollout those of a script of the model's.
        let calls = session.tool_calls.max(self.asked_calls.len() as u64);
        Usage {
            tool_calls: Some(calls),
            ..session.answers_usage().or(self.turn_usage)
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        for name in session.servers_by_sse.clone() {
            session.final_note(format!(
                "codex has no `sse` transport: the MCP server `{name}` was given to it as `http`"
            ));
        }
        match &self.turn {
            Some(Ok(())) => return Ending::Completed,
            Some(Err(words)) => return session::failed_with(words, ErrorKind::Agent),
            None => {}
        }
        // Words on standard error matter only when it never came to work.
        let words = match self.trouble.take() {
            Some(trouble) => trouble,
            None if self.has_begun => exit.describe(),
            None => session.last_words(exit),
        };
        let kind = errors::classify(None, &words).unwrap_or(ErrorKind::Agent);
        failed(kind, format!("the session broke off: {words}"))
    }
}
