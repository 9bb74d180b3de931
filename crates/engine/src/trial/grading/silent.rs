//! Tests that failed and said nothing, such as `grep -q`: their commands are run once more, traced, when all tests are
//! judged. What comes of it is a message, and no score.

use std::time::Duration;

use terca_core::grade::{FileContent, Question, TestSpec, last_traced, script_paths_named, traced};

use super::gather::{content, read_output, shell};
use super::ground::Ground;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;

/// The most commands of a trial that are run once more, and the time that each of them has.
const MOST: usize = 10;
const LIMIT: Duration = Duration::from_secs(10);
/// A script of a test has less.
const LARGEST_SCRIPT: u64 = 1024 * 1024;

/// Adds the values to the messages of tests that said nothing.
pub(super) fn explain(
    run: &mut TrialRun<'_>,
    tests: &[TestSpec],
    ground: &mut Ground,
) -> Result<(), StageError> {
    let grades = run.report.tests.iter().enumerate();
    let silent = grades.filter(|(_, (_, grade))| {
        let is_bare = grade.message.starts_with("exit status ") && !grade.message.contains(": ");
        grade.score == 0.0 && grade.output_end.is_empty() && is_bare
    });
    let silent: Vec<(usize, String)> = silent
        .map(|(at, (name, _))| (at, name.clone()))
        .take(MOST)
        .collect();
    for (at, name) in silent {
        if ground.renew(run)?.is_some() {
            return Ok(());
        }
        let test = tests.iter().find(|test| test.name == name);
        let told = test.map(|test| trace(run, test)).transpose()?.flatten();
        ground.is_used = true;
        if let Some(told) = told {
            let grade = &mut run.report.tests[at].1;
            grade.message = format!("{}: {told}", grade.message);
            run.log.line(&told)?;
        }
    }
    Ok(())
}

/// Runs the command of a test once more, and returns the last command of its trace.
fn trace(run: &mut TrialRun<'_>, test: &TestSpec) -> Result<Option<String>, StageError> {
    let Question::Command {
        command,
        separate_stdout: false,
        report: None,
        ..
    } = test.question()
    else {
        return Ok(None);
    };
    let started = script_paths_named(command);
    let script = started
        .first()
        .map(|path| content(&run.dirs.paths(), path, LARGEST_SCRIPT));
    let first_line = match &script {
        Some(FileContent::Text(text)) => text.lines().next(),
        _ => None,
    };
    let command = traced(command, first_line);
    run.log
        .section(&format!("once more, traced: {}", test.name))?;
    let limit = test.timeout.min(LIMIT);
    let (ended, output, _) = shell(run, test, &command, limit, false)?;
    if ended.stopped {
        return Err(StageError::Interrupted);
    }
    if ended.timed_out || ended.lost || ended.exit.code() == Some(0) {
        return Ok(None);
    }
    let output = run.context.mask.masked(&read_output(&output)?);
    Ok(last_traced(output.as_str()))
}
