//! Kinds of values: how one is read, and how it is described.

use serde_json::json;

use super::describe::Definitions;
use super::{Node, Reader, Value};
use crate::text::{Code, Diagnostic, Located};

/// A kind of value.
pub(crate) struct Kind<T> {
    name: String,
    schema: Schema,
    read: Read<T>,
}

type Schema = Box<dyn Fn(&mut Definitions) -> serde_json::Value>;
type Read<T> = Box<dyn Fn(Node, &mut Reader<'_>) -> Option<T>>;

impl<T: 'static> Kind<T> {
    /// Makes a kind of a name for the reference, a JSON Schema and a reader. The reader reports why a node is none
    /// of this kind.
    pub(crate) fn new(
        name: impl Into<String>,
        schema: impl Fn(&mut Definitions) -> serde_json::Value + 'static,
        read: impl Fn(Node, &mut Reader<'_>) -> Option<T> + 'static,
    ) -> Self {
        Kind {
            name: name.into(),
            schema: Box::new(schema),
            read: Box::new(read),
        }
    }

    /// Makes a kind whose schema refers to no definitions.
    pub(crate) fn scalar(
        name: &str,
        schema: serde_json::Value,
        read: impl Fn(Node, &mut Reader<'_>) -> Option<T> + 'static,
    ) -> Self {
        Kind::new(name, move |_| schema.clone(), read)
    }

    /// Reads a node, or reports why it is none of this kind.
    pub(crate) fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<T> {
        (self.read)(node, reader)
    }

    /// Describes in JSON Schema the values that are accepted.
    pub(crate) fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        (self.schema)(definitions)
    }

    /// Returns the name of the type in the reference, in Markdown. A link is relative to `docs/reference`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes something of the value, or reports why not.
    pub(crate) fn then<U: 'static>(
        self,
        make: impl Fn(T, &mut Reader<'_>) -> Option<U> + 'static,
    ) -> Kind<U> {
        let read = self.read;
        Kind {
            name: self.name,
            schema: self.schema,
            read: Box::new(move |node, reader| make(read(node, reader)?, reader)),
        }
    }

    /// Makes something of the value.
    pub(crate) fn map<U: 'static>(self, change: impl Fn(T) -> U + 'static) -> Kind<U> {
        self.then(move |value, _| Some(change(value)))
    }

    /// Looks at the node before it is read, and may refuse it.
    pub(crate) fn checked(
        self,
        check: impl Fn(&Node, &mut Reader<'_>) -> Option<()> + 'static,
    ) -> Self {
        let read = self.read;
        let checked = move |node: Node, reader: &mut Reader<'_>| {
            check(&node, reader)?;
            read(node, reader)
        };
        Kind {
            read: Box::new(checked),
            ..self
        }
    }

    /// Names the type otherwise in the reference.
    pub(crate) fn called(self, name: &str) -> Self {
        Kind {
            name: name.to_owned(),
            ..self
        }
    }

    /// Adds a keyword to the schema.
    pub(crate) fn with(self, keyword: &'static str, value: serde_json::Value) -> Self {
        let schema = self.schema;
        let extended = move |definitions: &mut Definitions| {
            let mut schema = schema(definitions);
            schema[keyword] = value.clone();
            schema
        };
        Kind {
            schema: Box::new(extended),
            ..self
        }
    }
}

impl<T: 'static> Kind<Located<T>> {
    /// Leaves out the place.
    pub(crate) fn value(self) -> Kind<T> {
        self.map(|located| located.value)
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

/// A list.
pub(crate) fn list_of<T: 'static>(kind: Kind<T>) -> Kind<Vec<T>> {
    let name = match kind.name.split_once(']') {
        Some((noun, link)) => format!("list of {noun}s]{link}"),
        None => format!("list of {}s", kind.name),
    };
    let Kind { schema, read, .. } = kind;
    Kind::new(
        name,
        move |definitions| json!({ "type": "array", "items": schema(definitions) }),
        move |node, reader| {
            let problem = match node.value {
                Value::List(items) => return Some(read_each(&read, items, reader)),
                Value::Map(_) | Value::Text(_) => unlike(&node, "a list")
                    .help("begin each entry with `- `, or put the list in brackets: `[…]`"),
                _ => unlike(&node, "a list"),
            };
            reader.refuse(problem)
        },
    )
}

/// One value, or a list of them.
pub(crate) fn one_or_more<T: 'static>(kind: Kind<T>) -> Kind<Vec<T>> {
    let name = format!("{}, or a list", kind.name);
    let Kind { schema, read, .. } = kind;
    Kind::new(
        name,
        move |definitions| {
            let one = schema(definitions);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        },
        move |node, reader| {
            let items = match node.value {
                Value::List(items) => items,
                _ => vec![node],
            };
            Some(read_each(&read, items, reader))
        },
    )
}

fn read_each<T>(read: &Read<T>, items: Vec<Node>, reader: &mut Reader<'_>) -> Vec<T> {
    items
        .into_iter()
        .filter_map(|item| read(item, reader))
        .collect()
}

/// A field that can be left out, removed with `null`, or set.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Patch<T> {
    /// The field is not mentioned.
    #[default]
    Keep,
    /// The field is `null`.
    Remove,
    /// The field has a value.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns the value. `Keep` and `Remove` have none.
    pub fn set(&self) -> Option<&T> {
        match self {
            Patch::Set(value) => Some(value),
            Patch::Keep | Patch::Remove => None,
        }
    }

    /// Returns the value that is left when this is applied to a field below: it replaces, keeps or removes.
    pub fn applied_to<'a>(&'a self, below: &'a Patch<T>) -> Option<&'a T> {
        match self {
            Patch::Keep => below.set(),
            Patch::Remove => None,
            Patch::Set(value) => Some(value),
        }
    }
}

/// The entries of a map. `null` is kept, since it removes an entry of a layer below.
pub type Entries<T> = Vec<(Located<String>, Patch<T>)>;

/// A map whose keys are the user's own.
pub(crate) fn map_of<T: 'static>(kind: Kind<T>) -> Kind<Entries<T>> {
    let Kind { schema, read, .. } = kind;
    Kind::new(
        "map",
        move |definitions| {
            let value = optional(schema(definitions));
            json!({ "type": "object", "additionalProperties": value })
        },
        move |node, reader| read_entries(&read, node, reader),
    )
}

/// A map whose keys are the user's own and which all have a value. `expected` are the words for one that is missing.
pub(crate) fn pairs_of<T: 'static>(
    kind: Kind<T>,
    expected: &'static str,
) -> Kind<Vec<(Located<String>, T)>> {
    let Kind { schema, read, .. } = kind;
    Kind::new(
        "map",
        move |definitions| {
            let value = schema(definitions);
            json!({ "type": "object", "additionalProperties": value })
        },
        move |node, reader| {
            let mut pairs = Vec::new();
            for (key, value) in read_entries(&read, node, reader)? {
                if let Patch::Set(value) = value {
                    pairs.push((key, value));
                } else {
                    let message = format!("`{}` has no value", key.value);
                    reader.problems.push(
                        Diagnostic::error(Code::MissingKey, message)
                            .at(key.place, format!("expected {expected} after it")),
                    );
                }
            }
            Some(pairs)
        },
    )
}

fn read_entries<T>(read_one: &Read<T>, node: Node, reader: &mut Reader<'_>) -> Option<Entries<T>> {
    let problem = match node.value {
        Value::Map(entries) => {
            let mut read = Vec::new();
            for (key, node) in entries {
                if node.value == Value::Null {
                    read.push((key, Patch::Remove));
                } else if let Some(value) =
                    reader.about(&key.value, |reader| read_one(node, reader))
                {
                    read.push((key, Patch::Set(value)));
                }
            }
            return Some(read);
        }
        Value::Text(_) | Value::List(_) => {
            unlike(&node, "a map").help("a map has a `KEY: value` in each line, or `{KEY: value}`")
        }
        _ => unlike(&node, "a map"),
    };
    reader.refuse(problem)
}

/// A short form, or a map with more settings.
pub(crate) fn or_map<T: 'static>(short: Kind<T>, long: Kind<T>) -> Kind<T> {
    let name = format!("{}, or a {}", short.name, long.name);
    Kind::new(
        name,
        move |definitions| {
            let short = (short.schema)(definitions);
            json!({ "anyOf": [short, (long.schema)(definitions)] })
        },
        move |node, reader| {
            let read = if node.is_map() {
                &long.read
            } else {
                &short.read
            };
            read(node, reader)
        },
    )
}

/// Accepts `null` too: a key without a value is as good as none.
pub(crate) fn optional(mut schema: serde_json::Value) -> serde_json::Value {
    use serde_json::Value::Array;
    let nothing = json!({ "type": "null" });
    if let Some(types) = schema.get_mut("type") {
        match types {
            Array(types) => types.push("null".into()),
            one => *one = json!([one, "null"]),
        }
    } else if let Some(Array(choices)) = schema.get_mut("anyOf") {
        choices.push(nothing);
    } else {
        schema = json!({ "anyOf": [schema, nothing] });
    }
    schema
}
