//! Reads the stream of Cline, and its log.

use serde::Deserialize;
use serde_json::Value;

use crate::agent::session::{self, Protocol, Session, failed};
use crate::agent::tokens::{Tokens, known_cost};
use crate::agent::{Decoder, Ending, Inputs, errors};
use crate::process::Exit;
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

pub(super) fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, errors::COMMON, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// Answered requests and their tokens, those of sub-agents too.
    answers: u64,
    tokens: Tokens,
    cost: f64,
    /// The last error that ended an agent, as Cline classes it.
    failure: Option<Failure>,
    /// The last request that a service did not answer, from the log.
    refused: Option<Refusal>,
    result: Option<RunResult>,
}

impl Stream {
    fn written(&mut self, line: Written, session: &mut Session) {
        match line {
            Written::AgentEvent { event } => self.event(event, session),
            Written::RunResult(result) => self.result = Some(result),
            Written::Error { message } => {
                session.remember(&message);
                session.error(message);
            }
            Written::Other => {}
        }
    }

    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::ContentStart(content) if content.content_type == "tool" => {
                let tool = content.tool_name.unwrap_or_else(|| "unknown".to_owned());
                // MCP tools are called `<server>__<tool>`.
                let server = session.server_of(&tool, "__");
                session.call(content.tool_call_id, tool, content.input, server);
            }
            Event::ContentEnd(content) => content_end(content, session),
            Event::Usage(used) => {
                session.answered();
                self.answers += 1;
                self.tokens += used.tokens();
            }
            Event::Done { usage } => self.cost += usage.total_cost,
            Event::Error(failure) => {
                session.error(failure.message());
                if !failure.recoverable {
                    self.failure = Some(failure);
                }
            }
            Event::ContentStart(_) => session.answered(),
            Event::Other => {}
        }
    }

    /// Returns the ending for an error. The stream has the words of the service and the log its status.
    fn error_ending(&self, text: &str) -> Ending {
        let failure = self.failure.as_ref();
        let said = failure.map(Failure::message).unwrap_or_default();
        let said = if said.is_empty() { text } else { &said };
        let status = self.refused.as_ref().and_then(|last| last.status_code);
        let class = failure.map_or("", |failure| failure.error_class.as_str());
        // Without a refusal of a service it is Cline's own trouble.
        let otherwise = if self.refused.is_some() {
            ErrorKind::ModelApi
        } else {
            ErrorKind::Agent
        };
        let kind = kind_of(status, class, said).unwrap_or(otherwise);
        match status {
            Some(status) => failed(kind, format!("{said} (HTTP {status})")),
            None => failed(kind, said),
        }
    }

    fn no_end(&self, exit: Exit, session: &Session) -> Ending {
        if self.answers > 0 {
            return session.no_end(exit);
        }
        if let Some(refusal) = &self.refused {
            let said = &refusal.message;
            let kind = kind_of(refusal.status_code, "", said).unwrap_or(ErrorKind::ModelApi);
            return failed(kind, format!("the model never answered: {said}"));
        }
        session.no_end(exit)
    }
}

/// Returns the kind of an error: the service's status counts most, then Cline's own class, then the words.
fn kind_of(status: Option<u16>, class: &str, message: &str) -> Option<ErrorKind> {
    match status {
        Some(status @ 400..) => errors::by_status(status).or(Some(ErrorKind::ModelApi)),
        _ if class == "auth" => Some(ErrorKind::Auth),
        _ => errors::classify(errors::COMMON, None, message),
    }
}

fn content_end(content: Content, session: &mut Session) {
    match content.content_type.as_str() {
        "tool" => {
            let ok = content.error.is_none() && !has_failed(&content.output);
            let output = content.error.or_else(|| output_text(&content.output));
            session.result(content.tool_call_id, ok, output);
        }
        "text" if !content.text.is_empty() => session.message(Role::Assistant, content.text),
        "reasoning" if !content.reasoning.is_empty() => session.reasoning(content.reasoning),
        "reasoning" if !content.text.is_empty() => session.reasoning(content.text),
        _ => {}
    }
}

/// Tools that do several things at once have a result for each.
fn has_failed(output: &Value) -> bool {
    match output {
        Value::Array(results) => results.iter().any(has_failed),
        _ => output["success"] == false || output["isError"] == true,
    }
}

fn output_text(output: &Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(results) => {
            let texts: Vec<String> = results.iter().filter_map(output_text).collect();
            Some(texts.join("\n"))
        }
        _ => {
            let named = ["result", "error", "text"]
                .iter()
                .find_map(|key| output[key].as_str());
            let content = output.get("content").and_then(output_text);
            named
                .map(str::to_owned)
                .or(content)
                .or_else(|| Some(output.to_string()))
        }
    }
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(Stamped { time, line }) = serde_json::from_str(text) {
            session.at(time);
            self.written(line, session);
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        match serde_json::from_str(text) {
            Ok(Stamped {
                line: Written::Error { message },
                ..
            }) => session.remember(&message),
            Ok(_) => {}
            // Warnings of a library, each with the places in its code.
            Err(_) if text.contains("AI SDK Warning") || text.starts_with("at ") => {}
            Err(_) => session.remember(text),
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        let Ok(LogEntry { msg, err }) = serde_json::from_str(line) else {
            return;
        };
        if let Some(mut refusal) = err
            && msg.contains("stream error")
        {
            let last_attempt = refusal.aggregate_errors.pop();
            let refusal = last_attempt.unwrap_or(refusal);
            let kind = kind_of(refusal.status_code, "", &refusal.message);
            session.request_failed(
                kind.unwrap_or(ErrorKind::ModelApi),
                refusal.message.as_str(),
            );
            self.refused = Some(refusal);
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        let counted = session.counted(self.answers);
        if self.answers == 0 {
            return counted;
        }
        Usage {
            cost_usd: known_cost(self.cost),
            ..self.tokens.usage().or(counted)
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let result = self.result.take();
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        let Some(result) = result else {
            return self.no_end(exit, session);
        };
        match result.finish_reason.as_str() {
            "completed" => Ending::Completed,
            reason @ ("max_iterations" | "mistake_limit") => {
                session.final_note(format!("the session was cut off: {reason}"));
                Ending::Completed
            }
            "error" => self.error_ending(&result.text),
            _ => self.no_end(exit, session),
        }
    }
}

/// A line of `--json`.
#[derive(Debug, Deserialize)]
struct Stamped {
    #[serde(rename = "ts")]
    time: Option<String>,
    #[serde(flatten)]
    line: Written,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written {
    AgentEvent {
        event: Event,
    },
    RunResult(RunResult),
    /// It did not even start.
    Error {
        message: String,
    },
    #[serde(other)]
    Other,
}

/// An event of the agent, or of a sub-agent: the stream does not say which.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    ContentStart(Content),
    ContentEnd(Content),
    Usage(Used),
    /// The end of an agent: of the main one, or of a sub-agent.
    Done {
        #[serde(default)]
        usage: Total,
    },
    Error(Failure),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    content_type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    output: Value,
    error: Option<String>,
}

/// The tokens of one request. Input includes the cached ones, output the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Used {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
}

impl Used {
    fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            cached: self.cache_read_tokens,
            output: self.output_tokens,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Total {
    total_cost: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    #[serde(default)]
    error: Value,
    #[serde(default)]
    error_class: String,
    #[serde(default)]
    recoverable: bool,
}

impl Failure {
    fn message(&self) -> String {
        let message = self.error["message"].as_str().or(self.error.as_str());
        message.unwrap_or_default().to_owned()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunResult {
    finish_reason: String,
    #[serde(default)]
    text: String,
}

/// A line of the log.
#[derive(Debug, Deserialize)]
struct LogEntry {
    #[serde(default)]
    msg: String,
    err: Option<Refusal>,
}

/// An error of the service, with those of single attempts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    status_code: Option<u16>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    aggregate_errors: Vec<Refusal>,
}
