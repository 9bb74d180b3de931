//! `goose`, driven headlessly with `run --output-format stream-json`.
//!
//! Two facts shape this file: a provider is needed beside the model, so a model is written `provider/name`; and a service
//! that fails shows as a message of goose's own, with exit status 0.

use super::prelude::*;
use jiff::Timestamp;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "goose",
        program: Some("goose"),
        tested_version: "1.52.0",
        install: Some("https://goose-docs.ai/docs/getting-started/installation"),
        skills_dir: ".agents/skills",
        reports_tokens: true,
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
            ModelService::new(&["OPENAI_API_KEY"], "OPENAI_HOST", usual::OPENAI),
            ModelService::new(&["ANTHROPIC_API_KEY"], "ANTHROPIC_HOST", usual::ANTHROPIC),
            ModelService::new(&["GOOGLE_API_KEY"], "GOOGLE_HOST", usual::GEMINI),
        ],
        // It ends its tools and says so; a termination would leave them behind.
        stop_signal: Signal::Interrupt,
        options: OptionWays {
            max_turns: Some(Way::Flag("--max-turns")),
            system_prompt: Some(Way::Flag("--system")),
            temperature: Some(Way::Variable("GOOSE_TEMPERATURE")),
            ..OptionWays::NONE
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(GooseStream::default()),
};

/// The time that a request to an extension may take, a call of its tools included. This is goose's own default.
const EXTENSION_SECONDS: u32 = 300;

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
    // JSON is YAML.
    let settings = PlacedFile::json(&root.join("config"), "config.yaml", &settings(inputs));
    Invocation {
        files: vec![settings],
        ..Invocation::program("goose", &args, &env)
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
            json!({ "cmd": command, "args": args, "envs": object(&env) })
        }
        McpServer::Remote { url, headers, .. } => {
            json!({ "uri": url, "headers": object(&headers) })
        }
    };
    // `sse` is no longer supported, and the trial is an error that says so.
    settings["type"] = json!(server.kind(["stdio", "streamable_http", "sse"]));
    settings["name"] = json!(name);
    settings["enabled"] = json!(true);
    settings["timeout"] = json!(EXTENSION_SECONDS);
    settings
}

#[derive(Debug, Default)]
struct GooseStream {
    /// True after the last event.
    complete: bool,
}

fn read_message(message: &Value, session: &mut Session) {
    let time = message["created"].as_i64();
    let time = time.and_then(|time| Timestamp::from_second(time).ok());
    session.time = time.map(|time| time.to_string());
    let is_user = message["role"] == "user";
    // Only messages of a model have it; goose speaks for itself too.
    let by_model = !message["metadata"]["inference"].is_null();
    if by_model {
        session.recovered();
    }
    for content in message.list("content") {
        let text = content.text("text").to_owned();
        match content.text("type") {
            "text" if is_user || by_model => {
                let role = if is_user { Role::User } else { Role::Assistant };
                session.piece(Step::Message { role, text });
            }
            "text" => own_words(&text, session),
            "thinking" => {
                let text = content.text("thinking").to_owned();
                session.piece(Step::Reasoning { text });
            }
            "toolRequest" => tool_request(content, session),
            "toolResponse" => tool_response(content, session),
            "error" => give_up(content.text("kind"), content.text("message"), session),
            // A remark of goose's own.
            "systemNotification" => {
                let remark = content.text("msg");
                if !remark.is_empty() {
                    session.notice(remark);
                }
            }
            _ => {}
        }
    }
}

fn tool_request(content: &Value, session: &mut Session) {
    let call = &content["toolCall"]["value"];
    let tool = call["name"].as_str().unwrap_or("unknown");
    // MCP tools are called `<extension>__<tool>`.
    let server = session.server_of(tool, "__");
    session.call(content.owned("id"), tool, call["arguments"].clone(), server);
}

/// Reads words that goose itself says in the model's place.
fn own_words(text: &str, session: &mut Session) {
    if text.starts_with("Ran into this error") || text.starts_with("Network error") {
        give_up("", text, session);
        session.error(text);
    } else {
        session.note(text);
        session.notice(text);
    }
}

fn give_up(kind: &str, message: &str, session: &mut Session) {
    let kind = match kind {
        "authentication" => Some(ErrorKind::Auth),
        _ => errors::classify(None, message),
    };
    // The advice that follows is for people at a keyboard.
    let message = message.split("\n\n").next().unwrap_or(message);
    session.fail(kind.unwrap_or(ErrorKind::ModelApi), message);
}

fn tool_response(content: &Value, session: &mut Session) {
    let result = &content["toolResult"];
    let value = &result["value"];
    let ok = result["status"] == "success" && value["isError"] != true;
    let output = text_of(&value["content"]).filter(|text| !text.is_empty());
    session.result(content.owned("id"), ok, output.or(result.owned("error")));
}

impl Protocol for GooseStream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        } else if let Some(why) = text.trim().strip_prefix("error: ") {
            // It says in plain words why it does not even start.
            session.remember(why);
        }
    }

    fn event(&mut self, event: Value, session: &mut Session) {
        match event.text("type") {
            "message" => read_message(&event["message"], session),
            "error" => {
                let error = event.text("error");
                let kind = errors::classify(None, error).unwrap_or(ErrorKind::Agent);
                session.failure.get_or_insert(TrialError::new(kind, error));
                session.time = None;
                session.error(error);
            }
            "complete" => {
                self.complete = true;
                session.has_tokens |= event.number("total_tokens") > 0;
                session.flush();
            }
            _ => {}
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        session.counted(0)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        // It leaves them out with a warning.
        if let Some(name) = session.servers_by_sse.first() {
            let message = format!("goose does not support MCP servers by `sse`, as `{name}` is");
            session.fail(ErrorKind::Mcp, message);
        }
        if self.complete {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

#[cfg(test)]
mod tests;
