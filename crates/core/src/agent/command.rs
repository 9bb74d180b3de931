//! `command`: any shell command as an agent.
//!
//! The prompt is its standard input and the file `$TERCA_PROMPT_FILE`. It may write figures to
//! `$TERCA_STATS_FILE`, as JSON with the keys of `stats` in `results.json`. Its exit status says whether its
//! session came to a proper end.

use super::{
    Agent, Capabilities, Decoder, Ending, Inputs, Invocation, Launch, Line, PlainLines, Profile,
    Reading, SideFile, Stdin, StopSignal,
};
use crate::process::Exit;
use crate::transcript::{Record, Usage};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug)]
pub(super) struct Command;

static PROFILE: Profile = Profile {
    name: "command",
    aliases: &[],
    program: None,
    version_args: &[],
    install: "check the `command` of the agent",
    takes_command: true,
    streams_events: false,
    rules_file: "AGENTS.md",
    credential_variables: &[],
    setting_variables: &[],
    credential_files: &[],
    skills_dir: ".agents/skills",
    proved_with: "",
    stop_signal: StopSignal::Terminate,
    capabilities: Capabilities {
        model: true,
        rules: true,
        mcp_servers: false,
        skills: true,
        config: false,
    },
};

impl Agent for Command {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        let mut env = vec![
            (
                "TERCA_PROMPT_FILE".to_owned(),
                inputs.prompt_file.to_string(),
            ),
            ("TERCA_STATS_FILE".to_owned(), inputs.stats_file.to_string()),
        ];
        env.extend(
            inputs
                .model
                .map(|model| ("TERCA_MODEL".to_owned(), model.to_owned())),
        );
        let stats_dir = inputs.stats_file.parent().unwrap_or(inputs.agent_home);
        Invocation {
            launch: Launch::Shell(inputs.command.unwrap_or("false").to_owned()),
            env,
            stdin: Stdin::Prompt,
            files: Vec::new(),
            side_files: vec![SideFile {
                dir: stats_dir.to_owned(),
                glob: "stats.json",
                label: "stats.json",
            }],
        }
    }

    fn decoder(&self, _: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Plain::default())
    }
}

#[derive(Debug, Default)]
struct Plain {
    lines: PlainLines,
    stats: String,
    last_words: String,
}

impl Decoder for Plain {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.lines.record(line)
    }

    fn stderr(&mut self, line: Line<'_>) {
        if let Line::Text(text) = line
            && !text.trim().is_empty()
        {
            self.last_words = text.trim().chars().take(300).collect();
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        self.stats.push_str(line);
        self.stats.push('\n');
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn finish(self: Box<Self>, exit: Exit) -> Reading {
        let mut notes = Vec::new();
        let usage = if self.stats.trim().is_empty() {
            Usage::default()
        } else {
            serde_json::from_str(&self.stats).unwrap_or_else(|error| {
                notes.push(format!(
                    "the agent's $TERCA_STATS_FILE is not what it should be: {error}"
                ));
                Usage::default()
            })
        };
        Reading {
            records: Vec::new(),
            usage,
            model: None,
            mcp_servers: Default::default(),
            ending: self.ending(exit),
            notes,
        }
    }
}

impl Plain {
    fn ending(&self, exit: Exit) -> Ending {
        let kind = match exit {
            Exit::Code(0) => return Ending::Completed,
            // What the shell says when there is no such program, or it may not be run.
            Exit::Code(126 | 127) => ErrorKind::AgentMissing,
            Exit::Code(_) | Exit::Signal(_) => ErrorKind::Agent,
        };
        let words = if self.last_words.is_empty() {
            String::new()
        } else {
            format!(": {}", self.last_words)
        };
        Ending::Crashed(TrialError::new(
            kind,
            format!("the agent ended with {}{words}", exit.describe()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(stats: &str, exit: Exit) -> Reading {
        let mut plain = Box::new(Plain::default());
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
