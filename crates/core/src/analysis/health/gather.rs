//! The trials of several runs by eval, and by sitting: one repetition of the whole suite in one variant.

use std::collections::BTreeMap;

use crate::agent::control::is_control;
use crate::analysis::history::Record;
use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::TrialHead;
use crate::run::outcome::Status;
use crate::run::state::Trial;

#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    pub(super) runs: Vec<String>,
    pub(super) evals: Vec<Seen<'a>>,
    /// The passes of each eval (by its position), sitting by sitting.
    pub(super) sittings: Vec<BTreeMap<usize, bool>>,
}

/// All that is known of an eval.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) eval: &'a str,
    pub(super) position: usize,
    pub(super) trials: Vec<&'a Trial>,
    /// Passed and judged, variant by variant.
    pub(super) variants: BTreeMap<Variant<'a>, (usize, usize)>,
    /// Trials whose work was graded more than once by the same tests, and those whose grade changed then.
    pub(super) graded_again: usize,
    pub(super) grade_changed: usize,
    /// Runs in which it was another eval of the same name.
    pub(super) changed_runs: usize,
}

/// Environment, experiment, agent and model.
type Variant<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

fn variant(head: &TrialHead) -> Variant<'_> {
    (
        &head.environment,
        &head.experiment,
        &head.agent,
        head.model.as_deref(),
    )
}

pub(super) fn gather(records: &[Record]) -> Gathered<'_> {
    let mut gathered = Gathered::default();
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    let latest = latest(records);
    for record in records {
        let changed = record.changed(&latest);
        let trials = record.state.trials().iter();
        let trials = trials.filter(|trial| !is_control(&trial.head.agent));
        let mut sittings: BTreeMap<(Variant<'_>, u32), BTreeMap<usize, bool>> = BTreeMap::new();
        let mut says_something = false;
        let mut left_out: Vec<usize> = Vec::new();
        for trial in trials {
            let position = *positions.entry(&trial.head.eval).or_insert_with(|| {
                gathered
                    .evals
                    .push(Seen::new(&trial.head.eval, gathered.evals.len()));
                gathered.evals.len() - 1
            });
            if changed.contains(&trial.head.eval) {
                left_out.push(position);
                continue;
            }
            says_something = true;
            gathered.evals[position].add(trial, record);
            if trial.report.status.is_judged() {
                let sitting = sittings
                    .entry((variant(&trial.head), trial.head.repetition))
                    .or_default();
                sitting.insert(position, trial.report.status == Status::Passed);
            }
        }
        left_out.sort_unstable();
        left_out.dedup();
        left_out
            .into_iter()
            .for_each(|position| gathered.evals[position].changed_runs += 1);
        gathered.sittings.extend(sittings.into_values());
        if says_something {
            gathered.runs.push(record.state.run().to_owned());
        }
    }
    gathered
}

/// Returns the scores of the same work, test by test as they were. Gradings by tests that nobody knows are left out, and
/// so are those that came to no score.
fn grades_of_the_same_tests(trial: &Trial, first: Option<&str>) -> Vec<Vec<f64>> {
    let mut grades: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let earlier = trial.earlier_gradings.iter();
    let all = earlier
        .map(|grading| (&grading.tests, grading.status, grading.score))
        .chain([(&trial.regraded_by, trial.report.status, trial.report.score)]);
    for (tests, status, score) in all {
        let tests = tests.as_deref().or(first).filter(|hash| !hash.is_empty());
        if let (Some(tests), true, Some(score)) = (tests, status.is_judged(), score) {
            grades.entry(tests).or_default().push(score);
        }
    }
    grades.into_values().collect()
}

/// Returns the fingerprints of each eval when it was run last.
fn latest(records: &[Record]) -> Vec<CaseFingerprint> {
    let mut prints: Vec<CaseFingerprint> = Vec::new();
    for record in records.iter().rev() {
        let known: Vec<String> = prints.iter().map(|print| print.eval.clone()).collect();
        let new = record
            .prints
            .iter()
            .flatten()
            .filter(|print| !known.contains(&print.eval));
        prints.extend(new.cloned());
    }
    prints
}

impl<'a> Seen<'a> {
    fn new(eval: &'a str, position: usize) -> Self {
        Seen {
            eval,
            position,
            trials: Vec::new(),
            variants: BTreeMap::new(),
            graded_again: 0,
            grade_changed: 0,
            changed_runs: 0,
        }
    }

    fn add(&mut self, trial: &'a Trial, record: &Record) {
        self.trials.push(trial);
        if !trial.earlier_gradings.is_empty() {
            let first = record.tests_of(&trial.head.eval);
            let grades = grades_of_the_same_tests(trial, first.as_deref());
            self.graded_again += usize::from(grades.iter().any(|scores| scores.len() > 1));
            let is_changed = |scores: &Vec<f64>| scores.iter().any(|score| *score != scores[0]);
            self.grade_changed += usize::from(grades.iter().any(is_changed));
        }
        let status = trial.report.status;
        if status.is_judged() {
            let (passed, judged) = self.variants.entry(variant(&trial.head)).or_default();
            *passed += usize::from(status == Status::Passed);
            *judged += 1;
        }
    }
}
