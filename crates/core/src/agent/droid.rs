//! `droid`: Factory's Droid, driven headlessly with `exec --output-format stream-json`.
//!
//! Four facts shape this file: tokens are given once, in the event of its end; MCP servers are waited for only when
//! their tools are named; a model of the user's own is called `custom:NAME-INDEX`
//! after its place in the settings; and no signal ends it at once: it ends its tools, asks the model once more and
//! completes as if nothing had happened.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::invocation::variables;
use super::session::{self, Protocol, Session};
use super::tokens::Tokens;
use super::{
    Agent, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile, SideFile,
    Stdin, errors, mcp,
};
use crate::process::Exit;
use crate::transcript::{Role, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "droid",
        program: Some("droid"),
        tested_version: "0.225.2",
        package: Some(Package::Npm("@factory/cli")),
        // It reads 79,900 characters, and tells its model that the rest is cut off.
        rules_bytes: Some(79_900),
        skills_dir: ".factory/skills",
        read_above: &["AGENTS.md", ".factory"],
        credential_variables: &["FACTORY_API_KEY"],
        hosts: &["*.factory.ai"],
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

/// The name that the decoder knows the log by.
const LOG: &str = "droid.log";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec![
        "exec", "--skip-permissions-unsafe", "--output-format", "stream-json",
    ];
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    let home = inputs.agent_home.join(".factory");
    // Sessions would be sent to where they can be seen in a browser.
    let settings = inputs.with_config(json!({ "cloudSessionSync": false }));
    let mut files = vec![PlacedFile::json(&home, "settings.json", &settings)];
    let tools = tool_selectors(inputs);
    if !inputs.mcp_servers.is_empty() {
        args.extend(["--add-tools", &tools]);
        let servers = mcp::settings_by_name(inputs.mcp_servers, |server| {
            let server = server.with_cwd_wrapped();
            let mut settings = server.typed_settings(["stdio", "http", "sse"]);
            settings["disabled"] = json!(false);
            settings
        });
        let servers = json!({ "mcpServers": servers });
        files.push(PlacedFile::json(&home, "mcp.json", &servers));
    }
    Invocation {
        launch: Launch::program("droid", &args),
        env: variables(&[
            ("FACTORY_DISABLE_KEYRING", "1"),
            ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
            ("FACTORY_OTEL_ENABLED", "false"),
        ]),
        stdin: Stdin::Prompt,
        files,
        side_files: vec![SideFile {
            dir: home.join("logs"),
            glob: "droid-log-*.log",
            label: LOG,
        }],
    }
}

/// Returns the selectors of all tools of the MCP servers.
fn tool_selectors(inputs: &Inputs<'_>) -> String {
    let names = inputs.mcp_servers.iter().map(|(name, _)| name);
    let selectors: Vec<String> = names
        .map(|name| format!("MCP:{}", percent_encoded(name)))
        .collect();
    selectors.join(",")
}

/// Encodes a name for a selector, which gives `,` and `/` a meaning.
fn percent_encoded(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, errors::COMMON, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// The messages of the model, each an answer.
    answers: BTreeSet<String>,
    /// True if work was given to sub-agents, whose requests are not in the stream.
    delegated: bool,
    /// True if the conversation was summed up, with requests that are not in the stream. The totals have their tokens.
    compacted: bool,
    complete: Option<Completion>,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::Message { role, id, text } => {
                if role == "user" {
                    session.message(Role::User, text);
                } else {
                    self.answered(id, session);
                    session.message(Role::Assistant, text);
                }
            }
            Event::Reasoning { text } => session.reasoning(text),
            Event::ToolCall {
                id,
                message_id,
                tool_name,
                parameters,
            } => {
                self.answered(message_id, session);
                self.delegated |= tool_name == "Task";
                // MCP tools are called `<server>___<tool>`.
                let server = session.server_of(&tool_name, "___");
                session.call(id, tool_name, parameters, server);
            }
            Event::ToolResult {
                id,
                is_error,
                value,
                error,
            } => {
                let said = if is_error { &error["message"] } else { &value };
                let text = said.as_str().map(str::to_owned);
                let output = text.unwrap_or_else(|| said.to_string());
                session.result(id, !is_error, Some(output));
            }
            Event::Error { source, message } => fail(source.as_deref(), &message, session),
            Event::Completion(completion) => {
                self.complete = Some(completion);
                session.recovered();
            }
            Event::Other => {}
        }
    }

    fn answered(&mut self, id: Option<String>, session: &mut Session) {
        self.answers.extend(id);
        session.recovered();
    }
}

fn fail(source: Option<&str>, message: &str, session: &mut Session) {
    let message = message.trim_start_matches("Error: ");
    let kind = if source == Some("agent_loop") {
        let status = errors::leading_status(message);
        // Other refusals of the service, of an unknown model for example, are trouble with the service too.
        errors::classify(errors::COMMON, status, message).unwrap_or(ErrorKind::ModelApi)
    } else {
        session.classify(message).unwrap_or(ErrorKind::Agent)
    };
    // The failure is reported once more at the end, without a reason.
    let failure = TrialError::new(kind, message);
    session.failure.get_or_insert(failure);
    session.error(message.to_owned());
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(Stamped { timestamp, event }) = serde_json::from_str(text) {
            session.at_millisecond(timestamp);
            self.event(event, session);
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_first(text);
    }

    fn side_line(&mut self, _label: &str, line: &str, _session: &mut Session) {
        self.compacted |= line.contains("[Compaction] Start");
    }

    fn reports_tokens(&self) -> bool {
        true
    }

    fn usage(&self, session: &Session) -> Usage {
        let answers = self.answers.len() as u64;
        let turns = self.complete.as_ref().and_then(|complete| complete.turns);
        let mut counted = session.counted(turns.unwrap_or(answers));
        if self.delegated || self.compacted {
            counted.requests = None;
        }
        match &self.complete {
            _ if self.delegated => counted,
            Some(complete) => complete.usage.tokens().known_usage().or(counted),
            None => counted,
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.delegated {
            session
                .final_note("its totals may leave out its sub-agents, so the tokens are not known");
        }
        if self.compacted {
            session.final_note(
                "the conversation was shortened, so the number of requests is not known",
            );
        }
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        if self.complete.is_some() {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

/// A line of `stream-json`.
#[derive(Debug, Deserialize)]
struct Stamped {
    /// In milliseconds since 1970.
    timestamp: Option<i64>,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Message {
        role: String,
        id: Option<String>,
        #[serde(default)]
        text: String,
    },
    Reasoning {
        #[serde(default)]
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    ToolCall {
        id: Option<String>,
        message_id: Option<String>,
        tool_name: String,
        #[serde(default)]
        parameters: Value,
    },
    #[serde(rename_all = "camelCase")]
    ToolResult {
        id: Option<String>,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        value: Value,
        #[serde(default)]
        error: Value,
    },
    Error {
        source: Option<String>,
        #[serde(default)]
        message: String,
    },
    Completion(Completion),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Completion {
    #[serde(rename = "numTurns")]
    turns: Option<u64>,
    #[serde(default)]
    usage: Totals,
}

/// The tokens of the session: input without the cached ones, output with the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Totals {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl Totals {
    fn tokens(self) -> Tokens {
        Tokens {
            input: total([
                self.input_tokens, self.cache_read_input_tokens, self.cache_creation_input_tokens,
            ]),
            cached: self.cache_read_input_tokens,
            output: self.output_tokens,
        }
    }
}

#[cfg(test)]
mod tests;
