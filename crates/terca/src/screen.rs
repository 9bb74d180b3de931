//! Where words go: people read standard error, programs read standard output.
//!
//! The only module of the binary that writes to the terminal. A closed pipe (`terca list | head`) is no error.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::explain::Code;
use terca_report::MaxWidth;
use terca_report::Palette;
use terca_report::github::{Defused, Printed, defused};

use crate::args::colour::Colour;

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
pub fn max_width() -> MaxWidth {
    if std::io::stdout().is_terminal() {
        MaxWidth::Columns(columns())
    } else {
        MaxWidth::Unlimited
    }
}

/// A path as short as it can be said from here.
pub fn short(path: &Utf8Path) -> &Utf8Path {
    let here = std::env::current_dir()
        .ok()
        .and_then(|dir| Utf8PathBuf::from_path_buf(dir).ok());
    here.and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
}

/// Whether GitHub Actions reads what is written, and obeys lines that look like its commands.
fn is_obeyed() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// What is written, made unable to give commands where somebody would obey them.
fn safe(text: &str, printed: Printed) -> Cow<'_, str> {
    if is_obeyed() {
        defused(text, printed)
    } else {
        Cow::Borrowed(text)
    }
}

/// A stream for whoever writes lines while a run goes on.
pub fn stream(to: impl Write + 'static, printed: Printed) -> Box<dyn Write> {
    if is_obeyed() {
        Box::new(Defused::new(to, printed))
    } else {
        Box::new(to)
    }
}

/// To standard output.
pub fn say(text: &str) {
    let _ = writeln!(
        std::io::stdout(),
        "{}",
        safe(text.trim_end_matches('\n'), Printed::Text)
    );
}

/// A document for programs, to standard output.
pub fn say_json(text: &str) {
    let _ = writeln!(
        std::io::stdout(),
        "{}",
        safe(text.trim_end_matches('\n'), Printed::Json)
    );
}

/// A document to standard output, byte for byte where that is a file.
pub fn print(text: &str, printed: Printed) {
    let text = if is_file(std::io::stdout()) {
        Cow::Borrowed(text)
    } else {
        safe(text, printed)
    };
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn is_file(stream: impl AsFd) -> bool {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata())
        .is_ok_and(|meta| meta.is_file())
}

/// Commands to the CI system that are meant as such.
pub fn command(text: &str, to: &mut impl Write) {
    let _ = to.write_all(text.as_bytes());
}

/// Parts to standard output, a blank line between those that say something.
pub fn say_all(parts: &[String]) {
    let present: Vec<&str> = parts
        .iter()
        .map(|part| part.trim_matches('\n'))
        .filter(|part| !part.is_empty())
        .collect();
    say(&present.join("\n\n"));
}

/// To standard error.
pub fn remark(text: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "{}",
        safe(text.trim_end_matches('\n'), Printed::Text)
    );
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

/// An error, to standard error: what happened, and what to do next.
pub fn complain(code: Code, text: &str, choice: Colour) {
    let palette = Palette {
        colour: colour(choice, &std::io::stderr()),
    };
    remark(&format!(
        "{}: {text}",
        palette.bad(&format!("error[{}]", code.word()))
    ));
}

/// Where codes are explained, to standard error: one line, however many errors there are.
pub fn say_more_about(codes: &[Code], choice: Colour) {
    const MOST: usize = 3;
    let palette = Palette {
        colour: colour(choice, &std::io::stderr()),
    };
    let words: Vec<&str> = codes.iter().take(MOST).map(|code| code.word()).collect();
    remark(&palette.dim(&format!("more: terca explain {}", words.join(" "))));
}
