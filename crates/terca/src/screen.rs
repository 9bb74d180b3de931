//! Where words go: people read standard error, programs read standard output.
//!
//! The only module of the binary that writes to the terminal. A closed pipe (`terca list | head`) is no error.

use std::io::{IsTerminal, Write};

use camino::{Utf8Path, Utf8PathBuf};
use terca_report::layout::Room;

use crate::args::Colour;

/// Whether to colour what is written to a stream.
pub fn colour(choice: Colour, stream: &impl IsTerminal) -> bool {
    match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            stream.is_terminal() && !refused && !is_dumb()
        }
    }
}

/// Whether people watch standard error on a terminal that can be painted on.
pub fn is_lively() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// How wide what is written may be.
pub fn columns() -> usize {
    terca_report::Size::of_terminal().columns
}

/// The same for lines that must not be broken where no screen is.
pub fn room() -> Room {
    if std::io::stdout().is_terminal() { Room::Columns(columns()) } else { Room::Unlimited }
}

/// A path as short as it can be said from here.
pub fn short(path: &Utf8Path) -> &Utf8Path {
    let here = std::env::current_dir().ok().and_then(|dir| Utf8PathBuf::from_path_buf(dir).ok());
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// To standard output.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n'));
}

/// A document to standard output, byte for byte.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Parts to standard output, a blank line between those that say something.
pub fn say_all(parts: &[String]) {
    let present: Vec<&str> =
        parts.iter().map(|part| part.trim_matches('\n')).filter(|part| !part.is_empty()).collect();
    say(&present.join("\n\n"));
}

/// To standard error.
pub fn remark(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end_matches('\n'));
}

/// A question, to standard error; the answer is typed behind it.
pub fn ask(text: &str) {
    let _ = write!(std::io::stderr(), "{text}");
}

/// A count that goes up in its place, to standard error.
pub fn count(text: &str, last: bool) {
    let end = if last { "\n" } else { "" };
    let _ = write!(std::io::stderr(), "\r{text}{end}");
}

/// An error, to standard error.
pub fn complain(text: &str) {
    remark(&format!("error: {text}"));
}
