//! From a tree of values to typed fields, collecting every problem on the way.
//!
//! A [`Fields`] is opened on a map, asked for each key by name, and closed: whatever nobody asked for is an
//! unknown key. So the code that reads a type is also the list of its keys, and the two cannot drift apart.

use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::{Located, Place};

/// A field of an experiment: not mentioned, removed with `null`, or set.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Patch<T> {
    #[default]
    Keep,
    Remove,
    Set(T),
}

impl<T> Patch<T> {
    /// The value, where `null` and silence mean the same.
    pub fn set(&self) -> Option<&T> {
        match self {
            Patch::Set(value) => Some(value),
            Patch::Keep | Patch::Remove => None,
        }
    }

    pub fn try_map<U>(self, change: impl FnOnce(T) -> Option<U>) -> Patch<U> {
        match self {
            Patch::Keep => Patch::Keep,
            Patch::Remove => Patch::Remove,
            Patch::Set(value) => change(value).map_or(Patch::Keep, Patch::Set),
        }
    }
}

/// Reads one node as a `T`, or says why not.
pub type Read<T> = fn(Node, &mut Diagnostics) -> Option<T>;

/// The keys of one map, taken one by one.
#[derive(Debug)]
pub struct Fields<'p> {
    /// What the map is, with its article: "an eval".
    pub what: &'static str,
    pub place: Place,
    entries: Vec<(Located<String>, Node)>,
    known: Vec<&'static str>,
    pub problems: &'p mut Diagnostics,
}

/// How the maps are written that people most often write as something else.
const EXAMPLES: [(&str, &str); 5] = [
    ("a test", "commandSuccess: npm test"),
    ("an action", "command: npm install"),
    ("an eval", "{name: fib, prompt: Write fib.js.}"),
    (
        "an environment or experiment",
        "{name: default, agent: codex}",
    ),
    ("an MCP server", "{command: npx, args: [docs-server]}"),
];

impl<'p> Fields<'p> {
    pub fn open(node: Node, what: &'static str, problems: &'p mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Map(entries) => Some(Fields {
                what,
                place: node.place,
                entries,
                known: Vec::new(),
                problems,
            }),
            _ => {
                let diagnostic = unlike(&node, &format!("{what} (a map of keys and values)"));
                let example = EXAMPLES.iter().find(|(known, _)| *known == what);
                problems.push(match example {
                    Some((_, example)) => {
                        diagnostic.help(format!("write it like this: `{example}`"))
                    }
                    None => diagnostic,
                });
                None
            }
        }
    }

    /// The value of a key, `null` included.
    pub fn take_with_key(&mut self, key: &'static str) -> Option<(Located<String>, Node)> {
        self.known.push(key);
        self.take_older(key)
    }

    /// The same for a key that nobody should be advised to write.
    pub fn take_older(&mut self, key: &str) -> Option<(Located<String>, Node)> {
        let index = self
            .entries
            .iter()
            .position(|(name, _)| name.value == key)?;
        Some(self.entries.remove(index))
    }

    fn take_present(&mut self, key: &'static str) -> Option<Node> {
        self.take_with_key(key)
            .map(|(_, node)| node)
            .filter(|node| node.value != Value::Null)
    }

    pub fn optional<T>(&mut self, key: &'static str, read: Read<T>) -> Option<T> {
        let node = self.take_present(key)?;
        self.problems.about(key, |problems| read(node, problems))
    }

    /// Like [`Self::optional`], but a key without a value is an error.
    pub fn given<T>(&mut self, key: &'static str, read: Read<T>) -> Option<T> {
        let (_, node) = self.take_with_key(key)?;
        self.problems.about(key, |problems| read(node, problems))
    }

    pub fn required<T>(&mut self, key: &'static str, read: Read<T>) -> Option<T> {
        match self.take_present(key) {
            Some(node) => self.problems.about(key, |problems| read(node, problems)),
            None => {
                self.problems.push(
                    Diagnostic::error(Code::MissingKey, missing(key))
                        .at(self.place, format!("{} needs a `{key}`", self.what)),
                );
                None
            }
        }
    }

    pub fn patch<T>(&mut self, key: &'static str, read: Read<T>) -> Patch<T> {
        match self.take_with_key(key) {
            None => Patch::Keep,
            Some((
                _,
                Node {
                    value: Value::Null, ..
                },
            )) => Patch::Remove,
            Some((_, node)) => self
                .problems
                .about(key, |problems| read(node, problems))
                .map_or(Patch::Keep, Patch::Set),
        }
    }

    /// A list; missing and `null` are the empty list.
    pub fn list<T>(&mut self, key: &'static str, read: Read<T>) -> Vec<T> {
        let Some(node) = self.take_present(key) else {
            return Vec::new();
        };
        self.problems
            .about(key, |problems| list(node, problems, read))
    }

    /// The keys that are present and not taken yet.
    pub fn remaining(&self) -> impl Iterator<Item = &Located<String>> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// Says that every other key is unknown.
    pub fn close(self) {
        for (key, _) in &self.entries {
            let diagnostic =
                Diagnostic::error(Code::UnknownKey, format!("unknown key `{}`", key.value))
                    .at(key.place, format!("not a key of {}", self.what));
            let diagnostic = match prose::did_you_mean(&key.value, self.known.iter().copied()) {
                Some(meant) => {
                    // One mistake, one problem: the key is not missing but misspelt.
                    self.problems.retract(&missing(meant), self.place);
                    diagnostic.help(format!("did you mean `{meant}`?"))
                }
                None => diagnostic.help(format!(
                    "the keys are {}",
                    prose::quoted_list(&self.known, "and")
                )),
            };
            self.problems.push(diagnostic);
        }
    }
}

pub(super) fn missing(key: &str) -> String {
    format!("missing key `{key}`")
}

/// Says that the node is something else. There is no value then.
pub fn wrong_type<T>(node: Node, expected: &str, problems: &mut Diagnostics) -> Option<T> {
    problems.push(unlike(&node, expected));
    drop(node);
    None
}

fn unlike(node: &Node, expected: &str) -> Diagnostic {
    const SHORT: usize = 40;
    let kind = node.value.describe();
    let found = match &node.value {
        Value::Text(text) if text.chars().count() <= SHORT => {
            format!("the text `{}`", text.escape_debug())
        }
        _ => kind.to_owned(),
    };
    let label = if node.value == Value::Null {
        "no value here".into()
    } else {
        format!("this is {kind}")
    };
    Diagnostic::error(
        Code::WrongValue,
        format!("expected {expected}, found {found}"),
    )
    .at(node.place, label)
}

pub fn text(node: Node, problems: &mut Diagnostics) -> Option<Located<String>> {
    match node.value {
        Value::Text(text) => Some(Located::new(text, node.place)),
        Value::Number { ref written, .. } | Value::Bool { ref written, .. } => {
            problems.push(unlike(&node, "text").help(format!("put it in quotes: \"{written}\"")));
            None
        }
        _ => wrong_type(node, "text", problems),
    }
}

/// Text that must say something: a name, a prompt, a command.
pub fn filled_text(node: Node, problems: &mut Diagnostics) -> Option<Located<String>> {
    let text = text(node, problems)?;
    if text.value.trim().is_empty() {
        problems.push(
            Diagnostic::error(Code::WrongValue, "expected text, found an empty one")
                .at(text.place, "this is empty"),
        );
        return None;
    }
    Some(text)
}

/// Text where a number or a boolean is taken as written: the value of an environment variable.
pub fn plain_text(node: Node, problems: &mut Diagnostics) -> Option<Located<String>> {
    match node.value {
        Value::Number { written, .. } | Value::Bool { written, .. } => {
            Some(Located::new(written, node.place))
        }
        _ => text(node, problems),
    }
}

/// A shell command. `true` and `false` are programs that people do write down, so they need no quotes.
pub fn command(node: Node, problems: &mut Diagnostics) -> Option<Located<String>> {
    match node.value {
        Value::Bool { written, .. } => Some(Located::new(written, node.place)),
        _ => filled_text(node, problems),
    }
}

pub fn boolean(node: Node, problems: &mut Diagnostics) -> Option<Located<bool>> {
    match node.value {
        Value::Bool { value, .. } => Some(Located::new(value, node.place)),
        Value::Text(ref text) if matches!(text.as_str(), "yes" | "no" | "on" | "off") => {
            problems.push(unlike(&node, "`true` or `false`").help("in YAML 1.2 this word is text"));
            None
        }
        _ => wrong_type(node, "`true` or `false`", problems),
    }
}

/// A whole number from 1.
pub fn count(node: Node, problems: &mut Diagnostics) -> Option<Located<u32>> {
    const LARGEST: i64 = 1_000_000;
    match node.value {
        Value::Number {
            integer: Some(value @ 1..=LARGEST),
            ..
        } => Some(Located::new(value as u32, node.place)),
        _ => wrong_number(
            node,
            &format!("a whole number from 1 to {LARGEST}"),
            problems,
        ),
    }
}

/// How often something is done once more: a whole number from 0.
pub fn times(node: Node, problems: &mut Diagnostics) -> Option<Located<u32>> {
    const LARGEST: i64 = 1_000;
    match node.value {
        Value::Number {
            integer: Some(value @ 0..=LARGEST),
            ..
        } => Some(Located::new(value as u32, node.place)),
        _ => wrong_number(
            node,
            &format!("a whole number from 0 to {LARGEST}"),
            problems,
        ),
    }
}

/// A number above 0, such as a time limit or a weight.
pub fn positive(node: Node, problems: &mut Diagnostics) -> Option<Located<f64>> {
    const LARGEST: f64 = 1e9;
    match node.value {
        Value::Number { value, .. } if value > LARGEST => {
            wrong_number(node, &format!("a number up to {LARGEST}"), problems)
        }
        Value::Number { value, .. } if value > 0.0 => Some(Located::new(value, node.place)),
        _ => wrong_number(node, "a number above 0", problems),
    }
}

/// A whole number from 0.
pub fn whole(node: Node, problems: &mut Diagnostics) -> Option<Located<u64>> {
    match node.value {
        Value::Number {
            integer: Some(value @ 0..),
            ..
        } => Some(Located::new(value as u64, node.place)),
        _ => wrong_number(node, "a whole number of at least 0", problems),
    }
}

/// A number from 0 to 1.
pub fn share(node: Node, problems: &mut Diagnostics) -> Option<Located<f64>> {
    match node.value {
        Value::Number { value, .. } if (0.0..=1.0).contains(&value) => {
            Some(Located::new(value, node.place))
        }
        _ => wrong_number(node, "a number from 0 to 1", problems),
    }
}

/// A number from 0.
pub fn not_negative(node: Node, problems: &mut Diagnostics) -> Option<Located<f64>> {
    match node.value {
        Value::Number { value, .. } if value >= 0.0 && value.is_finite() => {
            Some(Located::new(value, node.place))
        }
        _ => wrong_number(node, "a number of at least 0", problems),
    }
}

/// A number of the wrong size, or something that is no number.
fn wrong_number<T>(node: Node, expected: &str, problems: &mut Diagnostics) -> Option<T> {
    let Node { value, place } = node;
    let diagnostic = match &value {
        Value::Number { written, .. } => Diagnostic::error(
            Code::OutOfRange,
            format!("expected {expected}, found {written}"),
        )
        .at(place, ""),
        Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
            unlike(&Node { value, place }, expected).help("remove the quotes")
        }
        _ => unlike(&Node { value, place }, expected),
    };
    problems.push(diagnostic);
    None
}

pub fn list<T>(node: Node, problems: &mut Diagnostics, read: Read<T>) -> Vec<T> {
    match node.value {
        Value::List(items) => items
            .into_iter()
            .filter_map(|item| read(item, problems))
            .collect(),
        Value::Map(_) | Value::Text(_) => {
            problems.push(
                unlike(&node, "a list")
                    .help("begin each entry with `- `, or put brackets around: `[…]`"),
            );
            Vec::new()
        }
        _ => wrong_type(node, "a list", problems).unwrap_or_default(),
    }
}

/// One of something, or a list of them.
pub fn one_or_more<T>(node: Node, problems: &mut Diagnostics, read: Read<T>) -> Vec<T> {
    match node.value {
        Value::List(items) => items
            .into_iter()
            .filter_map(|item| read(item, problems))
            .collect(),
        _ => read(node, problems).into_iter().collect(),
    }
}

pub fn texts(node: Node, problems: &mut Diagnostics) -> Option<Vec<Located<String>>> {
    Some(one_or_more(node, problems, filled_text))
}

/// A map whose keys are the user's own. `null` stays visible, since it removes.
pub fn map_of<T>(
    node: Node,
    problems: &mut Diagnostics,
    read: Read<T>,
) -> Option<Vec<(Located<String>, Patch<T>)>> {
    match node.value {
        Value::Map(entries) => Some(
            entries
                .into_iter()
                .filter_map(|(key, node)| match node.value {
                    Value::Null => Some((key, Patch::Remove)),
                    _ => {
                        let value = problems.about(&key.value, |problems| read(node, problems))?;
                        Some((key, Patch::Set(value)))
                    }
                })
                .collect(),
        ),
        Value::Text(_) | Value::List(_) => {
            problems.push(
                unlike(&node, "a map")
                    .help("a map has a `KEY: value` in each line, or `{KEY: value}`"),
            );
            None
        }
        _ => wrong_type(node, "a map", problems),
    }
}
