//! Texts, numbers and booleans.

use std::time::Duration;

use serde_json::json;

use super::describe::Definitions;
use super::{Kind, Node, Reader, Value};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// A value without parts.
pub(crate) struct Scalar<T> {
    name: &'static str,
    schema: serde_json::Value,
    read: fn(Node, &mut Reader<'_>) -> Option<T>,
}

impl<T> Scalar<T> {
    /// Declares a kind of its own, for a value that no other kind fits.
    pub(crate) fn new(
        name: &'static str,
        schema: serde_json::Value,
        read: fn(Node, &mut Reader<'_>) -> Option<T>,
    ) -> Self {
        Scalar { name, schema, read }
    }
}

impl<T> Kind for Scalar<T> {
    type Value = T;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<T> {
        (self.read)(node, reader)
    }

    fn schema(&self, _: &mut Definitions) -> serde_json::Value {
        self.schema.clone()
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }
}

/// Says that a node is something else than expected.
pub(crate) fn unlike(node: &Node, expected: &str) -> Diagnostic {
    const SHORT: usize = 40;
    let kind = node.value.describe();
    let found = match &node.value {
        Value::Text(text) if text.chars().count() <= SHORT => {
            format!("the text `{}`", text.escape_debug())
        }
        _ => kind.to_owned(),
    };
    let label = match node.value {
        Value::Null => "no value here".into(),
        _ => format!("this is {kind}"),
    };
    Diagnostic::error(
        Code::WrongValue,
        format!("expected {expected}, found {found}"),
    )
    .at(node.place, label)
}

/// Any text.
pub(crate) fn text() -> Scalar<Located<String>> {
    Scalar::new("text", json!({ "type": "string" }), read_text)
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
pub(crate) fn filled_text() -> Scalar<Located<String>> {
    Scalar::new(
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
        Diagnostic::error(Code::WrongValue, "expected text, found an empty one")
            .at(text.place, "this is empty"),
    )
}

/// Text in which a number or a boolean needs no quotes, such as the value of an environment variable.
pub(crate) fn plain_text() -> Scalar<Located<String>> {
    Scalar::new(
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
pub(crate) fn command_line() -> Scalar<Located<String>> {
    Scalar::new(
        "a shell command",
        json!({ "type": ["string", "boolean"], "pattern": "\\S" }),
        |node, reader| match node.value {
            Value::Bool { written, .. } => Some(Located::new(written, node.place)),
            _ => read_filled_text(node, reader),
        },
    )
}

/// `true` or `false`.
pub(crate) fn boolean() -> Scalar<Located<bool>> {
    Scalar::new(
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
pub(crate) struct Number<T> {
    least: Bound,
    most: Option<f64>,
    is_whole: bool,
    convert: fn(f64) -> T,
}

enum Bound {
    Above(f64),
    From(f64),
}

impl<T> Number<T> {
    fn accepts(&self, value: f64, integer: Option<i64>) -> bool {
        let is_enough = match self.least {
            Bound::Above(bound) => value > bound,
            Bound::From(bound) => value >= bound,
        };
        is_enough
            && value.is_finite()
            && self.most.is_none_or(|most| value <= most)
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
            (Bound::Above(_), Some(most)) if matches!(found, Value::Number { value, .. } if *value > most) =>
            {
                format!("{noun} up to {most}")
            }
            (Bound::Above(bound), _) => format!("{noun} above {bound}"),
            (Bound::From(least), Some(most)) => format!("{noun} from {least} to {most}"),
            (Bound::From(least), None) => format!("{noun} of at least {least}"),
        }
    }
}

impl<T> Kind for Number<T> {
    type Value = Located<T>;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Located<T>> {
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
    }

    fn schema(&self, _: &mut Definitions) -> serde_json::Value {
        let mut schema = json!({ "type": if self.is_whole { "integer" } else { "number" } });
        match self.least {
            Bound::Above(bound) => schema["exclusiveMinimum"] = json_number(bound),
            Bound::From(bound) => schema["minimum"] = json_number(bound),
        }
        if let Some(most) = self.most {
            schema["maximum"] = json_number(most);
        }
        schema
    }

    fn name(&self) -> String {
        "number".into()
    }
}

/// Writes a bound without a decimal point: all of them are whole.
fn json_number(bound: f64) -> serde_json::Value {
    json!(bound as i64)
}

fn whole_number<T>(least: f64, most: Option<f64>, convert: fn(f64) -> T) -> Number<T> {
    Number {
        least: Bound::From(least),
        most,
        is_whole: true,
        convert,
    }
}

fn decimal(least: Bound, most: Option<f64>) -> Number<f64> {
    Number {
        least,
        most,
        is_whole: false,
        convert: |value| value,
    }
}

/// A whole number from 1.
pub(crate) fn count() -> Number<u32> {
    whole_number(1.0, Some(1_000_000.0), |value| value as u32)
}

/// A number of further attempts.
pub(crate) fn times() -> Number<u32> {
    whole_number(0.0, Some(1_000.0), |value| value as u32)
}

/// A whole number from 0.
pub(crate) fn whole() -> Number<u64> {
    whole_number(0.0, None, |value| value as u64)
}

/// A number above 0, such as a weight.
pub(crate) fn positive() -> Number<f64> {
    decimal(Bound::Above(0.0), Some(1e9))
}

/// A number from 0.
pub(crate) fn not_negative() -> Number<f64> {
    decimal(Bound::From(0.0), None)
}

/// A number from 0 to 1.
pub(crate) fn share() -> Number<f64> {
    decimal(Bound::From(0.0), Some(1.0))
}

/// A time limit in seconds.
pub(crate) fn seconds() -> impl Kind<Value = Duration> {
    positive().map(|seconds| Duration::from_secs_f64(seconds.value))
}
