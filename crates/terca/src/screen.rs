//! Writes to the terminal: standard output is for programs and results, standard error for people.
//!
//! No other module of the binary does. A closed pipe (`terca list | head`) is no error.
//!
//! A text is printed without the control characters in it, wherever they come from. Only what is [`Painted`] has
//! colours.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::Code;
use terca_report::MaxWidth;
use terca_report::github::{Defused, Printed, defused};
use terca_report::{Door, DoorKind, Painted, Palette, shown, shown_json};

use crate::args::Colour;

/// Tells whether to colour what is written to a stream.
pub fn colour(choice: Colour, stream: &impl IsTerminal) -> bool {
    match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
            let is_forced = |name: &str| is_set(name).is_some_and(|value| value != "0");
            if is_set("NO_COLOR").is_some() {
                return false;
            }
            let forced = is_forced("FORCE_COLOR") || is_forced("CLICOLOR_FORCE");
            forced || (stream.is_terminal() && !is_dumb())
        }
    }
}

/// Tells whether people watch standard error on a terminal that can be painted on.
pub fn is_lively() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// Returns the colours for standard output.
pub fn out_palette(choice: Colour) -> Palette {
    Palette {
        colour: colour(choice, &std::io::stdout()),
    }
}

/// Returns the colours for standard error.
pub fn err_palette(choice: Colour) -> Palette {
    Palette {
        colour: colour(choice, &std::io::stderr()),
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns the width of the terminal.
pub fn columns() -> usize {
    terca_report::Size::of_terminal().columns
}

/// Returns the width for lines on standard output, which are not broken where that is no terminal.
pub fn max_width() -> MaxWidth {
    if std::io::stdout().is_terminal() {
        MaxWidth::Columns(columns())
    } else {
        MaxWidth::Unlimited
    }
}

/// Returns a path relative to the working directory, where it is below.
pub fn short(path: &Utf8Path) -> &Utf8Path {
    let here = std::env::current_dir()
        .ok()
        .and_then(|dir| Utf8PathBuf::from_path_buf(dir).ok());
    here.and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
}

/// Tells whether GitHub Actions reads what is written, and obeys lines that look like its commands.
fn is_obeyed() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// Returns a text that gives no commands where GitHub Actions would obey them.
fn safe(text: &str, printed: Printed) -> Cow<'_, str> {
    if is_obeyed() {
        defused(text, printed)
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a stream for lines that are written while a run goes on.
pub fn lines(to: impl Write + 'static, printed: Printed) -> Box<dyn Write> {
    let kind = match printed {
        Printed::Text => DoorKind::Painted,
        Printed::Json => DoorKind::Json,
    };
    Box::new(Door::new(canvas(to, printed), kind))
}

/// Returns a stream for a display that moves the cursor, and cleans what it shows by itself.
pub fn canvas(to: impl Write + 'static, printed: Printed) -> Box<dyn Write> {
    if is_obeyed() {
        Box::new(Defused::new(to, printed))
    } else {
        Box::new(to)
    }
}

/// Writes a text to standard output.
pub fn out(text: &str) {
    write_line(std::io::stdout(), &shown(text), Printed::Text);
}

/// Writes a view to standard output.
pub fn out_painted(text: &Painted) {
    write_line(std::io::stdout(), &text.shown(), Printed::Text);
}

fn write_line(mut to: impl Write, text: &str, printed: Printed) {
    let _ = writeln!(to, "{}", safe(text.trim_end_matches('\n'), printed));
}

/// Writes a JSON document to standard output.
pub fn out_json(text: &str) {
    write_line(std::io::stdout(), &shown_json(text), Printed::Json);
}

/// Writes a document to standard output, byte for byte where that is a file.
pub fn out_document(text: &str, printed: Printed) {
    let shown = match printed {
        _ if !std::io::stdout().is_terminal() => Cow::Borrowed(text),
        Printed::Text => shown(text),
        Printed::Json => shown_json(text),
    };
    let text = if is_file(std::io::stdout()) {
        shown
    } else {
        Cow::Owned(safe(&shown, printed).into_owned())
    };
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn is_file(stream: impl AsFd) -> bool {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata())
        .is_ok_and(|meta| meta.is_file())
}

/// Writes commands to the CI system.
pub fn command(text: &str, to: &mut impl Write) {
    let _ = to.write_all(text.as_bytes());
}

/// Writes views to standard output, with a blank line between those that are not empty.
pub fn out_all(parts: &[Painted]) {
    let parts: Vec<Painted> = parts.iter().map(Painted::trimmed).collect();
    let present: Vec<Cow<'_, str>> = parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(Painted::shown)
        .collect();
    write_line(std::io::stdout(), &present.join("\n\n"), Printed::Text);
}

/// Writes a text to standard error.
pub fn err(text: &str) {
    write_line(std::io::stderr(), &shown(text), Printed::Text);
}

/// Writes a view to standard error.
pub fn err_painted(text: &Painted) {
    write_line(std::io::stderr(), &text.shown(), Printed::Text);
}

/// Writes a count to standard error, over the last one.
pub fn count(text: &str, last: bool) {
    let end = if last { "\n" } else { "" };
    let _ = write!(std::io::stderr(), "\r{text}{end}");
}

/// Writes an error to standard error.
pub fn error(code: Code, text: &str, choice: Colour) {
    let code = format!("error[{}]", code.as_str());
    let code = err_palette(choice).bad(&code);
    err_painted(&Painted::by_view(format!("{code}: {}", shown(text))));
}

/// Writes one line to standard error that says where codes are explained, however many there are.
pub fn err_where_explained(codes: &[Code], choice: Colour) {
    const MOST: usize = 3;
    let words: Vec<&str> = codes.iter().take(MOST).map(|code| code.as_str()).collect();
    let line = format!("more: terca explain {}", words.join(" "));
    err_painted(&Painted::by_view(err_palette(choice).dim(&line)));
}
