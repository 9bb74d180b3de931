//! The columns of the lines of trials: the same for all of them, and for the whole run at one width.
//!
//! Names may be long and screens are narrow, so something has to give. What an agent is doing, or why a trial failed,
//! is worth a part of a long name; the tokens of each trial are the first to go, since the last line has their sum.

use terca_core::run::event::TrialHead;

use crate::names::Names;
use crate::term::{UNLIMITED, clean, pad, shorten};

/// Below this there is no room for columns.
const NARROW: usize = 60;
/// `✓ 0.50 ` and `· agent`, with what sets it apart.
const LEAD: usize = 2 + WORD_COLUMNS + GAP.len();
/// `0.50` and `agent`.
pub(crate) const WORD_COLUMNS: usize = 5;
/// `1m 05s`.
pub(crate) const TIME_COLUMNS: usize = 6;
/// `999.9k`.
pub(crate) const NUMBER_COLUMNS: usize = 6;
pub(crate) const GAP: &str = "  ";
/// Columns wider than this are not aligned where there is no screen to fit: one long name would push all others apart.
const WIDEST_ALIGNED: usize = 32;
/// No name is cut to less than this for the sake of what follows it.
const SHORTEST_NAME: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    pub max_width: usize,
    pub eval: usize,
    pub variant: usize,
    /// Variants are named by what tells them apart alone.
    pub brief: bool,
    /// The unit of the tokens; without one there is no column for them.
    pub unit: Option<&'static str>,
}

impl Layout {
    /// `tokens`: whether any agent has reported them; else there is no column for them.
    pub fn new(names: &Names, tokens: bool, max_width: usize) -> Self {
        let (brief, [eval, variant], unit) = match max_width {
            UNLIMITED => {
                let widths = names.widths.map(|wanted| wanted.min(WIDEST_ALIGNED));
                (false, widths, Some("tokens"))
            }
            columns => fitting(names, columns),
        };
        Layout {
            max_width,
            eval,
            variant,
            brief,
            unit: unit.filter(|_| tokens),
        }
    }

    /// The name of a trial, with its parts aligned in columns.
    pub fn name(&self, names: &Names, head: &TrialHead) -> String {
        let eval = self.cell(&clean(&head.eval), self.eval);
        let variant = if self.brief {
            names.brief(&head.environment, &head.experiment)
        } else {
            names.variant(&head.environment, &head.experiment)
        };
        let variant = self.cell(&variant, self.variant);
        let number = pad(&names.repetition(head.repetition), names.number_width);
        match (variant.is_empty(), number.is_empty()) {
            (true, true) => eval,
            (true, false) => format!("{eval}  {number}"),
            (false, true) => format!("{eval}  {variant}"),
            (false, false) => format!("{eval}  {variant} {number}"),
        }
    }

    fn cell(&self, text: &str, columns: usize) -> String {
        match self.max_width {
            UNLIMITED => pad(text, columns),
            _ => pad(&shorten(text, columns), columns),
        }
    }

    pub fn is_narrow(&self) -> bool {
        self.max_width < NARROW
    }
}

/// Returns whether names are brief, the widths of evals and variants, and the unit of tokens. Does not depend on whether tokens
/// have been reported by now: the first report must not move the names.
fn fitting(names: &Names, columns: usize) -> (bool, [usize; 2], Option<&'static str>) {
    let beside = LEAD + names.beside() + GAP.len() + TIME_COLUMNS + GAP.len();
    let left = |unit: Option<&str>, detail: usize| {
        let tokens = unit.map_or(0, |unit| GAP.len() + NUMBER_COLUMNS + 1 + unit.len());
        columns.saturating_sub(beside + tokens + detail)
    };
    // How much of what an agent is doing is to be seen, and how short names may get for it.
    let forms = [(Some("tokens"), 32), (Some("tok"), 16), (None, 16)];
    let whole_names = [(false, names.widths), (true, names.brief_widths)];
    // A whole name is worth more than the tokens.
    for (unit, detail) in forms {
        let left = left(unit, detail);
        let fits = |(_, [eval, variant]): &(bool, [usize; 2])| eval + variant <= left;
        if let Some((brief, widths)) = whole_names.into_iter().find(fits) {
            return (brief, widths, unit);
        }
    }
    let brief = names.brief_widths.map(|wanted| wanted.min(columns / 4));
    for (unit, detail) in &forms[1..] {
        if let Some(widths) = share(brief, left(*unit, *detail), SHORTEST_NAME) {
            return (true, widths, *unit);
        }
    }
    (true, brief.map(|wanted| wanted.min(SHORTEST_NAME)), None)
}

/// Widths of two names that fit together: the wider one gives first, and none more than down to the shortest.
fn share([one, other]: [usize; 2], columns: usize, shortest: usize) -> Option<[usize; 2]> {
    let excess = (one + other).saturating_sub(columns);
    let of_wider = excess.min(one.abs_diff(other));
    let (of_each, odd) = ((excess - of_wider) / 2, (excess - of_wider) % 2);
    let (of_one, of_other) = if one > other {
        (of_wider, 0)
    } else {
        (0, of_wider)
    };
    let widths = [
        one - (of_one + of_each + odd).min(one),
        other - (of_other + of_each).min(other),
    ];
    let is_long_enough = |(width, wanted): (&usize, usize)| *width >= wanted.min(shortest);
    widths
        .iter()
        .zip([one, other])
        .all(is_long_enough)
        .then_some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, head};
    use crate::term::width;

    #[test]
    fn the_wider_name_gives_first() {
        for (wanted, columns, shared) in [
            ([10, 10], 20, Some([10, 10])),
            ([20, 15], 33, Some([18, 15])),
            ([15, 20], 27, Some([13, 14])),
            ([15, 20], 24, Some([12, 12])),
            ([15, 20], 23, None),
            ([4, 20], 16, Some([4, 12])),
            ([4, 20], 15, None),
            ([0, 0], 0, Some([0, 0])),
        ] {
            assert_eq!(
                share(wanted, columns, 12),
                shared,
                "{wanted:?} in {columns}"
            );
        }
        assert_eq!(share([15, 20], 34, usize::MAX), None, "nothing may be cut");
    }

    #[test]
    fn what_there_is_room_for() {
        let names = Names::of(&fixture::heads(4, 4, 2));
        let layout = |columns| {
            let Layout {
                eval,
                variant,
                unit,
                ..
            } = Layout::new(&names, true, columns);
            (eval, variant, unit)
        };
        // `fib-recursive` and `gemini.with-rules`, when they are whole.
        assert_eq!(layout(199), (13, 17, Some("tokens")));
        assert_eq!(layout(119), (13, 17, Some("tokens")));
        assert_eq!(layout(99), (13, 17, Some("tok")));
        assert_eq!(layout(79), (13, 17, None));
        assert_eq!(layout(69), (13, 15, None));
        assert_eq!(layout(60), (12, 12, None));
    }

    #[test]
    fn what_all_variants_have_in_common_goes_before_anything_is_cut() {
        let names = Names::of(&fixture::heads(4, 2, 1));
        let layout = |columns| {
            let Layout {
                eval,
                variant,
                brief,
                ..
            } = Layout::new(&names, true, columns);
            (eval, variant, brief)
        };
        // `gemini.with-rules` or `with-rules`.
        assert_eq!(layout(99), (13, 17, false));
        assert_eq!(layout(75), (13, 10, true));
    }

    #[test]
    fn names_stay_where_they_are_when_tokens_are_told_of() {
        let names = Names::of(&fixture::heads(4, 4, 2));
        for columns in 60..200 {
            let [one, other] = [false, true].map(|tokens| Layout::new(&names, tokens, columns));
            assert_eq!(
                (one.eval, one.variant),
                (other.eval, other.variant),
                "{columns}"
            );
        }
    }

    #[test]
    fn numbers_of_any_length_are_a_column() {
        let heads = [
            head(1, "fib", "default", "default", 7),
            head(2, "fib", "default", "default", 100),
        ];
        let names = Names::of(&heads);
        let layout = Layout {
            max_width: UNLIMITED,
            eval: 3,
            variant: 0,
            brief: false,
            unit: None,
        };
        assert_eq!(layout.name(&names, &heads[0]), "fib  #07 ");
        assert_eq!((names.beside(), names.longest()), (6, 8));
    }

    #[test]
    fn parts_are_aligned_and_cut_where_there_is_no_room() {
        let heads = [
            head(1, "fib", "gemini", "base", 1),
            head(2, "a-rather-long-eval", "gemini", "with-rules", 2),
        ];
        let names = Names::of(&heads);
        let unlimited = Layout {
            max_width: UNLIMITED,
            eval: 18,
            variant: 17,
            brief: false,
            unit: None,
        };
        assert_eq!(
            unlimited.name(&names, &heads[0]),
            "fib                 gemini.base       #01"
        );
        assert_eq!(
            unlimited.name(&names, &heads[1]),
            "a-rather-long-eval  gemini.with-rules #02"
        );
        let narrow = Layout {
            max_width: 40,
            eval: 9,
            variant: 9,
            brief: false,
            unit: None,
        };
        assert_eq!(narrow.name(&names, &heads[1]), "a-ra…eval  gemi…ules #02");
        assert_eq!((names.widths, names.beside()), ([18, 17], 6));
        assert_eq!(names.longest(), width("a-rather-long-eval with-rules #02"));
        assert_eq!(names.within(&heads[1], 14), "a-rat…ules #02");
    }
}
