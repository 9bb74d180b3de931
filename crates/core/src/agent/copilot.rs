//! `copilot`, GitHub's Copilot CLI, driven headlessly with `--output-format json`.
//!
//! Three facts shape this file: the tokens of a request are only in the session's own log, which grows with the
//! session; a termination ends in a result with exit status 0, like a success; and its program unpacks itself, 237 MB,
//! into a cache of which every home would have another.

use super::prelude::*;

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
        services: &[ModelService::new(
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
        caches: &[(PROGRAM_CACHE, ".cache/copilot")],
        hosts: &["api.github.com", "github.com", "*.githubcopilot.com"],
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(CopilotStream::default()),
};

/// The variable for the place of the unpacked program. Where it is not set, every trial unpacks its own.
const PROGRAM_CACHE: &str = "COPILOT_PKG_CACHE_HOME";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec![
        "--output-format", "json",
        // Without it every tool is denied, and the session succeeds all the same.
        "--allow-all", "--no-ask-user", "--no-auto-update", "--no-color",
        "--disable-client-telemetry",
    ];
    args.extend(inputs.model_option("--model"));
    let state = inputs.agent_home.join(".copilot");
    let settings = inputs.with_config(json!({
        // An editor that happens to be open is no part of the trial; nor are agents that an organisation has.
        "ide": { "autoConnect": false },
        "customAgents": { "defaultLocalOnly": true },
    }));
    let settings = PlacedFile::json(&state, "settings.json", &settings);
    let servers = inputs.mcp_file(&state, "mcp-config.json", |server| {
        let server = server.with_cwd_wrapped();
        let mut settings = server.typed_settings(["local", "http", "sse"]);
        settings["tools"] = json!(["*"]);
        settings
    });
    let env = [
        ("COPILOT_HOME", state.as_str()),
        ("COPILOT_AUTO_UPDATE", "false"),
    ];
    // The session's log, in which every answer has its figures.
    let log = SideFile::new(
        state.join("session-state"),
        "*/events.jsonl",
        "session.jsonl",
    );
    Invocation {
        files: [settings].into_iter().chain(servers).collect(),
        side_files: vec![log],
        ..Invocation::program("copilot", &args, &env)
    }
}

#[derive(Debug, Default)]
struct CopilotStream {
    /// Requests that were answered, those of sub-agents too.
    answered: u64,
    /// The number of requests in the log, and their tokens.
    logged: u64,
    tokens: Tokens,
    /// Summaries of the conversation whose figures the log does not have yet.
    open_summaries: u64,
    ended: bool,
    /// The exit status in the result, which is the last line.
    result: Option<i64>,
}

fn tool_start(call: &Value, session: &mut Session) {
    let tool = call.text("toolName");
    // MCP tools are called `<server>-<tool>`.
    let server = session.server_of(tool, "-");
    let input = call["arguments"].clone();
    session.call(call.owned("toolCallId"), tool, input, server);
}

fn kind_of(error: &Value) -> ErrorKind {
    let by_status = error.status("statusCode").and_then(|status| {
        // Other refusals of the service, of an unknown model for example, are trouble with the service too.
        errors::by_status(status).or((status >= 400).then_some(ErrorKind::ModelApi))
    });
    let by_name = match error.text("errorType") {
        "authentication" | "authorization" => Some(ErrorKind::Auth),
        "rate_limit" | "quota" => Some(ErrorKind::RateLimit),
        "query" => Some(ErrorKind::ModelApi),
        _ => None,
    };
    by_status
        .or(by_name)
        .or_else(|| errors::classify(None, error.text("message")))
        .unwrap_or(ErrorKind::Agent)
}

impl Protocol for CopilotStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        // Only the last line, the result, has it.
        self.result = event["exitCode"].as_i64().or(self.result);
        session.time = event.owned("timestamp");
        let data = &event["data"];
        match event.text("type") {
            // The prompt of a sub-agent is in the call that started it.
            "user.message" if event["agentId"].is_null() => {
                session.message(Role::User, data.text("content"));
            }
            "assistant.message" => {
                session.recovered();
                session.reasoning(data.text("reasoningText"));
                session.message(Role::Assistant, data.text("content"));
            }
            "tool.execution_start" => tool_start(data, session),
            "tool.execution_complete" => {
                let output = data["result"].owned("content");
                let output = output.or_else(|| data["error"].owned("message"));
                session.result(data.owned("toolCallId"), data["success"] == true, output);
            }
            "model.call_finished" => self.answered += u64::from(data["outcome"] == "success"),
            "model.call_failure" => {
                let status = data.status("statusCode");
                let kind = status.and_then(errors::by_status);
                let words = status.map_or("no answer".to_owned(), |status| status.to_string());
                session.request_failed(kind.unwrap_or(ErrorKind::ModelApi), words);
            }
            "session.error" => {
                // The advice that follows is for people at a keyboard.
                let text = data.text("message").lines().next().unwrap_or_default();
                session.fail(kind_of(data), text);
                session.error(text);
            }
            _ => {}
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember(text.trim_start_matches("Error: "));
    }

    fn side_event(&mut self, event: Value, _session: &mut Session) {
        let data = &event["data"];
        let summary = &data["compactionTokensUsed"];
        match event.text("type") {
            // The tokens of one answered request.
            "session.usage_record" => {
                self.logged += 1;
                self.tokens += Tokens::read(&data["usage"]);
            }
            // The conversation is summed up, which has figures of its own.
            "session.compaction_start" => self.open_summaries += 1,
            "session.compaction_complete" if summary.is_object() => {
                self.open_summaries = self.open_summaries.saturating_sub(1);
                self.logged += summary.number("requestCount");
                self.tokens += Tokens::read(summary);
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
        if self.result == Some(0) {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

#[cfg(test)]
mod tests;
