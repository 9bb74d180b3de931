//! Problems in the user's files, and how they are shown.
//!
//! A [`Diagnostic`] names the thing in a lower-case fragment, points at the place, and says what to do next.
//! Diagnostics are collected, never thrown: one report should be enough to fix every file.

use std::collections::HashSet;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::text::Code;
use crate::text::keys::hidden;
use crate::text::prose;
use crate::text::source::{Place, Sources};

/// How serious a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can run.
    Error,
    /// The run goes on.
    Warning,
}

/// One problem, with its places and advice.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The kind of mistake; `terca explain` says more about it.
    pub code: Code,
    /// A lower-case fragment that names the thing and says what is wrong with it.
    pub message: String,
    /// The places that it points at, the wrong one first.
    pub labels: Vec<Label>,
    /// A file as a whole, for problems without a place in a text (it is missing, it is not UTF-8).
    pub path: Option<String>,
    /// What to do next, a line each.
    pub help: Vec<String>,
}

/// A marked place with a remark.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The place.
    pub place: Place,
    /// The remark beside it; may be empty.
    pub text: String,
    /// Whether this is the place that is wrong, not one that explains it.
    pub primary: bool,
}

impl Diagnostic {
    /// Makes an error without a place.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            path: None,
            help: Vec::new(),
        }
    }

    /// Makes an error of a warning.
    #[must_use]
    pub fn as_error(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// Makes a warning without a place.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, message)
        }
    }

    /// Adds the place that is wrong, and what was expected there.
    pub fn at(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
            primary: true,
        });
        self
    }

    /// Adds another place that explains the first.
    pub fn beside(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
            primary: false,
        });
        self
    }

    /// Names a file as a whole.
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Adds a line of advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds a line of advice, if there is one.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help.extend(help);
        self
    }

    /// Adds the place that is wrong, if it is known.
    pub fn maybe_at(self, place: Option<Place>, text: impl Into<String>) -> Self {
        match place {
            Some(place) => self.at(place, text),
            None => self,
        }
    }
}

/// Every problem found so far, in all files.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds a problem.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// The number of problems so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Puts a key before each later problem that only says what was expected.
    pub(crate) fn name_since(&mut self, known: usize, key: &str) {
        for diagnostic in &mut self.list[known..] {
            if diagnostic.message.starts_with("expected ") {
                diagnostic.message.insert_str(0, &format!("`{key}`: "));
            }
        }
    }

    /// Removes a problem at a place.
    pub(crate) fn retract(&mut self, message: &str, place: Place) {
        self.list
            .retain(|d| d.message != message || d.labels.first().is_none_or(|l| l.place != place));
    }

    /// Keeps the problems that are to be shown.
    pub fn retain(&mut self, is_kept: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(is_kept);
    }

    /// Returns the problems in their present order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Counts the errors; warnings do not count.
    pub fn error_count(&self) -> usize {
        self.list
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count()
    }

    /// Counts the warnings.
    pub fn warning_count(&self) -> usize {
        self.list.len() - self.error_count()
    }

    /// Returns whether anything prevents a run.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// Returns each code once, in the order of the report, those of errors first.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<Code> = Vec::new();
        for severity in [Severity::Error, Severity::Warning] {
            for problem in self.list.iter().filter(|d| d.severity == severity) {
                if !codes.contains(&problem.code) {
                    codes.push(problem.code);
                }
            }
        }
        codes
    }

    /// Sorts by file and place, warnings among the errors, and removes repeated problems.
    pub fn sort(&mut self) {
        let place = |d: &Diagnostic| {
            d.labels
                .first()
                .map(|l| (l.place.file, l.place.start, l.place.end))
        };
        let mut said = HashSet::new();
        self.list
            .retain(|d| said.insert((d.message.clone(), place(d))));
        self.list
            .sort_by_key(|d| place(d).map(|(file, start, _)| (file, start)));
    }

    /// Renders all problems as people read them.
    pub fn render(&self, sources: &Sources, style: Style) -> String {
        prose::joined(self.list.iter().map(|d| render(d, sources, style)), "\n\n")
    }
}

/// The look of a report. Every message makes sense without colour.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// The width of the terminal in columns.
    pub width: usize,
}

impl Style {
    /// No colours, and wide enough for any line.
    pub const PLAIN: Style = Style {
        colour: false,
        width: 140,
    };
}

/// Returns a text without sequences for a terminal. A report may have colours, and names in it may not.
fn plain(text: &str) -> String {
    text.replace('\u{1b}', "\u{241b}")
}

fn render(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(plain(&diagnostic.message))
        .id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for (index, label) in diagnostic.labels.iter().enumerate() {
        let same_file_before = diagnostic.labels[..index]
            .iter()
            .any(|l| l.place.file == label.place.file);
        if !same_file_before {
            group = group.element(snippet(diagnostic, label.place, sources));
        }
    }
    if let Some(path) = &diagnostic.path {
        group = group.element(Origin::path(plain(path)));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(plain(help)));
    }
    let renderer = if style.colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer
        .decor_style(DecorStyle::Ascii)
        .term_width(style.width)
        .render(&[group])
}

/// Returns one file's lines with every marker of the diagnostic in that file.
fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    of: Place,
    sources: &'a Sources,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let file = sources.get(of.file);
    let markers = diagnostic
        .labels
        .iter()
        .filter(|l| l.place.file == of.file)
        .map(|label| {
            let kind = if label.primary {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let marker = kind.span(sources.first_line(label.place));
            if label.text.is_empty() {
                marker
            } else {
                marker.label(plain(&label.text))
            }
        });
    Snippet::source(hidden(&file.text))
        .path(plain(&file.label))
        .annotations(markers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_shows_place_line_and_help() {
        let mut sources = Sources::default();
        let file = sources.add("/s/terca.yaml", "terca.yaml", "name: x\npromt: hi\n");
        let mut all = Diagnostics::default();
        all.push(
            Diagnostic::error(Code::UnknownKey, "unknown key `promt`")
                .at(
                    Place {
                        file,
                        start: 8,
                        end: 13,
                    },
                    "not a key of an eval",
                )
                .help("did you mean `prompt`?"),
        );
        insta::assert_snapshot!(all.render(&sources, Style::PLAIN), @r"
        error[unknown-key]: unknown key `promt`
         --> terca.yaml:2:1
          |
        2 | promt: hi
          | ^^^^^ not a key of an eval
          |
          = help: did you mean `prompt`?
        ");
    }
}
