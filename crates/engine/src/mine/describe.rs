//! Has an agent write the tasks of proven drafts: a run of its own, with a workspace that is empty.
//!
//! Each question is a trial, so its sandbox, its network, its sign-in, its time, its errors and
//! its cost are those of any trial. The suite has no rules, skills or servers, and nothing of the repository but the question.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use similar::TextDiff;
use terca_core::new_suite::mine::commit::Change;
use terca_core::new_suite::mine::describe::{
    Described, NoTask, TASK_FILE, Writer, question, room_eval, room_file, task,
};
use terca_core::new_suite::mine::draft::Draft;
use terca_core::run::outcome::Status;
use terca_core::run::settings::{Keep, RunSettings, SelectionSettings};
use terca_core::run::state::Trial;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::network::Network;

use super::prove::{plan, run};
use super::{MineError, Request};
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
    fn settings(&self, request: &Request<'_>, spent: Option<f64>) -> RunSettings {
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
type NoAnswer = (NoTask, Option<String>);

/// The answers to the questions about some drafts.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The new prompts, and what became of each question, by the names of the drafts.
    pub(super) by_draft: BTreeMap<String, (Option<String>, Described)>,
    /// The cost of all, where some of it is known.
    pub(super) cost_usd: Option<f64>,
    /// Tells whether a signal came.
    pub(super) is_interrupted: bool,
}

/// Plans a question, so that an agent or a model that cannot be asked is known before anything is proven.
pub(super) fn check(
    describing: &Describing,
    dir: &Utf8Path,
    request: &Request<'_>,
) -> Result<(), MineError> {
    write_room(dir, [("task", "Describe it.")])?;
    plan(dir, &describing.settings(request, None), request).map_err(|error| match error {
        MineError::Drafts(problems) => MineError::Describing(problems),
        other => other,
    })?;
    Ok(())
}

/// Asks an agent for the tasks of drafts, in a directory that is empty. A question that has no answer is no error: the
/// draft has been proven, and keeps the prompt that it has.
pub(super) fn describe(
    describing: &Describing,
    spent: Option<f64>,
    proven: &[(usize, Draft)],
    dir: &Utf8Path,
    request: &Request<'_>,
) -> Answers {
    let mut answers = Answers::default();
    let mut asked: Vec<(&Draft, String)> = Vec::new();
    let not = |answers: &mut Answers, draft: &Draft, why: NoAnswer| {
        answers.note(describing.by.clone(), None, draft, Err(why));
    };
    for (_, draft) in proven {
        let chosen = &draft.chosen;
        let (source, tests) = (diffs(&chosen.solution), diffs(&chosen.tests));
        let fence = format!("{:032x}", fastrand::u128(..));
        match question(&chosen.commit.message, &source, &tests, &fence) {
            Ok(question) => asked.push((draft, question)),
            Err((reason, detail)) => not(&mut answers, draft, (reason, Some(detail))),
        }
    }
    if !asked.is_empty()
        && let Err(error) = ask(describing, spent, &asked, dir, request, &mut answers)
    {
        for (draft, _) in asked {
            let reason = NoTask::Error(ErrorKind::Internal);
            not(&mut answers, draft, (reason, Some(error.to_string())));
        }
    }
    answers
}

fn ask(
    describing: &Describing,
    spent: Option<f64>,
    asked: &[(&Draft, String)],
    dir: &Utf8Path,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), MineError> {
    let questions = asked.iter();
    write_room(
        dir,
        questions.map(|(draft, question)| (draft.folder.as_str(), question.as_str())),
    )?;
    let settings = describing.settings(request, spent);
    let finished = run(dir, &settings, request)?;
    answers.cost_usd = finished.state.spent().spent.cost_usd;
    answers.is_interrupted = finished.interrupted;
    for trial in finished.state.trials() {
        let mut drafts = asked.iter().map(|(draft, _)| *draft);
        let Some(draft) = drafts.find(|draft| draft.folder == trial.head.eval) else {
            continue;
        };
        let mut by = describing.by.clone();
        by.model = trial.report.delivery.model_observed.clone().or(by.model);
        let cost = trial.report.stats.usage.cost_usd;
        answers.note(by, cost, draft, answer(trial, &finished, draft));
    }
    Ok(())
}

/// Returns the prompt that a trial has ended with, or the reason why there is none.
fn answer(trial: &Trial, run: &FinishedRun, draft: &Draft) -> Result<String, NoAnswer> {
    let report = &trial.report;
    if let Some(error) = &report.error {
        return Err((NoTask::Error(error.kind), Some(error.message.clone())));
    }
    match report.status {
        Status::Interrupted => return Err((NoTask::Interrupted, None)),
        Status::Pending => return Err(not_started(run)),
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

fn not_started(run: &FinishedRun) -> NoAnswer {
    // The first question has met an error that each would have met.
    if let [stopped, ..] = run.state.stopped_variants() {
        let error = &stopped.error;
        return (NoTask::Error(error.kind), Some(error.message.clone()));
    }
    match run.interrupted {
        true => (NoTask::Interrupted, None),
        false => (NoTask::Budget, None),
    }
}

impl Answers {
    /// Notes the answer about a draft. Without one, the prompt stays the commit's message.
    fn note(
        &mut self,
        by: Writer,
        cost_usd: Option<f64>,
        draft: &Draft,
        answer: Result<String, NoAnswer>,
    ) {
        let (reason, detail) = answer.as_ref().err().cloned().unzip();
        let described = Described {
            by,
            cost_usd,
            reason,
            detail: detail.flatten(),
        };
        let folder = draft.folder.clone();
        self.by_draft.insert(folder, (answer.ok(), described));
    }
}

/// Writes the suite of the questions: each is an eval without a file.
fn write_room<'a>(
    dir: &Utf8Path,
    questions: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), MineError> {
    fs_err::write(dir.join(SUITE_FILE), room_file("room"))?;
    for (name, question) in questions {
        let eval = dir.join(name);
        fs_err::create_dir(&eval)?;
        fs_err::write(eval.join("prompt.md"), question)?;
        fs_err::write(eval.join("eval.terca.yaml"), room_eval())?;
    }
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
