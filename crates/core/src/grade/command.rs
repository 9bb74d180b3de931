//! `commandSuccess`: what the end of a command says about the work.
//!
//! "No" is an exit status other than 0. A command that hangs or is killed is told apart in its message, but
//! counts as "no" too: what it runs is mostly the agent's work, and work that hangs or crashes is wrong. A
//! program that this machine does not have is nobody's work, so there is no verdict then.

use std::time::Duration;

use regex::Regex;

use super::{NoVerdict, Verdict, is_match, on_one_line, with_tail};
use crate::process::Exit;
use crate::text::prose;

/// How a test's command ended.
#[derive(Debug, Clone)]
pub struct CommandEnd {
    pub exit: Exit,
    pub timed_out: bool,
    /// What it printed on standard output, where that is looked at alone.
    pub stdout: String,
    /// Everything that it printed; where `stdout` is looked at alone, the rest.
    pub output: String,
    /// A program that the command names and that is not on this machine, when the shell did not find one.
    pub missing: Option<String>,
}

pub(super) fn judge(
    end: &CommandEnd,
    limit: Duration,
    contains: Option<&str>,
    matches: Option<&Regex>,
) -> Result<Verdict, NoVerdict> {
    if let Some(program) = &end.missing {
        return Err(not_installed(program));
    }
    if end.timed_out {
        return Ok(Verdict::fail(with_tail(&out_of_time(limit), &end.output)));
    }
    Ok(judge_output(end.exit, &end.output, contains, matches))
}

fn judge_output(
    exit: Exit,
    output: &str,
    contains: Option<&str>,
    matches: Option<&Regex>,
) -> Verdict {
    if exit != Exit::Code(0) {
        return Verdict::fail(with_tail(&describe(exit), output));
    }
    if let Some(text) = contains
        && !output.contains(text)
    {
        return Verdict::fail(with_tail(
            &format!("the output does not contain {text:?}"),
            output,
        ));
    }
    if let Some(pattern) = matches
        && !is_match(pattern, output)
    {
        let reason = format!("the output does not match /{}/", on_one_line(pattern));
        return Verdict::fail(with_tail(&reason, output));
    }
    Verdict::pass(exit.describe())
}

/// What a shell means by the two statuses that are its own.
pub(super) fn describe(exit: Exit) -> String {
    match exit {
        Exit::Code(126) => "could not be started, exit status 126 (not executable)".into(),
        Exit::Code(127) => "could not be started, exit status 127 (not found)".into(),
        exit => exit.describe(),
    }
}

pub(super) fn out_of_time(limit: Duration) -> String {
    format!(
        "still running after {}",
        prose::duration(limit.as_secs_f64())
    )
}

pub(super) fn not_installed(program: &str) -> NoVerdict {
    NoVerdict(format!(
        "`{program}` is not installed on this machine (a program that the agent is to write is called by its \
         path, `./{program}`)"
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn ended(exit: Exit, stdout: &str, output: &str) -> CommandEnd {
        CommandEnd {
            exit,
            timed_out: false,
            stdout: stdout.into(),
            output: output.into(),
            missing: None,
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
            let pattern = matches.map(|pattern| Regex::new(pattern).unwrap());
            let end = ended(exit, "", output);
            let verdict = judge(&end, Duration::from_secs(120), contains, pattern.as_ref());
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
        let verdict = judge(&slow, Duration::from_secs(120), None, None);
        assert_eq!(
            verdict,
            Ok(Verdict::fail("still running after 2m 00s: half"))
        );
        let nowhere = CommandEnd {
            missing: Some("node".into()),
            ..ended(Exit::Code(127), "", "")
        };
        let NoVerdict(reason) = judge(&nowhere, Duration::from_secs(1), None, None).unwrap_err();
        assert!(reason.starts_with("`node` is not installed"), "{reason}");
    }
}
