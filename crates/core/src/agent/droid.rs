//! `droid`: Factory's Droid, driven headlessly with `exec --output-format stream-json`.
//!
//! Four facts shape this file: tokens are given once, in the event of its end; MCP servers are waited for only when
//! their tools are named; a model of the user's own is called `custom:NAME-INDEX`
//! after its place in the settings; and no signal ends it at once: it ends its tools, asks the model once more and
//! completes as if nothing had happened.

use super::prelude::*;
use crate::text::mask::in_url;
use crate::text::prose;
use std::collections::BTreeSet;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "droid",
        program: Some("droid"),
        tested_version: "0.225.2",
        package: Some(Package::Npm("@factory/cli")),
        // It reads 79,900 characters, and tells its model that the rest is cut off.
        rules_bytes: Some(79_900),
        skills_dir: ".factory/skills",
        reports_tokens: true,
        read_above: &["AGENTS.md", ".factory"],
        credential_variables: &["FACTORY_API_KEY"],
        hosts: &["*.factory.ai"],
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(DroidStream::default()),
};

/// The name that the decoder knows the log by.
const LOG: &str = "droid.log";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut args = vec![
        "exec", "--skip-permissions-unsafe", "--output-format", "stream-json",
    ];
    args.extend(inputs.model_option("--model"));
    let home = inputs.agent_home.join(".factory");
    // Sessions would be sent to where they can be seen in a browser.
    let settings = inputs.with_config(json!({ "cloudSessionSync": false }));
    let settings = PlacedFile::json(&home, "settings.json", &settings);
    let servers = inputs.mcp_file(&home, "mcp.json", |server| {
        let server = server.with_cwd_wrapped();
        let mut settings = server.typed_settings(["stdio", "http", "sse"]);
        settings["disabled"] = json!(false);
        settings
    });
    let tools = tool_selectors(inputs);
    if servers.is_some() {
        args.extend(["--add-tools", &tools]);
    }
    let env = [
        ("FACTORY_DISABLE_KEYRING", "1"),
        ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
        ("FACTORY_OTEL_ENABLED", "false"),
    ];
    Invocation {
        files: [settings].into_iter().chain(servers).collect(),
        side_files: vec![SideFile::new(home.join("logs"), "droid-log-*.log", LOG)],
        ..Invocation::program("droid", &args, &env)
    }
}

/// Returns the selectors of all tools of the MCP servers. They give `,` and `/` a meaning.
fn tool_selectors(inputs: &Inputs<'_>) -> String {
    let names = inputs.mcp_servers.iter().map(|(name, _)| name);
    prose::joined(names.map(|name| format!("MCP:{}", in_url(name))), ",")
}

#[derive(Debug, Default)]
struct DroidStream {
    /// The messages of the model, each an answer.
    answers: BTreeSet<String>,
    /// True if work was given to sub-agents, whose requests are not in the stream.
    delegated: bool,
    complete: Option<Value>,
}

impl DroidStream {
    fn answered(&mut self, id: Option<String>, session: &mut Session) {
        self.answers.extend(id);
        session.recovered();
    }
}

fn fail(source: &str, message: &str, session: &mut Session) {
    let message = message.trim_start_matches("Error: ");
    // Other refusals of the service, of an unknown model for example, are trouble with the service too.
    let otherwise = match source {
        "agent_loop" => ErrorKind::ModelApi,
        _ => ErrorKind::Agent,
    };
    let kind = errors::classify(None, message).unwrap_or(otherwise);
    // The failure is reported once more at the end, without a reason.
    let failure = TrialError::new(kind, message);
    session.failure.get_or_insert(failure);
    session.error(message);
}

impl Protocol for DroidStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        session.at_millisecond(event["timestamp"].as_i64());
        let text = event.text("text");
        match event.text("type") {
            "message" if event["role"] == "user" => session.message(Role::User, text),
            "message" => {
                self.answered(event.owned("id"), session);
                session.message(Role::Assistant, text);
            }
            "reasoning" => session.reasoning(text),
            "tool_call" => {
                self.answered(event.owned("messageId"), session);
                let tool = event.text("toolName");
                self.delegated |= tool == "Task";
                // MCP tools are called `<server>___<tool>`.
                let server = session.server_of(tool, "___");
                let input = event["parameters"].clone();
                session.call(event.owned("id"), tool, input, server);
            }
            "tool_result" => {
                let is_error = event["isError"] == true;
                let said = match is_error {
                    true => &event["error"]["message"],
                    false => &event["value"],
                };
                let output = said
                    .as_str()
                    .map_or_else(|| said.to_string(), str::to_owned);
                session.result(event.owned("id"), !is_error, Some(output));
            }
            "error" => fail(event.text("source"), event.text("message"), session),
            "completion" => {
                self.complete = Some(event);
                session.recovered();
            }
            _ => {}
        }
    }

    /// A conversation that is summed up is only in the log. The totals have the tokens for that.
    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        session.compacted |= line.contains("[Compaction] Start");
    }

    fn usage(&self, session: &Session) -> Usage {
        let complete = self.complete.as_ref().unwrap_or(&Value::Null);
        let turns = complete["numTurns"].as_u64();
        let mut counted = session.counted(turns.unwrap_or(self.answers.len() as u64));
        if self.delegated {
            counted.requests = None;
            return counted;
        }
        // The tokens of the session: input without the cached ones, output with the reasoning.
        Tokens::read_apart(&complete["usage"])
            .known_usage()
            .or(counted)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.delegated {
            session
                .final_note("its totals may leave out its sub-agents, so the tokens are not known");
        }
        if self.complete.is_some() {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

#[cfg(test)]
mod tests;
