//! `goose`, driven headlessly with `run --output-format stream-json`.
//!
//! Two facts shape this file: a provider is needed beside the model, so a model is written `provider/name`; and a service
//! that fails shows as a message of goose's own, with exit status 0.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::Patterns;
use super::invocation::variables;
use super::mcp::{McpServer, RemoteTransport, ServerTool, tool_name_part};
use super::model_service::{ModelService, usual};
use super::openai_chat::text_of;
use super::session::{self, Protocol, Session, failed};
use super::{
    Agent, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile, Stdin,
    StopSignal,
};
use crate::process::Exit;
use crate::text::json::object;
use crate::transcript::{Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "goose",
        program: Some("goose"),
        tested_version: "1.52.0",
        package: Some(Package::Npm("@aaif/goose-binary")),
        install: Some("https://goose-docs.ai/docs/getting-started/installation"),
        skills_dir: ".agents/skills",
        read_above: &["AGENTS.md", ".goosehints", ".goose", ".agents"],
        credential_variables: &[
            "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY",
            "DATABRICKS_TOKEN", "GROQ_API_KEY", "XAI_API_KEY",
        ],
        setting_variables: &[
            "GOOSE_PROVIDER", "OPENAI_HOST", "OPENAI_BASE_PATH", "ANTHROPIC_HOST", "GOOGLE_HOST",
            "OLLAMA_HOST", "DATABRICKS_HOST",
        ],
        services: &[
            ModelService::by_variable(&["OPENAI_API_KEY"], "OPENAI_HOST", usual::OPENAI),
            ModelService::by_variable(&["ANTHROPIC_API_KEY"], "ANTHROPIC_HOST", usual::ANTHROPIC),
            ModelService::by_variable(&["GOOGLE_API_KEY"], "GOOGLE_HOST", usual::GEMINI),
        ],
        // It ends its tools and says so; a termination would leave them behind.
        stop_signal: StopSignal::Interrupt,
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

/// The time that a request to an extension may take, a call of its tools included. This is goose's own default.
const EXTENSION_SECONDS: u32 = 300;

/// In this order: advice to try again comes with every one of them. Numbers alone say nothing: a port or an id may have
/// the same digits.
const ERRORS: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "Rate limit", "Status: 429", "429 Too Many", "quota", "Credits exhausted",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "Authentication", "Status: 401", "Status: 403", "Forbidden", "Unauthorized",
            "No provider configured", "API key", "API_KEY",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "Server error", "Network error", "Request failed", "error sending request",
            "Could not connect", "overloaded",
        ],
    ),
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let root = inputs.agent_home.join("goose");
    let mut env = vec![
        // The directory of settings, data and state.
        ("GOOSE_PATH_ROOT", root.as_str()),
        ("GOOSE_MODE", "auto"),
        ("GOOSE_DISABLE_KEYRING", "1"),
        // It would ask the model for a title.
        ("GOOSE_DISABLE_SESSION_NAMING", "true"),
        ("GOOSE_TELEMETRY_ENABLED", "false"),
        ("NO_COLOR", "1"),
    ];
    env.extend(inputs.model.into_iter().flat_map(model_variables));
    let args = [
        "run", "--quiet", "--no-session", "--output-format", "stream-json", "--instructions", "-",
    ];
    Invocation {
        launch: Launch::program("goose", &args),
        env: variables(&env),
        stdin: Stdin::Prompt,
        // JSON is YAML.
        files: vec![PlacedFile::json(
            &root.join("config"),
            "config.yaml",
            &settings(inputs),
        )],
        side_files: Vec::new(),
    }
}

/// Returns the variables for `provider/name`; without a provider, `GOOSE_PROVIDER` of the environment says which.
fn model_variables(model: &str) -> Vec<(&'static str, &str)> {
    match model.split_once('/') {
        Some((provider, name)) => vec![("GOOSE_PROVIDER", provider), ("GOOSE_MODEL", name)],
        None => vec![("GOOSE_MODEL", model)],
    }
}

fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "extensions": {
            // Without it goose has neither a shell nor an editor.
            "developer": {
                "enabled": true,
                "type": "builtin",
                "name": "developer",
                "bundled": true,
                "timeout": EXTENSION_SECONDS,
            },
        },
    });
    for (name, server) in inputs.mcp_servers {
        settings["extensions"][name] = mcp_settings(name, server);
    }
    inputs.with_config(settings)
}

fn mcp_settings(name: &str, server: &McpServer<String>) -> Value {
    let mut settings = match server.with_cwd_wrapped() {
        McpServer::Stdio {
            command, args, env, ..
        } => {
            json!({ "type": "stdio", "cmd": command, "args": args, "envs": object(&env) })
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let kind = match transport {
                RemoteTransport::Http => "streamable_http",
                // No longer supported, and the trial is an error that says so.
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": kind, "uri": url, "headers": object(&headers) })
        }
    };
    settings["name"] = json!(name);
    settings["enabled"] = json!(true);
    settings["timeout"] = json!(EXTENSION_SECONDS);
    settings
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    let is_by_sse = |server: &McpServer<String>| {
        matches!(
            server,
            McpServer::Remote {
                transport: RemoteTransport::Sse,
                ..
            }
        )
    };
    let mut servers = inputs.mcp_servers.iter();
    let unsupported = servers.find(|(_, server)| is_by_sse(server));
    let stream = Stream {
        unsupported: unsupported.map(|(name, _)| name.clone()),
        ..Stream::default()
    };
    session::decoder(inputs, ERRORS, stream)
}

#[derive(Debug, Default)]
struct Stream {
    /// A server by `sse`, which goose leaves out with a warning.
    unsupported: Option<String>,
    /// The answer that is arriving: its id, where it has one.
    answer: Option<Option<String>>,
    answers: u64,
    /// True if work was given to sub-agents, whose requests are not in the stream.
    delegated: bool,
    /// True if the conversation was shortened, by requests that are not in the stream.
    compacted: bool,
    complete: Option<Totals>,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::Message { message } => self.message(message, session),
            Event::Error { error } => {
                let kind = session.classify(&error).unwrap_or(ErrorKind::Agent);
                let failure = TrialError::new(kind, error.clone());
                session.failure.get_or_insert(failure);
                session.at(None);
                session.error(error);
            }
            Event::Complete(totals) => {
                self.complete = Some(totals);
                session.flush();
            }
            Event::Other => {}
        }
    }

    fn message(&mut self, message: Message, session: &mut Session) {
        let time = message
            .created
            .and_then(|time| Timestamp::from_second(time).ok());
        session.at(time.map(|time| time.to_string()));
        let role = if message.role == "user" {
            Role::User
        } else {
            Role::Assistant
        };
        let by_model = message.metadata.inference.is_some();
        if by_model {
            self.heard_from(message.id, session);
        }
        for content in message.content {
            match content {
                Content::Text { text } if role == Role::Assistant && !by_model => {
                    self.compacted |= is_about_compaction(&text);
                    own_words(text, session);
                }
                Content::Text { text } => session.piece(Step::Message { role, text }),
                Content::Thinking { thinking } => {
                    session.piece(Step::Reasoning { text: thinking });
                }
                Content::ToolRequest {
                    id,
                    tool_call,
                    meta,
                } => self.tool_request(id, &tool_call["value"], &meta, session),
                Content::ToolResponse { id, tool_result } => {
                    self.answer = None;
                    tool_response(id, &tool_result, session);
                }
                Content::Error { kind, message } => give_up(&kind, &message, session),
                Content::SystemNotification { msg } => {
                    self.compacted |= is_about_compaction(&msg);
                    if !msg.is_empty() {
                        session.notice(msg);
                    }
                }
                Content::ConversationCompacted {} => self.compacted = true,
                Content::Other => {}
            }
        }
    }

    /// Counts an answer, which comes in many messages. A new one has another id, or follows the result of a tool.
    fn heard_from(&mut self, id: Option<String>, session: &mut Session) {
        if self.answer.as_ref() != Some(&id) {
            self.answers += 1;
            self.answer = Some(id);
        }
        session.recovered();
    }

    fn tool_request(
        &mut self,
        id: Option<String>,
        call: &Value,
        meta: &Value,
        session: &mut Session,
    ) {
        let tool = call["name"].as_str().unwrap_or("unknown").to_owned();
        self.delegated |= tool == "delegate";
        // MCP tools are called `<extension>__<tool>`.
        let (prefix, name) = match tool.split_once("__") {
            Some((extension, name)) => (Some(extension), name),
            None => (None, tool.as_str()),
        };
        let extension = meta["goose_extension"].as_str().or(prefix);
        let server = extension.and_then(|extension| server_named(extension, session));
        let server = server.map(|server| ServerTool {
            server,
            tool: name.to_owned(),
        });
        session.call(id, tool, call["arguments"].clone(), server);
    }
}

/// `Compacting to continue conversation...`, `Performing auto-compaction...`
fn is_about_compaction(text: &str) -> bool {
    text.to_lowercase().contains("compact")
}

/// Reads words that goose itself says in the model's place.
fn own_words(text: String, session: &mut Session) {
    let gives_up = ["Ran into this error", "Network error"]
        .iter()
        .any(|beginning| text.starts_with(beginning));
    if gives_up {
        give_up("", &text, session);
        session.error(text);
    } else {
        session.note(text.clone());
        session.notice(text);
    }
}

fn give_up(kind: &str, message: &str, session: &mut Session) {
    let kind = match kind {
        "authentication" => Some(ErrorKind::Auth),
        _ => session.classify(message),
    };
    // The advice that follows is for people at a keyboard.
    let message = message.split("\n\n").next().unwrap_or(message);
    session.fail(kind.unwrap_or(ErrorKind::ModelApi), message);
}

fn tool_response(id: Option<String>, result: &Value, session: &mut Session) {
    let value = &result["value"];
    let ok = result["status"] == "success" && value["isError"] != true;
    let has_text = value["content"]
        .as_array()
        .is_some_and(|parts| parts.iter().any(|part| part["text"].is_string()));
    let output = if has_text {
        Some(text_of(&value["content"]))
    } else {
        result["error"].as_str().map(str::to_owned)
    };
    session.result(id, ok, output);
}

/// Returns the server that goose means by a name of an extension.
fn server_named(extension: &str, session: &Session) -> Option<String> {
    let mut servers = session.servers().iter();
    servers
        .find(|server| extension_key(server) == extension_key(extension))
        .cloned()
}

/// Returns the name of an extension as goose spells it among its tools.
fn extension_key(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    tool_name_part(&name).to_lowercase()
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        } else if let Some(why) = text.trim().strip_prefix("error: ") {
            // It says in plain words why it does not even start.
            session.remember(why);
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember(text);
    }

    fn reports_tokens(&self) -> bool {
        true
    }

    fn usage(&self, session: &Session) -> Usage {
        let mut counted = session.counted(self.answers);
        if self.delegated || self.compacted {
            counted.requests = None;
        }
        match self.complete {
            // The zeros of a session that failed are no figures.
            Some(totals) if totals.total_tokens.is_some_and(|total| total > 0) => Usage {
                input_tokens: totals.input_tokens,
                cached_input_tokens: totals.cache_read_input_tokens,
                output_tokens: totals.output_tokens,
                cost_usd: totals.cost_usd,
                ..counted
            },
            _ => counted,
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.compacted {
            session.final_note(
                "the conversation was shortened, and the number of requests for that is not known",
            );
        }
        if let Some(name) = &self.unsupported {
            let message = format!("goose does not support MCP servers by `sse`, as `{name}` is");
            return failed(ErrorKind::Mcp, message);
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
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Message {
        message: Message,
    },
    Error {
        error: String,
    },
    Complete(Totals),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: Option<String>,
    role: String,
    /// In seconds since 1970.
    created: Option<i64>,
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    /// Only messages of a model have it; goose speaks for itself too.
    inference: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
enum Content {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolRequest {
        id: Option<String>,
        tool_call: Value,
        #[serde(default, rename = "_meta")]
        meta: Value,
    },
    ToolResponse {
        id: Option<String>,
        tool_result: Value,
    },
    Error {
        #[serde(default)]
        kind: String,
        #[serde(default)]
        message: String,
    },
    /// A remark of goose's own.
    SystemNotification {
        #[serde(default)]
        msg: String,
    },
    ConversationCompacted {},
    #[serde(other)]
    Other,
}

/// Input includes the cached tokens.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Totals {
    total_tokens: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cost_usd: Option<f64>,
}

#[cfg(test)]
mod tests;
