//! `continue`: Continue's `cn`, driven headlessly with `-p`.
//!
//! Four facts shape this file: models are in a settings file, with their provider; the steps and figures are in the
//! session's file, a document that is rewritten after every step; errors are one object on standard error; and
//! `--format json` would have the model answer in JSON, so that it is not used.

use serde::Deserialize;
use serde_json::{Value, json};

use super::conversation::Shows;
use super::errors::{self, Patterns};
use super::invocation::variables;
use super::mcp::{McpServer, RemoteTransport, ServerTool};
use super::openai_chat::{self, AnswerTokens, ToolCall, text_of};
use super::session::{self, Protocol, Session, failed};
use super::{
    Agent, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile, SideFile,
    Stdin,
};
use crate::process::Exit;
use crate::text::json::{self as document, object};
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

/// The label of its log.
const LOG: &str = "cn.log";

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "continue",
        aliases: &["cn"],
        program: Some("cn"),
        tested_version: "1.5.47",
        package: Some(Package::Npm("@continuedev/cli")),
        streams_events: false,
        skills_dir: ".continue/skills",
        credential_variables: &[
            "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY",
            "CONTINUE_API_KEY",
        ],
        hosts: &["api.continue.dev"],
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

const ERRORS: Patterns = &[
    (ErrorKind::Mcp, &["MCP server(s) failed to load"]),
    (ErrorKind::Auth, &["API key", "apiKey", "log in", "login"]),
    (
        ErrorKind::ModelApi,
        &[
            "Connection error", "fetch failed", "ECONN", "ENOTFOUND", "ETIMEDOUT",
            "Premature close",
        ],
    ),
];

/// Its own tools. Those of MCP servers have no sign of their server.
const OWN_TOOLS: [&str; 17] = [
    "Read", "Write", "List", "Bash", "Fetch", "Checklist", "CheckBackgroundJob", "AskQuestion",
    "Edit", "MultiEdit", "Exit", "Skills", "Search", "Status", "Subagent", "ReportFailure",
    "UploadArtifact",
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".continue");
    let settings = PlacedFile::yaml(&home, "config.yaml", &settings(inputs));
    // A word after `-p` may be taken for a prompt, and standard input is not read then.
    // Verbose is only its log, which has the talk with the model.
    let config = settings.path.as_str();
    let args = ["--auto", "--verbose", "--config", config, "-p"];
    Invocation {
        launch: Launch::program("cn", &args),
        env: variables(&[
            ("CONTINUE_GLOBAL_DIR", home.as_str()),
            ("CONTINUE_METRICS_ENABLED", "0"),
            // So that it does not.
            ("CONTINUE_CLI_AUTO_UPDATED", "true"),
            ("NO_COLOR", "1"),
        ]),
        stdin: Stdin::Prompt,
        side_files: vec![
            SideFile {
                dir: home.join("sessions"),
                // Beside the sessions there is a list of them.
                glob: "*-*-*-*-*.json",
                label: "session.json",
            },
            SideFile {
                dir: home.join("logs"),
                glob: "cn.log",
                label: LOG,
            },
        ],
        files: vec![settings],
    }
}

fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({ "name": "terca", "version": "1.0.0", "schema": "v1" });
    if !inputs.mcp_servers.is_empty() {
        let servers = inputs.mcp_servers.iter();
        settings["mcpServers"] = servers
            .map(|(name, server)| mcp_settings(name, server))
            .collect();
    }
    let mut settings = inputs.with_config(settings);
    if let Some(model) = inputs.model {
        let others = settings["models"].take();
        let others = others.as_array().cloned().unwrap_or_default();
        settings["models"] = json!(models(model, others, inputs));
    }
    settings
}

/// Returns the models with the one asked for as the first, which is the one that is used. The user's settings for it
/// have the last word.
fn models(wanted: &str, mut others: Vec<Value>, inputs: &Inputs<'_>) -> Vec<Value> {
    let (provider, name) = wanted.split_once('/').unwrap_or(("openai", wanted));
    let described = others
        .iter()
        .position(|model| model["model"] == name || model["name"] == wanted);
    let mut model = json!({
        "name": wanted,
        "provider": provider,
        "model": name,
        "roles": ["chat"],
        "capabilities": ["tool_use"],
    });
    let key = format!("{}_API_KEY", provider.to_uppercase());
    if inputs.variables.contains(&key) {
        // It looks among the variables, and the key is not written down.
        model["apiKey"] = json!(format!("${{{{ secrets.{key} }}}}"));
    }
    if let Some(index) = described {
        document::merge(&mut model, &others.remove(index));
    }
    others.insert(0, model);
    others
}

fn mcp_settings(name: &str, server: &McpServer<String>) -> Value {
    let server = server.with_cwd_wrapped();
    let mut settings = match &server {
        McpServer::Stdio { .. } => server.program_settings(),
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            let kind = match transport {
                RemoteTransport::Http => "streamable-http",
                RemoteTransport::Sse => "sse",
            };
            json!({ "type": kind, "url": url, "requestOptions": { "headers": object(headers) } })
        }
    };
    settings["name"] = json!(name);
    settings
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, ERRORS, Reader::default())
}

#[derive(Debug, Default)]
struct Reader {
    document: String,
    /// The error that it reported, in place of an answer.
    error: Option<String>,
    usage: Usage,
    /// True if there is a log, in which the talk with the model is shown as it happens.
    has_log: bool,
}

impl Reader {
    fn history(&self, session: &mut Session) -> Vec<Item> {
        if self.document.is_empty() {
            return Vec::new();
        }
        match serde_json::from_str::<Document>(&self.document) {
            Ok(document) => document.history,
            Err(error) => {
                session.final_note(format!("the session of cn could not be read: {error}"));
                Vec::new()
            }
        }
    }

    fn read(&mut self, history: &[Item], session: &mut Session) {
        for (item, line) in history.iter().zip(1..) {
            steps(item, line, session);
        }
        let answers: Vec<&AnswerTokens> = history
            .iter()
            .filter_map(|item| item.message.usage.as_ref())
            .collect();
        self.usage = Usage {
            tool_calls: (!history.is_empty()).then_some(session.tool_calls),
            ..openai_chat::usage(&answers)
        };
    }
}

fn steps(item: &Item, line: u64, session: &mut Session) {
    let role = match item.message.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return,
    };
    let text = text_of(&item.message.content);
    session.read_entry(line);
    if !text.is_empty() {
        session.message(role, text);
    }
    for call in &item.message.tool_calls {
        let server = match session.servers() {
            [server] if !OWN_TOOLS.contains(&call.function.name.as_str()) => Some(ServerTool {
                server: server.clone(),
                tool: call.function.name.clone(),
            }),
            _ => None,
        };
        call.add(server, session);
    }
    for state in &item.tool_call_states {
        if state.output.is_empty() {
            continue;
        }
        let texts: Vec<&str> = state.output.iter().map(|part| &*part.content).collect();
        let id = state.tool_call_id.clone();
        session.result(id, state.status == "done", Some(texts.join("\n")));
    }
}

/// Reads a line of the log: a time, the session, a level and a text with its details as JSON.
fn log_line(line: &str, session: &mut Session) {
    let Some((_, text)) = line.split_once("[debug]: ") else {
        return;
    };
    let start = text.find('{').unwrap_or(text.len());
    let (what, details) = text.split_at(start);
    match what.trim_end() {
        "Stream complete" => session.answered(),
        "Retry attempt" => {
            if let Ok(Retry { error }) = serde_json::from_str(details) {
                let kind = match kind_of(&error) {
                    ErrorKind::RateLimit => ErrorKind::RateLimit,
                    _ => ErrorKind::ModelApi,
                };
                session.request_failed(kind, error);
            }
        }
        "Updated tool call state" => {
            if let Ok(ToolChange {
                tool_call_id,
                updates,
            }) = serde_json::from_str(details)
            {
                session.tool_at_work(&tool_call_id, updates.status == "calling");
            }
        }
        _ => {}
    }
}

/// Returns the kind of an error: `401 Incorrect API key provided` begins with an HTTP status, other messages do not.
fn kind_of(message: &str) -> ErrorKind {
    match errors::leading_status(message) {
        Some(status) => errors::by_status(status).unwrap_or(ErrorKind::ModelApi),
        None => errors::classify(ERRORS, None, message).unwrap_or(ErrorKind::Agent),
    }
}

impl Protocol for Reader {
    /// Ignores the last answer, which the session has too.
    fn line(&mut self, _text: &str, _session: &mut Session) {}

    fn oversized_line(&mut self, _beginning: &str, _bytes: u64, _session: &mut Session) {}

    fn stderr(&mut self, text: &str, session: &mut Session) {
        match serde_json::from_str::<Report>(text) {
            Ok(report) if report.status == "error" => self.error = Some(report.message),
            _ => session.remember_last(text),
        }
    }

    fn side_line(&mut self, label: &str, line: &str, session: &mut Session) {
        if label == LOG {
            self.has_log = true;
            log_line(line, session);
            return;
        }
        self.document.push_str(line);
        self.document.push('\n');
    }

    /// The session is written at its end, and a session that was ended has none.
    fn reports_tokens(&self) -> bool {
        true
    }

    fn shows(&self) -> Shows {
        if self.has_log {
            Shows::Everything
        } else {
            Shows::Nothing
        }
    }

    fn usage(&self, _session: &Session) -> Usage {
        self.usage
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let history = self.history(session);
        self.read(&history, session);
        if let Some(error) = self.error.take() {
            let kind = kind_of(&error);
            return failed(kind, error);
        }
        // It exits with 0 when it is told to end, too.
        let answered = history.last().is_some_and(|last| {
            last.message.role == "assistant" && last.message.tool_calls.is_empty()
        });
        if answered && exit == Exit::Code(0) {
            return Ending::Completed;
        }
        let words = session.last_words(exit);
        failed(ErrorKind::Agent, format!("the session broke off: {words}"))
    }
}

/// The one line on standard error.
#[derive(Debug, Deserialize)]
struct Report {
    status: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize)]
struct Document {
    history: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    message: Message,
    #[serde(default)]
    tool_call_states: Vec<ToolCallState>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Vec<ToolCall>,
    /// The figures of the service. The sums at the end of the file lack the cached tokens, and guess the cost.
    usage: Option<AnswerTokens>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCallState {
    tool_call_id: Option<String>,
    status: String,
    #[serde(default)]
    output: Vec<Output>,
}

#[derive(Debug, Deserialize)]
struct Output {
    #[serde(default)]
    content: String,
}

/// Details of a request that failed and is made again.
#[derive(Debug, Deserialize)]
struct Retry {
    error: String,
}

/// Details of a call that begins or ends.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolChange {
    tool_call_id: String,
    updates: ToolUpdates,
}

#[derive(Debug, Deserialize)]
struct ToolUpdates {
    #[serde(default)]
    status: String,
}

#[cfg(test)]
mod tests;
