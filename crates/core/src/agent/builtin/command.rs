//! `command`: any shell command as an agent.
//!
//! The prompt is its standard input and the file `$TERCA_PROMPT_FILE`. It may write figures to `$TERCA_STATS_FILE`, as
//! JSON with the keys of `stats` in `results.json`. Exit status 0 says that its session came to a proper end.

use crate::agent::conversation::Shows;
use crate::agent::invocation::variables;
use crate::agent::session::{self, Protocol, Session};
use crate::agent::{
    Agent, Capabilities, Decoder, Ending, Inputs, Invocation, Launch, Profile, SideFile, Stdin,
};
use crate::process::Exit;
use crate::transcript::{Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

pub(in crate::agent) static AGENT: Agent = Agent {
    profile: Profile {
        name: "command",
        version_args: &[],
        install: Some("check the `command` of the agent"),
        takes_command: true,
        streams_events: false,
        skills_dir: ".agents/skills",
        capabilities: Capabilities {
            mcp_servers: false,
            config: false,
            ..Capabilities::ALL
        },
        ..Profile::USUAL
    },
    invocation,
    decoder,
};

/// The lines of output that become messages of the transcript.
const MOST_LINES: u64 = 2_000;

fn invocation(inputs: &Inputs<'_>) -> Invocation {
    let mut env = vec![
        ("TERCA_PROMPT_FILE", inputs.prompt_file.as_str()),
        ("TERCA_STATS_FILE", inputs.stats_file.as_str()),
    ];
    env.extend(inputs.model.map(|model| ("TERCA_MODEL", model)));
    let stats_dir = inputs.stats_file.parent().unwrap_or(inputs.agent_home);
    Invocation {
        launch: Launch::Shell(inputs.command.unwrap_or("false").to_owned()),
        env: variables(&env),
        stdin: Stdin::Prompt,
        files: Vec::new(),
        side_files: vec![SideFile {
            dir: stats_dir.to_owned(),
            glob: "stats.json",
            label: "stats.json",
        }],
    }
}

fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, &[], Plain::default())
}

#[derive(Default)]
struct Plain {
    stats: String,
    usage: Usage,
}

impl Plain {
    /// Adds a step for a line, up to a limit.
    fn add(&self, step: Step, session: &mut Session) {
        let line = session.line_number();
        if line <= MOST_LINES {
            session.push(step);
        } else if line == MOST_LINES + 1 {
            session.notice(format!(
                "the output goes on after {MOST_LINES} lines: see artifacts/stdout.log"
            ));
        }
    }
}

impl Protocol for Plain {
    fn line(&mut self, text: &str, session: &mut Session) {
        let text = text.to_owned();
        let role = Role::Assistant;
        self.add(Step::Message { role, text }, session);
    }

    fn oversized_line(&mut self, beginning: &str, bytes: u64, session: &mut Session) {
        let beginning: String = beginning.chars().take(200).collect();
        let text = format!("a line of {bytes} bytes: {beginning}…");
        self.add(Step::Notice { text }, session);
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember_last(text);
    }

    fn side_line(&mut self, _label: &str, line: &str, _session: &mut Session) {
        self.stats.push_str(line);
        self.stats.push('\n');
    }

    /// Its output is that of any program.
    fn shows(&self) -> Shows {
        Shows::Nothing
    }

    fn usage(&self, _session: &Session) -> Usage {
        self.usage
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if !self.stats.trim().is_empty() {
            match Usage::read_reported(&self.stats) {
                Ok((usage, remarks)) => {
                    self.usage = usage;
                    for remark in remarks {
                        session.final_note(remark);
                    }
                }
                Err(error) => session.final_note(format!(
                    "the agent's $TERCA_STATS_FILE is not what it should be: {error}"
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
        let message = if words == ended {
            format!("the agent ended with {ended}")
        } else {
            format!("the agent ended with {ended}: {words}")
        };
        Ending::Crashed(TrialError::new(kind, message))
    }
}

#[cfg(test)]
mod tests {
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
