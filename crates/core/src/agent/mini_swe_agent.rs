//! `mini-swe-agent`, driven headlessly with `mini`.
//!
//! Two facts shape this file: the prompt may be given in a settings file, where it may have any length and beginning;
//! and everything about a session is in the trajectory, a document that is rewritten after every step.

use super::prelude::*;

use super::litellm;
use super::openai_chat;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "mini-swe-agent",
        aliases: &["mini"],
        program: Some("mini"),
        // It has no option for its version, but prints it with its help.
        version_args: &["--help"],
        tested_version: "2.4.6",
        package: Some(Package::PyPi("mini-swe-agent", &["mcp"])),
        streams_events: false,
        rules_file: "",
        read_above: &[],
        credential_variables: litellm::CREDENTIAL_VARIABLES,
        setting_variables: litellm::SETTING_VARIABLES,
        services: litellm::SERVICES,
        // It writes down how far it has come; a termination ends it without a word.
        stop_signal: Signal::Interrupt,
        capabilities: Capabilities {
            rules: false,
            mcp_servers: false,
            skills: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(Trajectory::default()),
};

/// The number of attempts at a request, four seconds apart or more. The default of 10 takes minutes.
const ATTEMPTS: &str = "4";
pub(super) const TRAJECTORY: &str = "trajectory.json";
/// The settings that it comes with. It would look for their own name in the workspace first. There is nothing of this
/// name beside a workspace, so that they are found where they are.
const BUILT_IN: &str = "../config/mini.yaml";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".config/mini-swe-agent");
    let trajectory = home.join(TRAJECTORY);
    let settings = inputs.with_config(json!({
        "run": { "task": inputs.prompt },
        // The agent tries again, so the library below must not.
        "model": { "model_kwargs": { "max_retries": 0 } },
    }));
    let settings = PlacedFile::yaml(&home, "settings.yaml", &settings);
    let mut args = vec![
        "-c",
        BUILT_IN,
        "-c",
        settings.path.as_str(),
        "--output",
        trajectory.as_str(),
        "--yolo",
        // Otherwise it asks whether it may end.
        "--exit-immediately",
    ];
    args.extend(inputs.model_option("--model"));
    let env = [
        ("MSWEA_GLOBAL_CONFIG_DIR", home.as_str()),
        // It would ask for a key and a model.
        ("MSWEA_CONFIGURED", "true"),
        ("MSWEA_SILENT_STARTUP", "1"),
        // A model without a price is no error.
        ("MSWEA_COST_TRACKING", "ignore_errors"),
        ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", ATTEMPTS),
        // The list of models and prices is built in; a newer one would change under a running suite.
        ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
        // It would read an `.env` of its own.
        ("LITELLM_MODE", "PRODUCTION"),
        ("NO_COLOR", "1"),
    ];
    let started = Invocation::program("mini", &args, &env);
    Invocation {
        stdin: Stdin::Empty,
        files: vec![settings],
        side_files: vec![SideFile::new(home.as_path(), TRAJECTORY, TRAJECTORY)],
        ..started
    }
}

#[derive(Debug, Default)]
struct Trajectory {
    /// The last printed error of the model's service.
    trouble: Option<String>,
}

fn read(document: &Value, session: &mut Session) {
    let messages = document.list("messages");
    for (message, line) in messages.iter().zip(1..) {
        session.line = line;
        steps(message, session);
    }
    session.usage.tool_calls = Some(session.tool_calls);
}

fn steps(message: &Value, session: &mut Session) {
    let said = text_of(&message["content"]).unwrap_or_default();
    match message.text("role") {
        "user" => session.message(Role::User, said),
        "assistant" => {
            session.reasoning(message.text("reasoning_content"));
            session.message(Role::Assistant, said);
            for call in message.list("tool_calls") {
                openai_chat::add_call(call, None, session);
            }
        }
        "tool" => {
            let extra = &message["extra"];
            // The command that ends a session is executed, although this says that it was not.
            if extra["exception_info"] != "action was not executed" {
                let output = extra.owned("raw_output").unwrap_or(said);
                let ok = extra["returncode"] == 0;
                session.result(message.owned("tool_call_id"), ok, Some(output));
            }
        }
        "exit" if !said.is_empty() => session.notice(said),
        // Its own instructions are the same every time.
        _ => {}
    }
}

impl Protocol for Trajectory {
    /// Reads words for people; the trajectory has all steps.
    fn line(&mut self, text: &str, session: &mut Session) {
        self.stderr(text.trim(), session);
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_last(text);
        if text.contains("litellm.") && errors::classify(None, text).is_some() {
            self.trouble = Some(text.chars().take(300).collect());
        }
        // After an answer the trouble is over, and its command is at work until its result is printed.
        if text.starts_with("mini-swe-agent (step ") {
            self.trouble = None;
            session.answered();
            session.tool_at_work("step", true);
        } else if matches!(text, "Tool:" | "User:") {
            session.tool_at_work("step", false);
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let document = session.read_document("trajectory of mini-swe-agent");
        if let Some(document) = &document {
            read(document, session);
        }
        let document = document.unwrap_or_default();
        // The name of its end, or of the exception that ended it; empty while it goes on.
        let status = document["info"].text("exit_status");
        match status {
            "Submitted" => return Ending::Completed,
            "LimitsExceeded" | "TimeExceeded" => {
                session.final_note("mini-swe-agent stopped at its own limit");
                return Ending::Completed;
            }
            "RepeatedFormatError" => {
                session
                    .final_note("the model repeatedly did not call a tool, and the agent gave up");
                return Ending::Completed;
            }
            // A session that was interrupted ends with the exception that there is nobody to ask.
            "" | "EOFError" | "KeyboardInterrupt" => {
                return match &self.trouble {
                    Some(trouble) => session::failed_with(trouble, ErrorKind::ModelApi),
                    None => failed(ErrorKind::Agent, session.broke_off(exit)),
                };
            }
            _ => {}
        }
        let last = document.list("messages").last();
        let said = last.and_then(|last| text_of(&last["content"]));
        let said: String = said.unwrap_or_default().chars().take(300).collect();
        match errors::classify(None, status).or(errors::classify(None, &said)) {
            Some(kind) => failed(kind, said),
            None => {
                let message = format!("{status}: {said}");
                Ending::Crashed(TrialError::new(ErrorKind::Agent, message))
            }
        }
    }
}

#[cfg(test)]
mod tests;
