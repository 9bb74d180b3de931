//! A map with known keys, as a kind of value.

use std::rc::Rc;

use serde_json::json;

use super::describe::{Definitions, Description};
use super::kind::unlike;
use super::{Fields, Kind, Node, Reader, Surroundings, Value};
use crate::text::source::Sources;
use crate::text::{Diagnostics, Place};

/// A map with known keys.
pub(crate) struct Object<T> {
    /// The name of its definition in the schema, and of its table in the reference.
    definition: &'static str,
    /// Its name with an article, for messages.
    what: &'static str,
    about: &'static str,
    /// An example, for those who wrote something else.
    example: Option<&'static str>,
    /// The name of the type in the reference.
    name: &'static str,
    declare: Declare<T>,
}

type Declare<T> = Box<dyn Fn(&mut Fields<'_, '_>) -> Option<T>>;

/// Declares a map with known keys. `declare` must reach all its fields before it returns.
pub(crate) fn object<T>(
    definition: &'static str,
    what: &'static str,
    declare: impl Fn(&mut Fields<'_, '_>) -> Option<T> + 'static,
) -> Object<T> {
    Object {
        definition,
        what,
        about: "",
        example: None,
        name: "map",
        declare: Box::new(declare),
    }
}

impl<T: 'static> Object<T> {
    /// Adds a sentence about the map as a whole.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Object { about, ..self }
    }

    /// Adds an example for messages.
    pub(crate) fn example(self, example: &'static str) -> Self {
        Object {
            example: Some(example),
            ..self
        }
    }

    /// Names the type in the reference, with a link to its table.
    pub(crate) fn linked(self, name: &'static str) -> Self {
        Object { name, ..self }
    }

    /// Makes it a kind of value.
    pub(crate) fn kind(self) -> Kind<T> {
        let object = Rc::new(self);
        let described = object.clone();
        Kind::new(
            object.name,
            move |definitions| described.schema(definitions),
            move |node, reader| object.read(node, reader),
        )
    }

    fn read(&self, node: Node, reader: &mut Reader<'_>) -> Option<T> {
        let Value::Map(entries) = node.value else {
            let mut problem = unlike(&node, &format!("{} (a map of keys and values)", self.what));
            if let Some(example) = self.example {
                problem = problem.help(format!("write it like this: `{example}`"));
            }
            return reader.refuse(problem);
        };
        let mut fields = Fields {
            what: self.what,
            place: node.place,
            entries,
            known: Vec::new(),
            reader,
            described: None,
        };
        let value = (self.declare)(&mut fields);
        fields.close();
        value
    }

    fn schema(&self, definitions: &mut Definitions) -> serde_json::Value {
        if !definitions.has(self.definition) {
            // Its name first: the definitions are in the order in which they are met.
            definitions.set(self.definition, Description::default());
            let description = self.describe(definitions);
            definitions.set(self.definition, description);
        }
        json!({ "$ref": format!("#/$defs/{}", self.definition) })
    }

    /// Runs the declarations on an empty map. What they find missing is of no interest.
    fn describe(&self, definitions: &mut Definitions) -> Description {
        let mut sources = Sources::default();
        sources.add("/nowhere", "nowhere", "");
        let mut problems = Diagnostics::default();
        let mut fields = Fields {
            what: self.what,
            place: Place::default(),
            entries: Vec::new(),
            known: Vec::new(),
            reader: &mut Reader::new(&sources, &Nothing, &mut problems),
            described: Some((definitions, Description::default())),
        };
        (self.declare)(&mut fields);
        let mut description = fields
            .described
            .map(|(_, description)| description)
            .unwrap_or_default();
        description.about = self.about;
        description
    }
}

/// A file system without files, and an environment without variables.
struct Nothing;

impl Surroundings for Nothing {}
