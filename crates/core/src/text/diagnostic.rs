//! What is wrong with the user's text, and how it is shown.
//!
//! A [`Diagnostic`] names the thing in a lower-case fragment, points at the place, and says what to do next.
//! They are collected, never thrown: one look at the report should be enough to mend every file.

use std::collections::HashSet;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::text::explain::Code;
use crate::text::source::{Place, Sources};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Debug, Clone)]
pub struct Diagnostic {
    pub severity: Severity,
    /// What kind of mistake it is: `terca explain` says more.
    pub code: Code,
    pub message: String,
    pub labels: Vec<Label>,
    /// A file as a whole, for trouble that has no place in a text (it is missing, it is not UTF-8).
    pub path: Option<String>,
    pub help: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Label {
    pub place: Place,
    pub text: String,
    pub primary: bool,
}

impl Diagnostic {
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

    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, message)
        }
    }

    /// The place that is wrong, and what was expected there.
    pub fn at(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
            primary: true,
        });
        self
    }

    /// Another place that explains the first.
    pub fn beside(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            place,
            text: text.into(),
            primary: false,
        });
        self
    }

    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Every problem found so far, in all files.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
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

    /// Takes back what was said about a place.
    pub(crate) fn retract(&mut self, message: &str, place: Place) {
        self.list
            .retain(|d| d.message != message || d.labels.first().is_none_or(|l| l.place != place));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    pub fn error_count(&self) -> usize {
        self.list
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count()
    }

    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// The codes that are there, each once, in the order of the report, those of errors first.
    pub fn codes(&self) -> Vec<Code> {
        let of = |severity| {
            self.list
                .iter()
                .filter(move |d| d.severity == severity)
                .map(|d| d.code)
        };
        let mut codes: Vec<Code> = Vec::new();
        for code in of(Severity::Error).chain(of(Severity::Warning)) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    /// File by file, in the order of the text, warnings among the errors. What is said twice is said once.
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

    pub fn render(&self, sources: &Sources, style: Style) -> String {
        let rendered: Vec<String> = self
            .list
            .iter()
            .map(|d| render(d, sources, style))
            .collect();
        rendered.join("\n\n")
    }
}

/// How a report is drawn. Every message makes sense without colour.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub colour: bool,
    pub width: usize,
}

impl Style {
    pub const PLAIN: Style = Style {
        colour: false,
        width: 140,
    };
}

fn render(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.word());
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
        group = group.element(Origin::path(path.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
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

/// One file's lines with every marker of the diagnostic that lies in it.
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
                marker.label(label.text.as_str())
            }
        });
    Snippet::source(file.text.as_str())
        .path(file.label.as_str())
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
