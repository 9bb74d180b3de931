//! `droid`: Factory's Droid, driven headlessly with `exec --output-format stream-json`.
//!
//! Three facts shape this file: MCP servers are waited for only when their tools are named; a model of the user's own is
//! called `custom:NAME-INDEX` after its place in the settings; and no signal ends it at once: it ends its tools, asks the
//! model once more and completes as if nothing had happened.

use super::prelude::*;
use crate::text::mask::in_url;
use crate::text::prose;

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
    /// True after the last event.
    complete: bool,
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
                session.recovered();
                session.message(Role::Assistant, text);
            }
            "reasoning" => session.reasoning(text),
            "tool_call" => {
                session.recovered();
                let tool = event.text("toolName");
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
                self.complete = true;
                session.has_tokens |= event["usage"].number("output_tokens") > 0;
                session.recovered();
            }
            _ => {}
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        session.counted(0)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.complete {
            return Ending::Completed;
        }
        session.no_end(exit)
    }
}

#[cfg(test)]
mod tests;
