//! The figures of comparisons, a row each, with their intervals on one scale.
//!
//! ```text
//! against control  pass rate  points   interval  −50        0        +50  tokens   cost  time
//! with-rules       60 → 83 %     +23  +8 … +39             ├──●──┤        1.31×  1.14×  (1.08×)  BETTER
//! ```

use terca_core::analysis::metrics::{COMPARISON_METRICS, ComparisonMetric};
use terca_core::analysis::summary::wording::signed;
use terca_core::analysis::summary::{Comparison, Effect, Verdict};
use terca_core::stats::Interval;

use crate::metrics::known;
use crate::term::grid::{Grid, Side};
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;
use crate::term::width::shorten;

/// The name of the column with the intervals.
const PLOT: &str = "plot";
/// The column that the plot follows.
const BEFORE_PLOT: &str = "p";

/// Columns to leave out on a narrow screen; when even the last choice is too wide, the sentences say it all.
pub(crate) const LEFT_OUT: [&[&str]; 7] = [
    &[],
    &["tokens"],
    &["tokens", "time"],
    &["tokens", "time", "p"],
    &["tokens", "time", "p", "cost"],
    &["tokens", "time", PLOT],
    &["tokens", "time", "cost", PLOT],
];

/// The rows of a table.
#[derive(Debug)]
pub(crate) struct ComparisonTable<'a> {
    /// The title over the names.
    pub(crate) title: String,
    /// Arm and place of each comparison.
    pub(crate) names: Vec<[String; 2]>,
    pub(crate) comparisons: &'a [Comparison],
}

impl ComparisonTable<'_> {
    /// Returns the table without these columns, and with names of at most this width.
    pub(crate) fn grid(&self, widest_name: usize, left_out: &[&str]) -> Grid {
        let forest = Forest::of(self.comparisons);
        let is_shown = |metric: &&ComparisonMetric| {
            let text = metric.text;
            !left_out.contains(&metric.title)
                && self.comparisons.iter().any(|one| text(one).is_some())
        };
        let metrics: Vec<&ComparisonMetric> = COMPARISON_METRICS.iter().filter(is_shown).collect();
        let has_plot = !left_out.contains(&PLOT);
        // Where p is left out, the plot is after the interval.
        let plot_at = COMPARISON_METRICS
            .iter()
            .take_while(|metric| metric.title != BEFORE_PLOT)
            .filter(is_shown)
            .count()
            + usize::from(metrics.iter().any(|metric| metric.title == BEFORE_PLOT));
        let with_plot = |mut cells: Vec<StyledLine>, plot: StyledLine| {
            if has_plot {
                cells.insert(plot_at, plot);
            }
            cells
        };
        let number = metrics.len() + usize::from(has_plot);
        let sides: Vec<Side> = [Side::Left; 2]
            .into_iter()
            .chain((0..number).map(|_| Side::Right))
            .collect();
        let mut grid = Grid::new(&sides);
        let titles = metrics
            .iter()
            .map(|metric| StyledLine::of(Role::Bold, metric.title))
            .collect();
        let titles = with_plot(titles, StyledLine::of(Role::Dim, &forest.title()));
        let names = [self.title.as_str(), ""].map(|title| StyledLine::of(Role::Bold, title));
        grid.row(names.into_iter().chain(titles));
        for (comparison, names) in self.comparisons.iter().zip(&self.names) {
            let [arm, place] = names.each_ref().map(|name| shorten(name, widest_name));
            let names = [StyledLine::plain(&arm), StyledLine::of(Role::Dim, &place)];
            let figures = metrics
                .iter()
                .map(|metric| known((metric.text)(comparison)))
                .collect();
            let figures = with_plot(figures, forest.bar(comparison));
            let verdict = StyledLine::of(role(comparison.verdict), comparison.verdict.as_str());
            grid.row(names.into_iter().chain(figures).chain([verdict]));
        }
        let is_open = |metric: &&ComparisonMetric| {
            let text = metric.text;
            let mut texts = self.comparisons.iter().filter_map(text);
            texts.any(|text| text.starts_with('('))
        };
        if metrics.iter().any(is_open) {
            grid.line(StyledLine::of(Role::Dim, "(…×): no difference was shown"));
        }
        grid
    }
}

/// An odd number has a middle.
const WIDTH: usize = 25;
const MIDDLE: usize = WIDTH / 2;

/// The scale that all lines share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forest {
    /// The distance from 0 to both ends.
    end: f64,
}

impl Forest {
    pub(crate) fn of(comparisons: &[Comparison]) -> Self {
        let far = |effect: &Effect| {
            let ends = effect
                .interval
                .map_or(0.0, |interval| interval.low.abs().max(interval.high.abs()));
            ends.max(effect.value.unwrap_or(0.0).abs())
        };
        let widest = comparisons
            .iter()
            .map(|comparison| far(comparison.decisive()))
            .fold(0.0, f64::max);
        Forest {
            end: ((widest * 10.0).ceil() / 10.0).clamp(0.1, 1.0),
        }
    }

    /// Returns the labels of both ends and of the middle.
    pub(crate) fn title(&self) -> String {
        let (low, high) = (signed(-self.end), signed(self.end));
        let half = MIDDLE;
        let left = half - low.chars().count();
        let right = half - high.chars().count();
        format!("{low}{}0{}{high}", " ".repeat(left), " ".repeat(right))
    }

    /// Returns the interval as a line, and the difference as a mark on it.
    pub(crate) fn bar(&self, comparison: &Comparison) -> StyledLine {
        let mut cells = [' '; WIDTH];
        cells[MIDDLE] = '│';
        let effect = comparison.decisive();
        let (mut first, mut last) = (0, WIDTH - 1);
        if let Some(Interval { low, high }) = effect.interval {
            // An interval that leaves out 0 is not drawn on it.
            let least = if low > 0.0 { MIDDLE + 1 } else { 0 };
            let most = if high < 0.0 { MIDDLE - 1 } else { WIDTH - 1 };
            first = self.place(low).clamp(least, most);
            last = self.place(high).clamp(first, most.max(first));
            cells[first..=last].fill('─');
            cells[first] = '├';
            cells[last] = '┤';
        }
        if let Some(value) = effect.value {
            cells[self.place(value).clamp(first, last)] = '●';
        }
        let text: String = cells.iter().collect();
        let role = if effect.value.is_some() {
            role(comparison.verdict)
        } else {
            Role::Dim
        };
        StyledLine::of(role, &text)
    }

    fn place(&self, value: f64) -> usize {
        let half = MIDDLE as f64;
        let along = (value / self.end).clamp(-1.0, 1.0);
        (half + (along * half).round()) as usize
    }
}

/// The colour of a verdict.
pub(crate) fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Better => Role::Good,
        Verdict::Worse => Role::Bad,
        Verdict::Equivalent => Role::Bold,
        Verdict::Inconclusive => Role::Fair,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_nought() {
        for end in [0.1, 0.5, 1.0] {
            let forest = Forest { end };
            let title: Vec<char> = forest.title().chars().collect();
            assert_eq!((title.len(), title[MIDDLE]), (WIDTH, '0'), "{end}");
            assert_eq!(forest.place(0.0), MIDDLE);
            assert_eq!((forest.place(-end), forest.place(2.0)), (0, WIDTH - 1));
        }
    }
}
