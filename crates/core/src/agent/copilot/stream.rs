//! Reads what Copilot prints, and its session's log.

use std::collections::BTreeMap;

use super::errors::{classify, kind_of};
use super::wire::{Answer, Event, Server, Stamped, ToolEnd, ToolStart, Used};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::{no_end, not_connected};
use crate::agent::mcp_tools;
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::TrialError;

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    /// Requests that were answered, those of sub-agents too.
    answered: u64,
    /// What each of them used, according to the log.
    used: Vec<Used>,
    model: Option<String>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    /// How each server stood last, and why.
    server_status: BTreeMap<String, (String, Option<String>)>,
    /// The error that nothing has followed yet.
    failure: Option<TrialError>,
    /// The exit status in the result, which is the last line.
    result: Option<i32>,
    notes: Vec<String>,
    last_words: String,
}

impl Stream {
    pub(super) fn new(servers: Vec<String>) -> Self {
        Stream {
            servers,
            ..Stream::default()
        }
    }

    fn event(&mut self, event: Event, of_sub_agent: bool) -> Vec<Step> {
        match event {
            Event::ServerChanged(server) => self.server(server),
            Event::ServersLoaded { servers } => {
                servers.into_iter().for_each(|server| self.server(server))
            }
            // What a sub-agent is asked stands in the call that started it.
            Event::Prompt { content } if !of_sub_agent => {
                return vec![Step::Message {
                    role: Role::User,
                    text: content,
                }];
            }
            Event::Answer(answer) => return self.answer(answer, of_sub_agent),
            Event::ToolStart(call) => return vec![self.tool_start(call)],
            Event::ToolEnd(end) => return vec![tool_end(end)],
            Event::CallFinished { outcome } => self.answered += u64::from(outcome == "success"),
            Event::Error(error) => {
                // The advice that follows is for people at a keyboard.
                let text = error.message.lines().next().unwrap_or_default().to_owned();
                self.failure = Some(TrialError::new(kind_of(&error), text.clone()));
                return vec![Step::Error { text }];
            }
            Event::Prompt { .. } | Event::UsageRecord { .. } | Event::Other => {}
        }
        Vec::new()
    }

    fn server(&mut self, server: Server) {
        let known = self.server_status.entry(server.name).or_default();
        // The list of all servers may leave out why one failed.
        let why = server.error.or(known.1.take());
        *known = (server.status, why);
    }

    fn answer(&mut self, answer: Answer, of_sub_agent: bool) -> Vec<Step> {
        // It went on after all.
        self.notes
            .extend(self.failure.take().map(|failure| failure.message));
        if let (Some(model), false) = (answer.model, of_sub_agent) {
            self.model = Some(model);
        }
        let thought = answer.reasoning_text.map(|text| Step::Reasoning { text });
        let said = Step::Message {
            role: Role::Assistant,
            text: answer.content,
        };
        let says_something = |step: &Step| matches!(step, Step::Message { text, .. } | Step::Reasoning { text } if !text.is_empty());
        thought
            .into_iter()
            .chain([said])
            .filter(says_something)
            .collect()
    }

    fn tool_start(&mut self, call: ToolStart) -> Step {
        self.tool_calls += 1;
        let server = call.mcp_config_server_name.or(call.mcp_server_name);
        let server = server.filter(|name| self.servers.contains(name));
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        Step::ToolCall {
            id: call.tool_call_id,
            tool: call.tool_name,
            input: call.arguments,
            server,
        }
    }

    fn total_usage(&self) -> Usage {
        let requests = self.answered.max(self.used.len() as u64);
        let counted = Usage {
            requests: (requests > 0).then_some(requests),
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        if self.used.is_empty() {
            return counted;
        }
        let sum = |figure: fn(&Used) -> u64| Some(total(self.used.iter().map(figure)));
        Usage {
            input_tokens: sum(|used| used.input_tokens),
            cached_input_tokens: sum(|used| used.cache_read_tokens),
            output_tokens: sum(|used| used.output_tokens),
            ..counted
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| match self.server_status.get(server)?.0.as_str() {
            "connected" => Some(McpStatus::Connected),
            "pending" => None,
            _ => Some(McpStatus::Failed),
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    /// The first server that did not connect, and why.
    fn broken(&self) -> Option<(&String, &String)> {
        self.servers.iter().find_map(|server| {
            let (status, why) = self.server_status.get(server)?;
            let stands = status == "connected" || status == "pending";
            (!stands).then_some((server, why.as_ref().unwrap_or(status)))
        })
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        if let Some((server, why)) = self.broken() {
            return not_connected(server, why);
        }
        if let Some(failure) = self.failure.take() {
            return Ending::Failed(failure);
        }
        if self.result == Some(0) {
            return Ending::Completed;
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }

    fn record(&self, time: Option<String>, step: Step) -> Record {
        Record {
            time,
            line: self.line,
            step,
        }
    }

    /// The last words, unless earlier ones say more.
    fn remember(&mut self, text: &str) {
        let says_why = classify(text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why {
            self.last_words = text.chars().take(300).collect();
        }
    }
}

fn tool_end(end: ToolEnd) -> Step {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let output = text(&end.result["content"]).or(text(&end.error["message"]));
    Step::ToolResult {
        id: end.tool_call_id,
        ok: end.success,
        output,
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => return vec![self.record(None, notice)],
        };
        let Ok(Stamped {
            timestamp,
            agent,
            exit_code,
            event,
        }) = serde_json::from_str(text)
        else {
            return Vec::new();
        };
        self.result = exit_code.or(self.result);
        let steps = self.event(event, agent.is_some());
        steps
            .into_iter()
            .map(|step| self.record(timestamp.clone(), step))
            .collect()
    }

    fn stderr(&mut self, line: Line<'_>) {
        if let Line::Text(text) = line {
            self.remember(text.trim().trim_start_matches("Error: "));
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        if let Ok(Stamped {
            event: Event::UsageRecord { usage },
            ..
        }) = serde_json::from_str(line)
        {
            self.used.push(usage);
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            model: self.model.take(),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
