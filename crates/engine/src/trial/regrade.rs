//! Grades a trial again that ran before, with the tests as they are now. No agent runs, and the saved files stay.

use std::io;

use camino::Utf8PathBuf;
use terca_core::plan::TrialSpec;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::ErrorKind;

use super::agent_work::AgentWork;
use super::context::Context;
use super::evidence::{difference, take_evidence};
use super::grading::grade;
use super::services;
use super::stage_error::StageError;
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::process::pause::Stopwatch;
use crate::tree::{Dir, Limits, TreeError};
use crate::workspace::saved::WORKSPACE;
use crate::workspace::saved::restore::{RestoreError, Saved};

/// The reason why a trial cannot be graded again.
#[derive(Debug)]
pub enum Ungradable {
    /// There was no agent's work to judge.
    NotRun,
    /// Its workspace was not kept.
    NotKept,
    /// Its files are not those of its end.
    Damaged(RestoreError),
}

/// Checks that a trial has work to grade.
pub fn is_gradable(
    spec: &TrialSpec,
    report: &TrialReport,
    context: &Context,
) -> Result<(), Ungradable> {
    // A test without a verdict is an error too, but the agent has done its work.
    let has_run = report.status.is_done()
        || (report.status == Status::Error && report.phases.tests.is_some());
    if !has_run {
        return Err(Ungradable::NotRun);
    }
    let damaged = |error| match error {
        RestoreError::NotSaved => Ungradable::NotKept,
        error => Ungradable::Damaged(error),
    };
    open_saved(spec, context).map_err(damaged)?;
    // Its files must be those of its end, or of its last grading.
    let found = take_evidence(spec, context).map_err(|error| damaged(error.into()))?;
    match difference(&report.evidence, &found) {
        None => Ok(()),
        Some((name, reason)) => Err(damaged(RestoreError::Changed { name, reason })),
    }
}

/// Opens the saved workspace of a trial.
fn open_saved(spec: &TrialSpec, context: &Context) -> Result<Saved, RestoreError> {
    let run = Dir::open_no_link(&context.run_dir)?;
    let options = context.own_tree(Limits::NONE);
    Saved::open(&run, &spec.dir, &context.checked_layers, &options)
}

/// Grades a saved trial with today's tests. Returns its new report, or `None` when the run was interrupted.
pub fn regrade(
    spec: &TrialSpec,
    old: &TrialReport,
    grading: u32,
    context: &Context,
) -> Option<TrialReport> {
    let started = Stopwatch::start();
    let mut report = TrialReport {
        tests: Vec::new(),
        paid_judges: Vec::new(),
        error: None,
        grading,
        ..old.clone()
    };
    let graded = match TrialRun::reopen(spec, grading, context, &|_| {}) {
        Ok(mut run) => {
            std::mem::swap(&mut run.report, &mut report);
            let graded = grade_saved(&mut run);
            std::mem::swap(&mut run.report, &mut report);
            graded
        }
        Err(error) => Err(error.into()),
    };
    report.phases.tests = Some(rounded(started.elapsed().as_secs_f64()));
    match graded {
        Ok(()) => {}
        Err(StageError::Interrupted) => return None,
        Err(error) => error.end(&mut report),
    }
    report.mask(&context.mask);
    // Judges and tests may have left more.
    match take_evidence(spec, context) {
        Ok(evidence) => report.evidence = evidence,
        Err(TreeError::Stopped) => return None,
        Err(error) => report.notes.push(format!(
            "the files of the trial could not be read again: {error}"
        )),
    }
    Some(report)
}

fn grade_saved(run: &mut TrialRun<'_>) -> Result<(), StageError> {
    let work = saved_work(run.spec, run.context)?;
    let workspace = saved_workspace(run)?;
    let started = services::start(run);
    let graded = started.and_then(|()| grade(run, Some(workspace), &work));
    services::end(run);
    if !run.spec.case.services.is_empty() && !run.report.notes.iter().any(|note| note == FRESH) {
        run.report.notes.push(FRESH.to_owned());
    }
    graded
}

/// The remark about a trial with services that is graded again.
const FRESH: &str =
    "graded again with new services, which do not have the data of `before` and the agent";

/// Returns the directory with the saved workspace, made again if it was saved as what changed.
fn saved_workspace(run: &TrialRun<'_>) -> Result<Utf8PathBuf, StageError> {
    let saved = open_saved(run.spec, run.context).map_err(|error| match error {
        RestoreError::Tree(error) => error.into(),
        other => StageError::new(ErrorKind::Internal, other.to_string()),
    })?;
    if matches!(saved, Saved::Whole(_)) {
        return Ok(run.folder.path.join(WORKSPACE));
    }
    let place = run.dirs.left.clone();
    fs_err::create_dir(&place)?;
    let options = run.context.own_tree(Limits::NONE);
    saved.restore(&Dir::open_no_link(&place)?, &options)?;
    Ok(place)
}

/// Reads the facts about the agent's work. The run may have come from somebody else: a link or a pipe in the place of a
/// file that the tests read is refused.
fn saved_work(spec: &TrialSpec, context: &Context) -> io::Result<AgentWork> {
    let folder = Dir::open_no_link(&context.run_dir)?.open_dir(&spec.dir)?;
    for name in ["transcript.jsonl", "changes.diff", "artifacts/stdout.log"] {
        match folder.open_file(name) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
    }
    AgentWork::read(&folder.open_dir("artifacts")?)
}
