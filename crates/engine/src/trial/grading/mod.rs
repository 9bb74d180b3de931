//! The third stage: the tests, on a copy of the workspace that the agent left.
//!
//! `gather` runs commands and reads files; `terca_core::grade` decides what the evidence is worth.

mod gather;
mod ground;
mod judge;
mod shadows;
mod silent;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::grade::{Grade, NoVerdict, TestSpec, score};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::ErrorKind;

use super::agent_work::AgentWork;
use super::folder::restore_workspace;
use super::stage_error::{StageError, left_too_much};
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::process::pause::Stopwatch;
use crate::tree::{Dir, copy};
use gather::answer;
use ground::Ground;

/// Grades the work in the trial's workspace, or a workspace that was saved, without touching it. The report has the grades
/// of the tests that could tell, also where there is no score.
pub(super) fn grade(
    run: &mut TrialRun<'_>,
    saved: Option<Utf8PathBuf>,
    work: &AgentWork,
) -> Result<(), StageError> {
    if run.spec.case.eval.tests.is_empty() {
        work.keep(run)?;
        run.report.notes.extend(work.breach.clone());
        run.report.status = Status::Unverified;
        return Ok(());
    }
    let score = grade_workspace(run, saved, work);
    let kept = work.keep(run);
    let TrialReport {
        paid_judges, tests, ..
    } = &mut run.report;
    // The others were paid for, too, and their answers are in no grade.
    paid_judges.retain(|judge| {
        let mut records = tests.iter().filter_map(|(_, grade)| grade.judge.as_ref());
        !records.any(|record| record.by.artifacts == judge.artifacts)
    });
    let score = score?;
    kept?;
    run.report.score = Some(score);
    run.report.status = Status::of_score(score);
    Ok(())
}

fn grade_workspace(
    run: &mut TrialRun<'_>,
    saved: Option<Utf8PathBuf>,
    work: &AgentWork,
) -> Result<f64, StageError> {
    if let Some(breach) = &work.breach {
        return failed_everywhere(run, breach);
    }
    // The tests run on a copy in the same place, so that absolute paths which were written into files and links while
    // the agent worked still lead to the same things.
    let left = match saved {
        None => run.dirs.set_work_aside()?,
        saved => saved,
    };
    grade_copy(run, left.as_deref(), work)
}

/// Fails every test for a reason that has nothing to do with what the tests ask.
fn failed_everywhere(run: &mut TrialRun<'_>, reason: &str) -> Result<f64, StageError> {
    for test in &run.spec.case.eval.tests {
        let grade = Grade {
            weight: Some(test.weight),
            message: format!("not run: {reason}"),
            ..Grade::default()
        };
        run.report.tests.push((test.name.clone(), grade));
    }
    run.log.section(&format!("no test was run: {reason}"))?;
    Ok(0.0)
}

/// Copies the work into the empty workspace, adds the hidden tests, and runs all tests there. Without a place to copy it
/// from, the work is in the workspace.
fn grade_copy(
    run: &mut TrialRun<'_>,
    left: Option<&Utf8Path>,
    work: &AgentWork,
) -> Result<f64, StageError> {
    let eval = run.spec.case.eval.clone();
    run.context.work.check_above()?;
    run.dirs.begin_test()?;
    let workspace = Dir::open_no_link(run.dirs.here())?;
    if let Some(left) = left {
        let from = Dir::open_no_link(left)?;
        if let Err(error) = copy(&from, &workspace, &run.agent_tree(), &mut |_| Ok(true)) {
            // The limit of a suite may be lower by now than it was when the agent worked.
            return match left_too_much(&error) {
                Some(reason) => failed_everywhere(run, &reason),
                None => Err(error.into()),
            };
        }
    }
    let sealed = &run.context.sealed;
    sealed.check_surroundings(&eval.dir)?;
    drop(workspace);
    run.copy_test_caches()?;
    let registries = run.place_registries(&run.dirs.home)?;
    let mut ground = Ground::lay(run, eval.tests_layer.as_deref(), left)?;
    let graded = run_tests(run, &eval.tests, work, &mut ground);
    if graded.is_ok() {
        silent::explain(run, &eval.tests, &mut ground)?;
    }
    registries.remove()?;
    graded
}

/// Runs all tests. One that cannot tell makes an error of the trial, and the results of the others are kept.
fn run_tests(
    run: &mut TrialRun<'_>,
    all: &[TestSpec],
    work: &AgentWork,
    ground: &mut Ground,
) -> Result<f64, StageError> {
    let mut weighted = Vec::new();
    let mut error = None;
    let mut has_judge_failed = false;
    for test in all {
        let is_judge = test.judge().is_some();
        if is_judge && has_judge_failed {
            // What keeps one judge from answering keeps the next one too, and each is paid for.
            run.log.section(&format!("test: {}", test.name))?;
            run.log
                .line("not asked: an earlier judge gave no verdict")?;
            continue;
        }
        let unusable = ground.renew(run)?;
        let graded = match unusable {
            Some(reason) => Ok(Grade::fail(format!("not run: {reason}"))),
            None => grade_test(run, test, work),
        };
        run.folder.unlock(&run.dirs)?;
        // A test runs the agent's work, which could remove the workspace and so keep the next test from being run.
        let who = format!("test `{}`", test.name);
        if let Some(remark) = restore_workspace(&run.dirs.here(), &who)? {
            run.log.line(&remark)?;
            run.remarks.push(remark);
        }
        let graded = ground.check(run, test, graded);
        match graded {
            Ok(grade) => {
                weighted.push((test.weight, grade.score));
                run.report.tests.push((test.name.clone(), grade));
            }
            Err(StageError::Error(reason)) if is_judge || reason.kind == ErrorKind::Setup => {
                run.log.line(&format!("no result: {}", reason.message))?;
                has_judge_failed |= is_judge;
                error.get_or_insert(reason);
            }
            // The machine is in trouble, or the run was interrupted.
            Err(error) => return Err(error),
        }
    }
    match error {
        None => Ok(score(&weighted).unwrap_or(0.0)),
        Some(error) => Err(StageError::Error(error)),
    }
}

fn grade_test(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    work: &AgentWork,
) -> Result<Grade, StageError> {
    let started = Stopwatch::start();
    run.log.section(&format!("test: {}", test.name))?;
    // A test without a verdict is no failure of the agent's: the trial was not judged.
    let grade = answer(run, test, work)?.map_err(|NoVerdict(reason)| {
        StageError::new(ErrorKind::Setup, format!("test `{}`: {reason}", test.name))
    })?;
    run.log
        .line(&format!("score {}: {}", grade.score, grade.message))?;
    Ok(Grade {
        weight: Some(test.weight),
        duration_seconds: rounded(started.elapsed().as_secs_f64()),
        ..grade
    })
}
