//! `aider`, driven headlessly with `--message-file`.
//!
//! Verified against 0.86.2. Four facts shape this file: it has no tools but edits by blocks in what the model
//! says; its exit status is 0 whatever happens, so that its log of analytics, which it keeps without sending it
//! anywhere, is the only proof that the model has answered; a prompt that begins with `/` or `!` would be a
//! command to aider itself; and it knows of a workspace's files only through git.

mod errors;
mod stream;

use serde_json::{Value, json};

use self::stream::Stream;
use super::litellm;
use super::{
    Agent, Capabilities, Decoder, Inputs, Invocation, Launch, PlacedFile, Profile, SideFile, Stdin,
    StopSignal,
};
use crate::text::json as document;

#[derive(Debug)]
pub(super) struct Aider;

static PROFILE: Profile = Profile {
    name: "aider",
    aliases: &[],
    program: Some("aider"),
    version_args: &["--version"],
    install: "pip install aider-chat, or https://aider.chat/docs/install.html",
    takes_command: false,
    streams_events: false,
    // It reads none by itself; this is the one that it is told to read.
    rules_file: RULES,
    credential_variables: litellm::CREDENTIAL_VARIABLES,
    setting_variables: litellm::SETTING_VARIABLES,
    credential_files: &[],
    skills_dir: "",
    proved_with: "0.86.2",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities {
        model: true,
        rules: true,
        mcp_servers: false,
        skills: false,
        config: true,
    },
};

const RULES: &str = "AGENTS.md";
/// What it has used, as a side file.
const ANALYTICS: &str = "analytics.jsonl";

impl Agent for Aider {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let home = inputs.agent_home.join(".aider");
        let settings_file = home.join("settings.yml");
        let models_file = home.join("models.yml");
        let mut files = vec![
            placed(settings_file.clone(), &settings(inputs), "aider.conf.yml"),
            placed(
                models_file.clone(),
                &model_settings(),
                "aider.model.settings.yml",
            ),
            // It would fetch the newest list of models and prices otherwise, and change under a running suite. Its
            // own, built in, is asked for what is not in here.
            placed(
                home.join("caches/model_prices_and_context_window.json"),
                &json!({ "none": {} }),
                "aider-prices.json",
            ),
        ];
        let mut prompt_file = inputs.prompt_file.to_owned();
        if inputs.prompt.starts_with(['/', '!']) {
            // After an empty line it is no command.
            prompt_file = home.join("prompt.txt");
            let content = format!("\n{}", inputs.prompt);
            files.push(PlacedFile {
                path: prompt_file.clone(),
                content,
                artifact: "prompt.txt",
            });
        }
        let args = [
            ("--config", settings_file.as_str()),
            ("--model-settings-file", models_file.as_str()),
            ("--analytics-log", home.join(ANALYTICS).as_str()),
            ("--message-file", prompt_file.as_str()),
        ]
        .into_iter()
        .chain(inputs.model.map(|model| ("--model", model)))
        .flat_map(|(name, value)| [name.to_owned(), value.to_owned()])
        .collect();
        Invocation {
            launch: Launch::Program {
                program: "aider".into(),
                args,
            },
            env: ENVIRONMENT
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Stdin::Empty,
            files,
            side_files: vec![SideFile {
                dir: home,
                glob: ANALYTICS,
                label: ANALYTICS,
            }],
        }
    }

    fn decoder(&self, _: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::<Stream>::default()
    }

    /// What it remembers of the repository, and has no other place for.
    fn litter(&self) -> &'static [&'static str] {
        &[".aider.tags.cache.v3", ".aider.tags.cache.v4"]
    }
}

const ENVIRONMENT: [(&str, &str); 10] = [
    // The catalogue of models is built in.
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    // It would read an `.env` of its own.
    ("LITELLM_MODE", "PRODUCTION"),
    // It opens the addresses that it finds in errors.
    ("BROWSER", "true"),
    // Lines are not to be broken.
    ("COLUMNS", "4096"),
    ("NO_COLOR", "1"),
    // Where git does not know a name it writes one into the repository's settings.
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "user.name"),
    ("GIT_CONFIG_VALUE_0", "terca"),
    ("GIT_CONFIG_KEY_1", "user.email"),
    ("GIT_CONFIG_VALUE_1", "terca@localhost"),
];

fn placed(path: camino::Utf8PathBuf, content: &Value, artifact: &'static str) -> PlacedFile {
    PlacedFile {
        path,
        content: document::yaml(content),
        artifact,
    }
}

/// Our settings, with the user's `config` laid over them.
fn settings(inputs: &Inputs<'_>) -> Value {
    let home = inputs.agent_home.join(".aider");
    let mut settings = json!({
        "yes-always": true,
        // Where there is no repository it would make one.
        "git": inputs.git,
        // The repository stays as it is; what was edited is in the working tree.
        "auto-commits": false,
        "dirty-commits": false,
        "gitignore": false,
        // With a stream its figures are guesses.
        "stream": false,
        "pretty": false,
        "fancy-input": false,
        "check-update": false,
        "analytics": false,
        "show-release-notes": false,
        "show-model-warnings": false,
        // It would fetch every address in a prompt, with a browser that it installs for that.
        "detect-urls": false,
        "disable-playwright": true,
        // Summaries would be asked for on the side, and stand in no figures.
        "max-chat-history-tokens": 1_000_000,
        "chat-history-file": home.join("chat.md"),
        "input-history-file": home.join("input.txt"),
    });
    if let Some(config) = inputs.config {
        document::merge(&mut settings, config);
    }
    // Beside what the user has it read. A file that is not there is passed over.
    let read = match settings["read"].take() {
        Value::Null => vec![json!(RULES)],
        Value::Array(files) => [vec![json!(RULES)], files].concat(),
        file => vec![json!(RULES), file],
    };
    settings["read"] = json!(read);
    settings
}

/// It tries a failed request nine times within a minute, which cannot be changed; the library below would try each of
/// them three times.
fn model_settings() -> Value {
    json!([{ "name": "aider/extra_params", "extra_params": { "max_retries": 0 } }])
}

#[cfg(test)]
mod tests;
