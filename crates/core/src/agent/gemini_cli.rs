//! `gemini-cli`: Google's Gemini CLI, driven headlessly with `-o stream-json`.
//!
//! Two facts shape this file: exit status 0 proves nothing (only a `result` event with status `success` does), and the
//! number of model requests is only in the session file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::Patterns;
use super::invocation::variables;
use super::mcp::{self, McpServer, RemoteTransport};
use super::model_service::{ModelService, usual};
use super::session::{self, Protocol, Session, failed};
use super::tokens::Tokens;
use super::{
    Agent, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile, SideFile,
    Skippable, Stdin, models,
};
use crate::process::Exit;
use crate::text::json::object;
use crate::transcript::{Role, Step, Usage, total};
use crate::trial_error::ErrorKind;

pub(super) static AGENT: Agent = Agent {
    profile: PROFILE,
    invocation,
    decoder,
};

pub(super) const PROFILE: Profile = Profile {
    name: "gemini-cli",
    aliases: &["gemini"],
    program: Some("gemini"),
    tested_version: "0.61.0",
    config_keys: &[
        "mcpServers", "general", "output", "ui", "ide", "privacy", "telemetry", "billing", "model",
        "modelConfigs", "agents", "context", "tools", "mcp", "useWriteTodos", "security",
        "advanced", "experimental", "extensions", "skills", "hooksConfig", "hooks",
        "contextManagement", "admin", "policyPaths", "adminPolicyPaths",
    ],
    package: Some(Package::Npm("@google/gemini-cli")),
    rules_file: "GEMINI.md",
    skills_dir: ".gemini/skills",
    read_above: &["GEMINI.md", ".gemini", ".env"],
    credential_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    setting_variables: &[
        "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS",
    ],
    credential_files: &[".gemini/oauth_creds.json", ".gemini/google_accounts.json"],
    services: &[ModelService::by_variable(
        &["GEMINI_API_KEY"],
        "GOOGLE_GEMINI_BASE_URL",
        usual::GEMINI,
    )
    .unless(&["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"])],
    hosts: &[
        "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
    ],
    ..Profile::USUAL
};

/// The number of attempts at a request. The default of 10 takes minutes.
const ATTEMPTS: u32 = 3;
/// The time that an MCP server has for an answer, its first and any other. The default is ten minutes.
const MCP_MILLISECONDS: u32 = 120_000;

/// In this order: the advice that comes with a used-up quota mentions `/auth method` too.
pub(super) const ERRORS: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "RESOURCE_EXHAUSTED", "\"code\":429", "daily quota", "quota increase",
            "Quota exceeded", "rate limit", "Suggested retry after", "Too Many Requests",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "UNAUTHENTICATED", "PERMISSION_DENIED", "API key not valid", "\"code\":401",
            "\"code\":403", "auth method", "GEMINI_API_KEY",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "[API Error", "fetch failed", "ECONNREFUSED", "ENOTFOUND", "INTERNAL", "UNAVAILABLE",
            "overloaded", "stream ended without a finish reason",
        ],
    ),
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".gemini");
    let mut args = vec!["--approval-mode", "yolo", "--output-format", "stream-json"];
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    Invocation {
        launch: Launch::program("gemini", &args),
        env: variables(&[
            ("GEMINI_CLI_HOME", inputs.agent_home.as_str()),
            // The workspace is ours; without trust `yolo` is refused.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            // One process instead of two: quicker, and signals arrive.
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ("NO_BROWSER", "true"),
            ("NO_COLOR", "1"),
        ]),
        stdin: Stdin::Prompt,
        files: vec![PlacedFile::json(&home, "settings.json", &settings(inputs))],
        side_files: vec![SideFile {
            dir: home.join("tmp"),
            // Those of sub-agents are one directory further down.
            glob: "*/chats/**/*.jsonl",
            label: "session.jsonl",
        }],
    }
}

fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "privacy": { "usageStatisticsEnabled": false },
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": ATTEMPTS,
        },
        // Nothing from the directories above reaches the agent.
        "advanced": { "ignoreLocalEnv": true },
        "context": { "memoryBoundaryMarkers": [] },
    });
    let signs_in_otherwise = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"]
        .iter()
        .any(|name| inputs.variables.contains(*name));
    if inputs.variables.contains("GEMINI_API_KEY") && !signs_in_otherwise {
        // Otherwise a base URL makes it guess a method that it then refuses.
        settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
    }
    if !inputs.mcp_servers.is_empty() {
        settings["mcpServers"] = mcp_settings(inputs.mcp_servers, "timeout", MCP_MILLISECONDS);
    }
    inputs.with_config(settings)
}

/// Returns the servers as Gemini CLI, and agents made from it, want them.
pub(super) fn mcp_settings(
    servers: &[(String, McpServer<String>)],
    limit: &str,
    milliseconds: u32,
) -> Value {
    mcp::settings_by_name(servers, |server| {
        let mut settings = match server {
            McpServer::Stdio { .. } => server.program_settings(),
            McpServer::Remote {
                url,
                headers,
                transport,
            } => {
                let key = match transport {
                    RemoteTransport::Http => "httpUrl",
                    RemoteTransport::Sse => "url",
                };
                json!({ key: url, "headers": object(headers) })
            }
        };
        settings[limit] = json!(milliseconds);
        settings
    })
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, ERRORS, Stream::default())
}

/// Returns a reader of its session file and its standard error.
pub(super) fn protocol() -> Box<dyn Protocol> {
    Box::new(Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    result: Option<SessionResult>,
    /// The last event of an error. A result that only says `error` comes with its reason there.
    last_error: Option<String>,
}

#[derive(Debug)]
struct SessionResult {
    status: String,
    error: Option<EventError>,
    stats: Option<ResultStats>,
}

impl Stream {
    /// Returns `None` where a field that such an event must have is missing.
    fn event(&mut self, event: Event, session: &mut Session) -> Option<()> {
        session.at(event.timestamp);
        match event.kind {
            EventType::Message => {
                let text = event.content?;
                match (event.role?.as_str(), event.delta) {
                    ("user", _) => session.message(Role::User, text),
                    ("assistant", true) => session.piece(Step::Message {
                        role: Role::Assistant,
                        text,
                    }),
                    _ => session.message(Role::Assistant, text),
                }
            }
            EventType::ToolUse => {
                let tool = event.tool_name?;
                // MCP tools are called `mcp_<server>_<tool>`.
                let server = tool
                    .strip_prefix("mcp_")
                    .and_then(|rest| session.server_of(rest, "_"));
                session.call(event.tool_id, tool, event.parameters, server);
            }
            EventType::ToolResult => {
                let ok = event.status? == "success";
                let output = event.output.or(event.error.map(|error| error.message));
                session.result(event.tool_id, ok, output);
            }
            EventType::Error => {
                let text = event.message?;
                session.note(text.clone());
                session.notice(text.clone());
                self.last_error = Some(text);
            }
            EventType::Result => {
                let text = event.error.as_ref().map(|error| error.message.clone());
                self.result = Some(SessionResult {
                    status: event.status?,
                    error: event.error,
                    stats: event.stats,
                });
                match text {
                    Some(text) => session.error(text),
                    None => session.flush(),
                }
            }
            EventType::Other => session.flush(),
        }
        Some(())
    }

    fn stats(&self) -> Option<&ResultStats> {
        self.result.as_ref()?.stats.as_ref()
    }

    /// Notes the model that answered. Those of a router and of sub-agents are among the figures, so the one that was
    /// asked for counts if it is there, or else the busiest. The session file only repeats what was asked for.
    fn note_model(&self, session: &mut Session) {
        let Some(stats) = self.stats() else { return };
        let asked_for = session.requested_model.as_deref().unwrap_or_default();
        let worked = stats.models.iter();
        let worked = worked.filter(|(_, used)| used.total_tokens > 0);
        session.models.others_worked = worked.clone().count() > 1;
        let most = worked
            .max_by_key(|(model, used)| (models::is_same(asked_for, model), used.total_tokens));
        if let Some((model, _)) = most {
            session.models.answered(model);
        }
    }
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        }
    }

    fn skippable(&self, beginning: &[u8]) -> Option<Skippable> {
        let kind = beginning.strip_prefix(br#"{"type":""#)?;
        if kind.starts_with(b"message\"") {
            Some(Skippable::Words)
        } else {
            kind.starts_with(b"tool_result\"")
                .then_some(Skippable::Output)
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        if !text.contains("256-color") && !text.contains("Ripgrep") {
            session.remember(text);
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        let Ok(line) = serde_json::from_str::<SessionLine>(line) else {
            return;
        };
        if let (Some("gemini"), Some(id), Some(tokens)) =
            (line.kind.as_deref(), line.id, line.tokens)
        {
            session.answers.insert(id, tokens.tokens());
        }
    }

    fn skill_tool(&self) -> Option<&'static str> {
        Some("activate_skill")
    }

    fn usage(&self, session: &Session) -> Usage {
        let totals = self.stats().map(ResultStats::usage).unwrap_or_default();
        totals.or(session.answers_usage()).or(session.counted(0))
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.note_model(session);
        let Some(result) = &self.result else {
            return session.no_end(exit);
        };
        match &result.error {
            None if result.status == "success" => Ending::Completed,
            None => {
                // Without any words the answer of the model broke off.
                let ended = format!(
                    "the session ended with status `{}`: the model's last answer broke off",
                    result.status
                );
                match self.last_error.take() {
                    Some(why) => failed(session.classify(&why).unwrap_or(ErrorKind::Agent), why),
                    None => failed(ErrorKind::ModelApi, ended),
                }
            }
            Some(error) if error.kind == "FatalTurnLimitedError" => {
                session.final_note(error.message.clone());
                Ending::Completed
            }
            Some(error) => {
                let kind = session.classify(&error.message);
                failed(kind.unwrap_or(ErrorKind::Agent), error.message.clone())
            }
        }
    }
}

/// The events of `stream-json`, all kinds in one: which fields there are depends on `type`. With an enum serde would
/// parse every line twice, and there may be millions.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: EventType,
    timestamp: Option<String>,
    role: Option<String>,
    content: Option<String>,
    #[serde(default)]
    delta: bool,
    tool_name: Option<String>,
    tool_id: Option<String>,
    #[serde(default)]
    parameters: Value,
    status: Option<String>,
    output: Option<String>,
    error: Option<EventError>,
    message: Option<String>,
    stats: Option<ResultStats>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventType {
    Message,
    ToolUse,
    ToolResult,
    Error,
    Result,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct EventError {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize)]
struct ResultStats {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    tool_calls: u64,
    #[serde(default)]
    models: BTreeMap<String, ModelStats>,
}

impl ResultStats {
    /// Returns the totals, unless they are the zeros of a session that failed.
    fn usage(&self) -> Usage {
        if self.total_tokens == 0 {
            return Usage::default();
        }
        // Tokens that are neither input nor answer are thought, which is paid for as output.
        let rest = self.total_tokens.saturating_sub(self.input_tokens);
        let tokens = Tokens {
            input: self.input_tokens,
            cached: self.cached,
            output: rest.max(self.output_tokens),
        };
        Usage {
            tool_calls: Some(self.tool_calls),
            ..tokens.usage()
        }
    }
}

#[derive(Debug, Deserialize)]
struct ModelStats {
    total_tokens: u64,
}

/// A line of the session file. An id comes again when tool calls are added; its last line counts.
#[derive(Debug, Deserialize)]
struct SessionLine {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    tokens: Option<SessionTokens>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct SessionTokens {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
}

impl SessionTokens {
    fn tokens(self) -> Tokens {
        Tokens {
            input: self.input,
            cached: self.cached,
            output: total([self.output, self.thoughts]),
        }
    }
}

#[cfg(test)]
mod tests;
