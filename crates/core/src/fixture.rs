//! Runs that ended, for tests.

use jiff::Timestamp;

use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::{Event, EventKind, RunStart, RunStatus, TrialHead};
use crate::run::outcome::{Status, TrialReport};
use crate::run::state::RunState;
use crate::transcript::Stats;
use crate::transcript::Usage;

/// A run that has ended, without trials so far.
pub(crate) fn run(name: &str) -> RunState {
    played(name, "control", Vec::new(), RunStatus::Complete)
}

/// A run as its events tell it: every trial has ended with its report.
fn played(
    name: &str,
    baseline: &str,
    trials: Vec<(TrialHead, TrialReport)>,
    status: RunStatus,
) -> RunState {
    let mut kinds = vec![EventKind::RunStarted(Box::new(RunStart {
        run: name.to_owned(),
        suite: "basic-js".to_owned(),
        terca_version: String::new(),
        seed: 7,
        concurrency: 4,
        baseline: baseline.to_owned(),
        trials: trials.iter().map(|(head, _)| head.clone()).collect(),
        ..RunStart::default()
    }))];
    kinds.extend(
        trials
            .into_iter()
            .map(|(head, report)| EventKind::TrialFinished {
                trial: head.id,
                report: Box::new(report),
            }),
    );
    if status != RunStatus::Running {
        kinds.push(EventKind::RunFinished { status });
    }
    let mut state = RunState::default();
    for (kind, seq) in kinds.into_iter().zip(0..) {
        let at = Timestamp::UNIX_EPOCH;
        state.apply(&Event { seq, at, kind });
    }
    state
}

impl RunState {
    /// One cell: so many passed of so many, at 3 cents and 40 seconds each.
    #[must_use]
    pub(crate) fn cell(self, place: [&str; 3], passed: usize, trials: usize) -> Self {
        let reports = (0..trials).map(|number| judged(number < passed)).collect();
        self.reports(place, reports)
    }

    /// The same run with further trials.
    #[must_use]
    pub(crate) fn reports(
        self,
        [eval, environment, experiment]: [&str; 3],
        reports: Vec<TrialReport>,
    ) -> Self {
        self.edited(|trials| {
            for (report, repetition) in reports.into_iter().zip(1..) {
                let head = TrialHead {
                    id: trials.len() as u32 + 1,
                    eval: eval.to_owned(),
                    environment: environment.to_owned(),
                    experiment: experiment.to_owned(),
                    repetition,
                    dir: format!("{eval}/{environment}.{experiment}.{repetition:02}").into(),
                    agent: "gemini-cli".to_owned(),
                    model: None,
                };
                trials.push((head, report));
            }
        })
    }

    /// The same run with other trials.
    #[must_use]
    pub(crate) fn edited(self, edit: impl FnOnce(&mut Vec<(TrialHead, TrialReport)>)) -> Self {
        let mut trials = self
            .trials()
            .iter()
            .map(|trial| ((*trial.head).clone(), (*trial.report).clone()))
            .collect();
        edit(&mut trials);
        played(self.run(), self.baseline(), trials, self.status())
    }

    /// The same run with another baseline and status.
    #[must_use]
    pub(crate) fn with(self, baseline: &str, status: RunStatus) -> Self {
        let trials = self
            .trials()
            .iter()
            .map(|trial| ((*trial.head).clone(), (*trial.report).clone()));
        played(self.run(), baseline, trials.collect(), status)
    }

    /// Eight evals in one variant, five times each.
    #[must_use]
    pub(crate) fn eight(
        mut self,
        [environment, experiment]: [&str; 2],
        passed: [usize; 8],
    ) -> Self {
        for (number, passed) in passed.into_iter().enumerate() {
            self = self.cell(
                [&format!("eval{number}"), environment, experiment],
                passed,
                5,
            );
        }
        self
    }
}

pub(crate) fn judged(passes: bool) -> TrialReport {
    TrialReport {
        status: if passes {
            Status::Passed
        } else {
            Status::Failed
        },
        score: Some(f64::from(u8::from(passes))),
        stats: Stats {
            cost_source: None,
            usage: Usage {
                cost_usd: Some(0.03),
                ..Usage::default()
            },
            duration_seconds: Some(38.0),
        },
        attempts: 1,
        duration_seconds: 40.0,
        ..TrialReport::pending()
    }
}

pub(crate) fn error() -> TrialReport {
    TrialReport {
        status: Status::Error,
        attempts: 1,
        ..TrialReport::pending()
    }
}

/// What a case was made from: its parts, and their hashes.
pub(crate) fn print(place: [&str; 3], parts: &[(&str, &str)]) -> CaseFingerprint {
    let [eval, environment, experiment] = place.map(str::to_owned);
    let fingerprint = parts
        .iter()
        .map(|(part, hash)| ((*part).to_owned(), (*hash).to_owned()))
        .collect();
    CaseFingerprint {
        eval,
        environment,
        experiment,
        fingerprint,
    }
}
