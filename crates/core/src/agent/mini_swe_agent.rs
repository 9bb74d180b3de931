//! `mini-swe-agent`, driven headlessly with `mini`.
//!
//! Two facts shape this file: the prompt may be given in a settings file, where it may have any length and beginning;
//! and everything about a session is in the trajectory, a document that is rewritten after every step.

use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::Patterns;
use super::invocation::variables;
use super::openai_chat::{self, AnswerTokens, ToolCall, text_of};
use super::session::{self, Protocol, Session, failed};
use super::{
    Agent, Capabilities, Decoder, Ending, Inputs, Invocation, Launch, Package, PlacedFile, Profile,
    SideFile, Stdin, StopSignal, litellm,
};
use crate::process::Exit;
use crate::transcript::{Role, Usage};
use crate::trial_error::{ErrorKind, TrialError};

pub(super) static AGENT: Agent = Agent {
    profile: Profile {
        name: "mini-swe-agent",
        aliases: &["mini"],
        program: Some("mini"),
        // It has no option for its version, but prints it with its help.
        version_args: &["--help"],
        tested_version: "2.4.6",
        package: Some(Package::PyPi("mini-swe-agent")),
        install: Some("pip install mini-swe-agent mcp"),
        streams_events: false,
        rules_file: "",
        read_above: &[],
        credential_variables: litellm::CREDENTIAL_VARIABLES,
        setting_variables: litellm::SETTING_VARIABLES,
        services: litellm::SERVICES,
        // It writes down how far it has come; a termination ends it without a word.
        stop_signal: StopSignal::Interrupt,
        capabilities: Capabilities {
            rules: false,
            mcp_servers: false,
            skills: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

/// The number of attempts at a request, four seconds apart or more. The default of 10 takes minutes.
const ATTEMPTS: &str = "4";
pub(super) const TRAJECTORY: &str = "trajectory.json";
/// The settings that it comes with. It would look for their own name in the workspace first. There is nothing of this
/// name beside a workspace, so that they are found where they are.
const BUILT_IN: &str = "../config/mini.yaml";

/// The exceptions of its library that are the service's, by their names.
const ERRORS: Patterns = &[
    // Not every refusal has a name of its own.
    (
        ErrorKind::Auth,
        &["AuthenticationError", "PermissionDeniedError", "Forbidden"],
    ),
    (ErrorKind::RateLimit, &["RateLimitError"]),
    (
        ErrorKind::ModelApi,
        &[
            "APIConnectionError", "APIError", "BadGatewayError", "BadRequestError",
            "InternalServerError", "NotFoundError", "ServiceUnavailableError", "litellm.Timeout",
        ],
    ),
];

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
    if let Some(model) = inputs.model {
        args.extend(["--model", model]);
    }
    Invocation {
        launch: Launch::program("mini", &args),
        env: variables(&[
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
        ]),
        stdin: Stdin::Empty,
        files: vec![settings],
        side_files: vec![SideFile {
            dir: home,
            glob: TRAJECTORY,
            label: TRAJECTORY,
        }],
    }
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, ERRORS, Trajectory::default())
}

#[derive(Debug, Default)]
struct Trajectory {
    document: String,
    /// The last printed error of the model's service.
    trouble: Option<String>,
    usage: Usage,
}

impl Trajectory {
    fn parse(&self, session: &mut Session) -> Option<Document> {
        if self.document.is_empty() {
            return None;
        }
        match serde_json::from_str(&self.document) {
            Ok(document) => Some(document),
            Err(error) => {
                session.final_note(format!(
                    "the trajectory of mini-swe-agent could not be read: {error}"
                ));
                None
            }
        }
    }

    fn read(&mut self, document: &Document, session: &mut Session) {
        for (message, line) in document.messages.iter().zip(1..) {
            session.read_entry(line);
            steps(message, session);
        }
        let messages = document.messages.iter();
        let named = messages.filter_map(|message| message.extra.response["model"].as_str());
        for model in named {
            session.models.answered(model);
        }
        let answers: Vec<AnswerTokens> = document.messages.iter().filter_map(tokens).collect();
        let cost = document.info.model_stats.instance_cost;
        self.usage = Usage {
            tool_calls: Some(session.tool_calls),
            cost_usd: cost.filter(|cost| *cost > 0.0),
            ..openai_chat::usage(&answers.iter().collect::<Vec<_>>())
        };
    }
}

/// Returns the tokens of an answer, if the message is one.
fn tokens(message: &Message) -> Option<AnswerTokens> {
    let response = message.extra.response.as_object()?;
    let usage = response.get("usage");
    let tokens = usage.and_then(|usage| AnswerTokens::deserialize(usage).ok());
    Some(tokens.unwrap_or_default())
}

fn steps(message: &Message, session: &mut Session) {
    let said = text_of(&message.content);
    match message.role.as_str() {
        "user" => session.message(Role::User, said),
        "assistant" => {
            if let Some(thought) = &message.reasoning_content {
                session.reasoning(thought.clone());
            }
            if !said.is_empty() {
                session.message(Role::Assistant, said);
            }
            for call in message.tool_calls.iter().flatten() {
                call.add(None, session);
            }
        }
        "tool" => {
            let extra = &message.extra;
            // The command that ends a session is executed, although this says that it was not.
            if extra.exception_info.as_deref() != Some("action was not executed") {
                let output = extra.raw_output.clone().unwrap_or(said);
                let ok = extra.returncode == Some(0);
                session.result(message.tool_call_id.clone(), ok, Some(output));
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

    fn oversized_line(&mut self, _beginning: &str, _bytes: u64, _session: &mut Session) {}

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_last(text);
        if text.contains("litellm.") && session.classify(text).is_some() {
            self.trouble = Some(text.chars().take(300).collect());
        }
        // After an answer the trouble is over, and its command is at work until its result is printed.
        if text.starts_with("mini-swe-agent (step ") {
            self.trouble = None;
            session.answered();
            session.begins_step();
        } else if matches!(text, "Tool:" | "User:") {
            session.ends_step();
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, _session: &mut Session) {
        self.document.push_str(line);
        self.document.push('\n');
    }

    fn usage(&self, _session: &Session) -> Usage {
        self.usage
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let document = self.parse(session);
        if let Some(document) = &document {
            self.read(document, session);
        }
        let status = document
            .as_ref()
            .map_or("", |document| &document.info.exit_status);
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
                let Some(trouble) = self.trouble.take() else {
                    let words = session.last_words(exit);
                    return failed(ErrorKind::Agent, format!("the session broke off: {words}"));
                };
                let kind = session.classify(&trouble).unwrap_or(ErrorKind::ModelApi);
                return failed(kind, trouble);
            }
            _ => {}
        }
        let last = document
            .as_ref()
            .and_then(|document| document.messages.last());
        let said = last.map(|last| text_of(&last.content)).unwrap_or_default();
        let said: String = said.chars().take(300).collect();
        match session.classify(status).or(session.classify(&said)) {
            Some(kind) => failed(kind, said),
            None => {
                let message = format!("{status}: {said}");
                Ending::Crashed(TrialError::new(ErrorKind::Agent, message))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct Document {
    info: Info,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Info {
    /// The name of its end, or of the exception that ended it; empty while it goes on.
    #[serde(default)]
    exit_status: String,
    model_stats: ModelStats,
}

#[derive(Debug, Deserialize)]
struct ModelStats {
    /// 0 where the price of the model is not known.
    instance_cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    /// A text; a list of parts for some models.
    #[serde(default)]
    content: Value,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<String>,
    #[serde(default)]
    extra: Extra,
}

#[derive(Debug, Default, Deserialize)]
struct Extra {
    /// The answer of the service; a text where it could not be written down.
    #[serde(default)]
    response: Value,
    returncode: Option<i64>,
    raw_output: Option<String>,
    exception_info: Option<String>,
}

#[cfg(test)]
mod tests;
