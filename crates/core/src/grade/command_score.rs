//! `commandScore`: a command that prints the score.
//!
//! A command that fails, is killed, or prints something else gives no score, and no score is 0: the judged work runs in the
//! command, and could otherwise make an error of a trial that it would fail. The message says that there was no score, because
//! the command may be at fault.

use std::time::Duration;

use serde_json::Value;

use super::command_success::{describe, not_installed, out_of_time};
use super::declaration::{TestKindDeclaration, settings};
use super::evidence::CommandEnd;
use super::grades::Grade;
use super::test::{Question, TestKind};
use super::verdict::{NoVerdict, last_line, shortened, with_failure_line};
use crate::process::Exit;
use crate::reader::command_line;
use crate::text::mask::Mask;

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "commandScore",
    about: "A shell command gives the score: the last line of its standard output is a number from 0 to 1, or \
            `{\"score\": 0.5, \"message\": \"…\"}`.",
    settings: || {
        settings(command_line().map(|command| CommandScore {
            command: command.value,
        }))
    },
};

/// A command that prints a score.
#[derive(Debug)]
struct CommandScore {
    command: String,
}

impl TestKind for CommandScore {
    fn question(&self, limit: Duration) -> Question<'_> {
        Question::Command {
            command: &self.command,
            separate_stdout: true,
            report: None,
            judge: Box::new(move |end| judge(end, limit)),
        }
    }
}

fn judge(end: &CommandEnd, limit: Duration) -> Result<Grade, NoVerdict> {
    if let Some(program) = &end.missing {
        return Err(not_installed(program));
    }
    if end.timed_out {
        return Ok(Grade::fail_with_output(
            &out_of_time(limit),
            &end.output,
            &end.mask,
        ));
    }
    let none = |reason: &str| Ok(no_score(reason, end));
    if end.exit != Exit::Code(0) {
        return none(&describe(end.exit));
    }
    let Some(line) = last_line(&end.stdout) else {
        return none("nothing on standard output; print a number from 0 to 1");
    };
    let Some((score, message)) = read(line, &end.mask) else {
        let line = shortened(&end.mask.masked(line));
        return none(&format!(
            "the last line of its output is {line:?}, not a number from 0 to 1"
        ));
    };
    if !(0.0..=1.0).contains(&score) {
        return none(&format!("{score} is not from 0 to 1"));
    }
    let message = message.unwrap_or_else(|| match score {
        // Where nothing at all is right, the output tells what is wrong.
        0.0 => with_failure_line("scored 0", &end.mask.masked(&end.output)),
        _ => format!("scored {score}"),
    });
    Ok(Grade::scored(score, message))
}

/// Returns the grade of a command without a score.
fn no_score(reason: &str, end: &CommandEnd) -> Grade {
    let said = match last_line(&end.output) {
        Some(_) => &end.output,
        None => &end.stdout,
    };
    let reason = format!("it gave no score, which counts as 0: {reason}");
    match end.exit {
        Exit::Code(0) => Grade::fail(reason),
        _ => Grade::fail_with_output(&reason, said, &end.mask),
    }
}

/// Reads `0.5`, or `{"score": 0.5, "message": "…"}`.
fn read(line: &str, mask: &Mask) -> Option<(f64, Option<String>)> {
    if let Ok(score) = line.parse::<f64>() {
        return Some((score, None));
    }
    let document: Value = serde_json::from_str(line).ok()?;
    let message = document
        .get("message")
        .and_then(Value::as_str)
        .map(|message| shortened(&mask.masked(message)));
    Some((
        document.get("score")?.as_f64()?,
        message.filter(|message| !message.trim().is_empty()),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::command_success::tests::ended;
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn scores() {
        for (stdout, score, message) in [
            ("0.5", 0.5, "scored 0.5"),
            ("1\n", 1.0, "scored 1"),
            ("testing\n7 of 10\n 0.7 \n\n", 0.7, "scored 0.7"),
            (
                "{\"score\": 0.25, \"message\": \"1 of 4\"}\n",
                0.25,
                "1 of 4",
            ),
            ("{\"score\": 0}", 0.0, "scored 0: 0.9"),
            ("0", 0.0, "scored 0: 0.9"),
        ] {
            let verdict = judge(&ended(Exit::Code(0), stdout, "0.9"), LIMIT);
            assert_eq!(verdict, Ok(Grade::scored(score, message)), "{stdout}");
        }
    }

    #[test]
    fn what_is_no_score_is_0() {
        for (exit, stdout, stderr, reason) in [
            (Exit::Code(0), "", "0.5", "nothing on standard output"),
            (
                Exit::Code(0),
                "0.5\ndone",
                "",
                "the last line of its output is \"done\"",
            ),
            (
                Exit::Code(0),
                "85%",
                "",
                "the last line of its output is \"85%\"",
            ),
            (
                Exit::Code(0),
                "{\"points\": 1}",
                "",
                "the last line of its output is",
            ),
            (
                Exit::Code(0),
                "{\"score\": \"1\"}",
                "",
                "the last line of its output is",
            ),
            (Exit::Code(0), "1.5", "", "1.5 is not from 0 to 1"),
            (Exit::Code(0), "-0.1", "", "-0.1 is not from 0 to 1"),
            (Exit::Code(0), "NaN", "", "NaN is not from 0 to 1"),
            (Exit::Code(1), "1.0", "boom", "exit status 1: boom"),
            (Exit::Code(1), "1.0", "", "exit status 1: 1.0"),
            (Exit::Signal(9), "", "", "killed by SIGKILL"),
        ] {
            let grade = judge(&ended(exit, stdout, stderr), LIMIT).unwrap();
            let said = grade
                .message
                .strip_prefix("it gave no score, which counts as 0: ");
            assert!(said.unwrap().starts_with(reason), "{stdout}: {grade:?}");
            assert_eq!(grade.score, 0.0);
        }
    }

    #[test]
    fn out_of_time_is_0() {
        let slow = CommandEnd {
            timed_out: true,
            ..ended(Exit::Signal(15), "1.0\n", "")
        };
        assert_eq!(
            judge(&slow, LIMIT),
            Ok(Grade::fail("still running after 1m 00s"))
        );
    }
}
