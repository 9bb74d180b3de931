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
use crate::term::{Grid, Role, Side, StyledLine, bold, dim, plain, shorten, styled};

/// The name of the column with the intervals.
const PLOT: &str = "plot";
/// The figures behind the intervals.
const AFTER_PLOT: [&str; 3] = ["tokens", "cost", "time"];

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

/// Returns the figures that a comparison has, without these.
pub(crate) fn shown_metrics<'a>(
    comparisons: &(impl Iterator<Item = &'a Comparison> + Clone),
    left_out: &[&str],
) -> Vec<&'static ComparisonMetric> {
    let is_shown = |metric: &&ComparisonMetric| {
        !left_out.contains(&metric.title)
            && comparisons.clone().any(|one| (metric.text)(one).is_some())
    };
    COMPARISON_METRICS.iter().filter(is_shown).collect()
}

/// Returns the number of figures before the plot.
pub(crate) fn plot_at(metrics: &[&ComparisonMetric]) -> usize {
    let is_before = |metric: &&&ComparisonMetric| !AFTER_PLOT.contains(&metric.title);
    metrics.iter().filter(is_before).count()
}

/// Returns whether a figure is in brackets, because no difference was shown.
pub(crate) fn has_brackets(comparisons: &[Comparison], metrics: &[&ComparisonMetric]) -> bool {
    metrics.iter().any(|metric| {
        let mut texts = comparisons.iter().filter_map(metric.text);
        texts.any(|text| text.starts_with('('))
    })
}

/// The rows of a table.
pub(crate) struct ComparisonTable<'a> {
    /// The title over the names.
    pub title: String,
    /// Arm and place of each comparison.
    pub names: Vec<[String; 2]>,
    pub comparisons: &'a [Comparison],
}

impl ComparisonTable<'_> {
    /// Returns the table without these columns, and with names of at most this width.
    pub(crate) fn grid(&self, widest_name: usize, left_out: &[&str]) -> Grid {
        let forest = Forest::of(self.comparisons);
        let metrics = shown_metrics(&self.comparisons.iter(), left_out);
        let with_plot = |mut cells: Vec<StyledLine>, plot: StyledLine| {
            if !left_out.contains(&PLOT) {
                cells.insert(plot_at(&metrics), plot);
            }
            cells
        };
        let titles = metrics.iter().map(|metric| bold(metric.title)).collect();
        let titles = with_plot(titles, dim(&forest.title()));
        let names = [self.title.as_str(), ""].map(|name| (bold(name), Side::Left));
        let figures = titles.into_iter().map(|title| (title, Side::Right));
        let mut grid = Grid::headed(names.into_iter().chain(figures));
        for (comparison, names) in self.comparisons.iter().zip(&self.names) {
            let [arm, place] = names.each_ref().map(|name| shorten(name, widest_name));
            let figures = metrics.iter();
            let figures = figures.map(|metric| known((metric.text)(comparison)));
            let figures = with_plot(figures.collect(), forest.bar(comparison));
            let verdict = styled(role(comparison.verdict), comparison.verdict.as_str());
            let names = [plain(&arm), dim(&place)].into_iter();
            grid.row(names.chain(figures).chain([verdict]));
        }
        if has_brackets(self.comparisons, &metrics) {
            grid.line(dim("(…×): no difference was shown"));
        }
        grid
    }
}

/// An odd number has a middle.
const WIDTH: usize = 25;
const MIDDLE: usize = WIDTH / 2;

/// The scale that all lines share.
struct Forest {
    /// The distance from 0 to both ends.
    end: f64,
}

/// Returns the distances from 0 of a value and of the ends of its interval.
pub(crate) fn distances(effect: &Effect) -> impl Iterator<Item = f64> {
    let interval = effect.interval;
    let ends = interval.map_or([None; 2], |one| [Some(one.low), Some(one.high)]);
    let all = ends.into_iter().chain([effect.value]).flatten();
    all.map(f64::abs).filter(|end| end.is_finite())
}

impl Forest {
    fn of(comparisons: &[Comparison]) -> Self {
        let ends = comparisons.iter().flat_map(|one| distances(one.decisive()));
        let widest = ends.fold(0.0, f64::max);
        Forest {
            end: ((widest * 10.0).ceil() / 10.0).clamp(0.1, 1.0),
        }
    }

    /// Returns the labels of both ends and of the middle.
    fn title(&self) -> String {
        let (low, high) = (signed(-self.end), signed(self.end));
        format!("{low:<MIDDLE$}0{high:>MIDDLE$}")
    }

    /// Returns the interval as a line, and the difference as a mark on it.
    fn bar(&self, comparison: &Comparison) -> StyledLine {
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
        let mut line_role = Role::Dim;
        if let Some(value) = effect.value {
            cells[self.place(value).clamp(first, last)] = '●';
            line_role = role(comparison.verdict);
        }
        styled(line_role, &cells.iter().collect::<String>())
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
