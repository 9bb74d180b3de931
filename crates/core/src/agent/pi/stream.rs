//! Reads what pi prints.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::errors::{classify, of_request};
use super::wire::{Answer, Event, Message, Part, Tokens};
use crate::agent::endings::no_end;
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

/// How a line begins that repeats what has been said so far with every word that is added: most of the output.
const REPETITION: &str = r#"{"type":"message_update""#;
/// How a line begins that repeats all of the session. It may be too long to hold, and says what it has to say anyway.
const END: &str = r#"{"type":"agent_end""#;

#[derive(Debug, Default)]
pub(super) struct Stream {
    line: u64,
    /// The time of the last message.
    time: Option<String>,
    answers: u64,
    used: Vec<Tokens>,
    tool_calls: u64,
    models: BTreeSet<String>,
    compacted: bool,
    /// The error that nothing has followed yet.
    failure: Option<TrialError>,
    /// Why the last answer ended, and whether the session has.
    stop_reason: String,
    ended: bool,
    notes: Vec<String>,
    last_words: String,
}

impl Stream {
    fn event(&mut self, event: Event) -> Vec<Record> {
        match event {
            Event::AgentStart => {
                self.ended = false;
                Vec::new()
            }
            Event::MessageEnd { message } => self.message(message),
            Event::ToolExecutionStart {
                tool_call_id: id,
                tool_name: tool,
                args: input,
            } => {
                self.tool_calls += 1;
                vec![self.record(Step::ToolCall {
                    id,
                    tool,
                    input,
                    server: None,
                })]
            }
            Event::AgentEnd => {
                self.ended = true;
                Vec::new()
            }
            Event::CompactionStart => {
                self.compacted = true;
                Vec::new()
            }
            Event::Other => Vec::new(),
        }
    }

    fn message(&mut self, message: Message) -> Vec<Record> {
        match message {
            Message::User { content, timestamp } => {
                self.at(timestamp);
                vec![self.record(Step::Message {
                    role: Role::User,
                    text: content.text(),
                })]
            }
            Message::Assistant(answer) => self.answer(answer),
            Message::ToolResult {
                tool_call_id: id,
                content,
                is_error,
                timestamp,
            } => {
                self.at(timestamp);
                vec![self.record(Step::ToolResult {
                    id,
                    ok: !is_error,
                    output: Some(content.text()),
                })]
            }
            Message::Other => Vec::new(),
        }
    }

    fn answer(&mut self, answer: Answer) -> Vec<Record> {
        self.at(answer.timestamp);
        self.used.push(answer.usage);
        let mut records = Vec::new();
        for part in answer.content.parts() {
            match part {
                Part::Text { text } => records.push(Step::Message {
                    role: Role::Assistant,
                    text,
                }),
                Part::Thinking { thinking } => records.push(Step::Reasoning { text: thinking }),
                Part::Other => {}
            }
        }
        if let "error" | "aborted" = answer.stop_reason.as_str() {
            let aborted = answer.stop_reason == "aborted";
            let text = answer.error_message.unwrap_or(answer.stop_reason);
            let kind = if aborted {
                ErrorKind::Agent
            } else {
                of_request(&text)
            };
            self.failure = Some(TrialError::new(kind, text.clone()));
            records.push(Step::Error { text });
        } else {
            self.answers += 1;
            self.stop_reason = answer.stop_reason;
            let model = answer.provider.zip(answer.model);
            self.models
                .extend(model.map(|(provider, model)| format!("{provider}/{model}")));
            // It went on after all.
            self.notes
                .extend(self.failure.take().map(|failure| failure.message));
        }
        records.into_iter().map(|step| self.record(step)).collect()
    }

    fn at(&mut self, milliseconds: Option<i64>) {
        let time = milliseconds.and_then(|time| Timestamp::from_millisecond(time).ok());
        self.time = time.map(|time| time.to_string());
    }

    fn record(&self, step: Step) -> Record {
        Record {
            time: self.time.clone(),
            line: self.line,
            step,
        }
    }

    fn total_usage(&self) -> Usage {
        // A summary of the conversation is asked for on the side.
        let known = self.answers > 0 && !self.compacted;
        let counted = Usage {
            requests: known.then_some(self.answers),
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        let sum = |figure: fn(&Tokens) -> u64| total(self.used.iter().map(figure));
        let input = sum(|tokens| tokens.input + tokens.cache_read + tokens.cache_write);
        let output = sum(|tokens| tokens.output);
        // The zeros of a service that gives no figures are none.
        if input + output == 0 {
            return counted;
        }
        let cost: f64 = self.used.iter().map(|tokens| tokens.cost.total).sum();
        // Without the digits that only adding up has brought in.
        let cost = (cost * 1e9).round() / 1e9;
        Usage {
            input_tokens: Some(input),
            cached_input_tokens: Some(sum(|tokens| tokens.cache_read)),
            output_tokens: Some(output),
            // A model without a price costs 0 here, which is not known rather than free.
            cost_usd: (cost > 0.0).then_some(cost),
            ..counted
        }
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        if let Some(failure) = self.failure.take() {
            return Ending::Failed(failure);
        }
        if self.ended && self.answers > 0 {
            if self.stop_reason == "length" {
                self.notes
                    .push("the last answer was cut off: length".to_owned());
            }
            return Ending::Completed;
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let (Line::Text(text)
        | Line::Oversized {
            beginning: text, ..
        }) = line;
        if text.starts_with(REPETITION) {
            return Vec::new();
        }
        if text.starts_with(END) {
            return self.event(Event::AgentEnd);
        }
        if let Line::Oversized { bytes, .. } = line {
            let text = format!("an event of {bytes} bytes was not decoded");
            return vec![self.record(Step::Notice { text })];
        }
        serde_json::from_str(text).map_or_else(|_| Vec::new(), |event| self.event(event))
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        // The first that says why: what follows is advice.
        let says_more = classify(&self.last_words).is_none() && classify(text).is_some();
        if !text.is_empty() && (says_more || self.last_words.is_empty()) {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        if self.compacted {
            self.notes
                .push("what was used to shorten the conversation is not known".to_owned());
        }
        let mut models = self.models.iter();
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            // More than one is no answer to the question which.
            model: models.next().filter(|_| models.next().is_none()).cloned(),
            mcp_servers: BTreeMap::new(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
