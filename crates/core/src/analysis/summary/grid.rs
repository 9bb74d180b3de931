//! The trials of a comparison by eval, place and arm, each in the order in which it first appears.

use std::collections::HashMap;

use super::arms::ArmTrial;
use crate::analysis::distinct::distinct;
use crate::run::outcome::{Status, TrialReport};

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
    pub(super) trials: Vec<&'a TrialReport>,
    /// The number of each of them.
    repetitions: Vec<u32>,
}

/// An arm in a place, and the positions of its cells in the grid.
#[derive(Debug)]
pub(super) struct Variant<'a, 'g> {
    pub(super) place: &'a str,
    pub(super) arm: &'a str,
    pub(super) positions: Vec<usize>,
    grid: &'g Grid<'a>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(trials: &'a [ArmTrial<'a>]) -> Self {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        let mut positions = HashMap::new();
        for trial in trials {
            let key = (trial.eval, &*trial.place, trial.arm);
            let position = *positions.entry(key).or_insert_with(|| {
                let (eval, place, arm) = key;
                cells.push(Cell {
                    eval,
                    place,
                    arm,
                    trials: Vec::new(),
                    repetitions: Vec::new(),
                });
                cells.len() - 1
            });
            cells[position].trials.push(trial.report);
            cells[position].repetitions.push(trial.repetition);
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

    pub(super) fn variants(&self) -> impl Iterator<Item = Variant<'a, '_>> {
        let mut order: Vec<(&'a str, &'a str)> = Vec::new();
        let mut of: HashMap<(&'a str, &'a str), Vec<usize>> = HashMap::new();
        for (position, cell) in self.cells.iter().enumerate() {
            let key = (cell.place, cell.arm);
            let positions = of.entry(key).or_default();
            if positions.is_empty() {
                order.push(key);
            }
            positions.push(position);
        }
        order.into_iter().map(move |key| {
            let (place, arm) = key;
            Variant {
                place,
                arm,
                positions: of.remove(&key).unwrap_or_default(),
                grid: self,
            }
        })
    }
}

impl<'a> Variant<'a, '_> {
    pub(super) fn trials(&self) -> Vec<&'a TrialReport> {
        self.positions
            .iter()
            .flat_map(|position| self.grid.cells[*position].trials.iter().copied())
            .collect()
    }
}

impl Cell<'_> {
    pub(super) fn judged(&self) -> impl Iterator<Item = &TrialReport> {
        self.trials
            .iter()
            .copied()
            .filter(|trial| trial.status.is_judged())
    }

    /// Returns each trial that was judged, with its repetition.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (u32, &TrialReport)> {
        let all = self
            .repetitions
            .iter()
            .copied()
            .zip(self.trials.iter().copied());
        all.filter(|(_, trial)| trial.status.is_judged())
    }

    /// Passed, and judged.
    pub(super) fn tally(&self) -> (usize, usize) {
        (
            self.judged()
                .filter(|trial| trial.status == Status::Passed)
                .count(),
            self.judged().count(),
        )
    }
}
