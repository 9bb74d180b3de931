//! JUnit XML. A document that declares entities is refused: no test runner does, and they can grow without end.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::{CaseEnd, Cases};

/// Reports have four levels: suites, a suite, a case, its failure.
const DEEPEST: usize = 64;
/// The first characters of a failure's text have its message.
const LONGEST_TEXT: usize = 4_000;

/// A case that has begun.
#[derive(Default)]
struct Open {
    name: String,
    end: Option<CaseEnd>,
    message: String,
    /// The text of its failure, which is the message where there is no attribute.
    text: String,
    in_failure: bool,
}

impl Open {
    /// Returns the message, or the text that has it. An attribute has no line ends, unless it is written by pytest or vitest.
    fn told(&self) -> &str {
        let message = self.message.trim();
        let lines = |text: &str| text.trim().lines().count();
        let is_lead = lines(message) == 1 && message.contains(':') && lines(&self.text) > 1;
        let begins = message.split(':').next().unwrap_or_default();
        let has_same = self.text.lines().take(2).any(|line| line.contains(begins));
        match message.is_empty() || (is_lead && has_same) {
            true => &self.text,
            false => message,
        }
    }
}

pub(super) fn read(text: &str) -> Result<Cases, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut cases = Cases::default();
    let mut open: Option<Open> = None;
    let (mut depth, mut is_junit) = (0_usize, false);
    loop {
        let event = reader.read_event();
        match event.map_err(|error| format!("it is not valid XML: {error}"))? {
            Event::Start(tag) => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(format!("its XML is deeper than {DEEPEST} levels"));
                }
                is_junit |= matches!(tag.local_name().as_ref(), "testsuites" | "testsuite");
                begin(&tag, &mut open);
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                finish(tag.local_name().as_ref(), &mut open, &mut cases);
            }
            Event::Text(words) => add_text(&mut open, &words),
            Event::CData(words) => add_text(&mut open, &words),
            Event::GeneralRef(name) => {
                let character = unescape(&format!("&{};", &*name))
                    .unwrap_or_default()
                    .into_owned();
                add_text(&mut open, &character);
            }
            Event::DocType(_) => {
                return Err("it declares a document type, which no report needs".into());
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::Empty(_) | Event::PI(_) => {}
        }
    }
    match (is_junit, depth) {
        (true, 0) => Ok(cases),
        (true, _) => Err("it is not valid XML: it ends in the middle".into()),
        (false, _) => Err("it is XML, but not of JUnit: it has no `testsuite`".into()),
    }
}

fn begin(tag: &BytesStart<'_>, open: &mut Option<Open>) {
    let name = tag.local_name();
    if name.as_ref() == "testcase" {
        let (class, name) = (attribute(tag, "classname"), attribute(tag, "name"));
        let name = match class {
            Some(class) if !class.is_empty() => format!("{class} > {}", name.unwrap_or_default()),
            _ => name.unwrap_or_default(),
        };
        *open = Some(Open {
            name,
            ..Open::default()
        });
        return;
    }
    let Some(case) = open else {
        return;
    };
    match name.as_ref() {
        "failure" | "error" => {
            // The first one counts: what comes after is about cleaning up.
            if case.end != Some(CaseEnd::Failed) {
                case.message = attribute(tag, "message").unwrap_or_default();
                case.in_failure = true;
            }
            case.end = Some(CaseEnd::Failed);
        }
        "skipped" => {
            case.end.get_or_insert(CaseEnd::Skipped);
        }
        _ => {}
    }
}

fn finish(name: &str, open: &mut Option<Open>, cases: &mut Cases) {
    match name {
        "failure" | "error" => {
            if let Some(case) = open {
                case.in_failure = false;
            }
        }
        "testcase" => {
            if let Some(case) = open.take() {
                cases.add(&case.name, case.end.unwrap_or(CaseEnd::Passed), case.told());
            }
        }
        _ => {}
    }
}

fn add_text(open: &mut Option<Open>, words: &str) {
    if let Some(case) = open
        && case.in_failure
        && case.text.len() < LONGEST_TEXT
    {
        case.text.extend(words.chars().take(LONGEST_TEXT));
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // It would look for doubles, which takes long where there are many.
    attributes.with_checks(false);
    let found = attributes
        .flatten()
        .find(|attribute| attribute.key.as_ref() == name)?;
    let value = unescape(&found.value)
        .map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned);
    Some(value)
}
