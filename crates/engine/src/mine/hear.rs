//! Hears what the runners of drafts report: all tests of all gradings, where results have the first ones only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use terca_core::agent::control::{NOP, ORACLE};
use terca_core::grade::test_report::{self, Cases};
use terca_core::grade::{CommandEnd, FileContent, Question, TestKind};
use terca_core::new_suite::mine::Reason;
use terca_core::new_suite::mine::draft::Draft;
use terca_core::new_suite::mine::lists::{Gradings, Lists, lists};
use terca_core::plan::TrialSpec;

use crate::locked;

/// The reports by environment and test, in the order of their gradings.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<BTreeMap<(String, String), Gradings>>>);

impl Heard {
    /// Listens to the tests of trials.
    pub(super) fn listen(&self, trials: &mut [TrialSpec]) {
        for trial in trials {
            let case = Arc::make_mut(&mut trial.case);
            let environment = case.variant.environment.clone();
            for test in &mut Arc::make_mut(&mut case.eval).tests {
                test.kind = Arc::new(Listener {
                    kind: test.kind.clone(),
                    name: (environment.clone(), test.name.clone()),
                    heard: self.clone(),
                });
            }
        }
    }

    /// Returns the tests of a draft that must pass, or the reason why they prove nothing.
    pub(super) fn lists(&self, draft: &Draft) -> Result<Vec<Lists>, Reason> {
        let heard = locked(&self.0);
        let of = |environment: &str, name: &str| {
            let gradings = heard.get(&(environment.to_owned(), name.to_owned()));
            gradings.cloned().unwrap_or_default()
        };
        let checks = draft.checks.iter();
        let runners = checks.map(|check| (of(ORACLE, &check.name), of(NOP, &check.name)));
        lists(&Vec::from_iter(runners))
    }
}

/// A test whose reports are heard.
#[derive(Debug)]
struct Listener {
    kind: Arc<dyn TestKind>,
    name: (String, String),
    heard: Heard,
}

impl TestKind for Listener {
    fn question(&self, limit: Duration) -> Question<'_> {
        match self.kind.question(limit) {
            Question::Command {
                command,
                separate_stdout,
                report,
                judge,
            } => Question::Command {
                command,
                separate_stdout,
                report,
                judge: Box::new(move |end| {
                    let mut heard = locked(&self.heard.0);
                    heard
                        .entry(self.name.clone())
                        .or_default()
                        .0
                        .push(cases(end));
                    judge(end)
                }),
            },
            other => other,
        }
    }
}

/// Returns the cases that a command reported. One that was cut off has none.
fn cases(end: &CommandEnd) -> Cases {
    match &end.report {
        Some(FileContent::Text(text)) if !end.timed_out => {
            test_report::read(end.mask.masked(text).as_str()).unwrap_or_default()
        }
        _ => Cases::default(),
    }
}
