//! Two arms side by side: for each eval, the cells of both in the places where both were judged.

use super::grid::{Cell, Grid};
use crate::run::outcome::TrialReport;
use crate::stats::sample::mean;

/// The places in which two arms are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'g, 'a> {
    pub(super) grid: &'g Grid<'a>,
    pub(super) places: &'g [&'a str],
}

/// One eval in both arms: the cell of the arm first, then the baseline's, for each place.
#[derive(Debug)]
pub(super) struct Pair<'g> {
    pub(super) eval: &'g str,
    pub(super) cells: Vec<(&'g Cell<'g>, &'g Cell<'g>)>,
}

impl<'g> Scope<'g, 'g> {
    /// Returns all trials of one arm.
    pub(super) fn trials(&self, arm: &str) -> Vec<&'g TrialReport> {
        let cells = self.grid.evals.iter().flat_map(|eval| {
            self.places
                .iter()
                .filter_map(|place| self.grid.cell(eval, place, arm))
        });
        cells.flat_map(Cell::reports).collect()
    }

    /// Returns the evals that were judged in both arms, and the names of those that were planned in both and not
    /// judged.
    pub(super) fn pairs(&self, arm: &str, baseline: &str) -> (Vec<Pair<'g>>, Vec<String>) {
        let mut pairs = Vec::new();
        let mut left_out = Vec::new();
        for &eval in &self.grid.evals {
            let both = |place: &&str| {
                let of = |name| self.grid.cell(eval, place, name);
                Some((of(arm)?, of(baseline)?))
            };
            let cells: Vec<_> = self.places.iter().filter_map(both).collect();
            let planned = !cells.is_empty();
            let cells: Vec<_> = cells
                .into_iter()
                .filter(|(one, other)| is_judged(one) && is_judged(other))
                .collect();
            if !cells.is_empty() {
                pairs.push(Pair { eval, cells });
            } else if planned {
                left_out.push(eval.to_owned());
            }
        }
        (pairs, left_out)
    }
}

fn is_judged(cell: &Cell<'_>) -> bool {
    cell.judged().next().is_some()
}

impl Pair<'_> {
    /// Returns the mean over the places, in each arm.
    fn means(&self, read: impl Fn(&Cell<'_>) -> Option<f64>) -> Option<(f64, f64)> {
        let known = self
            .cells
            .iter()
            .filter_map(|(one, other)| read(one).zip(read(other)));
        let (first, second): (Vec<f64>, Vec<f64>) = known.unzip();
        mean(&first).zip(mean(&second))
    }

    pub(super) fn rates(&self) -> (f64, f64) {
        let rate = |cell: &Cell<'_>| {
            let (passed, judged) = cell.tally();
            (judged > 0).then(|| passed as f64 / judged as f64)
        };
        self.means(rate).unwrap_or_default()
    }

    pub(super) fn scores(&self) -> Option<(f64, f64)> {
        self.means(|cell| {
            mean(
                &cell
                    .judged()
                    .filter_map(|trial| trial.score)
                    .collect::<Vec<f64>>(),
            )
        })
    }

    /// Returns the difference in pass rate, as the mean over the places.
    pub(super) fn difference(&self) -> f64 {
        let (rate, baseline) = self.rates();
        rate - baseline
    }

    /// Returns all trials of both arms that were judged.
    pub(super) fn judged(&self) -> impl Iterator<Item = &TrialReport> {
        let cells = self
            .cells
            .iter()
            .flat_map(|(arm, baseline)| [*arm, *baseline]);
        cells.flat_map(Cell::judged)
    }
}
