//! The figures of a group of trials as text. What nobody reported is `–`, never 0.

use terca_core::analysis::summary::Figures;
use terca_core::text::prose;

use crate::line::score_text;
use crate::spans::Spans;
use crate::style::Tone;

pub const UNKNOWN: &str = "–";

/// `3/4`: of those judged.
pub fn passed(figures: &Figures) -> Spans {
    match figures.judged {
        0 => unknown(),
        judged => Spans::of(tone(figures), &format!("{}/{judged}", figures.passed)),
    }
}

/// `54%`; the ends of the scale are kept for what is exactly there.
pub fn pass_rate(figures: &Figures) -> Spans {
    let Some(rate) = figures.pass_rate else {
        return unknown();
    };
    let percentage = (rate * 100.0).round();
    let shown = if rate > 0.0 && rate < 1.0 {
        percentage.clamp(1.0, 99.0)
    } else {
        percentage
    };
    Spans::of(Tone::of_score(rate), &format!("{shown:.0}%"))
}

pub fn score(figures: &Figures) -> Spans {
    let Some(score) = figures.mean_score else {
        return unknown();
    };
    Spans::of(Tone::of_score(score), &score_text(score))
}

pub fn time(figures: &Figures) -> Spans {
    known(figures.mean_seconds.map(prose::duration))
}

pub fn tokens(figures: &Figures) -> Spans {
    known(
        figures
            .mean_tokens
            .map(|tokens| prose::compact(tokens.round() as u64)),
    )
}

pub fn cost(figures: &Figures) -> Spans {
    known(figures.mean_cost_usd.map(prose::dollars))
}

/// `+1 error`: beside the figures, because it is in none of them.
pub fn errors(figures: &Figures) -> Spans {
    match figures.errors {
        0 => Spans::new(),
        number => Spans::of(
            Tone::Trouble,
            &format!("+{}", prose::count(number, "error")),
        ),
    }
}

/// By the score where there is one: half of the tests passed is not nothing.
fn tone(figures: &Figures) -> Tone {
    figures
        .mean_score
        .or(figures.pass_rate)
        .map_or(Tone::Dim, Tone::of_score)
}

fn known(text: Option<String>) -> Spans {
    text.map_or_else(unknown, |text| Spans::plain(&text))
}

fn unknown() -> Spans {
    Spans::of(Tone::Dim, UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Palette;

    #[test]
    fn what_is_not_known_is_not_nought() {
        let nothing = Figures::default();
        for figure in [passed, pass_rate, score, time, tokens, cost] {
            assert_eq!(figure(&nothing).render(Palette::new(false)), "–");
        }
        assert!(errors(&nothing).is_empty());
    }

    #[test]
    fn a_rate_is_never_rounded_to_all_or_nothing() {
        for (rate, text) in [
            (1.0, "100%"),
            (0.999, "99%"),
            (0.54, "54%"),
            (0.001, "1%"),
            (0.0, "0%"),
        ] {
            let figures = Figures {
                pass_rate: Some(rate),
                ..Figures::default()
            };
            assert_eq!(pass_rate(&figures).render(Palette::new(false)), text);
        }
    }
}
