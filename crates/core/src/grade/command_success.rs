//! `commandSuccess`: a command that must succeed.
//!
//! Any exit status but 0 is a "no". So is a command that hangs or is killed: it mostly runs the agent's work, and
//! work that hangs or crashes is wrong. A program that this machine does not have is nobody's work, so there is no
//! verdict then.

use std::time::Duration;

use regex::Regex;

use super::declaration::{TestKindDeclaration, settings};
use super::evidence::CommandEnd;
use super::test::{Question, TestKind};
use super::verdict::{NoVerdict, Verdict, is_match, on_one_line, with_tail};
use crate::process::Exit;
use crate::reader::values::{command_line, plain_text};
use crate::reader::{object, or_map, patterns};
use crate::text::prose;

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "commandSuccess",
    about: "A shell command must exit with status 0, and its output must be as asked.",
    settings: || {
        let short = command_line().map(|command| CommandSuccess {
            command: command.value,
            output_contains: None,
            output_matches: None,
        });
        let long = object("commandSuccess", "`commandSuccess`", |fields| {
            let command = fields.required(
                "command",
                command_line().value(),
                "Run in a copy of the workspace, with the files of `_tests/` added.",
            );
            let output_contains = fields.optional(
                "outputContains",
                plain_text().value(),
                "Standard output and standard error together must contain this text.",
            );
            let output_matches = fields.optional(
                "outputMatches",
                patterns::regex(),
                "Standard output and standard error together must match.",
            );
            Some(CommandSuccess {
                command: command?,
                output_contains,
                output_matches,
            })
        });
        settings(or_map(
            short,
            long.linked("[map](eval-yaml.md#commandsuccess)").kind(),
        ))
    },
};

/// A command, and the output that it must have.
#[derive(Debug)]
struct CommandSuccess {
    command: String,
    output_contains: Option<String>,
    output_matches: Option<Regex>,
}

impl TestKind for CommandSuccess {
    fn question(&self, limit: Duration) -> Question<'_> {
        Question::Command {
            command: &self.command,
            separate_stdout: false,
            judge: Box::new(move |end| self.judge(end, limit)),
        }
    }
}

impl CommandSuccess {
    fn judge(&self, end: &CommandEnd, limit: Duration) -> Result<Verdict, NoVerdict> {
        if let Some(program) = &end.missing {
            return Err(not_installed(program));
        }
        let output = end.output.as_str();
        if end.timed_out {
            return Ok(Verdict::fail(with_tail(
                &out_of_time(limit),
                output,
                &end.mask,
            )));
        }
        if end.exit != Exit::Code(0) {
            return Ok(Verdict::fail(with_tail(
                &describe(end.exit),
                output,
                &end.mask,
            )));
        }
        if let Some(text) = &self.output_contains
            && !output.contains(text)
        {
            let reason = format!("the output does not contain {text:?}");
            return Ok(Verdict::fail(with_tail(&reason, output, &end.mask)));
        }
        if let Some(pattern) = &self.output_matches
            && !is_match(pattern, output)
        {
            let reason = format!("the output does not match /{}/", on_one_line(pattern));
            return Ok(Verdict::fail(with_tail(&reason, output, &end.mask)));
        }
        Ok(Verdict::pass(end.exit.describe()))
    }
}

/// Explains an exit status. Two of them are the shell's own.
pub(super) fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(126) => "could not be started, exit status 126 (not executable)".into(),
        Exit::Code(127) => "could not be started, exit status 127 (not found)".into(),
        exit => exit.describe(),
    }
}

/// Says that the time was over.
pub(super) fn out_of_time(limit: Duration) -> String {
    format!(
        "still running after {}",
        prose::duration(limit.as_secs_f64())
    )
}

/// Says that this machine lacks a program.
pub(super) fn not_installed(program: &str) -> NoVerdict {
    NoVerdict(format!(
        "`{program}` is not installed on this machine (a program that the agent is to write is called by its \
         path, `./{program}`)"
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text::mask::Mask;

    pub(crate) fn ended(exit: Exit, stdout: &str, output: &str) -> CommandEnd {
        CommandEnd {
            exit,
            timed_out: false,
            stdout: stdout.into(),
            output: output.into(),
            missing: None,
            mask: Mask::default(),
        }
    }

    #[test]
    fn commands() {
        for (contains, matches, exit, output, score, message) in [
            (None, None, Exit::Code(0), "", 1.0, "exit status 0"),
            (
                None,
                None,
                Exit::Code(3),
                "a\nboom\n\n",
                0.0,
                "exit status 3: boom",
            ),
            (None, None, Exit::Signal(9), "", 0.0, "killed by SIGKILL"),
            (
                None,
                None,
                Exit::Code(139),
                "",
                0.0,
                "exit status 139 (SIGSEGV)",
            ),
            (
                None,
                None,
                Exit::Code(127),
                "sh: 1: ./x: not found",
                0.0,
                "could not be started, exit status 127 (not found): sh: 1: ./x: not found",
            ),
            (
                None,
                None,
                Exit::Code(126),
                "",
                0.0,
                "could not be started, exit status 126 (not executable)",
            ),
            (
                Some("ok"),
                None,
                Exit::Code(0),
                "all ok",
                1.0,
                "exit status 0",
            ),
            (
                Some("ok"),
                None,
                Exit::Code(0),
                "no",
                0.0,
                "the output does not contain \"ok\": no",
            ),
            (
                Some("ok"),
                None,
                Exit::Code(1),
                "ok",
                0.0,
                "exit status 1: ok",
            ),
            (
                None,
                Some("^[0-9]+$"),
                Exit::Code(0),
                "55\n",
                1.0,
                "exit status 0",
            ),
            (
                None,
                Some("^55\n$"),
                Exit::Code(0),
                "55\n",
                1.0,
                "exit status 0",
            ),
            (
                None,
                Some("^a$"),
                Exit::Code(0),
                "55",
                0.0,
                "the output does not match /^a$/: 55",
            ),
        ] {
            let asked = CommandSuccess {
                command: String::new(),
                output_contains: contains.map(str::to_owned),
                output_matches: matches.map(|pattern| Regex::new(pattern).unwrap()),
            };
            let verdict = asked.judge(&ended(exit, "", output), Duration::from_secs(120));
            assert_eq!(
                verdict,
                Ok(Verdict {
                    score,
                    message: message.into()
                })
            );
        }
    }

    #[test]
    fn out_of_time_is_a_no_and_a_missing_program_is_not() {
        let slow = CommandEnd {
            timed_out: true,
            ..ended(Exit::Signal(15), "", "half\n")
        };
        let asked = CommandSuccess {
            command: String::new(),
            output_contains: None,
            output_matches: None,
        };
        let verdict = asked.judge(&slow, Duration::from_secs(120));
        assert_eq!(
            verdict,
            Ok(Verdict::fail("still running after 2m 00s: half"))
        );
        let nowhere = CommandEnd {
            missing: Some("node".into()),
            ..ended(Exit::Code(127), "", "")
        };
        let NoVerdict(reason) = asked.judge(&nowhere, Duration::from_secs(1)).unwrap_err();
        assert!(reason.starts_with("`node` is not installed"), "{reason}");
    }
}
