//! `qwen-code`: Qwen Code, driven headlessly with `-o stream-json`.
//!
//! It has Gemini CLI's settings and Claude Code's stream. Three facts shape this file: a prompt that begins with `/`
//! would run a command, a limit that is reached shows only as exit status 53 or 55, and the number of model requests
//! is in the session file.

use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::Patterns;
use super::gemini_cli::mcp_settings;
use super::invocation::variables;
use super::model_service::{ModelService, usual};
use super::session::{self, Protocol, Session, failed};
use super::tokens::Tokens;
use super::{
    Agent, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile, SideFile,
    Skippable, Stdin,
};
use crate::process::Exit;
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

pub(super) static AGENT: Agent = Agent {
    profile: PROFILE,
    invocation,
    decoder,
};

pub(super) const PROFILE: Profile = Profile {
    name: "qwen-code",
    aliases: &["qwen"],
    program: Some("qwen"),
    tested_version: "0.24.4",
    config_keys: &[
        "mcpServers", "channels", "serve", "modelProviders", "providerProtocol", "plansDirectory",
        "env", "proxy", "general", "review", "output", "dualOutput", "ui", "ide", "privacy",
        "telemetry", "outboundCorrelation", "fastModel", "advisorModel", "visionModel",
        "compactionModel", "imageModel", "visionBridgeTimeoutMs", "modelFallbacks", "voiceModel",
        "model", "modelPricing", "context", "memory", "slashCommands", "skills", "permissions",
        "tools", "policy", "mcp", "security", "advanced", "goals", "agents", "disableAllHooks",
        "stopHookBlockingCap", "hooks", "experimental", "artifact", "worktree", "omni",
    ],
    package: Some(Package::Npm("@qwen-code/qwen-code")),
    // It reads AGENTS.md as well, so the rules that the workspace has there stay in force.
    rules_file: "QWEN.md",
    skills_dir: ".qwen/skills",
    read_above: &["QWEN.md", "AGENTS.md", ".qwen", ".env"],
    credential_variables: &["OPENAI_API_KEY"],
    setting_variables: &["OPENAI_BASE_URL"],
    services: &[ModelService::by_variable(
        &["OPENAI_API_KEY"],
        "OPENAI_BASE_URL",
        usual::OPENAI_V1,
    )],
    hosts: &[
        "chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com",
    ],
    ..Profile::USUAL
};

/// The number of times that the client tries a failed request again, within each of the seven rounds that it makes
/// anyway.
const RETRIES: u32 = 0;
/// The time that an MCP server has to connect. The default is five seconds for one that is not local.
const MCP_MILLISECONDS: u32 = 30_000;
/// The exit statuses of a session that reached a limit: of turns, and of tool calls or time.
const LIMITS: [i32; 2] = [53, 55];

/// The messages look like `[API Error: 401 Incorrect API key provided]`.
pub(super) const ERRORS: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "api error: 429", "quota", "rate limit", "too many requests", "throttl",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "api error: 401", "api error: 403", "api key", "openai_api_key", "auth type",
            "authentication",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "api error", "fetch failed", "connection error", "econnrefused", "enotfound",
            "overloaded",
        ],
    ),
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".qwen");
    let mut env = vec![
        ("QWEN_HOME", home.as_str()),
        ("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1"),
        // Also for a `config` that makes it ignore its settings.
        ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
        ("NO_COLOR", "1"),
    ];
    // A variable wins over an `.env` file in the workspace.
    env.extend(inputs.model.map(|model| ("OPENAI_MODEL", model)));
    Invocation {
        launch: Launch::program("qwen", &["--yolo", "--output-format", "stream-json"]),
        env: variables(&env),
        stdin: stdin(inputs.prompt),
        files: vec![PlacedFile::json(&home, "settings.json", &settings(inputs))],
        side_files: vec![SideFile {
            dir: home.join("projects"),
            glob: "*/chats/*.jsonl",
            label: "session.jsonl",
        }],
    }
}

/// A prompt that begins with `/` would run a command of that name; an empty line in front prevents it.
fn stdin(prompt: &str) -> Stdin {
    if prompt.starts_with('/') {
        Stdin::Text(format!("\n{prompt}"))
    } else {
        Stdin::Prompt
    }
}

fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false },
        // It would ask the model what the user may say next.
        "ui": { "enableFollowupSuggestions": false },
        // It would ask the model what to remember after the last answer, and count that as the session's.
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        "model": { "generationConfig": { "maxRetries": RETRIES } },
    });
    if !inputs.mcp_servers.is_empty() {
        settings["mcpServers"] =
            mcp_settings(inputs.mcp_servers, "discoveryTimeoutMs", MCP_MILLISECONDS);
    }
    inputs.with_config(settings)
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
    /// The number of answers in the stream and their tokens. The session file also knows of sub-agents.
    answers: u64,
    tokens: Tokens,
    result: Option<Outcome>,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            // The request failed, or its answer broke off.
            Event::System(system) if system.subtype == "retry" => {
                session.request_failed(ErrorKind::ModelApi, "a request was tried again");
            }
            Event::System(_) | Event::Other => {}
            Event::Assistant { message } => {
                if message.usage != WireTokens::default() {
                    self.answers += 1;
                    self.tokens += message.usage.tokens();
                }
                content(Role::Assistant, message.content, session);
            }
            Event::User { message } => content(Role::User, message.content, session),
            Event::Result(outcome) => {
                if let Some(error) = &outcome.error {
                    session.error(error.message.clone());
                }
                self.result = Some(outcome);
            }
        }
    }
}

fn content(role: Role, content: Content, session: &mut Session) {
    match content {
        Content::Text(text) => session.message(role, text),
        Content::Blocks(blocks) => {
            for part in blocks {
                block(role, part, session);
            }
        }
    }
}

fn block(role: Role, block: Block, session: &mut Session) {
    match block {
        Block::Text { text } => session.message(role, text),
        Block::Thinking { thinking } => session.reasoning(thinking),
        Block::ToolUse { id, name, input } if role == Role::Assistant => {
            let (name, input) = called(name, input);
            // MCP tools are called `mcp__<server>__<tool>`.
            let server = name
                .strip_prefix("mcp__")
                .and_then(|rest| session.server_of(rest, "__"));
            session.call(id, name, input, server);
        }
        Block::ToolResult {
            tool_use_id,
            is_error,
            content,
        } => {
            let output = match content {
                Value::Null => None,
                Value::String(text) => Some(text),
                other => Some(other.to_string()),
            };
            session.result(tool_use_id, !is_error, output);
        }
        Block::ToolUse { .. } | Block::Other => {}
    }
}

/// Returns the tool that is called and its arguments. Tools of MCP servers may be called by way of `tool_call`.
fn called(name: String, input: Value) -> (String, Value) {
    match (name.as_str(), input["name"].as_str()) {
        ("tool_call", Some(called)) => {
            let called = called.to_owned();
            let arguments = input.get("arguments").cloned().unwrap_or(input);
            (called, arguments)
        }
        _ => (name, input),
    }
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        }
    }

    fn skippable(&self, beginning: &[u8]) -> Option<Skippable> {
        beginning
            .starts_with(br#"{"type":"user""#)
            .then_some(Skippable::Output)
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        if !text.contains("Ripgrep") {
            session.remember(text);
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        let Ok(line) = serde_json::from_str::<SessionLine>(line) else {
            return;
        };
        let event = line.system_payload.ui_event;
        if event.name == "qwen-code.api_response" {
            // The model that the service named; the stream only repeats what was asked for.
            if event.subagent_name.is_none()
                && let Some(model) = &event.model
                && !session.answers.contains_key(&line.uuid)
            {
                session.models.answered(model);
            }
            session.answers.insert(line.uuid, event.tokens.tokens());
        }
    }

    fn skill_tool(&self) -> Option<&'static str> {
        Some("skill")
    }

    fn usage(&self, session: &Session) -> Usage {
        let streamed = Usage {
            requests: Some(self.answers),
            ..self.tokens.usage()
        };
        let streamed = Some(streamed).filter(|_| self.answers > 0 && session.answers.is_empty());
        let answers = session.answers_usage().or(streamed.unwrap_or_default());
        let result = self.result.as_ref().map(|result| result.usage);
        let reported = result
            // The totals leave out an answer that broke off.
            .filter(|tokens| *tokens != WireTokens::default() && !session.has_unknown_tokens())
            .map(|tokens| tokens.tokens().usage());
        reported
            .unwrap_or_default()
            .or(answers)
            .or(session.counted(0))
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        let Some(result) = &self.result else {
            if exit.code().is_some_and(|code| LIMITS.contains(&code)) {
                session.final_note(session.last_words(exit));
                return Ending::Completed;
            }
            return session.no_end(exit);
        };
        if !result.is_error && result.subtype == "success" {
            let denied = result.permission_denials.len();
            if denied > 0 {
                session.final_note(format!("{denied} tool calls were not permitted"));
            }
            return Ending::Completed;
        }
        let message = match &result.error {
            Some(error) => error.message.clone(),
            None => format!("the session ended with `{}`", result.subtype),
        };
        failed(
            session.classify(&message).unwrap_or(ErrorKind::Agent),
            message,
        )
    }
}

/// The events of `stream-json` that matter here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    System(System),
    Assistant {
        message: Message,
    },
    User {
        message: Message,
    },
    Result(Outcome),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct System {
    #[serde(default)]
    subtype: String,
}

/// One response comes as a message for each of its blocks; only the last has figures.
#[derive(Debug, Deserialize)]
struct Message {
    content: Content,
    #[serde(default)]
    usage: WireTokens,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Blocks(Vec<Block>),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: Option<String>,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: Option<String>,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        content: Value,
    },
    #[serde(other)]
    Other,
}

/// Input with the cached tokens, output with the thoughts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
struct WireTokens {
    #[serde(alias = "input_token_count")]
    input_tokens: u64,
    #[serde(alias = "output_token_count")]
    output_tokens: u64,
    #[serde(alias = "cached_content_token_count")]
    cache_read_input_tokens: u64,
}

impl WireTokens {
    fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            cached: self.cache_read_input_tokens,
            output: self.output_tokens,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Outcome {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    usage: WireTokens,
    #[serde(default)]
    permission_denials: Vec<Value>,
    error: Option<OutcomeError>,
}

#[derive(Debug, Deserialize)]
struct OutcomeError {
    #[serde(default)]
    message: String,
}

/// A line of the session file. Every answer of the model has one with telemetry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionLine {
    uuid: String,
    system_payload: Payload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    ui_event: UiEvent,
}

#[derive(Debug, Deserialize)]
struct UiEvent {
    #[serde(rename = "event.name")]
    name: String,
    model: Option<String>,
    /// Set where a sub-agent asked.
    subagent_name: Option<String>,
    #[serde(flatten)]
    tokens: WireTokens,
}

#[cfg(test)]
mod tests;
