//! `commandScore`: a command that prints the score.
//!
//! A command that fails, is killed, or prints something else gives no score, and no score is not 0: it is written
//! to judge work of any quality, so its failure is the suite's. Only a command that runs out of time scores 0,
//! because it is mostly the judged work that hangs.

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
    if end.exit != Exit::Code(0) {
        let said = if last_line(&end.output).is_some() {
            &end.output
        } else {
            &end.stdout
        };
        return Err(NoVerdict(with_failure_line(
            &format!("it gave no score: {}", describe(end.exit)),
            &end.mask.masked(said),
        )));
    }
    let Some(line) = last_line(&end.stdout) else {
        return Err(NoVerdict(
            "it gave no score: nothing on standard output; print a number from 0 to 1".into(),
        ));
    };
    let (score, message) = read(line, &end.mask).ok_or_else(|| {
        NoVerdict(format!(
            "it gave no score: the last line of its output is {:?}, not a number from 0 to 1",
            shortened(&end.mask.masked(line))
        ))
    })?;
    if !(0.0..=1.0).contains(&score) {
        return Err(NoVerdict(format!(
            "it gave the score {score}, which is not from 0 to 1"
        )));
    }
    let message = message.unwrap_or_else(|| match score {
        // Where nothing at all is right, the output tells what is wrong.
        0.0 => with_failure_line("scored 0", &end.mask.masked(&end.output)),
        _ => format!("scored {score}"),
    });
    Ok(Grade::scored(score, message))
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
    fn what_is_no_score() {
        for (exit, stdout, stderr, reason) in [
            (
                Exit::Code(0),
                "",
                "0.5",
                "it gave no score: nothing on standard output",
            ),
            (
                Exit::Code(0),
                "0.5\ndone",
                "",
                "it gave no score: the last line of its output is \"done\"",
            ),
            (
                Exit::Code(0),
                "85%",
                "",
                "it gave no score: the last line of its output is \"85%\"",
            ),
            (
                Exit::Code(0),
                "{\"points\": 1}",
                "",
                "it gave no score: the last line of its output is",
            ),
            (
                Exit::Code(0),
                "{\"score\": \"1\"}",
                "",
                "it gave no score: the last line of its output is",
            ),
            (
                Exit::Code(0),
                "1.5",
                "",
                "it gave the score 1.5, which is not from 0 to 1",
            ),
            (
                Exit::Code(0),
                "-0.1",
                "",
                "it gave the score -0.1, which is not from 0 to 1",
            ),
            (
                Exit::Code(0),
                "NaN",
                "",
                "it gave the score NaN, which is not from 0 to 1",
            ),
            (
                Exit::Code(1),
                "1.0",
                "boom",
                "it gave no score: exit status 1: boom",
            ),
            (
                Exit::Code(1),
                "1.0",
                "",
                "it gave no score: exit status 1: 1.0",
            ),
            (
                Exit::Signal(9),
                "",
                "",
                "it gave no score: killed by SIGKILL",
            ),
        ] {
            let NoVerdict(said) = judge(&ended(exit, stdout, stderr), LIMIT).unwrap_err();
            assert!(said.starts_with(reason), "{stdout}: {said}");
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
