//! Remarks about evals whose results tell less than they seem to: one that passed in every trial or in none shows no
//! difference between variants, and one whose tests grade the same work differently adds luck.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::agent::control::is_control;
use crate::config::verdict::Measure;
use crate::run::outcome::Status;
use crate::run::state::{RunState, Trial};
use crate::text::prose;

/// Fewer trials that end alike say nothing.
const FEWEST_TRIALS: usize = 3;
/// A sentence names so many evals, and counts the others.
const NAMED: usize = 5;

/// A remark about an eval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalRemark {
    /// The eval's name.
    pub eval: String,
    /// The fact.
    pub fact: EvalFact,
    /// The number of trials that show it.
    pub trials: usize,
}

/// A fact about an eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EvalFact {
    /// All judged trials passed, in all variants.
    AlwaysPassed,
    /// No judged trial passed, in any variant.
    NeverPassed,
    /// The same tests gave the same work different scores.
    GradedDifferently,
}

/// Returns the remarks about the evals of a run, in its order. Trials of agents that prove evals do not count.
pub(super) fn of(state: &RunState) -> Vec<EvalRemark> {
    let mut evals: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    let trials = state.trials().iter();
    for trial in trials.filter(|trial| !is_control(&trial.head.agent)) {
        evals.entry(&trial.head.eval).or_default().push(trial);
    }
    let remarks = evals.iter().flat_map(|(eval, trials)| {
        let changed = trials.iter().filter(|trial| is_graded_differently(trial));
        let changed = Some(changed.count()).filter(|number| *number > 0);
        let changed = changed.map(|number| (EvalFact::GradedDifferently, number));
        let facts = always_alike(trials, state.start().verdict.measure)
            .into_iter()
            .chain(changed);
        facts.map(|(fact, trials)| EvalRemark {
            eval: (*eval).to_owned(),
            fact,
            trials,
        })
    });
    remarks.collect()
}

/// Where scores decide, an eval that never passed still tells variants apart as long as its score varies.
fn always_alike(trials: &[&Trial], measure: Measure) -> Option<(EvalFact, usize)> {
    let judged = || {
        trials
            .iter()
            .filter(|trial| trial.report.status.is_judged())
    };
    let variants: BTreeSet<(&str, &str)> = judged()
        .map(|trial| {
            (
                trial.head.environment.as_str(),
                trial.head.experiment.as_str(),
            )
        })
        .collect();
    let number = judged().count();
    let mut scores = judged().map(|trial| trial.report.score);
    let first = scores.next();
    let varies = scores.any(|score| Some(score) != first);
    if variants.len() < 2 || number < FEWEST_TRIALS || (measure == Measure::Score && varies) {
        return None;
    }
    let passed = judged().filter(|trial| trial.report.status == Status::Passed);
    match passed.count() {
        0 => Some((EvalFact::NeverPassed, number)),
        passed if passed == number => Some((EvalFact::AlwaysPassed, number)),
        _ => None,
    }
}

/// Tells whether the same tests gave a trial's work different scores.
fn is_graded_differently(trial: &Trial) -> bool {
    let mut first_scores: BTreeMap<Option<&str>, f64> = BTreeMap::new();
    let now = (&trial.regraded_by, trial.report.status, trial.report.score);
    let mut gradings = trial
        .earlier_gradings
        .iter()
        .map(|grading| (&grading.tests, grading.status, grading.score))
        .chain([now])
        .filter_map(|(tests, status, score)| Some((tests, score.filter(|_| status.is_judged())?)));
    gradings.any(|(tests, score)| *first_scores.entry(tests.as_deref()).or_insert(score) != score)
}

/// Returns the remarks in words, a sentence for each fact.
pub fn sentences(remarks: &[EvalRemark]) -> Vec<String> {
    let facts = [
        EvalFact::AlwaysPassed,
        EvalFact::NeverPassed,
        EvalFact::GradedDifferently,
    ];
    let of_fact = |fact: EvalFact| -> Vec<&EvalRemark> {
        remarks
            .iter()
            .filter(|remark| remark.fact == fact)
            .collect()
    };
    let told = facts.into_iter().map(|fact| (fact, of_fact(fact)));
    told.filter(|(_, remarks)| !remarks.is_empty())
        .map(|(fact, remarks)| sentence(fact, &remarks))
        .collect()
}

fn sentence(fact: EvalFact, remarks: &[&EvalRemark]) -> String {
    let names = remarks.iter().map(|remark| format!("`{}`", remark.eval));
    let names = prose::few(names, NAMED);
    let (its, shows) = match remarks.len() {
        1 => ("its", "it shows"),
        _ => ("their", "they show"),
    };
    match fact {
        EvalFact::AlwaysPassed => format!(
            "{names} passed in all of {its} trials, so {shows} no difference between the variants"
        ),
        EvalFact::NeverPassed => format!(
            "{names} passed in none of {its} trials, so {shows} no difference between the variants; \
             `terca validate` checks whether {its} tests can be passed"
        ),
        EvalFact::GradedDifferently => {
            let trials = remarks.iter().map(|remark| remark.trials).sum::<usize>();
            format!(
                "the tests of {names} graded the same work differently in {}: they depend on more than the work",
                prose::count(trials, "trial")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{error, judged, run};
    use crate::run::event::{Event, EventKind, RegradedTrial};
    use crate::run::outcome::TrialReport;

    fn facts(state: &RunState) -> Vec<(String, EvalFact, usize)> {
        let remarks = of(state).into_iter();
        remarks
            .map(|remark| (remark.eval, remark.fact, remark.trials))
            .collect()
    }

    fn two_variants(reports: &dyn Fn(bool) -> Vec<TrialReport>) -> RunState {
        run("1")
            .reports(["a", "gemini", "control"], reports(false))
            .reports(["a", "gemini", "rules"], reports(true))
    }

    #[test]
    fn evals_that_always_end_alike_are_named() {
        let mut state = run("1");
        for experiment in ["control", "rules"] {
            let place = |eval| [eval, "gemini", experiment];
            state = state
                .cell(place("easy"), 2, 2)
                .cell(place("hard"), 0, 2)
                .cell(place("mixed"), 1, 2)
                .cell(place("new"), 1, 1);
        }
        let state = state.cell(["alone", "gemini", "rules"], 5, 5);
        let expected = [
            ("easy".to_owned(), EvalFact::AlwaysPassed, 4),
            ("hard".to_owned(), EvalFact::NeverPassed, 4),
        ];
        assert_eq!(facts(&state), expected);
    }

    #[test]
    fn errors_and_proofs_do_not_count() {
        let state = two_variants(&|_| vec![judged(true), judged(true), error()]);
        assert_eq!(facts(&state), [("a".to_owned(), EvalFact::AlwaysPassed, 4)]);
        let proof = state.edited(|trials| {
            for (head, _) in trials {
                head.agent = "cheat".into();
            }
        });
        assert_eq!(facts(&proof), []);
    }

    #[test]
    fn where_scores_decide_they_must_not_vary() {
        let partial = |score| TrialReport {
            status: Status::Partial,
            score: Some(score),
            ..judged(false)
        };
        let state = two_variants(&|rules| vec![partial(if rules { 0.9 } else { 0.4 }); 2]);
        let trials: Vec<&Trial> = state.trials().iter().collect();
        let never = Some((EvalFact::NeverPassed, 4));
        assert_eq!(always_alike(&trials, Measure::PassRate), never);
        assert_eq!(always_alike(&trials, Measure::Score), None);
        let state = two_variants(&|_| vec![partial(0.5); 2]);
        let trials: Vec<&Trial> = state.trials().iter().collect();
        assert_eq!(always_alike(&trials, Measure::Score), never);
    }

    /// Grades the first trial again, by the tests of the run (``) or by others.
    fn graded_again(gradings: &[(&str, TrialReport)]) -> Vec<(String, EvalFact, usize)> {
        let mut state = run("1").cell(["a", "gemini", "control"], 0, 1);
        for (grading, (hash, report)) in (2..).zip(gradings) {
            let trial = state.trials()[0].head.id;
            let hash = Some((*hash).to_owned()).filter(|hash| !hash.is_empty());
            let report = report.clone();
            state.apply(&Event {
                seq: 100 + u64::from(grading),
                at: jiff::Timestamp::UNIX_EPOCH,
                kind: EventKind::Regraded {
                    grading,
                    other_tests: hash
                        .map(|hash| ("a".to_owned(), hash))
                        .into_iter()
                        .collect(),
                    trials: vec![RegradedTrial { trial, report }],
                },
            });
        }
        facts(&state)
    }

    #[test]
    fn another_score_of_the_same_work_by_the_same_tests_is_told() {
        let [pass, fail] = [judged(true), judged(false)];
        let told = [("a".to_owned(), EvalFact::GradedDifferently, 1)];
        assert_eq!(graded_again(&[("", pass.clone())]), told);
        assert_eq!(
            graded_again(&[("", pass.clone()), ("", fail.clone())]),
            told
        );
        assert_eq!(
            graded_again(&[("2", pass.clone()), ("2", fail.clone())]),
            told
        );
        for gradings in [
            vec![],
            vec![("", fail.clone())],
            vec![("2", pass.clone())],
            vec![("2", pass), ("3", fail)],
            vec![("", error())],
        ] {
            assert_eq!(graded_again(&gradings), [], "{gradings:?}");
        }
    }

    #[test]
    fn a_sentence_names_a_few_and_counts_the_rest() {
        let remark = |number: usize, fact| EvalRemark {
            eval: format!("e{number}"),
            fact,
            trials: 4,
        };
        let mut remarks: Vec<EvalRemark> = (1..=7)
            .map(|number| remark(number, EvalFact::AlwaysPassed))
            .collect();
        remarks.push(remark(8, EvalFact::NeverPassed));
        remarks.push(remark(9, EvalFact::GradedDifferently));
        assert_eq!(
            sentences(&remarks),
            [
                "`e1`, `e2`, `e3`, `e4`, `e5` and 2 more passed in all of their trials, so they show no difference \
                 between the variants",
                "`e8` passed in none of its trials, so it shows no difference between the variants; `terca validate` checks \
                 whether its tests can be passed",
                "the tests of `e9` graded the same work differently in 4 trials: they depend on more than the work",
            ]
        );
        assert_eq!(sentences(&[]), [""; 0]);
    }
}
