//! Questions to the user at the terminal.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use crate::screen;

/// Tells whether there is anybody to ask.
pub fn is_possible() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Asks until the answer makes sense; an empty one is the default. `None`: there will be no answer.
pub fn for_value<T>(
    question: &str,
    usual: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    loop {
        screen::ask(&format!("{question} [{usual}]: "));
        let mut line = String::new();
        if stdin().lock().read_line(&mut line).ok()? == 0 {
            screen::err("");
            return None;
        }
        let answer = match line.trim() {
            "" => usual,
            answer => answer,
        };
        match read(answer) {
            Ok(value) => return Some(value),
            Err(reason) => screen::err(&format!("  {reason}")),
        }
    }
}
