//! Reads the stream of Cline, and its log.

use crate::agent::prelude::*;

#[derive(Debug, Default)]
pub(super) struct ClineStream {
    /// True after an answered request.
    answered: bool,
    /// The last error that ended an agent, as Cline classes it.
    failure: Option<Value>,
    /// The last request that a service did not answer, from the log.
    refused: Option<Value>,
    result: Option<Value>,
}

impl ClineStream {
    /// Reads an event of the agent, or of a sub-agent: the stream does not say which.
    fn agent_event(&mut self, event: &Value, session: &mut Session) {
        match (event.text("type"), event.text("contentType")) {
            ("content_start", "tool") => {
                let tool = event["toolName"].as_str().unwrap_or("unknown");
                // MCP tools are called `<server>__<tool>`.
                let server = session.server_of(tool, "__");
                let input = event["input"].clone();
                session.call(event.owned("toolCallId"), tool, input, server);
            }
            ("content_start", _) => session.answered(),
            ("content_end", "tool") => {
                let error = event.owned("error");
                let output = &event["output"];
                let ok = error.is_none() && !has_failed(output);
                let output = error.or_else(|| text_of(output));
                session.result(event.owned("toolCallId"), ok, output);
            }
            ("content_end", "text") => session.message(Role::Assistant, event.text("text")),
            ("content_end", "reasoning") => {
                let names = ["reasoning", "text"].map(|name| event.text(name));
                let thought = names.into_iter().find(|text| !text.is_empty());
                session.reasoning(thought.unwrap_or_default());
            }
            // The end of one request.
            ("usage", _) => {
                session.answered();
                self.answered = true;
            }
            ("error", _) => {
                session.error(message_of(event));
                if event["recoverable"] != true {
                    self.failure = Some(event.clone());
                }
            }
            _ => {}
        }
    }

    /// Returns the ending for an error. The stream has the words of the service and the log its status.
    fn error_ending(&self, text: &str) -> Ending {
        let failure = self.failure.as_ref().unwrap_or(&Value::Null);
        let said = match message_of(failure) {
            "" => text,
            said => said,
        };
        let refused = self.refused.as_ref();
        let status = refused.and_then(|last| last.status("statusCode"));
        // Without a refusal of a service it is Cline's own trouble.
        let otherwise = refused.map_or(ErrorKind::Agent, |_| ErrorKind::ModelApi);
        let kind = kind_of(status, failure.text("errorClass"), said).unwrap_or(otherwise);
        match status {
            Some(status) => failed(kind, format!("{said} (HTTP {status})")),
            None => failed(kind, said),
        }
    }

    fn no_end(&self, exit: Exit, session: &Session) -> Ending {
        match &self.refused {
            Some(refusal) if !self.answered => {
                let said = refusal.text("message");
                failed(
                    kind_of_refusal(refusal),
                    format!("the model never answered: {said}"),
                )
            }
            _ => session.no_end(exit),
        }
    }
}

/// Returns the words of an error: a text, or an object with one.
fn message_of(failure: &Value) -> &str {
    let error = &failure["error"];
    error["message"]
        .as_str()
        .or(error.as_str())
        .unwrap_or_default()
}

/// Returns the kind of an error: the service's status counts most, then Cline's own class, then the words.
fn kind_of(status: Option<u16>, class: &str, message: &str) -> Option<ErrorKind> {
    match status {
        Some(status @ 400..) => errors::by_status(status).or(Some(ErrorKind::ModelApi)),
        _ if class == "auth" => Some(ErrorKind::Auth),
        _ => errors::classify(None, message),
    }
}

fn kind_of_refusal(refusal: &Value) -> ErrorKind {
    let kind = kind_of(refusal.status("statusCode"), "", refusal.text("message"));
    kind.unwrap_or(ErrorKind::ModelApi)
}

/// Tools that do several things at once have a result for each.
fn has_failed(output: &Value) -> bool {
    match output {
        Value::Array(results) => results.iter().any(has_failed),
        _ => output["success"] == false || output["isError"] == true,
    }
}

impl Protocol for ClineStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        session.time = event.owned("ts");
        match event.text("type") {
            "agent_event" => self.agent_event(&event["event"], session),
            "run_result" => self.result = Some(event),
            // It did not even start.
            "error" => {
                let message = event.text("message");
                session.remember(message);
                session.error(message);
            }
            _ => {}
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        match serde_json::from_str::<Value>(text) {
            Ok(event) if event["type"] == "error" => session.remember(event.text("message")),
            Ok(event) if event.is_object() => {}
            // The places in the code of a library that warns.
            _ if text.starts_with("at ") => {}
            _ => session.remember(text),
        }
    }

    /// Reads a line of the log: an error of the service, with those of single attempts.
    fn side_event(&mut self, line: Value, session: &mut Session) {
        let error = &line["err"];
        if error.is_object() && line.text("msg").contains("stream error") {
            let last_attempt = error.list("aggregateErrors").last();
            let refusal = last_attempt.unwrap_or(error);
            session.request_failed(kind_of_refusal(refusal), refusal.text("message"));
            self.refused = Some(refusal.clone());
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        session.counted(0)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let result = self.result.take().unwrap_or_default();
        match result.text("finishReason") {
            "completed" => Ending::Completed,
            reason @ ("max_iterations" | "mistake_limit") => {
                session.final_note(format!("the session was cut off: {reason}"));
                Ending::Completed
            }
            "error" => self.error_ending(result.text("text")),
            _ => self.no_end(exit, session),
        }
    }
}
