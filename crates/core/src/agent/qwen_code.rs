//! `qwen-code`: Qwen Code, driven headlessly with `-o stream-json`.
//!
//! It has Gemini CLI's settings and Claude Code's stream. Three facts shape this file: a prompt that begins with `/`
//! would run a command, a limit that is reached shows only as exit status 53 or 55, and the number of model requests
//! is in the session file.

use super::prelude::*;

use super::anthropic_messages::Messages;
use super::gemini_cli::mcp_settings;

pub(super) static AGENT: Agent = Agent {
    profile: PROFILE,
    invocation,
    protocol: |_| Box::new(QwenStream::default()),
};

pub(super) const PROFILE: Profile = Profile {
    name: "qwen-code",
    aliases: &["qwen"],
    program: Some("qwen"),
    tested_version: "0.24.4",
    known_settings: include_str!("qwen_code/settings.json"),
    package: Some(Package::Npm("@qwen-code/qwen-code")),
    // It reads AGENTS.md as well, so the rules that the workspace has there stay in force.
    rules_file: "QWEN.md",
    skills_dir: ".qwen/skills",
    skill_tool: Some("skill"),
    skippable: &[(r#"{"type":"user""#, Skippable::Output)],
    read_above: &["QWEN.md", "AGENTS.md", ".qwen", ".env"],
    credential_variables: &["OPENAI_API_KEY"],
    setting_variables: &["OPENAI_BASE_URL"],
    services: &[ModelService::new(
        &["OPENAI_API_KEY"],
        "OPENAI_BASE_URL",
        usual::OPENAI_V1,
    )],
    hosts: &[
        "chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com",
    ],
    telemetry_hosts: &["gb4w8c3ygj-default-sea.rum.aliyuncs.com"],
    options: OptionWays {
        max_turns: Some(Way::Setting("model.maxSessionTurns")),
        system_prompt: Some(Way::Flag("--append-system-prompt")),
        disallowed_tools: Some(Way::Setting("tools.exclude")),
        ..OptionWays::NONE
    },
    ..Profile::USUAL
};

/// The number of times that the client tries a failed request again, within each of the seven rounds that it makes
/// anyway.
const RETRIES: u32 = 0;
/// The time that an MCP server has to connect. The default is five seconds for one that is not local.
const MCP_MILLISECONDS: u32 = 30_000;
/// The exit statuses of a session that reached a limit: of turns, and of tool calls or time.
const LIMITS: [i32; 2] = [53, 55];

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
    let args = ["--yolo", "--output-format", "stream-json"];
    let sessions = SideFile::new(home.join("projects"), "*/chats/*.jsonl", "session.jsonl");
    Invocation {
        stdin: Stdin::no_command(inputs.prompt),
        files: vec![PlacedFile::json(&home, "settings.json", &settings(inputs))],
        side_files: vec![sessions],
        ..Invocation::program("qwen", &args, &env)
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

#[derive(Debug, Default)]
struct QwenStream {
    messages: Messages,
    /// The number of answers in the stream and their tokens. The session file also knows of sub-agents.
    answers: u64,
    tokens: Tokens,
    result: Option<Value>,
}

impl Protocol for QwenStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        let message = &event["message"];
        match (event.text("type"), event.text("subtype")) {
            // The request failed, or its answer broke off.
            ("system", "retry") => {
                session.request_failed(ErrorKind::ModelApi, "a request was tried again");
            }
            ("assistant", _) => {
                // One response comes as a message for each of its blocks; only the last has figures.
                let tokens = Tokens::read(&message["usage"]);
                self.answers += u64::from(tokens != Tokens::default());
                self.tokens += tokens;
                let content = &message["content"];
                self.messages.add(Role::Assistant, content, session);
            }
            ("user", _) => self.messages.add(Role::User, &message["content"], session),
            ("result", _) => {
                if event["error"].is_object() {
                    session.error(event["error"].text("message"));
                }
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn side_event(&mut self, line: Value, session: &mut Session) {
        let event = &line["systemPayload"]["uiEvent"];
        if event["event.name"] != "qwen-code.api_response" {
            return;
        }
        let answer = line.text("uuid").to_owned();
        let is_new = session
            .answers
            .insert(answer, Tokens::read(event))
            .is_none();
        // The model that the service named; the stream only repeats what was asked for.
        if is_new && event["subagent_name"].is_null() {
            session.models.answered(event.text("model"));
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        let mut usage = session.answers_usage();
        if self.answers > 0 && session.answers.is_empty() {
            usage = self.tokens.usage();
            usage.requests = Some(self.answers);
        }
        let reported = self
            .result
            .as_ref()
            .map(|result| Tokens::read(&result["usage"]));
        // The totals leave out an answer that broke off.
        let reported = reported
            .filter(|tokens| *tokens != Tokens::default() && !session.has_unknown_tokens())
            .map(Tokens::usage);
        let usage = reported.unwrap_or_default().or(usage);
        usage.or(session.counted(0))
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let Some(result) = &self.result else {
            if exit.code().is_some_and(|code| LIMITS.contains(&code)) {
                session.final_note(session.last_words(exit));
                return Ending::Completed;
            }
            return session.no_end(exit);
        };
        let subtype = result.text("subtype");
        if result["is_error"] != true && subtype == "success" {
            let denied = result.list("permission_denials").len();
            if denied > 0 {
                session.final_note(format!("{denied} tool calls were not permitted"));
            }
            return Ending::Completed;
        }
        match result["error"].as_object() {
            Some(_) => session::failed_with(result["error"].text("message"), ErrorKind::Agent),
            None => {
                let words = format!("the session ended with `{subtype}`");
                session::failed_with(&words, ErrorKind::Agent)
            }
        }
    }
}

#[cfg(test)]
mod tests;
