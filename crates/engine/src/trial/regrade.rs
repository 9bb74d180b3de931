//! Grades a trial again that ran before, with the tests as they are now. No agent runs, and the saved files stay.

use std::io;

use terca_core::grade::JudgedBy;
use terca_core::plan::TrialSpec;
use terca_core::run::outcome::{Status, TrialReport};

use super::agent_work::AgentWork;
use super::collect::{add_error, add_grades};
use super::context::Context;
use super::grading::grade_saved;
use super::stage_error::StageError;
use super::stages::{Grades, Ungraded};
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::process::pause::Stopwatch;
use crate::tree::Dir;

/// The reason why a trial cannot be graded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ungradable {
    /// There was no agent's work to judge.
    NotRun,
    /// Its workspace was not kept.
    NotKept,
    /// The facts about the agent's work are gone.
    NoFacts,
}

/// Checks that a trial has work to grade.
pub fn is_gradable(
    spec: &TrialSpec,
    report: &TrialReport,
    context: &Context,
) -> Result<(), Ungradable> {
    // A test without a verdict is an error too, but the agent has done its work.
    let has_run = report.status.is_judged()
        || (report.status == Status::Error && report.phases.tests.is_some());
    // A link to a workspace is none: that of a trial in flight, or one that somebody planted.
    let dir = |name: &str| {
        Dir::open_no_link(&context.run_dir).and_then(|run| run.open_dir(spec.dir.join(name)))
    };
    if !has_run {
        return Err(Ungradable::NotRun);
    }
    if dir("workspace").is_err() {
        return Err(Ungradable::NotKept);
    }
    match dir("artifacts") {
        Ok(artifacts) if AgentWork::is_in(&artifacts) => Ok(()),
        _ => Err(Ungradable::NoFacts),
    }
}

/// Grades a saved trial with today's tests. Returns its new report, or `None` when the run was interrupted.
pub fn regrade(
    spec: &TrialSpec,
    old: &TrialReport,
    grading: u32,
    context: &Context,
) -> Option<TrialReport> {
    let started = Stopwatch::start();
    let mut report = old.clone();
    let mut judges = Vec::new();
    let grades = grade(spec, grading, context, &mut judges);
    report.grading = grading;
    report.phases.tests = Some(rounded(started.elapsed().as_secs_f64()));
    match grades {
        Ok(grades) => add_grades(&mut report, grades, judges),
        Err(Ungraded {
            error: StageError::Interrupted,
            ..
        }) => return None,
        Err(ungraded) => add_error(&mut report, ungraded, judges),
    }
    report.mask(&context.mask);
    Some(report)
}

/// Grades a trial, and adds the judges that were asked to a list.
fn grade(
    spec: &TrialSpec,
    grading: u32,
    context: &Context,
    judges: &mut Vec<JudgedBy>,
) -> Result<Grades, Ungraded> {
    let mut run = TrialRun::reopen(spec, grading, context, &|_| {})?;
    let work = saved_work(spec, context)?;
    let workspace = run.folder.join("workspace");
    let grades = grade_saved(&mut run, &workspace, &work);
    work.keep(&run)?;
    judges.append(&mut run.judges);
    grades
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
