//! Texts, numbers and booleans.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::RangeBounds;
use std::time::Duration;

use serde_json::json;

use super::kind::unlike;
use super::{Kind, Node, Reader, Value};
use crate::text::{Code, Diagnostic, Located, prose, shell};

/// Any text.
pub(crate) fn text() -> Kind<Located<String>> {
    Kind::scalar("text", json!({ "type": "string" }), read_text)
}

fn read_text(node: Node, reader: &mut Reader<'_>) -> Option<Located<String>> {
    let problem = match node.value {
        Value::Text(text) => return Some(Located::new(text, node.place)),
        Value::Number { ref written, .. } | Value::Bool { ref written, .. } => {
            unlike(&node, "text").help(format!("put it in quotes: \"{written}\""))
        }
        _ => unlike(&node, "text"),
    };
    reader.refuse(problem)
}

/// Text that is not empty, such as a name or a prompt.
pub(crate) fn filled_text() -> Kind<Located<String>> {
    Kind::scalar(
        "text",
        json!({ "type": "string", "pattern": "\\S" }),
        read_filled_text,
    )
}

fn read_filled_text(node: Node, reader: &mut Reader<'_>) -> Option<Located<String>> {
    let text = read_text(node, reader)?;
    if !text.value.trim().is_empty() {
        return Some(text);
    }
    reader.refuse(
        Diagnostic::error(Code::WrongValue, "expected text, found an empty text")
            .at(text.place, "this is empty"),
    )
}

/// Text in which a number or a boolean needs no quotes, such as the value of an environment variable.
pub(crate) fn plain_text() -> Kind<Located<String>> {
    Kind::scalar(
        "text",
        json!({ "type": ["string", "number", "boolean"] }),
        |node, reader| match node.value {
            Value::Number { written, .. } | Value::Bool { written, .. } => {
                Some(Located::new(written, node.place))
            }
            _ => read_text(node, reader),
        },
    )
}

/// A shell command. `true` and `false` are commands that people write, so they need no quotes.
pub(crate) fn command_line() -> Kind<Located<String>> {
    Kind::scalar(
        "a shell command",
        json!({ "type": ["string", "boolean"], "pattern": "\\S" }),
        |node, reader| match node.value {
            Value::Bool { written, .. } => Some(Located::new(written, node.place)),
            Value::List(ref words) => {
                let words: Option<Vec<&str>> = words.iter().map(word_of).collect();
                let line = words.map(|words| shell::joined(&words));
                let help = line.map(|line| format!("write it as one text: `{line}`"));
                reader.refuse(unlike(&node, "text").maybe_help(help))
            }
            _ => read_filled_text(node, reader),
        },
    )
}

/// Returns the text of a word of a command.
fn word_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(written) | Value::Number { written, .. } | Value::Bool { written, .. } => {
            Some(written)
        }
        _ => None,
    }
}

/// `true` or `false`.
pub(crate) fn boolean() -> Kind<Located<bool>> {
    Kind::scalar(
        "`true`, `false`",
        json!({ "type": "boolean" }),
        |node, reader| {
            let problem = match &node.value {
                Value::Bool { value, .. } => return Some(Located::new(*value, node.place)),
                Value::Text(text) if matches!(text.as_str(), "yes" | "no" | "on" | "off") => {
                    unlike(&node, "`true` or `false`").help("in YAML 1.2 this word is text")
                }
                _ => unlike(&node, "`true` or `false`"),
            };
            reader.refuse(problem)
        },
    )
}

/// One of some words. YAML takes `off` for a boolean in some of its versions, so both are read.
pub(crate) fn word<T: Clone + 'static>(
    words: impl IntoIterator<Item = (&'static str, T)>,
    help: Option<&'static str>,
) -> Kind<Located<T>> {
    let (names, values): (Vec<&str>, Vec<T>) = words.into_iter().unzip();
    let expected = prose::quoted_list(&names, "or");
    let schema = json!({ "enum": names });
    Kind::scalar(&expected.clone(), schema, move |node, reader| {
        let problem = unlike(&node, &expected);
        let (Value::Text(written) | Value::Bool { written, .. }) = &node.value else {
            return reader.refuse(problem.maybe_help(help.map(str::to_owned)));
        };
        match names.iter().position(|name| name == written) {
            Some(found) => Some(Located::new(values[found].clone(), node.place)),
            None => {
                let meant = prose::meant(written, names.iter().copied());
                reader.refuse(problem.maybe_help(meant.or(help.map(str::to_owned))))
            }
        }
    })
}

/// A number within bounds. The bounds are checked, said in messages and written into the schema.
fn number<T: 'static>(
    bounds: impl RangeBounds<f64>,
    is_whole: bool,
    convert: fn(f64) -> T,
) -> Kind<Located<T>> {
    let bounds = (bounds.start_bound().cloned(), bounds.end_bound().cloned());
    Kind::scalar("number", schema(bounds, is_whole), move |node, reader| {
        let expected = expected(bounds, is_whole, &node.value);
        let problem = match &node.value {
            Value::Number { value, integer, .. }
                if bounds.contains(value)
                    && value.is_finite()
                    && (!is_whole || integer.is_some()) =>
            {
                return Some(Located::new(convert(*value), node.place));
            }
            Value::Number { written, .. } => Diagnostic::error(
                Code::OutOfRange,
                format!("expected {expected}, found {written}"),
            )
            .at(node.place, ""),
            Value::Text(text) => unlike(&node, &expected).maybe_help(without_unit(text)),
            _ => unlike(&node, &expected),
        };
        reader.refuse(problem)
    })
}

/// Says how to write a number that is in quotes or has a unit. Times are in seconds.
fn without_unit(text: &str) -> Option<String> {
    let text = text.trim();
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit() && c != '.') {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let number: f64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "" => return Some("remove the quotes".to_owned()),
        "s" | "sec" | "seconds" => number,
        "m" | "min" | "minutes" => number * 60.0,
        "h" | "hours" => number * 3600.0,
        _ => return Some(format!("write `{number}`, without a unit")),
    };
    Some(format!(
        "write `{seconds}`: times are in seconds, without a unit"
    ))
}

type Bounds = (Bound<f64>, Bound<f64>);

/// Returns the words for what is accepted, where something else was found.
fn expected(bounds: Bounds, is_whole: bool, found: &Value) -> String {
    let noun = match is_whole {
        true => "a whole number",
        false => "a number",
    };
    let is_above = |most| matches!(found, Value::Number { value, .. } if *value > most);
    match bounds {
        (Excluded(least), Excluded(most)) => format!("{noun} above {least} and below {most}"),
        (Excluded(_), Included(most)) if is_above(most) => format!("{noun} up to {most}"),
        (Excluded(least), _) => format!("{noun} above {least}"),
        (Included(least), Included(most)) => format!("{noun} from {least} to {most}"),
        (Included(least), _) => format!("{noun} of at least {least}"),
        (Unbounded, _) => noun.to_owned(),
    }
}

fn schema((least, most): Bounds, is_whole: bool) -> serde_json::Value {
    let mut schema = json!({ "type": if is_whole { "integer" } else { "number" } });
    for (bound, including, excluding) in [
        (least, "minimum", "exclusiveMinimum"),
        (most, "maximum", "exclusiveMaximum"),
    ] {
        match bound {
            Included(bound) => schema[including] = without_fraction(bound.into()),
            Excluded(bound) => schema[excluding] = without_fraction(bound.into()),
            Unbounded => {}
        }
    }
    schema
}

/// Writes a whole number as people do: 300, not 300.0.
pub(super) fn without_fraction(value: serde_json::Value) -> serde_json::Value {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => json!(number as i64),
        _ => value,
    }
}

fn decimal(bounds: impl RangeBounds<f64>) -> Kind<Located<f64>> {
    number(bounds, false, |value| value)
}

/// A whole number from 1.
pub(crate) fn count() -> Kind<Located<u32>> {
    number(1.0..=1_000_000.0, true, |value| value as u32)
}

/// The number of a port.
pub(crate) fn port() -> Kind<Located<u16>> {
    number(1.0..=65_535.0, true, |value| value as u16)
}

/// A number of further attempts.
pub(crate) fn times() -> Kind<Located<u32>> {
    number(0.0..=1_000.0, true, |value| value as u32)
}

/// The seconds that a worker may be silent. It speaks every three seconds.
pub(crate) fn silence() -> Kind<Located<u32>> {
    number(5.0..=86_400.0, true, |value| value as u32)
}

/// A whole number from 0.
pub(crate) fn whole() -> Kind<Located<u64>> {
    number(0.0.., true, |value| value as u64)
}

/// A number above 0, such as a weight.
pub(crate) fn positive() -> Kind<Located<f64>> {
    decimal((Excluded(0.0), Included(1e9)))
}

/// A number from 0.
pub(crate) fn not_negative() -> Kind<Located<f64>> {
    decimal(0.0..)
}

/// A number from 0 to 1.
pub(crate) fn share() -> Kind<Located<f64>> {
    decimal(0.0..=1.0)
}

/// A difference in points: more than none, and less than all there are.
pub(crate) fn points() -> Kind<Located<f64>> {
    decimal((Excluded(0.0), Excluded(100.0)))
}

/// A number of processors.
pub(crate) fn processors() -> Kind<Located<f64>> {
    decimal(0.1..=10_000.0)
}

/// The units of sizes, and what each is in bytes.
const UNITS: [(&str, u64); 9] = [
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// A number of bytes, with its unit.
pub(crate) fn size() -> Kind<u64> {
    size_from(1, "a size such as `20GB` or `500MB`")
}

/// A number of bytes that is not too small, with its unit.
pub(crate) fn size_from(least: u64, expected: &'static str) -> Kind<u64> {
    let schema = json!({
        "type": "string",
        "pattern": "^([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*) ?([kKMGT]B|[KMGT]iB)$",
    });
    Kind::scalar("size", schema, move |node, reader| {
        let problem = unlike(&node, expected);
        let problem = match &node.value {
            Value::Text(text) => match parse_size(text).filter(|bytes| *bytes >= least) {
                Some(bytes) => return Some(bytes),
                None => problem,
            },
            Value::Number { value, written, .. } if *value > 0.0 => {
                problem.help(format!("add a unit: `{written}MB` or `{written}GB`"))
            }
            _ => problem,
        };
        reader.refuse(problem)
    })
}

fn parse_size(text: &str) -> Option<u64> {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '.';
    let (number, unit) = text.split_at(text.find(|character| !is_of_number(character))?);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let is_plain =
        number.starts_with(|first: char| first.is_ascii_digit()) && !number.ends_with('.');
    let number: f64 = number.parse().ok().filter(|_| is_plain)?;
    // More than any disk has is as good as no limit.
    Some((number * *bytes as f64) as u64)
}

/// A time limit in seconds.
pub(crate) fn seconds() -> Kind<Duration> {
    positive().map(|seconds| Duration::from_secs_f64(seconds.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("20GB", Some(20_000_000_000)),
            ("500 MB", Some(500_000_000)),
            ("1.5kB", Some(1_500)),
            ("2KiB", Some(2_048)),
            ("1TiB", Some(1 << 40)),
            ("99999999999999999TB", Some(u64::MAX)),
            ("20", None),
            ("GB", None),
            (".5GB", None),
            ("5.GB", None),
            ("1.2.3GB", None),
            ("-1GB", None),
            ("1  GB", None),
            ("1GB ", None),
            ("1B", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }
}
