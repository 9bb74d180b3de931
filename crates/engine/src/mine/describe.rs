//! Has an agent write the tasks of proven drafts: a run of its own, with a workspace that is empty.
//!
//! Each question is a trial, so its sandbox, its network, its sign-in, its time, its errors and
//! its cost are those of any trial. The suite has no rules, skills or servers, and nothing of the repository but the question.

use std::time::Duration;

use camino::Utf8Path;
use similar::TextDiff;
use terca_core::new_suite::mine::commit::Change;
use terca_core::new_suite::mine::describe::{
    Described, NoTask, TASK_FILE, Writer, question, room_eval, room_file, task,
};
use terca_core::new_suite::mine::draft::Draft;
use terca_core::run::outcome::Status;
use terca_core::run::retry::is_hopeless;
use terca_core::run::settings::{Keep, RunSettings, SelectionSettings};
use terca_core::run::state::Trial;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::network::Network;

use super::prove::{plan, run};
use super::{Bench, MineError, Request, Stage};
use crate::locked;
use crate::run::files::open_run;
use crate::run::scheduler::FinishedRun;
use crate::suite::discover::SUITE_FILE;
use crate::tree::TreeError;

/// A longer file is not read.
const LARGEST_TASK: u64 = 1 << 20;

/// The time for one comparison. After it, the diff is correct but longer than need be.
const PATIENCE: Duration = Duration::from_secs(2);

/// The agent that writes tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Describing {
    /// Its name, and a model instead of its own choice.
    pub by: Writer,
    /// Its time limit for a task, in seconds.
    pub seconds: f64,
    /// No further task is asked for once those before have cost this much.
    pub budget_usd: Option<f64>,
}

impl Describing {
    fn settings(&self, request: &Request, spent: Option<f64>) -> RunSettings {
        RunSettings {
            selection: SelectionSettings {
                repetitions: Some(1),
                agent: Some(self.by.agent.clone()),
                model: self.by.model.clone(),
                timeout: Some(self.seconds),
                sandbox: Some(request.sandbox.clone()),
                network: Some(Network::Model),
                ..SelectionSettings::default()
            },
            budget_usd: self.budget_usd.map(|budget| budget - spent.unwrap_or(0.0)),
            concurrency: request.concurrency,
            // The whole workspace is one file.
            keep: Keep::All,
            ..RunSettings::default()
        }
    }
}

/// The reason why there is no answer, and its particulars.
pub(super) type NoAnswer = (NoTask, Option<String>);

/// Plans a question, so that an agent or a model that cannot be asked is known before anything is proven.
pub(super) fn check(
    describing: &Describing,
    dir: &Utf8Path,
    request: &Request,
) -> Result<(), MineError> {
    write_room(dir, "task", "Describe it.")?;
    plan(dir, &describing.settings(request, None), request).map_err(|error| match error {
        MineError::Drafts(problems) => MineError::Describing(problems),
        other => other,
    })?;
    Ok(())
}

/// Asks an agent for the task of a draft, in a directory that is empty. A question that has no answer is no error: the
/// draft has been proven, and keeps the prompt that it has. One is asked after the other, since each costs.
pub(super) fn describe(
    describing: &Describing,
    draft: &Draft,
    dir: &Utf8Path,
    bench: &Bench,
) -> (Option<String>, Described) {
    let mut described = Described {
        by: describing.by.clone(),
        cost_usd: None,
        reason: None,
        detail: None,
    };
    let mut hopeless = locked(&bench.hopeless);
    let answer = match &*hopeless {
        _ if bench.is_interrupted() => Err((NoTask::Interrupted, None)),
        Some(why) => Err(why.clone()),
        None => ask(describing, draft, dir, bench, &mut described),
    };
    if let Err(why @ (NoTask::Error(kind), _)) = &answer
        && is_hopeless(*kind)
    {
        *hopeless = Some(why.clone());
    }
    let (reason, detail) = answer.as_ref().err().cloned().unzip();
    (described.reason, described.detail) = (reason, detail.flatten());
    (answer.ok(), described)
}

fn ask(
    describing: &Describing,
    draft: &Draft,
    dir: &Utf8Path,
    bench: &Bench,
    described: &mut Described,
) -> Result<String, NoAnswer> {
    let request = &bench.request;
    (request.tell)(Stage::Describing(&draft.folder));
    let chosen = &draft.chosen;
    let (source, tests) = (diffs(&chosen.solution), diffs(&chosen.tests));
    let fence = format!("{:032x}", fastrand::u128(..));
    let question = question(&chosen.commit.message, &source, &tests, &fence)
        .map_err(|(reason, detail)| (reason, Some(detail)))?;
    let internal = |error: MineError| (NoTask::Error(ErrorKind::Internal), Some(error.to_string()));
    write_room(dir, &draft.folder, &question).map_err(internal)?;
    let spent = *locked(&bench.spent);
    let settings = describing.settings(request, spent);
    let finished = run(dir, &settings, request).map_err(internal)?;
    if let Some(cost) = finished.state.spent().spent.cost_usd {
        *locked(&bench.spent) = Some(spent.unwrap_or(0.0) + cost);
    }
    let Some(trial) = finished.state.trials().first() else {
        return Err((NoTask::Empty, None));
    };
    let observed = trial.report.delivery.model_observed.clone();
    described.by.model = observed.or(described.by.model.take());
    described.cost_usd = trial.report.stats.usage.cost_usd;
    answer(trial, &finished, draft)
}

/// Returns the prompt that a trial has ended with, or the reason why there is none.
fn answer(trial: &Trial, run: &FinishedRun, draft: &Draft) -> Result<String, NoAnswer> {
    let report = &trial.report;
    if let Some(error) = &report.error {
        return Err((NoTask::Error(error.kind), Some(error.message.clone())));
    }
    match report.status {
        Status::Interrupted => return Err((NoTask::Interrupted, None)),
        Status::Pending if run.interrupted => return Err((NoTask::Interrupted, None)),
        Status::Pending => return Err((NoTask::Budget, None)),
        _ if report.timed_out => return Err((NoTask::Timeout, None)),
        _ => {}
    }
    let path = trial.head.dir.join("workspace").join(TASK_FILE);
    let read = open_run(&run.dir).and_then(|run| run.read_file(path, LARGEST_TASK));
    let written = read.map_err(|error| match error {
        TreeError::LongFile { limit, .. } => (
            NoTask::TooLong,
            Some(format!("{TASK_FILE} has more than {limit} bytes")),
        ),
        _ => (NoTask::Empty, Some(format!("it left no file {TASK_FILE}"))),
    })?;
    task(&written, &draft.chosen).map_err(|(reason, detail)| (reason, Some(detail)))
}

/// Writes the suite of a question, which is an eval without a file.
fn write_room(dir: &Utf8Path, name: &str, question: &str) -> Result<(), MineError> {
    fs_err::write(dir.join(SUITE_FILE), room_file("room"))?;
    let eval = dir.join(name);
    fs_err::create_dir(&eval)?;
    fs_err::write(eval.join("prompt.md"), question)?;
    fs_err::write(eval.join("eval.terca.yaml"), room_eval())?;
    Ok(())
}

fn diffs(files: &[Change]) -> String {
    let one = |file: &Change| {
        let [old, new] = file.texts();
        let path = file.path.as_str();
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
        let before = if old.is_empty() { "/dev/null" } else { path };
        let after = if new.is_empty() { "/dev/null" } else { path };
        diff.unified_diff().header(before, after).to_string()
    };
    files.iter().map(one).collect()
}
