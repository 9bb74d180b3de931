//! `continue`: Continue's `cn`, driven headlessly with `-p`.
//!
//! Four facts shape this file: models are in a settings file, with their provider; the steps are in the
//! session's file, a document that is rewritten after every step; errors are one object on standard error; and
//! `--format json` would have the model answer in JSON, so that it is not used.

use super::prelude::*;

use super::openai_chat;
use crate::text::json as document;

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
        reports_tokens: true,
        credential_variables: &[
            "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY",
            "CONTINUE_API_KEY",
        ],
        hosts: &["api.continue.dev"],
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(ContinueReader::default()),
};

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
    let env = [
        ("CONTINUE_GLOBAL_DIR", home.as_str()),
        ("CONTINUE_METRICS_ENABLED", "0"),
        // So that it does not.
        ("CONTINUE_CLI_AUTO_UPDATED", "true"),
        ("NO_COLOR", "1"),
    ];
    let started = Invocation::program("cn", &args, &env);
    Invocation {
        side_files: vec![
            // Beside the sessions there is a list of them.
            SideFile::new(home.join("sessions"), "*-*-*-*-*.json", "session.json"),
            SideFile::new(home.join("logs"), LOG, LOG),
        ],
        files: vec![settings],
        ..started
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
        McpServer::Remote { url, headers, .. } => {
            let kind = server.kind(["", "streamable-http", "sse"]);
            json!({ "type": kind, "url": url, "requestOptions": { "headers": object(headers) } })
        }
    };
    settings["name"] = json!(name);
    settings
}

#[derive(Debug, Default)]
struct ContinueReader {
    /// The error that it reported, in place of an answer.
    error: Option<String>,
    /// True if there is a log, in which the talk with the model is shown as it happens.
    has_log: bool,
}

fn steps(item: &Value, session: &mut Session) {
    let message = &item["message"];
    let role = match message.text("role") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return,
    };
    session.message(role, text_of(&message["content"]).unwrap_or_default());
    for call in message.list("toolCalls") {
        let tool = call["function"].text("name");
        let server = match &session.servers[..] {
            [server] if !OWN_TOOLS.contains(&tool) => Some(ServerTool {
                server: server.clone(),
                tool: tool.to_owned(),
            }),
            _ => None,
        };
        openai_chat::add_call(call, server, session);
    }
    for state in item.list("toolCallStates") {
        if !state.list("output").is_empty() {
            let ok = state["status"] == "done";
            session.result(state.owned("toolCallId"), ok, text_of(&state["output"]));
        }
    }
}

/// Reads a line of the log: a time, the session, a level and a text with its details as JSON.
fn log_line(line: &str, session: &mut Session) {
    let Some((_, text)) = line.split_once("[debug]: ") else {
        return;
    };
    let start = text.find('{').unwrap_or(text.len());
    let (what, details) = text.split_at(start);
    let details: Value = serde_json::from_str(details).unwrap_or_default();
    match what.trim_end() {
        "Stream complete" => session.answered(),
        // A request that failed and is made again.
        "Retry attempt" => {
            let error = details.text("error");
            let kind = errors::classify(None, error);
            let kind = kind.filter(|kind| *kind == ErrorKind::RateLimit);
            session.request_failed(kind.unwrap_or(ErrorKind::ModelApi), error);
        }
        // A call that begins or ends.
        "Updated tool call state" => {
            let is_at_work = details["updates"]["status"] == "calling";
            session.tool_at_work(details.text("toolCallId"), is_at_work);
        }
        _ => {}
    }
}

impl Protocol for ContinueReader {
    /// Ignores the last answer, which the session has too.
    fn line(&mut self, _text: &str, _session: &mut Session) {}

    fn stderr(&mut self, text: &str, session: &mut Session) {
        let report: Value = serde_json::from_str(text).unwrap_or_default();
        if report["status"] == "error" {
            self.error = Some(report.text("message").to_owned());
        } else {
            session.remember_last(text);
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        self.has_log = true;
        log_line(line, session);
    }

    fn shows(&self) -> Shows {
        if self.has_log {
            Shows::Everything
        } else {
            Shows::Nothing
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let document = session.read_document("session of cn").unwrap_or_default();
        let history = document.list("history");
        for (item, line) in history.iter().zip(1..) {
            session.line = line;
            steps(item, session);
        }
        session.usage.tool_calls = (!history.is_empty()).then_some(session.tool_calls);
        let mut answers = history.iter().map(|item| &item["message"]["usage"]);
        session.has_tokens |= answers.any(|usage| usage.number("completion_tokens") > 0);
        if let Some(error) = &self.error {
            return session::failed_with(error, ErrorKind::Agent);
        }
        // It exits with 0 when it is told to end, too.
        let answered = history.last().is_some_and(|last| {
            let message = &last["message"];
            message["role"] == "assistant" && message.list("toolCalls").is_empty()
        });
        if answered && exit == Exit::Code(0) {
            return Ending::Completed;
        }
        failed(ErrorKind::Agent, session.broke_off(exit))
    }
}

#[cfg(test)]
mod tests;
