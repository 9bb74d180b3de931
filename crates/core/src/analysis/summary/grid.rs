//! The trials of a comparison by eval, place and arm, each in the order in which it first appears.

use std::collections::HashMap;

use super::arms::ArmTrial;
use crate::analysis::distinct::distinct;
use crate::run::outcome::{Status, TrialReport};
use crate::run::state::Trial;

#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub(super) evals: Vec<&'a str>,
    pub(super) places: Vec<&'a str>,
    pub(super) arms: Vec<&'a str>,
    pub(super) cells: Vec<Cell<'a>>,
    positions: HashMap<(&'a str, &'a str, &'a str), usize>,
}

/// An eval of an arm in a place.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    pub(super) eval: &'a str,
    pub(super) place: &'a str,
    pub(super) arm: &'a str,
    pub(super) trials: Vec<&'a Trial>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(trials: &'a [ArmTrial<'a>]) -> Self {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        let mut positions = HashMap::new();
        for trial in trials {
            let key = (&*trial.trial.head.eval, &*trial.place, trial.arm);
            let position = *positions.entry(key).or_insert_with(|| {
                let (eval, place, arm) = key;
                cells.push(Cell {
                    eval,
                    place,
                    arm,
                    trials: Vec::new(),
                });
                cells.len() - 1
            });
            cells[position].trials.push(trial.trial);
        }
        Grid {
            evals: distinct(cells.iter().map(|cell| cell.eval)),
            places: distinct(cells.iter().map(|cell| cell.place)),
            arms: distinct(cells.iter().map(|cell| cell.arm)),
            cells,
            positions,
        }
    }

    pub(super) fn cell(&self, eval: &str, place: &str, arm: &str) -> Option<&Cell<'a>> {
        self.positions
            .get(&(eval, place, arm))
            .map(|position| &self.cells[*position])
    }
}

impl<'a> Cell<'a> {
    pub(super) fn reports(&self) -> impl Iterator<Item = &'a TrialReport> {
        self.trials.iter().map(|trial| &*trial.report)
    }

    pub(super) fn judged(&self) -> impl Iterator<Item = &'a TrialReport> {
        self.reports().filter(|trial| trial.status.is_judged())
    }

    /// Returns how many passed, and how many were judged.
    pub(super) fn tally(&self) -> (usize, usize) {
        let passed = self.judged().filter(|trial| trial.status == Status::Passed);
        (passed.count(), self.judged().count())
    }
}
