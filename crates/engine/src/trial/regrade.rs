//! A trial that ran long ago, graded with the tests as they are now: no agent, and what was saved stays as it is.

use std::time::Instant;

use terca_core::plan::TrialSpec;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::TrialError;

use super::bench::Bench;
use super::conduct::Conduct;
use super::{Context, Stop, grade, rounded};

/// Why a trial cannot be graded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ungradable {
    /// It was not judged the first time, for want of an agent's work.
    NotRun,
    /// Its workspace was not kept.
    NotKept,
}

/// Whether there is something to be graded.
pub fn is_gradable(
    trial: &TrialSpec,
    report: &TrialReport,
    context: &Context,
) -> Result<(), Ungradable> {
    // A test that could not tell is an error too, but the agent has done its work.
    let has_run = report.status.is_judged()
        || (report.status == Status::Error && report.phases.tests.is_some());
    let workspace = context.run_dir.join(&trial.dir).join("workspace");
    match (has_run, workspace.is_dir()) {
        (false, _) => Err(Ungradable::NotRun),
        (true, false) => Err(Ungradable::NotKept),
        (true, true) => Ok(()),
    }
}

/// The report as it would have been with these tests; `None` when it was interrupted.
pub fn regrade(
    trial: &TrialSpec,
    old: &TrialReport,
    grading: u32,
    context: &Context,
) -> Option<TrialReport> {
    let started = Instant::now();
    let graded = Bench::reopen(trial, grading, context, &|_| {})
        .map_err(Stop::from)
        .and_then(|mut bench| {
            let conduct = Conduct::read(&bench.artifacts)?;
            let workspace = bench.dir.join("workspace");
            grade::grade_saved(&mut bench, &workspace, &conduct)
        });
    let mut report = old.clone();
    report.grading = grading;
    report.phases.tests = Some(rounded(started.elapsed().as_secs_f64()));
    match graded {
        Ok(graded) => {
            report.status = Status::of_score(graded.score);
            report.score = Some(graded.score);
            report.tests = graded.tests;
            report.error = None;
        }
        Err(Stop::Interrupted) => return None,
        Err(Stop::Error(error)) => {
            report.status = Status::Error;
            report.score = None;
            report.tests = Default::default();
            report.error = Some(TrialError::new(
                error.kind,
                context.mask.text(&error.message),
            ));
        }
    }
    Some(report)
}
