//! Kinds of values: how one is read, and how it is described.

use serde_json::json;

use super::describe::Definitions;
use super::values::unlike;
use super::{Node, Patch, Reader, Value};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// A kind of value.
pub(crate) trait Kind {
    /// The value that is read.
    type Value;

    /// Reads a node, or reports why it is none of this kind.
    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value>;

    /// Describes in JSON Schema the values that are accepted.
    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value;

    /// Names the type in the reference, in Markdown. A link is relative to `docs/reference`.
    fn name(&self) -> String;

    /// Makes something of the value, or reports why not.
    fn then<U>(
        self,
        make: impl Fn(Self::Value, &mut Reader<'_>) -> Option<U>,
    ) -> impl Kind<Value = U>
    where
        Self: Sized,
    {
        Wrapped {
            kind: self,
            read: move |kind: &Self, node, reader: &mut Reader<'_>| {
                let value = kind.read(node, reader)?;
                make(value, reader)
            },
        }
    }

    /// Makes something of the value.
    fn map<U>(self, change: impl Fn(Self::Value) -> U) -> impl Kind<Value = U>
    where
        Self: Sized,
    {
        self.then(move |value, _| Some(change(value)))
    }

    /// Leaves out the place.
    fn value<T>(self) -> impl Kind<Value = T>
    where
        Self: Sized + Kind<Value = Located<T>>,
    {
        self.map(|located| located.value)
    }

    /// Looks at the node before it is read, and may refuse it.
    fn checked(
        self,
        check: impl Fn(&Node, &mut Reader<'_>) -> Option<()>,
    ) -> impl Kind<Value = Self::Value>
    where
        Self: Sized,
    {
        Wrapped {
            kind: self,
            read: move |kind: &Self, node, reader: &mut Reader<'_>| {
                check(&node, reader)?;
                kind.read(node, reader)
            },
        }
    }

    /// Names the type otherwise in the reference.
    fn called(self, name: &'static str) -> Described<Self>
    where
        Self: Sized,
    {
        Described {
            kind: self,
            name: Some(name),
            keyword: None,
        }
    }

    /// Adds a keyword to the schema.
    fn with(self, keyword: &'static str, value: serde_json::Value) -> Described<Self>
    where
        Self: Sized,
    {
        Described {
            kind: self,
            name: None,
            keyword: Some((keyword, value)),
        }
    }
}

/// A kind that is read in another way than the one that describes it.
struct Wrapped<K, F> {
    kind: K,
    read: F,
}

impl<K, U, F> Kind for Wrapped<K, F>
where
    K: Kind,
    F: Fn(&K, Node, &mut Reader<'_>) -> Option<U>,
{
    type Value = U;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<U> {
        (self.read)(&self.kind, node, reader)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        self.kind.schema(definitions)
    }

    fn name(&self) -> String {
        self.kind.name()
    }
}

impl<T> Kind for Box<dyn Kind<Value = T>> {
    type Value = T;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<T> {
        (**self).read(node, reader)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        (**self).schema(definitions)
    }

    fn name(&self) -> String {
        (**self).name()
    }
}

/// A kind that is described otherwise.
pub(crate) struct Described<K> {
    kind: K,
    name: Option<&'static str>,
    keyword: Option<(&'static str, serde_json::Value)>,
}

impl<K: Kind> Kind for Described<K> {
    type Value = K::Value;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<K::Value> {
        self.kind.read(node, reader)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        let mut schema = self.kind.schema(definitions);
        if let (Some((keyword, value)), Some(keywords)) = (&self.keyword, schema.as_object_mut()) {
            keywords.insert((*keyword).to_owned(), value.clone());
        }
        schema
    }

    fn name(&self) -> String {
        self.name
            .map_or_else(|| self.kind.name(), ToOwned::to_owned)
    }
}

/// A list.
pub(crate) struct ListOf<K>(pub(crate) K);

impl<K: Kind> Kind for ListOf<K> {
    type Value = Vec<K::Value>;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value> {
        let problem = match node.value {
            Value::List(items) => return Some(read_each(&self.0, items, reader)),
            Value::Map(_) | Value::Text(_) => unlike(&node, "a list")
                .help("begin each entry with `- `, or put brackets around: `[…]`"),
            _ => unlike(&node, "a list"),
        };
        reader.refuse(problem)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        json!({ "type": "array", "items": self.0.schema(definitions) })
    }

    fn name(&self) -> String {
        let name = self.0.name();
        match name.split_once(']') {
            Some((noun, link)) => format!("list of {noun}s]{link}"),
            None => format!("list of {name}s"),
        }
    }
}

/// One value, or a list of them.
pub(crate) struct OneOrMore<K> {
    kind: K,
    /// The message and label for an empty list, where one is wanted.
    empty: Option<(&'static str, &'static str)>,
}

impl<K> OneOrMore<K> {
    pub(crate) fn new(kind: K) -> Self {
        OneOrMore { kind, empty: None }
    }

    /// Refuses an empty list.
    pub(crate) fn at_least_one(self, message: &'static str, label: &'static str) -> Self {
        OneOrMore {
            empty: Some((message, label)),
            ..self
        }
    }
}

impl<K: Kind> Kind for OneOrMore<K> {
    type Value = Vec<K::Value>;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value> {
        let place = node.place;
        let items = match node.value {
            Value::List(items) => items,
            _ => vec![node],
        };
        if let Some((message, label)) = self.empty.filter(|_| items.is_empty()) {
            return reader.refuse(Diagnostic::error(Code::AsksNothing, message).at(place, label));
        }
        Some(read_each(&self.kind, items, reader))
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        let one = self.kind.schema(definitions);
        let mut list = json!({ "type": "array", "items": one });
        if self.empty.is_some() {
            list["minItems"] = json!(1);
        }
        json!({ "anyOf": [one, list] })
    }

    fn name(&self) -> String {
        format!("{}, or a list", self.kind.name())
    }
}

fn read_each<K: Kind>(kind: &K, items: Vec<Node>, reader: &mut Reader<'_>) -> Vec<K::Value> {
    items
        .into_iter()
        .filter_map(|item| kind.read(item, reader))
        .collect()
}

/// A map whose keys are the user's own. `null` is kept, since it removes an entry of a layer below.
pub(crate) struct MapOf<K>(pub(crate) K);

/// The entries of a map.
pub(crate) type Entries<T> = Vec<(Located<String>, Patch<T>)>;

impl<K: Kind> Kind for MapOf<K> {
    type Value = Entries<K::Value>;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value> {
        read_entries(&self.0, node, reader)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        json!({ "type": "object", "additionalProperties": optional(self.0.schema(definitions)) })
    }

    fn name(&self) -> String {
        "map".into()
    }
}

fn read_entries<K: Kind>(
    kind: &K,
    node: Node,
    reader: &mut Reader<'_>,
) -> Option<Entries<K::Value>> {
    let problem = match node.value {
        Value::Map(entries) => {
            let mut read = Vec::new();
            for (key, node) in entries {
                if node.value == Value::Null {
                    read.push((key, Patch::Remove));
                } else if let Some(value) =
                    reader.about(&key.value, |reader| kind.read(node, reader))
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

/// A map whose keys are the user's own and which all have a value.
pub(crate) struct PairsOf<K> {
    pub(crate) kind: K,
    /// The words for a value, for a key without one.
    pub(crate) expected: &'static str,
}

impl<K: Kind> Kind for PairsOf<K> {
    type Value = Vec<(Located<String>, K::Value)>;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value> {
        let mut pairs = Vec::new();
        for (key, value) in read_entries(&self.kind, node, reader)? {
            if let Patch::Set(value) = value {
                pairs.push((key, value));
            } else {
                let message = format!("`{}` has no value", key.value);
                reader.problems.push(
                    Diagnostic::error(Code::MissingKey, message)
                        .at(key.place, format!("expected {} after it", self.expected)),
                );
            }
        }
        Some(pairs)
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        json!({ "type": "object", "additionalProperties": self.kind.schema(definitions) })
    }

    fn name(&self) -> String {
        "map".into()
    }
}

/// A short form, or a map with more settings.
pub(crate) struct OrMap<K, M>(pub(crate) K, pub(crate) M);

impl<K: Kind, M: Kind<Value = K::Value>> Kind for OrMap<K, M> {
    type Value = K::Value;

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<Self::Value> {
        if node.is_map() {
            self.1.read(node, reader)
        } else {
            self.0.read(node, reader)
        }
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        json!({ "anyOf": [self.0.schema(definitions), self.1.schema(definitions)] })
    }

    fn name(&self) -> String {
        format!("{}, or a {}", self.0.name(), self.1.name())
    }
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
