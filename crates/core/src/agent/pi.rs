//! `pi`, driven headlessly with `--mode json`.
//!
//! The stream was also checked with 0.73.1, which has the old name of the package. Three facts shape this file: a service
//! that fails shows as a message that ends in an error, with exit status 0; custom services have a settings file of
//! their own; and the program reads rules in every directory up to the root, so that there must be none above the
//! workspace, which Terca ensures.

use serde::Deserialize;
use serde_json::{Value, json};

use super::invocation::variables;
use super::session::{self, Protocol, Session};
use super::tokens::{Tokens, known_cost};
use super::{
    Agent, Capabilities, Decoder, Ending, FilesYield, Inputs, Invocation, Launch, Package,
    PlacedFile, Profile, Stdin, errors,
};
use crate::process::Exit;
use crate::transcript::{Role, Usage, total};
use crate::trial_error::ErrorKind;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "pi",
        program: Some("pi"),
        tested_version: "0.87.1",
        package: Some(Package::Npm("@earendil-works/pi-coding-agent")),
        install: Some(
            "npm install -g @earendil-works/pi-coding-agent (wants Node 22; with Node 20: \
             @mariozechner/pi-coding-agent)",
        ),
        skills_dir: ".pi/skills",
        read_above: &["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD", ".pi"],
        credential_variables: &[
            "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
            "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "CEREBRAS_API_KEY",
            "XAI_API_KEY", "ZAI_API_KEY", "MISTRAL_API_KEY", "MINIMAX_API_KEY", "MOONSHOT_API_KEY",
            "KIMI_API_KEY", "FIREWORKS_API_KEY", "AI_GATEWAY_API_KEY", "OPENCODE_API_KEY",
            "AZURE_OPENAI_API_KEY",
        ],
        setting_variables: &[
            "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME", "AZURE_OPENAI_API_VERSION",
            "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
        ],
        credential_files: &[".pi/agent/auth.json"],
        files_yield: FilesYield::ByProvider(&[]),
        // It has no MCP, by design.
        capabilities: Capabilities {
            mcp_servers: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec!["--print", "--mode", "json", "--no-session"];
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    Invocation {
        launch: Launch::program("pi", &args),
        // Its own files are where they are by default: below the agent's home.
        env: variables(&[
            // No check for a newer version, no download of tools.
            ("PI_OFFLINE", "1"),
            ("PI_TELEMETRY", "0"),
        ]),
        // Among the arguments `@` would be a file and `-` an option.
        stdin: Stdin::Prompt,
        files: files(inputs),
        side_files: Vec::new(),
    }
}

/// Returns the settings. The `providers`, which say where models are, have a file of their own.
fn files(inputs: &Inputs<'_>) -> Vec<PlacedFile> {
    let dir = inputs.agent_home.join(".pi/agent");
    let mut settings = inputs.with_config(json!({
        "enableInstallTelemetry": false,
        // Since 0.87 the workspace's own skills are left out of a session that nobody is asked about.
        "defaultProjectTrust": "always",
    }));
    let providers = settings
        .as_object_mut()
        .and_then(|settings| settings.remove("providers"));
    let mut files = vec![PlacedFile::json(&dir, "settings.json", &settings)];
    if let Some(providers) = providers {
        let models = json!({ "providers": providers });
        files.push(PlacedFile::json(&dir, "models.json", &models));
    }
    files
}

/// The beginning of a line that repeats a message so far with every word that is added: most of the output.
const REPETITION: &str = r#"{"type":"message_update""#;
/// The beginning of a line that repeats all of the session. It may be too long to hold, and its kind is enough.
const END: &str = r#"{"type":"agent_end""#;

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, errors::COMMON, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// Answers without an error, and the tokens and cost of all.
    answers: u64,
    tokens: Tokens,
    cost: f64,
    compacted: bool,
    /// The reason for the end of the last answer, and whether the session has ended.
    stop_reason: String,
    ended: bool,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::AgentStart => self.ended = false,
            Event::MessageEnd { message } => self.message(message, session),
            Event::ToolExecutionStart {
                tool_call_id,
                tool_name,
                args,
            } => session.call(tool_call_id, tool_name, args, None),
            Event::AgentEnd => self.ended = true,
            Event::CompactionStart => self.compacted = true,
            Event::Other => {}
        }
    }

    fn message(&mut self, message: Message, session: &mut Session) {
        match message {
            Message::User { content, timestamp } => {
                session.at_millisecond(timestamp);
                session.message(Role::User, content.text());
            }
            Message::Assistant(answer) => self.answer(answer, session),
            Message::ToolResult {
                tool_call_id,
                content,
                is_error,
                timestamp,
            } => {
                session.at_millisecond(timestamp);
                session.result(tool_call_id, !is_error, Some(content.text()));
            }
            Message::Other => {}
        }
    }

    fn answer(&mut self, answer: Answer, session: &mut Session) {
        session.at_millisecond(answer.timestamp);
        self.tokens += answer.usage.tokens();
        self.cost += answer.usage.cost.total;
        for part in answer.content.parts() {
            match part {
                Part::Text { text } => session.message(Role::Assistant, text),
                Part::Thinking { thinking } => session.reasoning(thinking),
                Part::Other => {}
            }
        }
        if let "error" | "aborted" = answer.stop_reason.as_str() {
            let aborted = answer.stop_reason == "aborted";
            let text = answer.error_message.unwrap_or(answer.stop_reason);
            let kind = if aborted {
                ErrorKind::Agent
            } else {
                let status = errors::leading_status(&text);
                // Other refusals of the service, of an unknown model for example, are trouble with the service too.
                errors::classify(errors::COMMON, status, &text).unwrap_or(ErrorKind::ModelApi)
            };
            session.fail(kind, text.clone());
            session.error(text);
            return;
        }
        self.answers += 1;
        self.stop_reason = answer.stop_reason;
        if let Some(model) = &answer.response_model {
            session.models.answered(model);
        }
        session.recovered();
    }
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if text.starts_with(REPETITION) {
            return;
        }
        if text.starts_with(END) {
            self.ended = true;
        } else if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        }
    }

    fn oversized_line(&mut self, beginning: &str, bytes: u64, session: &mut Session) {
        if beginning.starts_with(END) {
            self.ended = true;
        } else if !beginning.starts_with(REPETITION) {
            session.notice(format!("an event of {bytes} bytes was not decoded"));
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_first(text);
    }

    fn usage(&self, session: &Session) -> Usage {
        let mut counted = session.counted(self.answers);
        if self.compacted {
            // A summary of the conversation is asked for on the side.
            counted.requests = None;
        }
        let tokens = self.tokens.known_usage();
        if tokens.input_tokens.is_none() || self.compacted {
            return counted;
        }
        Usage {
            cost_usd: known_cost(self.cost),
            ..tokens.or(counted)
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.compacted {
            session.final_note(
                "the tokens used to shorten the conversation are not known, so there are no figures",
            );
        }
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        if !self.ended || self.answers == 0 {
            return session.no_end(exit);
        }
        if self.stop_reason == "length" {
            session.final_note("the last answer was cut off: length");
        }
        Ending::Completed
    }
}

/// A line of `--mode json`.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Event {
    AgentStart,
    MessageEnd {
        message: Message,
    },
    ToolExecutionStart {
        tool_call_id: Option<String>,
        tool_name: String,
        #[serde(default)]
        args: Value,
    },
    /// It may start again, after an error or when the conversation has become too long.
    AgentEnd,
    CompactionStart,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
enum Message {
    User {
        #[serde(default)]
        content: Content,
        timestamp: Option<i64>,
    },
    Assistant(Answer),
    ToolResult {
        tool_call_id: Option<String>,
        #[serde(default)]
        content: Content,
        #[serde(default)]
        is_error: bool,
        timestamp: Option<i64>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    content: Content,
    /// The model that the service named, where that is not the one that was asked for.
    response_model: Option<String>,
    #[serde(default)]
    usage: WireTokens,
    #[serde(default)]
    stop_reason: String,
    error_message: Option<String>,
    /// In milliseconds since 1970.
    timestamp: Option<i64>,
}

/// One text, or parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Self {
        Content::Parts(Vec::new())
    }
}

impl Content {
    fn parts(self) -> Vec<Part> {
        match self {
            Content::Text(text) => vec![Part::Text { text }],
            Content::Parts(parts) => parts,
        }
    }

    /// Returns its texts as one.
    fn text(self) -> String {
        let mut texts = Vec::new();
        for part in self.parts() {
            if let Part::Text { text } = part {
                texts.push(text);
            }
        }
        texts.join("\n")
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Part {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    #[serde(other)]
    Other,
}

/// The tokens of one request: input without the cached ones, output with the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireTokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: Cost,
}

impl WireTokens {
    fn tokens(self) -> Tokens {
        Tokens {
            input: total([self.input, self.cache_read, self.cache_write]),
            cached: self.cache_read,
            output: self.output,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: f64,
}

#[cfg(test)]
mod tests;
