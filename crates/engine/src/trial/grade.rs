//! The third stage: the tests, on a copy of what the agent left.
//!
//! `gather` runs commands and reads files; `terca_core::grade` decides what they are worth.

use std::time::Instant;

use camino::Utf8Path;
use terca_core::grade::grades::Scorecard;
use terca_core::grade::{Grade, NoVerdict, score};
use terca_core::trial_error::ErrorKind;

use super::bench::Bench;
use super::conduct::Conduct;
use super::gather::answer;
use super::{Stop, rounded};
use crate::workspace::tree;
use crate::workspace::trial_dirs::Room;

/// What the work is worth.
#[derive(Debug)]
pub(super) struct Graded {
    pub(super) tests: Scorecard,
    pub(super) score: f64,
}

/// Grades the work in the trial's workspace.
pub(super) fn grade(bench: &mut Bench<'_>, conduct: &Conduct) -> Result<Graded, Stop> {
    if bench.trial.case.eval.tests.is_empty() {
        return Ok(without_tests(conduct));
    }
    // Put aside: absolute paths that were written into files and links while the agent worked still lead to the
    // same things in the copy that takes its place.
    let Room {
        workspace, left, ..
    } = &bench.room;
    fs_err::rename(workspace, left)?;
    fs_err::create_dir(workspace)?;
    let left = left.clone();
    grade_copy(bench, &left, conduct)
}

/// Grades a workspace that was saved, without touching it.
pub(super) fn grade_saved(
    bench: &mut Bench<'_>,
    saved: &Utf8Path,
    conduct: &Conduct,
) -> Result<Graded, Stop> {
    if bench.trial.case.eval.tests.is_empty() {
        return Ok(without_tests(conduct));
    }
    grade_copy(bench, saved, conduct)
}

fn without_tests(conduct: &Conduct) -> Graded {
    Graded {
        tests: Scorecard::default(),
        score: if conduct.completed { 1.0 } else { 0.0 },
    }
}

fn grade_copy(bench: &mut Bench<'_>, work: &Utf8Path, conduct: &Conduct) -> Result<Graded, Stop> {
    lay_out_copy(bench, work)?;
    let eval = bench.trial.case.eval.clone();
    let mut tests = Scorecard::default();
    let mut weighted = Vec::new();
    for test in &eval.tests {
        let started = Instant::now();
        bench.log.section(&format!("test: {}", test.name))?;
        let answer = answer(bench, test, conduct)?;
        // A test that cannot tell is no failure of the agent's: the trial was not judged.
        let verdict = answer.verdict.map_err(|NoVerdict(reason)| {
            Stop::error(ErrorKind::Setup, format!("test `{}`: {reason}", test.name))
        })?;
        bench
            .log
            .line(&format!("score {}: {}", verdict.score, verdict.message))?;
        weighted.push((test.weight, verdict.score));
        let message = bench.context.mask.text(&verdict.message);
        let duration_seconds = rounded(started.elapsed().as_secs_f64());
        tests.push(
            &test.name,
            Grade {
                score: verdict.score,
                message,
                duration_seconds,
                judge: answer.judge,
            },
        );
    }
    Ok(Graded {
        tests,
        score: score(&weighted).unwrap_or(0.0),
    })
}

/// A copy of what the agent left, with the hidden tests laid over it.
fn lay_out_copy(bench: &Bench<'_>, work: &Utf8Path) -> Result<(), Stop> {
    let workspace = &bench.room.workspace;
    tree::lay_over(work, workspace)?;
    if let Some(hidden) = &bench.trial.case.eval.tests_layer {
        tree::lay_over(hidden, workspace)?;
    }
    Ok(())
}
