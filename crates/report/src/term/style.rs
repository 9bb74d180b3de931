//! Colour, and the decision to have none.
//!
//! Text carries a [`Role`], which says what it means; the [`Palette`] alone knows what that looks like. Colour only
//! ever underlines what a mark, a word or a number already says, so that nothing is lost without it.

use anstyle::{AnsiColor, Style};
use terca_core::run::outcome::Status;

/// The meaning of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// A full score.
    Good,
    /// A score between none and full, and warnings.
    Fair,
    /// No score at all.
    Bad,
    /// It could not be judged.
    Trouble,
    /// Less important than its neighbours.
    Dim,
    /// A heading.
    Bold,
}

impl Role {
    pub fn of_score(score: f64) -> Self {
        Role::of_status(Status::of_score(score))
    }

    pub fn of_status(status: Status) -> Self {
        match status {
            Status::Passed => Role::Good,
            Status::Partial => Role::Fair,
            Status::Failed => Role::Bad,
            Status::Error => Role::Trouble,
            Status::Unverified | Status::Interrupted | Status::Pending => Role::Dim,
        }
    }

    fn style(self) -> Style {
        match self {
            Role::Plain => Style::new(),
            Role::Good => AnsiColor::Green.on_default(),
            Role::Fair => AnsiColor::Yellow.on_default(),
            Role::Bad => AnsiColor::Red.on_default(),
            Role::Trouble => AnsiColor::Magenta.on_default(),
            Role::Dim => Style::new().dimmed(),
            Role::Bold => Style::new().bold(),
        }
    }
}

/// Colour, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    pub colour: bool,
}

impl Palette {
    pub fn new(colour: bool) -> Self {
        Palette { colour }
    }

    pub fn paint(self, role: Role, text: &str) -> String {
        if !self.colour || role == Role::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_there_is_only_the_text() {
        let palette = Palette::new(false);
        assert_eq!(
            palette.paint(Role::Bad, "0.00") + &palette.paint(Role::Dim, "x"),
            "0.00x"
        );
    }

    #[test]
    fn colour_ends_where_the_text_ends() {
        assert_eq!(
            Palette::new(true).paint(Role::Good, "1.00"),
            "\u{1b}[32m1.00\u{1b}[0m"
        );
        assert_eq!(Palette::new(true).paint(Role::Good, ""), "");
        assert_eq!(Palette::new(true).paint(Role::Plain, "x"), "x");
    }

    #[test]
    fn only_a_full_score_is_green() {
        for (score, role) in [
            (1.0, Role::Good),
            (0.999, Role::Fair),
            (0.001, Role::Fair),
            (0.0, Role::Bad),
        ] {
            assert_eq!(Role::of_score(score), role, "{score}");
        }
    }
}
