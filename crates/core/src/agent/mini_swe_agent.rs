//! `mini-swe-agent`, driven headlessly with `mini`.
//!
//! Verified against 2.4.6. Two facts shape this file: the prompt may be given in a settings file, where it may be of
//! any length and begin with anything; and all that can be known of a session stands in the trajectory, a document
//! that is written anew after every step.

mod trajectory;
mod wire;

use serde_json::{Value, json};

use self::trajectory::Trajectory;
use super::litellm;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, SideFile, Stdin,
    StopSignal,
};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct MiniSweAgent;

static PROFILE: Profile = Profile {
    name: "mini-swe-agent",
    aliases: &["mini"],
    program: Some("mini"),
    // It has no word for its version but tells it on every occasion.
    version_args: &["--help"],
    install: "pip install mini-swe-agent mcp",
    takes_command: false,
    streams_events: false,
    rules_file: "",
    credential_variables: litellm::CREDENTIAL_VARIABLES,
    setting_variables: litellm::SETTING_VARIABLES,
    credential_files: &[],
    skills_dir: "",
    proved_with: "2.4.6",
    // It writes down how far it has come; a termination ends it without a word.
    stop_signal: StopSignal::Interrupt,
    capabilities: Capabilities {
        model: true,
        rules: false,
        mcp_servers: false,
        skills: false,
        config: true,
    },
};

/// How often a request is tried, four seconds apart or more. The default of 10 takes minutes.
const ATTEMPTS: &str = "4";
const TRAJECTORY: &str = "trajectory.json";
/// The settings that it comes with. Of its own name it would look for them in the workspace first; there is nothing of
/// this name beside a workspace, so that they are found where they are.
const BUILT_IN: &str = "../config/mini.yaml";

impl Agent for MiniSweAgent {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let home = inputs.agent_home.join(".config/mini-swe-agent");
        let settings_file = home.join("settings.yaml");
        let trajectory = home.join(TRAJECTORY);
        let mut args = vec![
            "-c",
            BUILT_IN,
            "-c",
            settings_file.as_str(),
            "--output",
            trajectory.as_str(),
            "--yolo",
        ];
        // Otherwise it asks whether it may end.
        args.push("--exit-immediately");
        if let Some(model) = inputs.model {
            args.extend(["--model", model]);
        }
        let env = [
            ("MSWEA_GLOBAL_CONFIG_DIR", home.as_str()),
            // It would ask for a key and a model.
            ("MSWEA_CONFIGURED", "true"),
            ("MSWEA_SILENT_STARTUP", "1"),
            // A model without a price is none that it could not work with.
            ("MSWEA_COST_TRACKING", "ignore_errors"),
            ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", ATTEMPTS),
            // The list of models and prices is built in; a newer one would change under a running suite.
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
            // It would read an `.env` of its own.
            ("LITELLM_MODE", "PRODUCTION"),
            ("NO_COLOR", "1"),
        ];
        Invocation {
            launch: Launch::Program {
                program: "mini".into(),
                args: args.into_iter().map(str::to_owned).collect(),
            },
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Empty,
            files: vec![PlacedFile {
                path: settings_file,
                content: document::yaml(&settings(inputs)),
                artifact: "settings.yaml",
            }],
            side_files: vec![SideFile {
                dir: home.clone(),
                glob: TRAJECTORY,
                label: TRAJECTORY,
            }],
        }
    }

    fn decoder(&self, _: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::<Trajectory>::default()
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = json!({
        "run": { "task": inputs.prompt },
        // What is tried again is tried again by the agent, not by the library below it as well.
        "model": { "model_kwargs": { "max_retries": 0 } },
    });
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    settings
}

#[cfg(test)]
mod tests;
