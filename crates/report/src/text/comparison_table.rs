//! The figures of comparisons, a row each, with their intervals on one scale.
//!
//! ```text
//! against control  pass rate  points   interval  −50        0        +50  tokens   cost  time
//! with-rules       60 → 83 %     +23  +8 … +39             ├──●──┤        1.31×  1.14×  (1.08×)  BETTER
//! ```

use terca_core::analysis::metrics::{COMPARISON_METRICS, ComparisonMetric};
use terca_core::analysis::summary::Comparison;

use super::forest::{Forest, role};
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
