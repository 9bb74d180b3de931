//! Questions to the user at the terminal, with line editing and arrow keys.

mod keys;
mod line;
mod list;

use std::io::{IsTerminal, stderr, stdin};

use console::Style;
use terca_report::shown;

use self::keys::Keys;
use self::line::Line;
use self::list::List;
use crate::screen;

/// Questions to somebody at a terminal.
pub struct Asker {
    keys: Keys,
    style: Look,
}

/// A question that stays without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// Ctrl+C or Ctrl+D.
    Interrupted,
    /// The terminal is gone.
    Closed,
}

/// The look of questions.
struct Look {
    question: Style,
    hint: Style,
    /// The item that Enter chooses.
    current: Style,
}

/// Tells whether there is anybody to ask.
pub fn is_possible() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

impl Asker {
    /// Makes questions in colour, or without.
    pub fn new(colour: bool) -> Self {
        let style = || Style::new().force_styling(colour);
        Asker {
            keys: Keys::open(),
            style: Look {
                question: style().bold(),
                hint: style().dim(),
                current: style().cyan(),
            },
        }
    }

    /// Asks until the answer makes sense; an empty one is the default.
    pub fn value<T>(
        &self,
        question: &str,
        usual: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, NoAnswer> {
        let prompt = format!(
            "{} {}: ",
            self.style.question.apply_to(shown(question)),
            self.style
                .hint
                .apply_to(format!("[{}]", shown(usual).into_owned()))
        );
        loop {
            let typed = self.answered(Line::default().ask(&prompt, usual, &self.keys))?;
            match read(&typed) {
                Ok(value) => return Ok(value),
                Err(reason) => screen::err(&format!("  {reason}")),
            }
        }
    }

    /// Asks for one of some items, and returns its position.
    pub fn choice(&self, question: &str, items: &[String]) -> Result<usize, NoAnswer> {
        let list = List::of_one(items);
        let chosen = self.chosen(question, "(arrow keys, Enter)", list)?;
        Ok(chosen.first().copied().unwrap_or(0))
    }

    /// Asks for at least one of some items, and returns their positions. The first is chosen before.
    pub fn choices(&self, question: &str, items: &[String]) -> Result<Vec<usize>, NoAnswer> {
        loop {
            let list = List::of_several(items);
            let chosen = self.chosen(question, "(arrow keys, Space to choose, Enter)", list)?;
            if !chosen.is_empty() {
                return Ok(chosen);
            }
            screen::err("  choose at least one");
        }
    }

    fn chosen(&self, question: &str, hint: &str, list: List<'_>) -> Result<Vec<usize>, NoAnswer> {
        let title = format!(
            "{} {}",
            self.style.question.apply_to(shown(question)),
            self.style.hint.apply_to(hint)
        );
        self.answered(list.ask(&title, &self.style.current, &self.keys))
    }

    fn answered<T>(&self, answer: Result<T, NoAnswer>) -> Result<T, NoAnswer> {
        // A list hides the cursor while it is open.
        self.keys.show_cursor();
        if answer.is_err() {
            screen::err("");
        }
        answer
    }
}
