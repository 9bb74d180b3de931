//! `pi`, driven headlessly with `--mode json`.
//!
//! The stream was also checked with 0.73.1, which has the old name of the package. Three facts shape this file: a service
//! that fails shows as a message that ends in an error, with exit status 0; custom services have a settings file of
//! their own; and the program reads rules in every directory up to the root, so that there must be none above the
//! workspace, which Terca ensures.

use super::prelude::*;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "pi",
        program: Some("pi"),
        tested_version: "0.87.1",
        package: Some(Package::Npm("@earendil-works/pi-coding-agent")),
        install: Some("wants Node 22; with Node 20: @mariozechner/pi-coding-agent"),
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
    protocol: |_| Box::new(PiStream::default()),
};

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec!["--print", "--mode", "json", "--no-session"];
    args.extend(inputs.model_option("--model"));
    // Its own files are where they are by default: below the agent's home.
    let env = [
        // No check for a newer version, no download of tools.
        ("PI_OFFLINE", "1"),
        ("PI_TELEMETRY", "0"),
    ];
    Invocation {
        files: files(inputs),
        // Among the arguments `@` would be a file and `-` an option.
        ..Invocation::program("pi", &args, &env)
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

#[derive(Debug, Default)]
struct PiStream {
    /// True after an answer without an error.
    answered: bool,
    /// The reason for the end of the last answer, and whether the session has ended.
    stop_reason: String,
    ended: bool,
}

impl PiStream {
    fn message(&mut self, message: &Value, session: &mut Session) {
        session.at_millisecond(message["timestamp"].as_i64());
        let content = &message["content"];
        match message.text("role") {
            "user" => session.message(Role::User, text_of(content).unwrap_or_default()),
            "assistant" => self.answer(message, session),
            "toolResult" => {
                let output = text_of(content).unwrap_or_default();
                let ok = message["isError"] != true;
                session.result(message.owned("toolCallId"), ok, Some(output));
            }
            _ => {}
        }
    }

    fn answer(&mut self, answer: &Value, session: &mut Session) {
        if let Value::String(text) = &answer["content"] {
            session.message(Role::Assistant, text.as_str());
        }
        for part in answer.list("content") {
            match part.text("type") {
                "text" => session.message(Role::Assistant, part.text("text")),
                "thinking" => session.reasoning(part.text("thinking")),
                _ => {}
            }
        }
        let reason = answer.text("stopReason");
        if let "error" | "aborted" = reason {
            let text = answer["errorMessage"].as_str().unwrap_or(reason);
            let kind = match errors::classify(None, text) {
                _ if reason == "aborted" => ErrorKind::Agent,
                // Other refusals of the service, of an unknown model for example, are trouble with the service too.
                kind => kind.unwrap_or(ErrorKind::ModelApi),
            };
            session.fail(kind, text);
            session.error(text);
            return;
        }
        self.answered = true;
        self.stop_reason = reason.to_owned();
        session.recovered();
    }
}

impl Protocol for PiStream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if text.starts_with(END) {
            self.ended = true;
        } else if !text.starts_with(REPETITION)
            && let Ok(event) = serde_json::from_str(text)
        {
            self.event(event, session);
        }
    }

    fn event(&mut self, event: Value, session: &mut Session) {
        match event.text("type") {
            // It may start again, after an error or when the conversation has become too long.
            "agent_start" => self.ended = false,
            "agent_end" => self.ended = true,
            "message_end" => self.message(&event["message"], session),
            "tool_execution_start" => {
                let input = event["args"].clone();
                session.call(
                    event.owned("toolCallId"),
                    event.text("toolName"),
                    input,
                    None,
                );
            }
            _ => {}
        }
    }

    fn oversized_line(&mut self, beginning: &str, bytes: u64, session: &mut Session) {
        if beginning.starts_with(END) {
            self.ended = true;
        } else if !beginning.starts_with(REPETITION) {
            session.notice(format!("an event of {bytes} bytes was not decoded"));
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        session.counted(0)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if !self.ended || !self.answered {
            return session.no_end(exit);
        }
        if self.stop_reason == "length" {
            session.final_note("the last answer was cut off: length");
        }
        Ending::Completed
    }
}

#[cfg(test)]
mod tests;
