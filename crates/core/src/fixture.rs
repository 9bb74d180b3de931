//! Runs that ended, for tests.

use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::{RunStatus, TrialHead};
use crate::run::outcome::{Status, TrialReport};
use crate::run::state::{Counts, RunState, Trial};
use crate::transcript::Stats;
use crate::transcript::Usage;

pub(crate) fn run(name: &str) -> RunState {
    RunState {
        run: name.to_owned(),
        suite: "basic-js".to_owned(),
        seed: 7,
        concurrency: 4,
        baseline: "control".to_owned(),
        status: RunStatus::Complete,
        ..RunState::default()
    }
}

impl RunState {
    /// One cell: so many passed of so many, at 3 cents and 40 seconds each.
    #[must_use]
    pub(crate) fn cell(self, place: [&str; 3], passed: usize, trials: usize) -> Self {
        let reports = (0..trials).map(|number| judged(number < passed)).collect();
        self.reports(place, reports)
    }

    #[must_use]
    pub(crate) fn reports(
        mut self,
        [eval, environment, experiment]: [&str; 3],
        reports: Vec<TrialReport>,
    ) -> Self {
        for (report, repetition) in reports.into_iter().zip(1..) {
            let head = TrialHead {
                id: self.trials.len() as u32 + 1,
                eval: eval.to_owned(),
                environment: environment.to_owned(),
                experiment: experiment.to_owned(),
                repetition,
                dir: format!("{eval}/{environment}.{experiment}.{repetition:02}").into(),
                agent: "gemini-cli".to_owned(),
                model: None,
            };
            self.trials.push(Trial {
                head,
                report,
                live: None,
                earlier: Vec::new(),
            });
        }
        self.counts = Counts {
            total: self.trials.len(),
            ..self.counts
        };
        self
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
