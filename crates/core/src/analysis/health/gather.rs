//! The trials of several runs by eval, and by sitting: one repetition of the whole suite in one variant.

use std::collections::BTreeMap;

use crate::analysis::history::Record;
use crate::plan::fingerprint::CaseFingerprint;
use crate::run::event::TrialHead;
use crate::run::outcome::Status;
use crate::run::state::Trial;

/// These prove evals; they do not work on them.
const PROVERS: [&str; 3] = ["oracle", "nop", "cheat"];

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
        let trials = trials.filter(|trial| !PROVERS.contains(&trial.head.agent.as_str()));
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
            gathered.evals[position].add(trial);
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
            changed_runs: 0,
        }
    }

    fn add(&mut self, trial: &'a Trial) {
        self.trials.push(trial);
        let status = trial.report.status;
        if status.is_judged() {
            let (passed, judged) = self.variants.entry(variant(&trial.head)).or_default();
            *passed += usize::from(status == Status::Passed);
            *judged += 1;
        }
    }
}
