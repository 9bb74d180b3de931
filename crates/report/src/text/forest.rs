//! A forest plot in text: the effects of all comparisons on one line each, with a shared scale and 0 in the middle.
//!
//! ```text
//! −50       0       +50
//!           ├──●──┤
//!      ├────●────┤
//! ```

use terca_core::analysis::summary::wording::signed;
use terca_core::analysis::summary::{Comparison, Effect, Verdict};
use terca_core::stats::Interval;

use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

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
