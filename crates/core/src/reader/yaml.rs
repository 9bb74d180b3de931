//! Parses YAML text into a tree of values that remember their places.
//!
//! The tree is the whole document, so that every misspelt key and wrong type is reported in one go. A derived
//! deserializer would stop at the first. Only this module and [`yaml_errors`](super::yaml_errors) know the YAML
//! library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Spanned};

use super::doubts::{report_key, report_quotes};
use super::yaml_errors::{KEEP_ONE, duplicate_message, is_duplicate, syntax_problem};
use crate::text::source::{FileId, Sources};
use crate::text::{Code, Diagnostic, Diagnostics, Located, Place};

/// Deeper than any suite, shallower than any stack: a level costs up to 40 kB in a debug build.
const DEPTH_LIMIT: usize = 32;
/// Larger than any suite; an alias bomb meets it within milliseconds.
const NODE_LIMIT: usize = 250_000;

/// A value and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool {
        value: bool,
        written: String,
    },
    /// A number and the text it was written as (`1.10` is not `1.1` when a string is wanted).
    Number {
        value: f64,
        integer: Option<i64>,
        written: String,
    },
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Located<String>, Node)>),
}

impl Node {
    /// Makes a map without keys, for a document that is missing. Its place is the beginning of the first file.
    pub(crate) fn empty_map() -> Self {
        Node {
            value: Value::Map(Vec::new()),
            place: Place::default(),
        }
    }

    /// Returns true for a map, also an empty one.
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Returns the place of a key of a map, or of maps in it.
    pub(crate) fn place_of_key(&self, path: &[&str]) -> Option<Place> {
        let Value::Map(entries) = &self.value else {
            return None;
        };
        let (key, below) = path.split_first()?;
        let (written, value) = entries.iter().find(|(written, _)| written.value == *key)?;
        if below.is_empty() {
            return Some(written.place);
        }
        value.place_of_key(below)
    }

    /// Returns the value as JSON, without places.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        self.filled(&mut |text| text.value.clone())
    }

    /// Returns the value as JSON, with each text as `fill` makes it. Keys are left as they are.
    pub(crate) fn filled(
        &self,
        fill: &mut dyn FnMut(&Located<String>) -> String,
    ) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool { value, .. } => (*value).into(),
            Value::Number {
                integer: Some(value),
                ..
            } => (*value).into(),
            Value::Number { value, .. } => (*value).into(),
            Value::Text(text) => fill(&Located::new(text.clone(), self.place)).into(),
            Value::List(items) => items.iter().map(|item| item.filled(fill)).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, node)| (key.value.clone(), node.filled(fill)))
                .collect(),
        }
    }
}

impl Value {
    /// Names the type in words, as in "found a list".
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool { .. } => "a boolean",
            Value::Number { .. } => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Parses one file. Returns `None` when the text is no YAML document; the reason is among the problems.
pub(super) fn parse(file: FileId, sources: &Sources, problems: &mut Diagnostics) -> Option<Node> {
    let text = sources.get(file).text.as_str();
    match deserialize(text, DuplicateKeyPolicy::Error) {
        Ok(root) => node(root, file, text, problems),
        Err(error) => {
            // Where a key is repeated, the rest of the file is still worth reading.
            let rest = is_duplicate(&error)
                .then(|| deserialize(text, DuplicateKeyPolicy::LastWins).ok())
                .flatten();
            let root = rest.and_then(|root| node(root, file, text, problems));
            let beginning = Place {
                file,
                ..Place::default()
            };
            let place = error
                .location()
                .map_or(beginning, |at| place(at, file, text));
            problems.push(syntax_problem(place, &error, text, DEPTH_LIMIT));
            root
        }
    }
}

fn deserialize(
    text: &str,
    duplicate_keys: DuplicateKeyPolicy,
) -> Result<Spanned<Parsed>, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: duplicate_keys,
        budget: serde_saphyr::budget! { max_depth: DEPTH_LIMIT, max_nodes: NODE_LIMIT },
    };
    serde_saphyr::from_str_with_options(text, options)
}

/// Returns a place in bytes. Where the library has no offsets, they are counted from line and column.
fn place(at: Location, file: FileId, text: &str) -> Place {
    if let (Some(start), Some(length)) = (at.span().byte_offset(), at.span().byte_len()) {
        let (start, length) = (start as usize, length as usize);
        return Place {
            file,
            start,
            end: start + length,
        };
    }
    let (line, column) = (at.line() as usize, at.column() as usize);
    let line_start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let within: usize = text[line_start..]
        .chars()
        .take(column.saturating_sub(1))
        .map(char::len_utf8)
        .sum();
    Place {
        file,
        start: line_start + within,
        end: line_start + within,
    }
}

/// Attaches places and turns keys into text.
fn node(
    parsed: Spanned<Parsed>,
    file: FileId,
    text: &str,
    problems: &mut Diagnostics,
) -> Option<Node> {
    let here = place(parsed.referenced, file, text);
    let value = match parsed.value {
        Parsed::Null => Value::Null,
        Parsed::Bool(value) => Value::Bool {
            value,
            written: written(&value, parsed.defined, text),
        },
        Parsed::Integer(value) => number(value as f64, Some(value), parsed.defined, text),
        Parsed::Float(value) => number(value, None, parsed.defined, text),
        Parsed::Text(value) => {
            report_quotes(&value, here, problems);
            Value::Text(value)
        }
        Parsed::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(item, file, text, problems))
                .collect::<Option<_>>()?,
        ),
        Parsed::Map(entries) => {
            let mut map = Vec::new();
            for (key, value) in entries {
                let (key, value) = (
                    key_text(key, file, text, problems)?,
                    node(value, file, text, problems)?,
                );
                if let Value::Text(text) = &value.value {
                    report_key(&key, text, value.place, problems);
                }
                insert(&mut map, key, value, problems);
            }
            return Some(Node {
                place: map_place(here, &map),
                value: Value::Map(map),
            });
        }
    };
    Some(Node { value, place: here })
}

/// Adds an entry. Of two values under one key the first is kept, and the second is reported.
fn insert(
    map: &mut Vec<(Located<String>, Node)>,
    key: Located<String>,
    value: Node,
    problems: &mut Diagnostics,
) {
    match map.iter().find(|(other, _)| other.value == key.value) {
        None => map.push((key, value)),
        Some((first, _)) => problems.push(
            Diagnostic::error(Code::DuplicateKey, duplicate_message(&key.value))
                .at(key.place, "another is here")
                .beside(first.place, "the first is here")
                .help(KEEP_ONE),
        ),
    }
}

/// Returns the place to underline. The library gives a block map no length, so its first key is taken.
fn map_place(here: Place, entries: &[(Located<String>, Node)]) -> Place {
    match entries.first() {
        Some((key, _)) if here.start == here.end && key.place.start == here.start => key.place,
        _ => here,
    }
}

fn number(value: f64, integer: Option<i64>, defined: Location, text: &str) -> Value {
    Value::Number {
        value,
        integer,
        written: written(&value, defined, text),
    }
}

/// Returns a scalar as the user wrote it.
fn written(value: &dyn fmt::Display, defined: Location, text: &str) -> String {
    let span = defined.span();
    let slice = match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(length)) => text.get(start as usize..(start + length) as usize),
        _ => None,
    };
    slice.map_or_else(|| value.to_string(), str::to_owned)
}

fn key_text(
    key: Spanned<Parsed>,
    file: FileId,
    text: &str,
    problems: &mut Diagnostics,
) -> Option<Located<String>> {
    let node = node(key, file, text, problems)?;
    let text = match node.value {
        Value::Text(text) => text,
        Value::Number { written, .. } | Value::Bool { written, .. } => written,
        Value::Null | Value::List(_) | Value::Map(_) => {
            problems.push(
                Diagnostic::error(Code::InvalidYaml, "a key must be text")
                    .at(node.place, format!("this key is {}", node.value.describe()))
                    .help("text that begins with `{` or `[` needs quotes"),
            );
            return None;
        }
    };
    Some(Located::new(text, node.place))
}

/// A value as the library returns it, before places are attached.
enum Parsed {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Parsed>>),
    Map(Vec<(Spanned<Parsed>, Spanned<Parsed>)>),
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParsedVisitor)
    }
}

struct ParsedVisitor;

impl<'de> Visitor<'de> for ParsedVisitor {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Parsed, E> {
        Ok(Parsed::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Parsed::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(i64::try_from(value).map_or(Parsed::Float(value as f64), Parsed::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        Ok(Parsed::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Parsed, E> {
        Ok(Parsed::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Parsed, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Parsed::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parsed, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Parsed::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> (Option<Node>, usize) {
        let mut sources = Sources::default();
        let file = sources.add("/s/terca.yaml", "terca.yaml", text);
        let mut problems = Diagnostics::default();
        let node = parse(file, &sources, &mut problems);
        problems.sort();
        (node, problems.error_count())
    }

    #[test]
    fn numbers_keep_how_they_were_written() {
        let (node, _) = parse_text("a: &x 1.10\nb: *x\n");
        let Some(Node {
            value: Value::Map(entries),
            ..
        }) = node
        else {
            panic!("not a map")
        };
        for (_, node) in entries {
            assert!(
                matches!(node.value, Value::Number { ref written, .. } if written == "1.10"),
                "{node:?}"
            );
        }
    }

    #[test]
    fn a_duplicate_key_does_not_hide_the_rest() {
        let (node, errors) = parse_text("a: 1\na: 2\nb: 3\n");
        assert_eq!(errors, 1);
        assert!(
            matches!(node, Some(Node { value: Value::Map(entries), .. }) if entries.len() == 2)
        );
    }

    #[test]
    fn yes_and_no_are_text() {
        let (node, _) = parse_text("- yes\n- no\n");
        let Some(Node {
            value: Value::List(items),
            ..
        }) = node
        else {
            panic!("not a list")
        };
        assert!(
            items
                .iter()
                .all(|item| matches!(item.value, Value::Text(_)))
        );
    }
}
