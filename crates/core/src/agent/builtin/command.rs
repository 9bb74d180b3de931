//! `command`: any shell command as an agent.
//!
//! The prompt is its standard input and the file `$TERCA_PROMPT_FILE`. It may write figures to `$TERCA_STATS_FILE`, as
//! JSON with the keys of `stats` in `results.json`, and with its version, the model that answered, and an error. Exit
//! status 0 says that its session came to a proper end, unless it reports an error.

use crate::agent::prelude::*;

use crate::text::prose;

pub static AGENT: Agent = Agent {
    profile: Profile {
        name: "command",
        version_args: &[],
        install: Some("check the `command` of the agent"),
        takes_command: true,
        services: COMMON_SERVICES,
        streams_events: false,
        skills_dir: ".agents/skills",
        ..Profile::USUAL
    },
    invocation,
    protocol: |_| Box::new(Plain),
};

/// The lines of output that become messages of the transcript.
const MOST_LINES: u64 = 2_000;
/// The longest version or name of a model that is taken, in characters.
const LONGEST_NAME: usize = 200;
/// The keys of `$TERCA_STATS_FILE`.
const KEYS: [&str; 9] = [
    "requests", "inputTokens", "cachedInputTokens", "outputTokens", "toolCalls", "costUsd",
    "version", "model", "error",
];

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut env = vec![
        ("TERCA_PROMPT_FILE", inputs.prompt_file.as_str()),
        ("TERCA_STATS_FILE", inputs.stats_file.as_str()),
        ("TERCA_ARTIFACTS_DIR", inputs.artifacts_dir.as_str()),
    ];
    env.extend(inputs.model.map(|model| ("TERCA_MODEL", model)));
    let dir = inputs.agent_home.join(".terca");
    let servers = inputs.mcp_file(&dir, "mcp.json", |server| {
        server.typed_settings(["stdio", "http", "sse"])
    });
    let config = inputs.config;
    let config = config.map(|config| PlacedFile::json(&dir, "config.json", config));
    for (variable, file) in [("TERCA_MCP_CONFIG", &servers), ("TERCA_CONFIG", &config)] {
        env.extend(file.iter().map(|file| (variable, file.path.as_str())));
    }
    let stats_dir = inputs.stats_file.parent().unwrap_or(inputs.agent_home);
    let started = Invocation::of(Launch::command(inputs), &env);
    Invocation {
        files: servers.into_iter().chain(config).collect(),
        side_files: vec![SideFile::new(stats_dir, "stats.json", "stats.json")],
        ..started
    }
}

struct Plain;

/// Adds a step for a line, up to a limit.
fn add(step: Step, session: &mut Session) {
    let line = session.line;
    if line <= MOST_LINES {
        session.push(step);
    } else if line == MOST_LINES + 1 {
        session.notice(format!(
            "the output continues after {MOST_LINES} lines: see artifacts/stdout.log"
        ));
    }
}

/// Reads what the stats file says in words: the version, the model that answered, and an error.
fn read_words(stats: &str, session: &mut Session) -> Option<TrialError> {
    let stats: Value = serde_json::from_str(stats).ok()?;
    let keys = stats.as_object().into_iter().flat_map(Map::keys);
    for key in keys.filter(|key| !KEYS.contains(&key.as_str())) {
        // Others may be the agent's own. A slip is told once; there may be any number.
        if let Some(meant) = prose::did_you_mean(key, KEYS) {
            session.final_note(format!(
                "the agent reported {key:?}, which is not read; did it mean `{meant}`?"
            ));
            break;
        }
    }
    session.version = short_text(&stats["version"]);
    if let Some(model) = short_text(&stats["model"]) {
        session.models.answered(&model);
    }
    let error = stats.get("error").filter(|error| !error.is_null())?;
    let kind = serde_json::from_value(error["kind"].clone()).unwrap_or_else(|_| {
        let written = error["kind"].as_str().unwrap_or_default();
        session.final_note(format!(
            "the agent reported an error of the unknown kind {written:?}: it counts as `agent`"
        ));
        ErrorKind::Agent
    });
    let message = error["message"].as_str().or(error.as_str());
    let message = message.unwrap_or("the agent reported an error");
    Some(TrialError::new(kind, message))
}

/// Returns the first line of a text, without what no name needs.
fn short_text(value: &Value) -> Option<String> {
    let line = value.as_str()?.lines().next()?.trim();
    let line: String = line.chars().take(LONGEST_NAME).collect();
    (!line.is_empty()).then_some(line)
}

impl Protocol for Plain {
    fn line(&mut self, text: &str, session: &mut Session) {
        let text = text.to_owned();
        let role = Role::Assistant;
        add(Step::Message { role, text }, session);
    }

    fn oversized_line(&mut self, beginning: &str, bytes: u64, session: &mut Session) {
        let beginning: String = beginning.chars().take(200).collect();
        let text = format!("a line of {bytes} bytes: {beginning}…");
        add(Step::Notice { text }, session);
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_last(text);
    }

    /// Its output is that of any program.
    fn shows(&self) -> Shows {
        Shows::Nothing
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        let stats = std::mem::take(&mut session.document);
        if !stats.trim().is_empty() {
            match Usage::read_reported(&stats) {
                Ok((usage, remarks)) => {
                    session.usage = usage;
                    for remark in remarks {
                        session.final_note(remark);
                    }
                    if let Some(error) = read_words(&stats, session) {
                        return Ending::Failed(error);
                    }
                }
                Err(error) => session.final_note(format!(
                    "the agent's $TERCA_STATS_FILE cannot be read: {error}"
                )),
            }
        }
        let kind = match exit {
            Exit::Code(0) => return Ending::Completed,
            // The shell's way to say that there is no such program, or that it may not be run.
            Exit::Code(126 | 127) => ErrorKind::AgentMissing,
            Exit::Code(_) | Exit::Signal(_) => ErrorKind::Agent,
        };
        let ended = exit.describe();
        let words = session.last_words(exit);
        let verb = match exit {
            Exit::Signal(_) => "was",
            Exit::Code(_) => "ended with",
        };
        let message = if words == ended {
            format!("the agent {verb} {ended}")
        } else {
            format!("the agent {verb} {ended}: {words}")
        };
        Ending::Crashed(TrialError::new(kind, message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::{Line, Reading, playback};

    fn finish(stats: &str, exit: Exit) -> Reading {
        let mut plain = playback::decoder(&AGENT, &[]);
        for line in stats.lines() {
            plain.side_line("stats.json", line);
        }
        plain.stderr(Line::Text("sh: ./nope: not found"));
        plain.finish(exit)
    }

    #[test]
    fn figures_it_did_not_write_stay_unknown() {
        let reading = finish("{\"inputTokens\": 12,\n \"requests\": 3}", Exit::Code(0));
        assert_eq!(
            reading.usage,
            Usage {
                input_tokens: Some(12),
                requests: Some(3),
                ..Usage::default()
            }
        );
        assert_eq!(reading.ending, Ending::Completed);
    }

    #[test]
    fn a_broken_stats_file_is_a_note() {
        let reading = finish("{\"inputTokens\": \"many\"}", Exit::Code(0));
        assert_eq!(reading.usage, Usage::default());
        assert_eq!(reading.notes.len(), 1);
    }

    /// A figure under a name that is not read would be missing from every table, without a word.
    #[test]
    fn a_slip_in_a_key_is_a_note() {
        let reading = finish(
            r#"{"input_tokens": 5, "Requests": 2, "mood": "good"}"#,
            Exit::Code(0),
        );
        assert_eq!(reading.usage, Usage::default());
        let [note] = &reading.notes[..] else {
            panic!("{:?}", reading.notes);
        };
        assert!(
            note.contains("`requests`") || note.contains("`inputTokens`"),
            "{note}"
        );
        let known = r#"{"requests": 1, "inputTokens": 1, "cachedInputTokens": 0, "outputTokens": 1, "toolCalls": 1, "costUsd": 0.5,
            "version": "1", "model": "m", "error": null, "mood": "good"}"#;
        assert_eq!(finish(known, Exit::Code(0)).notes, Vec::<String>::new());
    }

    #[test]
    fn errors_versions_and_models_are_its_own_words() {
        let reading = finish(
            r#"{"version": "1.2.3\nand more", "model": "gpt-5-2025-08-07", "error": {"kind": "rateLimit", "message": "429"}}"#,
            Exit::Code(0),
        );
        assert_eq!(reading.version.as_deref(), Some("1.2.3"));
        assert_eq!(reading.model.as_deref(), Some("gpt-5-2025-08-07"));
        let error = TrialError::new(ErrorKind::RateLimit, "429");
        assert_eq!(reading.ending, Ending::Failed(error));
        for error in [r#"{"kind": "weather"}"#, r#""it rains""#, "7"] {
            let reading = finish(&format!(r#"{{"error": {error}}}"#), Exit::Code(0));
            assert_eq!(
                playback::kind(&reading.ending),
                Some(ErrorKind::Agent),
                "{error}"
            );
            assert_eq!(reading.notes.len(), 1);
        }
        let reading = finish(
            r#"{"error": null, "version": 7, "model": ""}"#,
            Exit::Code(0),
        );
        assert_eq!(reading.ending, Ending::Completed);
        assert_eq!((reading.version, reading.model), (None, None));
    }

    #[test]
    fn it_is_given_what_the_variant_has() {
        let config = json!({ "theme": "dark" });
        let variables = std::collections::BTreeSet::new();
        let servers = playback::servers();
        let inputs = Inputs {
            model: Some("m"),
            command: Some("./agent"),
            ..playback::inputs(&servers, Some(&config), &variables)
        };
        insta::assert_snapshot!(playback::shown(&invocation(&inputs)));
    }

    #[test]
    fn exit_statuses() {
        for (exit, kind) in [
            (Exit::Code(1), ErrorKind::Agent),
            (Exit::Code(127), ErrorKind::AgentMissing),
            (Exit::Signal(9), ErrorKind::Agent),
        ] {
            assert!(
                matches!(finish("", exit).ending, Ending::Crashed(error) if error.kind == kind)
            );
        }
    }
}
