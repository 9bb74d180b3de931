//! Reads what aider prints, and its log of analytics.

use serde::Deserialize;

use super::errors::{classify, name};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

/// A line of the log.
#[derive(Debug, Deserialize)]
struct Event {
    event: String,
    properties: Properties,
}

#[derive(Debug, Deserialize)]
struct Properties {
    /// With the cached ones, of which nothing else is told.
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    /// 0 where aider does not know the price.
    cost: Option<f64>,
    /// Why it exits.
    reason: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    line: u64,
    /// What the model says, until it is known to be over, with the line that it begins at.
    said: Vec<String>,
    said_at: u64,
    /// Whether aider has told what it works with.
    introduced: bool,
    model: Option<String>,
    /// How often the model was asked, and how often it answered.
    asked: u64,
    answered: u64,
    used: Usage,
    /// Why it exited, in its own words.
    reason: Option<String>,
    /// The last error since the model has last answered.
    error: Option<String>,
    last_words: String,
}

impl Stream {
    fn text(&mut self, text: &str) -> Vec<Record> {
        if !self.introduced {
            return self.introduction(text);
        }
        let notice = |text: &str| Step::Notice {
            text: text.to_owned(),
        };
        if name(text).is_some() {
            self.error = Some(text.to_owned());
            return self.then(Step::Error {
                text: text.to_owned(),
            });
        }
        if text.starts_with("Retrying in ") || text.starts_with("Applied edit to ") {
            return self.then(notice(text));
        }
        // The answer is over.
        if text.starts_with("Tokens: ") && text.contains(" sent, ") {
            self.error = None;
            return self.then(notice(text));
        }
        if self.said.is_empty() {
            self.said_at = self.line;
        }
        self.said.push(text.to_owned());
        Vec::new()
    }

    /// What it works with, up to an empty line.
    fn introduction(&mut self, text: &str) -> Vec<Record> {
        if text.is_empty() {
            self.introduced = self.model.is_some();
            return Vec::new();
        }
        self.remember(text);
        let model = text
            .strip_prefix("Model: ")
            .or(text.strip_prefix("Main model: "));
        if let Some((model, _)) = model.and_then(|rest| rest.split_once(" with ")) {
            self.model = Some(model.to_owned());
        }
        // The rules file, where there are no rules.
        if text.starts_with("Error: Read-only file ") && text.ends_with("does not exist. Skipping.")
        {
            return Vec::new();
        }
        self.then(Step::Notice {
            text: text.to_owned(),
        })
    }

    /// A step, after what the model has said until then.
    fn then(&mut self, step: Step) -> Vec<Record> {
        let line = self.line;
        self.flush()
            .into_iter()
            .chain([Record {
                time: None,
                line,
                step,
            }])
            .collect()
    }

    fn flush(&mut self) -> Option<Record> {
        let text = std::mem::take(&mut self.said).join("\n").trim().to_owned();
        if text.is_empty() {
            return None;
        }
        let step = Step::Message {
            role: Role::Assistant,
            text,
        };
        Some(Record {
            time: None,
            line: self.said_at,
            step,
        })
    }

    fn event(&mut self, event: Event) {
        let Event { event, properties } = event;
        match event.as_str() {
            "message_send_starting" => self.asked += 1,
            "message_send" => {
                self.answered += 1;
                let plus = |sum: Option<u64>, more: Option<u64>| {
                    more.map(|more| sum.unwrap_or(0) + more).or(sum)
                };
                self.used.input_tokens = plus(self.used.input_tokens, properties.prompt_tokens);
                self.used.output_tokens =
                    plus(self.used.output_tokens, properties.completion_tokens);
                if let Some(cost) = properties.cost.filter(|cost| *cost > 0.0) {
                    self.used.cost_usd = Some(self.used.cost_usd.unwrap_or(0.0) + cost);
                }
            }
            "exit" => self.reason = properties.reason,
            _ => {}
        }
    }

    fn remember(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn ending(&self, exit: Exit) -> Ending {
        let failed = |why: &str| {
            let words = if self.last_words.is_empty() {
                exit.describe()
            } else {
                self.last_words.clone()
            };
            Ending::Failed(TrialError::new(classify(&words), format!("{why}: {words}")))
        };
        if self.answered < self.asked {
            return match &self.error {
                Some(error) => Ending::Failed(TrialError::new(classify(error), error.clone())),
                // Too long for the model, or ended in the middle: what it had done before can be judged.
                None => {
                    let why = self
                        .reason
                        .as_ref()
                        .map_or("the session has no end", |_| "the model gave no answer");
                    Ending::Crashed(TrialError::new(
                        ErrorKind::Agent,
                        format!("{why}: {}", exit.describe()),
                    ))
                }
            };
        }
        match &self.reason {
            Some(reason) if reason.starts_with("Completed") && self.asked > 0 => Ending::Completed,
            Some(reason) if reason.starts_with("Completed") => failed("the model was not asked"),
            _ => failed("the session has no end"),
        }
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        match line {
            Line::Text(text) => self.text(text),
            Line::Oversized { bytes, .. } => {
                let text = format!("a line of {bytes} bytes was not read");
                self.then(Step::Notice { text })
            }
        }
    }

    fn stderr(&mut self, line: Line<'_>) {
        if let Line::Text(text) = line {
            self.remember(text);
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        if let Ok(event) = serde_json::from_str(line) {
            self.event(event);
        }
    }

    fn usage(&self) -> Usage {
        // It has no tools to call.
        Usage {
            requests: (self.answered > 0).then_some(self.answered),
            tool_calls: Some(0),
            ..self.used
        }
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        Reading {
            records: self.flush().into_iter().collect(),
            usage: self.usage(),
            model: self.model.clone(),
            mcp_servers: Default::default(),
            ending: self.ending(exit),
            notes: Vec::new(),
        }
    }
}
