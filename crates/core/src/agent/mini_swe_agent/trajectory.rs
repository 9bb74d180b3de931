//! Reads the trajectory, and the last words where there is none.

use serde::Deserialize;
use serde_json::Value;

use super::wire::{Document, Message, Tokens};
use crate::agent::endings::no_end;
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug, Default)]
pub(super) struct Trajectory {
    document: String,
    /// The last that it printed, and the last that was an error of the model's service.
    last_words: String,
    trouble: Option<String>,
}

impl Trajectory {
    fn remember(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        if text.contains("litellm.") && classify(text).is_some() {
            self.trouble = Some(text.chars().take(300).collect());
        }
        // An answer: whatever the trouble was, it is over.
        if text.starts_with("mini-swe-agent (step ") {
            self.trouble = None;
        }
        if !text.is_empty() {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn ending(&self, document: Option<&Document>, exit: Exit, notes: &mut Vec<String>) -> Ending {
        let status = document.map_or("", |document| document.info.exit_status.as_str());
        match status {
            "Submitted" => return Ending::Completed,
            "LimitsExceeded" | "TimeExceeded" => {
                notes.push("mini-swe-agent stopped at a limit of its own".to_owned());
                return Ending::Completed;
            }
            "RepeatedFormatError" => {
                notes.push(
                    "the model did not call a tool, again and again, and was given up".to_owned(),
                );
                return Ending::Completed;
            }
            _ => {}
        }
        // It ends a session that was interrupted with the exception that there is nobody to ask.
        let interrupted = ["", "EOFError", "KeyboardInterrupt"].contains(&status);
        if interrupted && let Some(trouble) = &self.trouble {
            let kind = classify(trouble).unwrap_or(ErrorKind::ModelApi);
            return Ending::Failed(TrialError::new(kind, trouble.clone()));
        }
        if interrupted {
            return no_end(&self.last_words, None, exit);
        }
        let said = document
            .and_then(|document| document.messages.last())
            .map(|last| text(&last.content));
        let said: String = said.unwrap_or_default().chars().take(300).collect();
        match classify(status).or(classify(&said)) {
            Some(kind) => Ending::Failed(TrialError::new(kind, said)),
            None => Ending::Crashed(TrialError::new(
                ErrorKind::Agent,
                format!("{status}: {said}"),
            )),
        }
    }
}

/// The exceptions of its library that are the service's, by their names.
fn classify(text: &str) -> Option<ErrorKind> {
    const NAMES: [(ErrorKind, &[&str]); 3] = [
        // Not every refusal has a name of its own.
        (
            ErrorKind::Auth,
            &["AuthenticationError", "PermissionDeniedError", "Forbidden"],
        ),
        (ErrorKind::RateLimit, &["RateLimitError"]),
        (
            ErrorKind::ModelApi,
            &[
                "APIConnectionError",
                "APIError",
                "BadGatewayError",
                "BadRequestError",
                "InternalServerError",
                "NotFoundError",
                "ServiceUnavailableError",
                "litellm.Timeout",
            ],
        ),
    ];
    NAMES
        .iter()
        .find(|(_, names)| names.iter().any(|name| text.contains(name)))
        .map(|(kind, _)| *kind)
}

/// What one answer used, where there was one.
fn tokens(message: &Message) -> Option<Tokens> {
    message.extra.response.is_object().then(|| {
        message
            .extra
            .response
            .get("usage")
            .and_then(|usage| Tokens::deserialize(usage).ok())
            .unwrap_or_default()
    })
}

fn usage(document: &Document) -> Usage {
    let answers: Vec<Tokens> = document.messages.iter().filter_map(tokens).collect();
    // An answer without a figure makes the sum unknown.
    let sum = |figure: fn(&Tokens) -> Option<u64>| -> Option<u64> {
        let figures: Option<Vec<u64>> = answers.iter().map(figure).collect();
        figures.filter(|figures| !figures.is_empty()).map(total)
    };
    let calls = document
        .messages
        .iter()
        .filter_map(|message| message.tool_calls.as_ref())
        .map(Vec::len)
        .sum::<usize>();
    Usage {
        requests: (!answers.is_empty()).then_some(answers.len() as u64),
        input_tokens: sum(|tokens| tokens.prompt_tokens),
        cached_input_tokens: sum(|tokens| tokens.prompt_tokens_details.as_ref()?.cached_tokens),
        output_tokens: sum(|tokens| tokens.completion_tokens),
        tool_calls: Some(calls as u64),
        cost_usd: document
            .info
            .model_stats
            .instance_cost
            .filter(|cost| *cost > 0.0),
    }
}

fn model(document: &Document) -> Option<String> {
    let named = |message: &Message| message.extra.response["model"].as_str().map(str::to_owned);
    document.messages.iter().find_map(named)
}

/// Content that is one text or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn steps(message: &Message) -> Vec<Step> {
    let said = text(&message.content);
    let message_of = |role| Step::Message {
        role,
        text: said.clone(),
    };
    match message.role.as_str() {
        "user" => vec![message_of(Role::User)],
        "assistant" => {
            let thought = message
                .reasoning_content
                .iter()
                .map(|text| Step::Reasoning { text: text.clone() });
            let said = (!said.is_empty()).then(|| message_of(Role::Assistant));
            let calls = message
                .tool_calls
                .iter()
                .flatten()
                .map(|call| Step::ToolCall {
                    id: call.id.clone(),
                    tool: call.function.name.clone(),
                    input: serde_json::from_str(&call.function.arguments).unwrap_or(Value::Null),
                    server: None,
                });
            thought.chain(said).chain(calls).collect()
        }
        // The command that ends a session is carried out, though it says that it was not.
        "tool" if message.extra.exception_info.as_deref() == Some("action was not executed") => {
            Vec::new()
        }
        "tool" => vec![Step::ToolResult {
            id: message.tool_call_id.clone(),
            ok: message.extra.returncode == Some(0),
            output: message.extra.raw_output.clone().or(Some(said)),
        }],
        "exit" if !said.is_empty() => vec![Step::Notice { text: said }],
        // Its own instructions are the same every time.
        _ => Vec::new(),
    }
}

impl Decoder for Trajectory {
    /// For people; the trajectory has it all.
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.remember(line);
        Vec::new()
    }

    fn stderr(&mut self, line: Line<'_>) {
        self.remember(line);
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        self.document.push_str(line);
        self.document.push('\n');
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn finish(self: Box<Self>, exit: Exit) -> Reading {
        let mut notes = Vec::new();
        let document: Option<Document> = match serde_json::from_str(&self.document) {
            Ok(document) => Some(document),
            Err(_) if self.document.is_empty() => None,
            Err(error) => {
                notes.push(format!(
                    "the trajectory of mini-swe-agent could not be read: {error}"
                ));
                None
            }
        };
        let ending = self.ending(document.as_ref(), exit, &mut notes);
        let record = |(index, message)| {
            let step = move |step| Record {
                time: None,
                line: index as u64 + 1,
                step,
            };
            steps(message).into_iter().map(step)
        };
        let records = document
            .iter()
            .flat_map(|document| document.messages.iter().enumerate().flat_map(record));
        Reading {
            records: records.collect(),
            usage: document.as_ref().map(usage).unwrap_or_default(),
            model: document.as_ref().and_then(model),
            mcp_servers: Default::default(),
            ending,
            notes,
        }
    }
}
