//! `copilot`, GitHub's Copilot CLI, driven headlessly with `--output-format json`.
//!
//! Three facts shape this file: the tokens of a request are only in the session's own log, which grows with the
//! session; a termination ends in a result with exit status 0, like a success; and its program unpacks itself, 237 MB,
//! into a cache of which every home would have another.

use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::{self, Patterns};
use super::invocation::variables;
use super::mcp::ServerTool;
use super::model_service::ModelService;
use super::session::{self, Protocol, Session};
use super::tokens::Tokens;
use super::{
    Agent, Cache, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile,
    SideFile, Stdin, mcp,
};
use crate::process::Exit;
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "copilot",
        aliases: &["copilot-cli", "github-copilot"],
        program: Some("copilot"),
        tested_version: "1.0.102",
        package: Some(Package::Npm("@github/copilot")),
        skills_dir: ".github/skills",
        credential_variables: &[
            "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY",
            "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_HEADERS",
        ],
        // A sign-in is kept in the system's keyring, or among its state and not by itself, so there are no files.
        services: &[ModelService::by_variable(
            &["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"],
            "COPILOT_PROVIDER_BASE_URL",
            "",
        )],
        setting_variables: &[
            "COPILOT_GH_HOST", "GH_HOST", "COPILOT_OFFLINE", "COPILOT_PROVIDER_BASE_URL",
            "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_TRANSPORT",
            "COPILOT_PROVIDER_AZURE_API_VERSION", "COPILOT_PROVIDER_API_KEY_COMMAND",
            "COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
            PROGRAM_CACHE,
        ],
        caches: &[Cache {
            variable: PROGRAM_CACHE,
            dir: ".cache/copilot",
        }],
        hosts: &["api.github.com", "github.com", "*.githubcopilot.com"],
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

/// The variable for the place of the unpacked program. Where it is not set, every trial unpacks its own.
const PROGRAM_CACHE: &str = "COPILOT_PKG_CACHE_HOME";

const ERRORS: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "rate limit", "too many requests", "quota", "premium requests",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "authentication", "unauthorized", "forbidden", "api key", "not logged in",
            "access denied by policy",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "failed to get response", "connect", "network", "fetch failed", "timed out",
            "overloaded",
        ],
    ),
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec![
        "--output-format", "json",
        // Without it every tool is denied, and the session succeeds all the same.
        "--allow-all", "--no-ask-user", "--no-auto-update", "--no-color",
        "--disable-client-telemetry", "--session-id", inputs.session_id,
    ];
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    let state = inputs.agent_home.join(".copilot");
    let settings = inputs.with_config(json!({
        // An editor that happens to be open is no part of the trial; nor are agents that an organisation has.
        "ide": { "autoConnect": false },
        "customAgents": { "defaultLocalOnly": true },
    }));
    let mut files = vec![PlacedFile::json(&state, "settings.json", &settings)];
    if !inputs.mcp_servers.is_empty() {
        let servers = mcp::settings_by_name(inputs.mcp_servers, |server| {
            let server = server.with_cwd_wrapped();
            let mut settings = server.typed_settings(["local", "http", "sse"]);
            settings["tools"] = json!(["*"]);
            settings
        });
        let servers = json!({ "mcpServers": servers });
        files.push(PlacedFile::json(&state, "mcp-config.json", &servers));
    }
    Invocation {
        launch: Launch::program("copilot", &args),
        env: variables(&[
            ("COPILOT_HOME", state.as_str()),
            ("COPILOT_AUTO_UPDATE", "false"),
        ]),
        stdin: Stdin::Prompt,
        files,
        // The session's log, in which every answer has its figures.
        side_files: vec![SideFile {
            dir: state.join("session-state"),
            glob: "*/events.jsonl",
            label: "session.jsonl",
        }],
    }
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, ERRORS, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// Requests that were answered, those of sub-agents too.
    answered: u64,
    /// The number of requests in the log, and their tokens.
    logged: u64,
    tokens: Tokens,
    /// Summaries of the conversation whose figures the log does not have yet.
    open_summaries: u64,
    ended: bool,
    /// The exit status in the result, which is the last line.
    result: Option<i32>,
}

impl Stream {
    fn event(&mut self, event: Event, of_sub_agent: bool, session: &mut Session) {
        match event {
            // The prompt of a sub-agent is in the call that started it.
            Event::Prompt { content } if !of_sub_agent => session.message(Role::User, content),
            Event::Answer(answer) => answered(answer, session),
            Event::ToolStart(call) => {
                let server = call.mcp_config_server_name.or(call.mcp_server_name);
                let server = server.filter(|name| session.servers().contains(name));
                // MCP tools are called `<server>-<tool>`.
                let server = server.map(|server| ServerTool {
                    tool: call
                        .mcp_tool_name
                        .or_else(|| mcp::tool_at(&server, &call.tool_name, "-").map(str::to_owned))
                        .unwrap_or_else(|| call.tool_name.clone()),
                    server,
                });
                session.call(call.tool_call_id, call.tool_name, call.arguments, server);
            }
            Event::ToolEnd(end) => {
                let output = end.result["content"].as_str();
                let output = output.or(end.error["message"].as_str()).map(str::to_owned);
                session.result(end.tool_call_id, end.success, output);
            }
            Event::CallFinished { outcome } => self.answered += u64::from(outcome == "success"),
            Event::CallFailed { status_code } => {
                let kind = status_code.and_then(errors::by_status);
                let status = status_code.map(|status| status.to_string());
                session.request_failed(
                    kind.unwrap_or(ErrorKind::ModelApi),
                    status.unwrap_or_else(|| "no answer".to_owned()),
                );
            }
            Event::Error(error) => {
                // The advice that follows is for people at a keyboard.
                let text = error.message.lines().next().unwrap_or_default();
                session.fail(kind_of(&error), text);
                session.error(text.to_owned());
            }
            Event::Prompt { .. }
            | Event::UsageRecord { .. }
            | Event::CompactionStart {}
            | Event::CompactionComplete { .. }
            | Event::Other => {}
        }
    }
}

fn answered(answer: Answer, session: &mut Session) {
    session.recovered();
    if let Some(text) = answer.reasoning_text.filter(|text| !text.is_empty()) {
        session.reasoning(text);
    }
    if !answer.content.is_empty() {
        session.message(Role::Assistant, answer.content);
    }
}

fn kind_of(error: &SessionError) -> ErrorKind {
    let by_status = error.status_code.and_then(|status| {
        // Other refusals of the service, of an unknown model for example, are trouble with the service too.
        errors::by_status(status).or((status >= 400).then_some(ErrorKind::ModelApi))
    });
    let by_name = match error.error_type.as_str() {
        "authentication" | "authorization" => Some(ErrorKind::Auth),
        "rate_limit" | "quota" => Some(ErrorKind::RateLimit),
        "query" => Some(ErrorKind::ModelApi),
        _ => None,
    };
    by_status
        .or(by_name)
        .or_else(|| errors::classify(ERRORS, None, &error.message))
        .unwrap_or(ErrorKind::Agent)
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(line) = serde_json::from_str::<Stamped>(text) {
            self.result = line.exit_code.or(self.result);
            session.at(line.timestamp);
            self.event(line.event, line.agent.is_some(), session);
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember(text.trim_start_matches("Error: "));
    }

    fn side_line(&mut self, _label: &str, line: &str, _session: &mut Session) {
        let Ok(Stamped { event, .. }) = serde_json::from_str(line) else {
            return;
        };
        match event {
            Event::UsageRecord { usage } => {
                self.logged += 1;
                self.tokens += usage.tokens();
            }
            Event::CompactionStart {} => self.open_summaries += 1,
            Event::CompactionComplete {
                compaction_tokens_used: Some(used),
            } => {
                self.open_summaries = self.open_summaries.saturating_sub(1);
                self.logged += used.request_count;
                self.tokens += used.tokens();
            }
            _ => {}
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        let mut counted = session.counted(self.answered.max(self.logged));
        if self.open_summaries > 0 {
            counted.requests = None;
            return counted;
        }
        // A log that lacks an answer has too few tokens.
        if self.logged == 0 || (self.ended && self.answered > self.logged) {
            return counted;
        }
        self.tokens.usage().or(counted)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.ended = true;
        if self.open_summaries > 0 {
            session.final_note(
                "the tokens used to shorten the conversation are not known, so there are no figures",
            );
        }
        if self.logged > 0 && self.answered > self.logged {
            session.final_note("its log lacks some answers, so the tokens are not known");
        }
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        if self.result == Some(0) {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

/// A line of its output, or of the session's log.
#[derive(Debug, Deserialize)]
struct Stamped {
    timestamp: Option<String>,
    /// Set where a sub-agent speaks.
    #[serde(rename = "agentId")]
    agent: Option<String>,
    /// Only the last line, the result, has it.
    #[serde(rename = "exitCode")]
    exit_code: Option<i32>,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "data")]
enum Event {
    #[serde(rename = "user.message")]
    Prompt { content: String },
    #[serde(rename = "assistant.message")]
    Answer(Answer),
    #[serde(rename = "tool.execution_start")]
    ToolStart(ToolStart),
    #[serde(rename = "tool.execution_complete")]
    ToolEnd(ToolEnd),
    #[serde(rename = "model.call_finished")]
    CallFinished { outcome: String },
    #[serde(rename = "model.call_failure", rename_all = "camelCase")]
    CallFailed { status_code: Option<u16> },
    #[serde(rename = "session.error")]
    Error(SessionError),
    /// Only in the log: the tokens of one answered request.
    #[serde(rename = "session.usage_record")]
    UsageRecord { usage: Used },
    /// Only in the log: the conversation is summed up, which has figures of its own.
    #[serde(rename = "session.compaction_start")]
    CompactionStart {},
    #[serde(rename = "session.compaction_complete", rename_all = "camelCase")]
    CompactionComplete {
        compaction_tokens_used: Option<Used>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    content: String,
    reasoning_text: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolStart {
    tool_call_id: Option<String>,
    tool_name: String,
    #[serde(default)]
    arguments: Value,
    /// The MCP server as the settings call it.
    mcp_config_server_name: Option<String>,
    mcp_server_name: Option<String>,
    /// The tool as its server calls it.
    mcp_tool_name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolEnd {
    tool_call_id: Option<String>,
    #[serde(default)]
    success: bool,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionError {
    #[serde(default)]
    error_type: String,
    #[serde(default)]
    message: String,
    status_code: Option<u16>,
}

/// Input includes the cached tokens, output the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Used {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    /// Only of a summary: the requests that were needed for it.
    request_count: u64,
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

#[cfg(test)]
mod tests;
