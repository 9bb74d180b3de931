//! Questions to the user at the terminal, with line editing and arrow keys.

mod keys;
mod line;
mod list;

use std::io::{self, IsTerminal, stderr, stdin};

use console::style;
use terca_report::shown;

use self::keys::Keys;
use self::line::Line;
use self::list::List;
use crate::screen;

/// Questions to somebody at a terminal. One that was interrupted by Ctrl+C or Ctrl+D is an error of that kind; after any other
/// error the terminal is gone.
pub struct Asker {
    keys: Keys,
}

/// Tells whether there is anybody to ask.
pub fn is_possible() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

impl Asker {
    /// Makes questions in colour, or without.
    pub fn new(colour: bool) -> Self {
        console::set_colors_enabled_stderr(colour);
        Asker { keys: Keys::open() }
    }

    /// Asks until the answer makes sense; an empty one is the default.
    pub fn value<T>(
        &self,
        question: &str,
        usual: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> io::Result<T> {
        let prompt = title(question, &format!("[{usual}]")) + ": ";
        loop {
            let typed = self.answered(Line::default().ask(&prompt, usual, &self.keys))?;
            match read(&typed) {
                Ok(value) => return Ok(value),
                Err(reason) => screen::err(&format!("  {reason}")),
            }
        }
    }

    /// Asks for one of some items, and returns its position.
    pub fn choice(&self, question: &str, items: &[String]) -> io::Result<usize> {
        let list = List::new(items, false);
        let title = title(question, "(arrow keys, Enter)");
        let chosen = self.answered(list.ask(&title, &self.keys))?;
        Ok(chosen.first().copied().unwrap_or(0))
    }

    /// Asks for at least one of some items, and returns their positions. The first is chosen before.
    pub fn choices(&self, question: &str, items: &[String]) -> io::Result<Vec<usize>> {
        let title = title(question, "(arrow keys, Space to choose, Enter)");
        loop {
            let list = List::new(items, true);
            let chosen = self.answered(list.ask(&title, &self.keys))?;
            if !chosen.is_empty() {
                return Ok(chosen.into_iter().collect());
            }
            screen::err("  choose at least one");
        }
    }

    fn answered<T>(&self, answer: io::Result<T>) -> io::Result<T> {
        // A list hides the cursor while it is open.
        let _ = self.keys.terminal.show_cursor();
        if answer.is_err() {
            screen::err("");
        }
        answer
    }
}

fn title(question: &str, hint: &str) -> String {
    let question = style(shown(question)).for_stderr().bold();
    let hint = style(shown(hint)).for_stderr().dim();
    format!("{question} {hint}")
}
