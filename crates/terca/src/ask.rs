//! Questions to the user at the terminal, with line editing and arrow keys.

use std::io::{self, IsTerminal, stderr, stdin};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dialoguer::console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Error, Input, MultiSelect, Select};
use signal_hook::consts::SIGINT;
use terca_report::shown;

use crate::screen;

/// Questions to somebody at a terminal.
pub struct Asker {
    theme: Box<dyn Theme>,
    terminal: Term,
}

/// A question that stays without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// Ctrl+C.
    Interrupted,
    /// The terminal is gone.
    Closed,
}

/// Tells whether there is anybody to ask.
pub fn is_possible() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

impl Asker {
    /// Makes questions in colour, or without.
    pub fn new(colour: bool) -> Self {
        // The library raises the signal after Ctrl+C, and returns an error too. That one ends the program, with the cursor
        // shown again.
        let _ = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
        let theme: Box<dyn Theme> = if colour {
            Box::new(ColorfulTheme::default())
        } else {
            Box::new(SimpleTheme)
        };
        Asker {
            theme,
            terminal: Term::stderr(),
        }
    }

    /// Asks until the answer makes sense; an empty one is the default.
    pub fn value<T>(
        &self,
        question: &str,
        usual: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, NoAnswer> {
        loop {
            let input = Input::<String>::with_theme(&*self.theme)
                .with_prompt(shown(question))
                .default(shown(usual).into_owned());
            let answer = self.answered(input.interact_text_on(&self.terminal))?;
            match read(answer.trim()) {
                Ok(value) => return Ok(value),
                Err(reason) => screen::err(&format!("  {reason}")),
            }
        }
    }

    /// Asks for one of some items, and returns its position.
    pub fn choice(&self, question: &str, items: &[String]) -> Result<usize, NoAnswer> {
        let select = Select::with_theme(&*self.theme)
            .with_prompt(format!("{} (arrow keys, Enter)", shown(question)))
            .items(items.iter().map(|item| shown(item)))
            .default(0);
        self.answered(select.interact_on(&self.terminal))
    }

    /// Asks for at least one of some items, and returns their positions. The first is chosen before.
    pub fn choices(&self, question: &str, items: &[String]) -> Result<Vec<usize>, NoAnswer> {
        loop {
            let select = MultiSelect::with_theme(&*self.theme)
                .with_prompt(format!(
                    "{} (arrow keys, Space to choose, Enter)",
                    shown(question)
                ))
                .items_checked(
                    items
                        .iter()
                        .enumerate()
                        .map(|(at, item)| (shown(item), at == 0)),
                );
            let chosen = self.answered(select.interact_on(&self.terminal))?;
            if !chosen.is_empty() {
                return Ok(chosen);
            }
            screen::err("  choose at least one");
        }
    }

    fn answered<T>(&self, answer: Result<T, Error>) -> Result<T, NoAnswer> {
        let Error::IO(error) = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        // A list hides the cursor while it is open.
        let _ = self.terminal.show_cursor();
        screen::err("");
        Err(match error.kind() {
            io::ErrorKind::Interrupted => NoAnswer::Interrupted,
            _ => NoAnswer::Closed,
        })
    }
}
