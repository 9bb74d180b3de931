//! `aider`, driven headlessly with `--message-file`.
//!
//! Four facts shape this file: it has no tools but edits by blocks in what the model says; its exit status is always 0,
//! so that its log of analytics, which it keeps without sending it anywhere, is the only proof that the model has
//! answered; a prompt that begins with `/` or `!` would be a command to aider itself; and it knows the files of a
//! workspace only through git.

use super::prelude::*;

use super::litellm;

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "aider",
        program: Some("aider"),
        tested_version: "0.86.2",
        package: Some(Package::PyPi("aider-chat", &[])),
        install: Some("or https://aider.chat/docs/install.html"),
        streams_events: false,
        // It reads none by itself; this is the one that it is told to read.
        rules_file: RULES,
        credential_variables: litellm::CREDENTIAL_VARIABLES,
        setting_variables: litellm::SETTING_VARIABLES,
        services: litellm::SERVICES,
        // Its map of the repository, which has no other place.
        leftovers: &[".aider.tags.cache.v3", ".aider.tags.cache.v4"],
        capabilities: Capabilities {
            mcp_servers: false,
            skills: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(AiderStream::default()),
};

const RULES: &str = "AGENTS.md";
/// The log of analytics, with the answers.
pub(super) const ANALYTICS: &str = "analytics.jsonl";

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let home = inputs.agent_home.join(".aider");
    let settings = PlacedFile {
        artifact: "aider.conf.yml",
        ..PlacedFile::yaml(&home, "settings.yml", &settings(inputs))
    };
    // It tries a failed request nine times within a minute, which cannot be changed; the library below would try each
    // of them three times.
    let no_retries =
        json!([{ "name": "aider/extra_params", "extra_params": { "max_retries": 0 } }]);
    let models = PlacedFile {
        artifact: "aider.model.settings.yml",
        ..PlacedFile::yaml(&home, "models.yml", &no_retries)
    };
    // It would fetch the newest list of models and prices otherwise, and change under a running suite. For models that
    // are not in here it asks its own, built-in list.
    let prices = PlacedFile {
        artifact: "aider-prices.json",
        ..PlacedFile::yaml(
            &home.join("caches"),
            "model_prices_and_context_window.json",
            &json!({ "none": {} }),
        )
    };
    let analytics = home.join(ANALYTICS);
    let mut files = vec![settings, models, prices];
    let mut prompt_file = inputs.prompt_file.to_owned();
    if inputs.prompt.starts_with(['/', '!']) {
        // After an empty line it is no command.
        prompt_file = home.join("prompt.txt");
        files.push(PlacedFile {
            path: prompt_file.clone(),
            content: format!("\n{}", inputs.prompt),
            artifact: "prompt.txt",
        });
    }
    let mut args = vec![
        "--config",
        files[0].path.as_str(),
        "--model-settings-file",
        files[1].path.as_str(),
        "--analytics-log",
        analytics.as_str(),
        "--message-file",
        prompt_file.as_str(),
    ];
    args.extend(inputs.model_option("--model"));
    let started = Invocation::program("aider", &args, &ENVIRONMENT);
    Invocation {
        stdin: Stdin::Empty,
        files,
        side_files: vec![SideFile::new(home, ANALYTICS, ANALYTICS)],
        ..started
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

fn settings(inputs: &Inputs<'_>) -> Value {
    let home = inputs.agent_home.join(".aider");
    let mut settings = inputs.with_config(json!({
        "yes-always": true,
        // Where there is no repository it would make one.
        "git": inputs.git,
        // The repository stays as it is; the edits are in the working tree.
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
        // Summaries would be asked for on the side, and be in no figures.
        "max-chat-history-tokens": 1_000_000,
        "chat-history-file": home.join("chat.md"),
        "input-history-file": home.join("input.txt"),
    }));
    // The rules, beside the files that the user has it read. A missing file is no error.
    let read = match settings["read"].take() {
        Value::Null => vec![json!(RULES)],
        Value::Array(files) => [vec![json!(RULES)], files].concat(),
        file => vec![json!(RULES), file],
    };
    settings["read"] = json!(read);
    settings
}

#[derive(Debug, Default)]
struct AiderStream {
    /// Words of the model, until they are known to be over, with the line that they begin at.
    said: Vec<String>,
    said_at: u64,
    /// True after the lines about the model and the files it works with.
    introduced: bool,
    /// True after the line with the model that it will ask.
    named_model: bool,
    /// Requests to the model, and its answers.
    asked: u64,
    answered: u64,
    /// The reason for its exit, in its own words.
    reason: Option<String>,
    /// The last error since the model's last answer.
    error: Option<String>,
}

impl AiderStream {
    /// Reads a line about what it works with. An empty line ends that.
    fn introduction(&mut self, text: &str, session: &mut Session) {
        if text.is_empty() {
            self.introduced = self.named_model;
            return;
        }
        session.remember_last(text.trim());
        let model = text
            .strip_prefix("Model: ")
            .or(text.strip_prefix("Main model: "));
        self.named_model |= model.is_some_and(|rest| rest.contains(" with "));
        // The rules file, where there are no rules.
        let no_rules = text.starts_with("Error: Read-only file ")
            && text.ends_with("does not exist. Skipping.");
        if !no_rules {
            session.notice(text);
        }
    }

    /// Hands on the words of the model.
    fn flush(&mut self, session: &mut Session) {
        let said = std::mem::take(&mut self.said).join("\n");
        let text = said.trim().to_owned();
        if !text.is_empty() {
            let role = Role::Assistant;
            session.push_at(self.said_at, Step::Message { role, text });
        }
    }
}

/// Returns the name of the error in `litellm.AuthenticationError: AuthenticationError: OpenAIException - …`.
fn error_name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("litellm.")?.split_once(':')?;
    name.chars()
        .all(|c| c.is_ascii_alphanumeric())
        .then_some(name)
}

/// Returns the kind of an error. One with a name is an error of the service, whatever its words are.
fn kind_of(line: &str) -> ErrorKind {
    let otherwise = error_name(line).map_or(ErrorKind::Agent, |_| ErrorKind::ModelApi);
    errors::classify(None, line).unwrap_or(otherwise)
}

impl Protocol for AiderStream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if !self.introduced {
            self.introduction(text, session);
            return;
        }
        let is_answer_end = text.starts_with("Tokens: ") && text.contains(" sent, ");
        if error_name(text).is_some() {
            self.error = Some(text.to_owned());
            self.flush(session);
            session.error(text);
        } else if is_answer_end
            || text.starts_with("Retrying in ")
            || text.starts_with("Applied edit to ")
        {
            if is_answer_end {
                self.error = None;
            }
            self.flush(session);
            session.notice(text);
        } else {
            if self.said.is_empty() {
                self.said_at = session.line;
            }
            self.said.push(text.to_owned());
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_last(text);
    }

    /// Reads a line of the log.
    fn side_event(&mut self, event: Value, _session: &mut Session) {
        let properties = &event["properties"];
        match event.text("event") {
            "message_send_starting" => self.asked += 1,
            "message_send" => self.answered += 1,
            "exit" => self.reason = properties.owned("reason"),
            _ => {}
        }
    }

    /// Words are handed on when they are known to be over, and commands of the settings run unseen.
    fn shows(&self) -> Shows {
        Shows::Answers
    }

    fn usage(&self, session: &Session) -> Usage {
        session.counted(0)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.flush(session);
        if self.answered < self.asked {
            if let Some(error) = self.error.take() {
                return failed(kind_of(&error), error);
            }
            // Too long for the model, or ended in the middle: the work before that can be judged.
            let why = match self.reason {
                Some(_) => "the model gave no answer",
                None => "the session broke off",
            };
            let message = format!("{why}: {}", exit.describe());
            return Ending::Crashed(TrialError::new(ErrorKind::Agent, message));
        }
        let reason = self.reason.as_deref().unwrap_or_default();
        let completed = reason.starts_with("Completed");
        if completed && self.asked > 0 {
            return Ending::Completed;
        }
        let why = if completed {
            "the model was not asked"
        } else {
            "the session broke off"
        };
        let words = session.last_words(exit);
        failed(kind_of(&words), format!("{why}: {words}"))
    }
}

#[cfg(test)]
mod tests;
