//! `gemini-cli`: Google's Gemini CLI, driven headlessly with `-o stream-json`.
//!
//! Two facts shape this file: exit status 0 proves nothing (only a `result` event with status `success` does), and the
//! number of model requests is only in the session file.

use super::prelude::*;

use super::models;

pub(super) static AGENT: Agent = Agent {
    profile: PROFILE,
    invocation,
    protocol: |_| Box::new(GeminiStream::default()),
};

pub(super) const PROFILE: Profile = Profile {
    name: "gemini-cli",
    aliases: &["gemini"],
    program: Some("gemini"),
    tested_version: "0.61.0",
    known_settings: include_str!("gemini_cli/settings.json"),
    package: Some(Package::Npm("@google/gemini-cli")),
    rules_file: "GEMINI.md",
    skills_dir: ".gemini/skills",
    skill_tool: Some("activate_skill"),
    skippable: &[
        (r#"{"type":"message""#, Skippable::Words),
        (r#"{"type":"tool_result""#, Skippable::Output),
    ],
    read_above: &["GEMINI.md", ".gemini", ".env"],
    credential_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    setting_variables: &[
        "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS",
    ],
    credential_files: &[".gemini/oauth_creds.json", ".gemini/google_accounts.json"],
    services: &[ModelService {
        unless: &["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        ..ModelService::new(&["GEMINI_API_KEY"], "GOOGLE_GEMINI_BASE_URL", usual::GEMINI)
    }],
    hosts: &[
        "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
    ],
    telemetry_hosts: &["play.googleapis.com"],
    options: OptionWays {
        max_turns: Some(Way::Setting("model.maxSessionTurns")),
        disallowed_tools: Some(Way::Setting("tools.exclude")),
        ..OptionWays::NONE
    },
    ..Profile::USUAL
};

/// The number of attempts at a request. The default of 10 takes minutes.
const ATTEMPTS: u32 = 3;
/// The time that an MCP server has for an answer, its first and any other. The default is ten minutes.
const MCP_MILLISECONDS: u32 = 120_000;

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".gemini");
    let mut args = vec!["--approval-mode", "yolo", "--output-format", "stream-json"];
    args.extend(inputs.model_option("--model"));
    let env = [
        ("GEMINI_CLI_HOME", inputs.agent_home.as_str()),
        // The workspace is ours; without trust `yolo` is refused.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        // One process instead of two: quicker, and signals arrive.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("NO_BROWSER", "true"),
        ("NO_COLOR", "1"),
    ];
    // Those of sub-agents are one directory further down.
    let sessions = SideFile::new(home.join("tmp"), "*/chats/**/*.jsonl", "session.jsonl");
    Invocation {
        files: vec![PlacedFile::json(&home, "settings.json", &settings(inputs))],
        side_files: vec![sessions],
        ..Invocation::program("gemini", &args, &env)
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
            McpServer::Remote { url, headers, .. } => {
                let key = server.kind(["", "httpUrl", "url"]);
                json!({ key: url, "headers": object(headers) })
            }
        };
        settings[limit] = json!(milliseconds);
        settings
    })
}

#[derive(Debug, Default)]
struct GeminiStream {
    result: Option<Value>,
    /// The last event of an error. A result that only says `error` comes with its reason there.
    last_error: Option<String>,
}

impl GeminiStream {
    /// Notes the model that answered. Those of a router and of sub-agents are among the figures, so the one that was
    /// asked for counts if it is there, or else the busiest. The session file only repeats what was asked for.
    fn note_model(&self, session: &mut Session) {
        let Some(result) = &self.result else { return };
        let asked_for = session.requested_model.as_deref().unwrap_or_default();
        let worked = result["stats"]["models"].as_object();
        let worked = worked.into_iter().flat_map(Map::iter);
        let worked = worked.map(|(model, used)| (model, used.number("total_tokens")));
        let worked = worked.filter(|(_, tokens)| *tokens > 0);
        session.models.others_worked = worked.clone().count() > 1;
        let most =
            worked.max_by_key(|(model, tokens)| (models::is_same(asked_for, model), *tokens));
        if let Some((model, _)) = most {
            session.models.answered(model);
        }
    }
}

/// Returns the totals, unless they are the zeros of a session that failed.
fn totals(stats: &Value) -> Usage {
    let all = stats.number("total_tokens");
    if all == 0 {
        return Usage::default();
    }
    let input = stats.number("input_tokens");
    let tokens = Tokens {
        input,
        cached: stats.number("cached"),
        // Tokens that are neither input nor answer are thought, which is paid for as output.
        output: all.saturating_sub(input).max(stats.number("output_tokens")),
        ..Tokens::default()
    };
    Usage {
        tool_calls: stats["tool_calls"].as_u64(),
        ..tokens.usage()
    }
}

impl Protocol for GeminiStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        session.time = event.owned("timestamp");
        match event.text("type") {
            "message" => {
                let text = event.text("content").to_owned();
                let role = Role::Assistant;
                if event["role"] == "user" {
                    session.message(Role::User, text);
                } else if event["delta"] == true {
                    session.piece(Step::Message { role, text });
                } else {
                    session.message(role, text);
                }
            }
            "tool_use" => {
                let tool = event.text("tool_name");
                // MCP tools are called `mcp_<server>_<tool>`.
                let name = tool.strip_prefix("mcp_");
                let server = name.and_then(|name| session.server_of(name, "_"));
                let input = event["parameters"].clone();
                session.call(event.owned("tool_id"), tool, input, server);
            }
            "tool_result" => {
                let ok = event["status"] == "success";
                let output = event.owned("output").or(event["error"].owned("message"));
                session.result(event.owned("tool_id"), ok, output);
            }
            "error" => {
                let text = event.text("message");
                session.note(text);
                session.notice(text);
                self.last_error = Some(text.to_owned());
            }
            "result" => {
                match event["error"].owned("message") {
                    Some(text) => session.error(text),
                    None => session.flush(),
                }
                self.result = Some(event);
            }
            _ => session.flush(),
        }
    }

    fn side_event(&mut self, line: Value, session: &mut Session) {
        if let ("gemini", Some(id), tokens @ Value::Object(_)) =
            (line.text("type"), line.owned("id"), &line["tokens"])
        {
            session.answers.insert(id, Tokens::read(tokens));
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        let result = self.result.as_ref();
        let totals = result.map(|result| totals(&result["stats"]));
        let counted = session.answers_usage().or(session.counted(0));
        totals.unwrap_or_default().or(counted)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.note_model(session);
        let Some(result) = &self.result else {
            return session.no_end(exit);
        };
        let error = &result["error"];
        let message = error.text("message");
        match (result.text("status"), error.text("type")) {
            ("success", _) if error.is_null() => Ending::Completed,
            (status, _) if error.is_null() => match &self.last_error {
                Some(why) => session::failed_with(why, ErrorKind::Agent),
                // Without any words the answer of the model broke off.
                None => failed(
                    ErrorKind::ModelApi,
                    format!(
                        "the session ended with status `{status}`: the model's last answer broke off"
                    ),
                ),
            },
            (_, "FatalTurnLimitedError") => {
                session.final_note(message);
                Ending::Completed
            }
            _ => session::failed_with(message, ErrorKind::Agent),
        }
    }
}

#[cfg(test)]
mod tests;
