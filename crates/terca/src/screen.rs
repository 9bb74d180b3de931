//! Writes to the terminal: standard output is for programs and results, standard error for people.
//!
//! No other module of the binary does. A closed pipe (`terca list | head`) is no error.
//!
//! A text is printed without the control characters in it, wherever they come from. Only views and what is painted have
//! colours.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::Code;
use terca_core::text::prose;
use terca_report::github::{Printed, defused};
use terca_report::{
    Answer, Filtered, Palette, Role, Size, UNLIMITED, shown, shown_json, shown_painted,
};

use crate::args::{Colour, Common};

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
    Palette::new(colour(choice, &std::io::stdout()))
}

/// Returns the colours for standard error.
pub fn err_palette(choice: Colour) -> Palette {
    Palette::new(colour(choice, &std::io::stderr()))
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns the width of the terminal.
pub fn columns() -> usize {
    Size::of_terminal().columns
}

/// Returns the width for lines on standard output, which are not broken where that is no terminal.
pub fn max_width() -> usize {
    if std::io::stdout().is_terminal() {
        columns()
    } else {
        UNLIMITED
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

/// Returns lines for a message, each after a line break, and how many more there are.
pub fn listed(lines: &[impl Display], most: usize) -> String {
    let shown = lines.iter().take(most);
    let list: String = shown.map(|line| format!("\n  {line}")).collect();
    match lines.len().saturating_sub(most) {
        0 => list,
        more => format!("{list}\n  and {more} more"),
    }
}

/// Tells whether GitHub Actions reads what is written, and obeys lines that look like its commands.
pub fn is_on_github() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// Returns a text that gives no commands where GitHub Actions would obey them.
fn safe(text: &str, printed: Printed) -> Cow<'_, str> {
    if is_on_github() {
        defused(text, printed)
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a stream for lines that are written while a run goes on.
pub fn lines(to: impl Write + 'static, printed: Printed) -> Box<dyn Write> {
    let filter = match printed {
        Printed::Text => |text: &str| safe(&shown_painted(text), Printed::Text).into_owned(),
        Printed::Json => |text: &str| safe(&shown_json(text), Printed::Json).into_owned(),
    };
    Box::new(Filtered { to, filter })
}

/// Returns a stream for a display that moves the cursor, and cleans what it shows by itself.
pub fn canvas(to: impl Write) -> impl Write {
    let filter = |text: &str| safe(text, Printed::Text).into_owned();
    Filtered { to, filter }
}

/// Writes a text to standard output.
pub fn out(text: &str) {
    write_line(std::io::stdout(), &shown(text), Printed::Text);
}

/// Writes a view to standard output.
pub fn out_view(view: &Answer, common: &Common) {
    out_views(std::slice::from_ref(view), common);
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
pub fn out_views(views: &[Answer], common: &Common) {
    let views = views.iter().filter(|view| !view.is_empty());
    let text = prose::joined(
        views.map(|view| view.render(out_palette(common.color))),
        "\n",
    );
    if !text.is_empty() {
        write_line(std::io::stdout(), &shown_painted(&text), Printed::Text);
    }
}

/// Writes a text to standard error.
pub fn err(text: &str) {
    write_line(std::io::stderr(), &shown(text), Printed::Text);
}

/// Writes a text with Terca's own colours to standard error.
pub fn err_painted(text: &str) {
    write_line(std::io::stderr(), &shown_painted(text), Printed::Text);
}

/// Writes a count to standard error, over the last one.
pub fn count(text: &str, last: bool) {
    let end = if last { "\n" } else { "" };
    let _ = write!(std::io::stderr(), "\r{text}{end}");
}

/// Writes an error to standard error.
pub fn error(code: Code, text: &str, choice: Colour) {
    let code = format!("error[{}]", code.as_str());
    let code = err_palette(choice).paint(Role::Bad, &code);
    err_painted(&format!("{code}: {}", shown(text)));
}

/// Writes one line to standard error that says where codes are explained, however many there are.
pub fn err_where_explained(codes: &[Code], choice: Colour) {
    const MOST: usize = 3;
    let line = format!(
        "more: terca explain {}",
        prose::joined(codes.iter().take(MOST).map(|code| code.as_str()), " ")
    );
    err_painted(&err_palette(choice).paint(Role::Dim, &line));
}
