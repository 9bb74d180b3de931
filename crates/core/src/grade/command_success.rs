//! `commandSuccess`: a command that must succeed.
//!
//! Any exit status but 0 is a "no". So is a command that hangs or is killed: it mostly runs the agent's work, and
//! work that hangs or crashes is wrong. A program that this machine does not have is nobody's work, so there is no
//! verdict then.
//!
//! With a `report`, the score is the share of its cases that passed. The report is written while the agent's work
//! runs, so one that is missing or damaged is a "no" as well, and never an error: that would be a free attempt.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use super::declaration::{TestKindDeclaration, settings};
use super::evidence::{CommandEnd, FileContent};
use super::failure_line::first_failed_line;
use super::grades::Grade;
use super::test::{Question, TestKind};
use super::test_report::{self, Cases};
use super::verdict::{NoVerdict, is_match, on_one_line};
use crate::process::Exit;
use crate::reader::{command_line, list_of, object, or_map, patterns, plain_text};
use crate::text::diagnostic::Diagnostic;
use crate::text::{Code, prose};

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "commandSuccess",
    about: "A shell command must exit with status 0, and its output must match.",
    settings: || {
        let short = command_line().map(|command| CommandSuccess {
            command: command.value,
            ..CommandSuccess::default()
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
            let report = fields.optional(
                "report",
                patterns::workspace_path(),
                "A file that the command writes: JUnit XML, TAP, the JSON of vitest or jest, `go test -json`, or the \
                 output of `cargo test`. The score is the share of its tests that passed.",
            );
            let must_pass = fields.optional(
                "mustPass",
                list_of(plain_text().value()),
                "Names of tests in the `report`. All of them must have passed; other tests and the exit status do not \
                 count.",
            );
            if let Some(key) = fields.present(&["mustPass"]).first()
                && report.is_none()
            {
                let problem = Diagnostic::error(Code::MisplacedKey, "`mustPass` needs a `report`")
                    .at(key.place, "the names are those of the tests in it");
                return fields.refuse(problem);
            }
            Some(CommandSuccess {
                command: command?,
                output_contains,
                output_matches,
                report,
                must_pass: must_pass.unwrap_or_default(),
            })
        });
        settings(or_map(
            short,
            long.linked("[map](eval-yaml.md#commandsuccess)").kind(),
        ))
    },
};

/// A command, and the output that it must have.
#[derive(Debug, Default)]
struct CommandSuccess {
    command: String,
    output_contains: Option<String>,
    output_matches: Option<Regex>,
    report: Option<Utf8PathBuf>,
    must_pass: Vec<String>,
}

impl TestKind for CommandSuccess {
    fn question(&self, limit: Duration) -> Question<'_> {
        Question::Command {
            command: &self.command,
            separate_stdout: false,
            report: self.report.as_deref(),
            judge: Box::new(move |end| self.judge(end, limit)),
        }
    }
}

impl CommandSuccess {
    fn judge(&self, end: &CommandEnd, limit: Duration) -> Result<Grade, NoVerdict> {
        if let Some(program) = &end.missing {
            return Err(not_installed(program));
        }
        let failed = |reason: &str| Grade::fail_with_output(reason, &end.output, &end.mask);
        if end.timed_out {
            return Ok(failed(&out_of_time(limit)));
        }
        if let Some(path) = &self.report
            && end.exit.code().is_some()
        {
            return Ok(self.judge_report(path, end));
        }
        if end.exit != Exit::Code(0) {
            return Ok(failed(&describe(end.exit)));
        }
        Ok(match self.unmet(&end.output) {
            Some(reason) => failed(&reason),
            None => Grade::pass(end.exit.describe()),
        })
    }

    /// Returns what the output lacks.
    fn unmet(&self, output: &str) -> Option<String> {
        if let Some(text) = &self.output_contains
            && !output.contains(text)
        {
            return Some(format!("the output does not contain {text:?}"));
        }
        let pattern = self.output_matches.as_ref()?;
        (!is_match(pattern, output))
            .then(|| format!("the output does not match /{}/", on_one_line(pattern)))
    }

    /// Judges by the report: its share of cases that passed, where nothing else is wrong.
    fn judge_report(&self, path: &Utf8Path, end: &CommandEnd) -> Grade {
        let failed = |reason: &str| Grade::fail_with_output(reason, &end.output, &end.mask);
        let exit = describe(end.exit);
        let cases = match read_report(end) {
            Ok(cases) => cases,
            Err(reason) => {
                return failed(&format!("{exit}, but no result from `{path}`: {reason}"));
            }
        };
        let unmet = self.unmet(&end.output);
        if !self.must_pass.is_empty() {
            let verdict = match unmet {
                Some(reason) => failed(&reason),
                None => self.judge_names(&cases, &failed),
            };
            return Grade {
                report: Some(cases.shortened()),
                ..verdict
            };
        }
        let verdict = match (cases.share(), unmet) {
            (None, _) => failed(&format!("{exit}, but no test in `{path}` was run")),
            (Some(_), Some(reason)) => failed(&reason),
            (Some(share), None) if share < 1.0 => Grade {
                score: share,
                ..told(&cases, &failed)
            },
            (Some(_), None) if end.exit != Exit::Code(0) => {
                failed(&format!("{exit}, though all tests in `{path}` passed"))
            }
            (Some(_), None) => Grade::pass(passed(&cases)),
        };
        Grade {
            report: Some(cases.shortened()),
            ..verdict
        }
    }

    /// Judges by the tests that must pass: all of them, or nothing.
    fn judge_names(&self, cases: &Cases, failed: &dyn Fn(&str) -> Grade) -> Grade {
        let passed = cases.names_passed();
        let is_lost = |name: &&String| !passed.contains(name.as_str());
        let mut lost = self.must_pass.iter().filter(is_lost);
        let count = self.must_pass.len();
        let Some(first) = lost.next() else {
            return Grade::pass(format!("all {count} tests that must pass did"));
        };
        let kept = count - 1 - lost.count();
        let reason = format!("{kept} of {count} tests that must pass did, and not `{first}`");
        let mut found = cases.cases.iter().filter(|case| case.name == *first);
        match found.find(|case| !case.message.is_empty()) {
            Some(case) => Grade {
                message: format!("{reason}: {}", case.message),
                ..failed("")
            },
            None => failed(&reason),
        }
    }
}

/// Reads the report of a command. The error is the reason why there is none.
fn read_report(end: &CommandEnd) -> Result<Cases, String> {
    match &end.report {
        Some(FileContent::Text(text)) => test_report::read(end.mask.masked(text).as_str()),
        Some(FileContent::Missing) | None => Err("the command did not write it".into()),
        Some(FileContent::Unreadable(reason)) => Err(reason.clone()),
    }
}

fn passed(cases: &Cases) -> String {
    format!("{} of {} tests passed", cases.passed, cases.total())
}

/// `5 of 7 tests passed: add > small: expected 3 (and 1 more)`.
///
/// Where the report has no reason, the output has one.
fn told(cases: &Cases, failed: &dyn Fn(&str) -> Grade) -> Grade {
    let first = cases.first_failure();
    if first.is_none_or(|case| case.message.is_empty()) {
        return failed(&passed(cases));
    }
    let first = first_failed_line(cases).unwrap_or_default();
    Grade {
        message: format!("{}: {first}", passed(cases)),
        ..failed("")
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
    if program.starts_with('/') {
        return NoVerdict(format!(
            "`{program}` is not there (put the program of a test into `_tests/`)"
        ));
    }
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
            report: None,
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
                report: None,
                must_pass: Vec::new(),
            };
            let verdict = asked.judge(&ended(exit, "", output), Duration::from_secs(120));
            assert_eq!(
                verdict.map(|verdict| (verdict.score, verdict.message)),
                Ok((score, message.to_owned()))
            );
        }
    }

    #[test]
    fn a_report_gives_a_share() {
        let report = |passed: usize, failed: usize| {
            let case = |number: usize, inner: &str| {
                format!("<testcase name='t{number}'>{inner}</testcase>")
            };
            let passed = (0..passed).map(|number| case(number, ""));
            let failed = (0..failed).map(|number| case(number, "<failure message='2 != 3'/>"));
            let cases: String = passed.chain(failed).collect();
            Some(FileContent::Text(format!("<testsuite>{cases}</testsuite>")))
        };
        let asked = CommandSuccess {
            command: String::new(),
            output_contains: Some("done".into()),
            output_matches: None,
            report: Some("r.xml".into()),
            must_pass: Vec::new(),
        };
        let none = Some(FileContent::Missing);
        let link = Some(FileContent::Unreadable("it is a link".into()));
        for (exit, output, report, score, message) in [
            (0, "done", report(4, 0), 1.0, "4 of 4 tests passed"),
            (
                1,
                "done",
                report(3, 1),
                0.75,
                "3 of 4 tests passed: t0: 2 != 3",
            ),
            (
                0,
                "done",
                report(1, 3),
                0.25,
                "1 of 4 tests passed: t0: 2 != 3 (and 2 more)",
            ),
            (
                1,
                "done",
                report(4, 0),
                0.0,
                "exit status 1, though all tests in `r.xml` passed: done",
            ),
            (
                0,
                "",
                report(4, 0),
                0.0,
                "the output does not contain \"done\"",
            ),
            (
                0,
                "done",
                report(0, 0),
                0.0,
                "exit status 0, but no test in `r.xml` was run: done",
            ),
            (
                0,
                "done",
                none,
                0.0,
                "exit status 0, but no result from `r.xml`: the command did not write it: done",
            ),
            (
                2,
                "",
                link,
                0.0,
                "exit status 2, but no result from `r.xml`: it is a link",
            ),
        ] {
            let end = CommandEnd {
                report,
                ..ended(Exit::Code(exit), "", output)
            };
            let verdict = asked.judge(&end, Duration::from_secs(1)).unwrap();
            assert_eq!((verdict.score, verdict.message.as_str()), (score, message));
        }
        // Killed, or out of time: nothing is left to be counted.
        for (exit, timed_out) in [(Exit::Signal(9), false), (Exit::Code(0), true)] {
            let end = CommandEnd {
                report: report(4, 0),
                timed_out,
                ..ended(exit, "", "done")
            };
            assert_eq!(
                asked.judge(&end, Duration::from_secs(1)).unwrap().score,
                0.0
            );
        }
    }

    #[test]
    fn tests_that_must_pass() {
        let asked = CommandSuccess {
            report: Some("r".into()),
            must_pass: vec!["src/lib.rs > a::b".into(), "tests/it.rs > c".into()],
            ..CommandSuccess::default()
        };
        let report = |b: &str, c: &str| {
            format!(
                "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 2 tests\ntest a::b ... {b}\n\
                 test old ... FAILED\n\n     Running tests/it.rs (target/debug/deps/it-1)\n\nrunning 1 test\n{c}"
            )
        };
        for (exit, report, score, message) in [
            (
                101,
                report("ok", "test c ... ok\n"),
                1.0,
                "all 2 tests that must pass did",
            ),
            (
                0,
                report("ok", ""),
                0.0,
                "1 of 2 tests that must pass did, and not `tests/it.rs > c`: no such crate",
            ),
            (
                101,
                report("FAILED", "test c ... ignored, later\n"),
                0.0,
                "0 of 2 tests that must pass did, and not `src/lib.rs > a::b`: no such crate",
            ),
            (
                0,
                report("ok", "test c ... ok\ntest c ... FAILED\n"),
                0.0,
                "1 of 2 tests that must pass did, and not `tests/it.rs > c`: no such crate",
            ),
        ] {
            let end = CommandEnd {
                report: Some(FileContent::Text(report)),
                ..ended(Exit::Code(exit), "", "no such crate")
            };
            let verdict = asked.judge(&end, Duration::from_secs(1)).unwrap();
            assert_eq!((verdict.score, verdict.message.as_str()), (score, message));
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
            report: None,
            must_pass: Vec::new(),
        };
        let verdict = asked.judge(&slow, Duration::from_secs(120)).unwrap();
        assert_eq!(verdict.message, "still running after 2m 00s: half");
        assert_eq!(
            (verdict.score, verdict.output_end),
            (0.0, vec!["half".to_owned()])
        );
        let nowhere = CommandEnd {
            missing: Some("node".into()),
            ..ended(Exit::Code(127), "", "")
        };
        let NoVerdict(reason) = asked.judge(&nowhere, Duration::from_secs(1)).unwrap_err();
        assert!(reason.starts_with("`node` is not installed"), "{reason}");
    }
}
