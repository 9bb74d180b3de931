//! Texts, numbers and booleans.

use std::time::Duration;

use serde_json::json;

use super::kind::unlike;
use super::{Kind, Node, Reader, Value};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

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
            _ => read_filled_text(node, reader),
        },
    )
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

/// A number within bounds. The bounds are checked, said in messages and written into the schema.
struct Number<T> {
    least: Bound,
    most: Option<Most>,
    is_whole: bool,
    convert: fn(f64) -> T,
}

enum Bound {
    Above(f64),
    From(f64),
}

#[derive(Clone, Copy)]
enum Most {
    UpTo(f64),
    Below(f64),
}

impl Most {
    fn accepts(self, value: f64) -> bool {
        match self {
            Most::UpTo(most) => value <= most,
            Most::Below(bound) => value < bound,
        }
    }
}

impl<T> Number<T> {
    fn accepts(&self, value: f64, integer: Option<i64>) -> bool {
        let is_enough = match self.least {
            Bound::Above(bound) => value > bound,
            Bound::From(bound) => value >= bound,
        };
        is_enough
            && value.is_finite()
            && self.most.is_none_or(|most| most.accepts(value))
            && (!self.is_whole || integer.is_some())
    }

    /// The words for what is accepted, where something else was found.
    fn expected(&self, found: &Value) -> String {
        let noun = if self.is_whole {
            "a whole number"
        } else {
            "a number"
        };
        match (&self.least, self.most) {
            (Bound::Above(bound), Some(Most::Below(most))) => {
                format!("{noun} above {bound} and below {most}")
            }
            (Bound::Above(_), Some(Most::UpTo(most))) if matches!(found, Value::Number { value, .. } if *value > most) =>
            {
                format!("{noun} up to {most}")
            }
            (Bound::Above(bound), _) => format!("{noun} above {bound}"),
            (Bound::From(least), Some(Most::UpTo(most))) => {
                format!("{noun} from {least} to {most}")
            }
            (Bound::From(least), Some(Most::Below(most))) => {
                format!("{noun} from {least} and below {most}")
            }
            (Bound::From(least), None) => format!("{noun} of at least {least}"),
        }
    }
}

impl<T: 'static> Number<T> {
    fn kind(self) -> Kind<Located<T>> {
        Kind::scalar("number", self.schema(), move |node, reader| {
            let expected = self.expected(&node.value);
            let problem = match &node.value {
                Value::Number { value, integer, .. } if self.accepts(*value, *integer) => {
                    return Some(Located::new((self.convert)(*value), node.place));
                }
                Value::Number { written, .. } => Diagnostic::error(
                    Code::OutOfRange,
                    format!("expected {expected}, found {written}"),
                )
                .at(node.place, ""),
                Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
                    unlike(&node, &expected).help("remove the quotes")
                }
                _ => unlike(&node, &expected),
            };
            reader.refuse(problem)
        })
    }

    fn schema(&self) -> serde_json::Value {
        let mut schema = json!({ "type": if self.is_whole { "integer" } else { "number" } });
        match self.least {
            Bound::Above(bound) => schema["exclusiveMinimum"] = json_number(bound),
            Bound::From(bound) => schema["minimum"] = json_number(bound),
        }
        match self.most {
            Some(Most::UpTo(most)) => schema["maximum"] = json_number(most),
            Some(Most::Below(bound)) => schema["exclusiveMaximum"] = json_number(bound),
            None => {}
        }
        schema
    }
}

/// Writes a whole bound without a decimal point.
fn json_number(bound: f64) -> serde_json::Value {
    if bound.fract() == 0.0 {
        json!(bound as i64)
    } else {
        json!(bound)
    }
}

fn whole_number<T: 'static>(
    least: f64,
    most: Option<f64>,
    convert: fn(f64) -> T,
) -> Kind<Located<T>> {
    let number = Number {
        least: Bound::From(least),
        most: most.map(Most::UpTo),
        is_whole: true,
        convert,
    };
    number.kind()
}

fn decimal(least: Bound, most: Option<Most>) -> Kind<Located<f64>> {
    let number = Number {
        least,
        most,
        is_whole: false,
        convert: |value| value,
    };
    number.kind()
}

/// A whole number from 1.
pub(crate) fn count() -> Kind<Located<u32>> {
    whole_number(1.0, Some(1_000_000.0), |value| value as u32)
}

/// A number of further attempts.
pub(crate) fn times() -> Kind<Located<u32>> {
    whole_number(0.0, Some(1_000.0), |value| value as u32)
}

/// The seconds that a worker may be silent. It speaks every three seconds.
pub(crate) fn silence() -> Kind<Located<u32>> {
    whole_number(5.0, Some(86_400.0), |value| value as u32)
}

/// A whole number from 0.
pub(crate) fn whole() -> Kind<Located<u64>> {
    whole_number(0.0, None, |value| value as u64)
}

/// A number above 0, such as a weight.
pub(crate) fn positive() -> Kind<Located<f64>> {
    decimal(Bound::Above(0.0), Some(Most::UpTo(1e9)))
}

/// A number from 0.
pub(crate) fn not_negative() -> Kind<Located<f64>> {
    decimal(Bound::From(0.0), None)
}

/// A number from 0 to 1.
pub(crate) fn share() -> Kind<Located<f64>> {
    decimal(Bound::From(0.0), Some(Most::UpTo(1.0)))
}

/// A difference in points: more than none, and less than all there are.
pub(crate) fn points() -> Kind<Located<f64>> {
    decimal(Bound::Above(0.0), Some(Most::Below(100.0)))
}

/// A number of processors.
pub(crate) fn processors() -> Kind<Located<f64>> {
    decimal(Bound::From(0.1), Some(Most::UpTo(10_000.0)))
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
    size_of(1, "a size such as `20GB` or `500MB`".to_owned())
}

/// A number of bytes that is not too small, with its unit.
pub(crate) fn size_from(least: u64, written: &str) -> Kind<u64> {
    size_of(
        least,
        format!("a size of at least {written}, such as `500MB` or `4GB`"),
    )
}

fn size_of(least: u64, expected: String) -> Kind<u64> {
    let schema = json!({
        "type": "string",
        "pattern": "^([0-9]*[1-9][0-9]*(\\.[0-9]+)?|0+\\.[0-9]*[1-9][0-9]*) ?([kKMGT]B|[KMGT]iB)$",
    });
    Kind::scalar("size", schema, move |node, reader| {
        let problem = match &node.value {
            Value::Text(text) => match parse_size(text) {
                Some(bytes) if bytes >= least => return Some(bytes),
                _ => unlike(&node, &expected),
            },
            Value::Number { value, written, .. } if *value > 0.0 => {
                unlike(&node, &expected).help(format!("add a unit: `{written}MB` or `{written}GB`"))
            }
            _ => unlike(&node, &expected),
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
