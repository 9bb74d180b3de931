//! Colour, and the decision to have none.
//!
//! Text carries a [`Tone`], which says what it means; the [`Palette`] alone knows what that looks like. Colour only
//! ever underlines what a mark, a word or a number already says, so that nothing is lost without it.

use anstyle::{AnsiColor, Style};
use terca_core::run::outcome::Status;

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    /// A full score.
    Good,
    /// A score between none and full, and warnings.
    Fair,
    /// No score at all.
    Bad,
    /// It could not be judged.
    Trouble,
    /// Of less importance than what stands around it.
    Dim,
    /// A heading.
    Bold,
}

impl Tone {
    pub fn of_score(score: f64) -> Self {
        Tone::of_status(Status::of_score(score))
    }

    pub fn of_status(status: Status) -> Self {
        match status {
            Status::Passed => Tone::Good,
            Status::Partial => Tone::Fair,
            Status::Failed => Tone::Bad,
            Status::Error => Tone::Trouble,
            Status::Interrupted | Status::Pending => Tone::Dim,
        }
    }

    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Fair => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Trouble => AnsiColor::Magenta.on_default(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Bold => Style::new().bold(),
        }
    }
}

/// Whether there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    pub colour: bool,
}

impl Palette {
    pub fn new(colour: bool) -> Self {
        Palette { colour }
    }

    pub fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }

    pub fn good(self, text: &str) -> String {
        self.paint(Tone::Good, text)
    }

    pub fn fair(self, text: &str) -> String {
        self.paint(Tone::Fair, text)
    }

    pub fn bad(self, text: &str) -> String {
        self.paint(Tone::Bad, text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint(Tone::Dim, text)
    }

    pub fn bold(self, text: &str) -> String {
        self.paint(Tone::Bold, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_there_is_only_the_text() {
        let palette = Palette::new(false);
        assert_eq!(
            palette.bad("0.00") + &palette.dim("x") + &palette.bold("y"),
            "0.00xy"
        );
    }

    #[test]
    fn colour_ends_where_the_text_ends() {
        assert_eq!(Palette::new(true).good("1.00"), "\u{1b}[32m1.00\u{1b}[0m");
        assert_eq!(Palette::new(true).good(""), "");
        assert_eq!(Palette::new(true).paint(Tone::Plain, "x"), "x");
    }

    #[test]
    fn only_a_full_score_is_green() {
        for (score, tone) in [
            (1.0, Tone::Good),
            (0.999, Tone::Fair),
            (0.001, Tone::Fair),
            (0.0, Tone::Bad),
        ] {
            assert_eq!(Tone::of_score(score), tone, "{score}");
        }
    }
}
