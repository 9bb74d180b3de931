//! Descriptions of declared fields: the JSON Schema for editors and the tables of the reference.

use serde_json::{Map, Value, json};

/// Every map with known keys that a document can hold, in the order in which they are met.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    objects: Vec<(&'static str, Description)>,
}

/// The keys of one map.
#[derive(Debug, Default)]
pub(crate) struct Description {
    pub about: &'static str,
    pub fields: Vec<Field>,
    /// Further keywords of the schema, such as `oneOf`.
    pub keywords: Map<String, Value>,
}

/// One key of a map.
#[derive(Debug, Default)]
pub(crate) struct Field {
    pub key: &'static str,
    /// The type in Markdown, and in JSON Schema.
    pub type_name: String,
    pub schema: Value,
    pub required: bool,
    pub default: Option<Value>,
    /// A sentence for people, in Markdown.
    pub about: String,
    /// An older spelling: it is read, but editors strike it through and the reference leaves it out.
    pub deprecated: bool,
}

impl Definitions {
    /// Returns true when a map has been described, or is being described.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Description> {
        let found = self.objects.iter().find(|(known, _)| *known == name);
        found.map(|(_, description)| description)
    }

    /// Adds or replaces a description.
    pub(crate) fn set(&mut self, name: &'static str, description: Description) {
        match self.objects.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = description,
            None => self.objects.push((name, description)),
        }
    }

    /// Returns the names of the maps.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.objects.iter().map(|(name, _)| *name)
    }

    /// Returns the schema of a document, whose root may be one of the maps. It is complete in itself, so that it can be
    /// copied anywhere.
    pub(crate) fn document(&self, title: &str, root: &Value) -> Value {
        let named = |name: &str| root["$ref"] == format!("#/$defs/{name}");
        let is_root = |(name, _): &&(&str, Description)| named(name);
        let schema = match self.objects.iter().find(is_root) {
            Some((_, description)) => description.schema(),
            None => root.as_object().cloned().unwrap_or_default(),
        };
        let mut document = Map::new();
        document.insert(
            "$schema".into(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        document.insert("title".into(), title.into());
        document.extend(schema);
        let others = (self.objects.iter()).filter(|(name, _)| !named(name));
        let definitions: Map<String, Value> = others
            .map(|(name, description)| ((*name).to_owned(), description.schema().into()))
            .collect();
        document.insert("$defs".into(), definitions.into());
        Value::Object(document)
    }
}

impl Description {
    fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        if !self.about.is_empty() {
            schema.insert("description".into(), without_links(self.about).into());
        }
        schema.insert("type".into(), "object".into());
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| (field.key.to_owned(), field.schema()))
            .collect();
        schema.insert("properties".into(), properties.into());
        schema.insert("additionalProperties".into(), false.into());
        let required: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.key)
            .collect();
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        schema.extend(self.keywords.clone());
        schema
    }

    /// Returns the table of the fields in Markdown, for a page of `docs/reference`.
    pub(crate) fn table(&self, page: &str) -> String {
        let mut table = "| field | type | meaning |\n|---|---|---|\n".to_owned();
        for field in self.fields.iter().filter(|field| !field.deprecated) {
            let required = if field.required { ", required" } else { "" };
            let row = format!(
                "| `{}` | {}{required} | {} |\n",
                field.key,
                field.type_name,
                field.sentence()
            );
            table.push_str(&row.replace(&format!("({page}#"), "(#"));
        }
        table
    }
}

impl Field {
    fn schema(&self) -> Value {
        let mut schema = self.schema.clone();
        let Some(keywords) = schema.as_object_mut() else {
            return schema;
        };
        keywords.insert("description".into(), without_links(&self.sentence()).into());
        if let Some(default) = &self.default {
            keywords.insert("default".into(), default.clone());
        }
        if self.deprecated {
            keywords.insert("deprecated".into(), true.into());
        }
        schema
    }

    /// The sentence, and the default.
    fn sentence(&self) -> String {
        match &self.default {
            Some(Value::Bool(default)) => format!("{} Default: `{default}`.", self.about),
            Some(default) => format!("{} Default: {default}.", self.about),
            None => self.about.clone(),
        }
    }
}

/// Returns Markdown without the addresses of its links: editors show plain text.
fn without_links(markdown: &str) -> String {
    let mut plain = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let (text_before, text) = before.rsplit_once('[').unwrap_or(("", before));
        plain.push_str(text_before);
        plain.push_str(text);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_get_no_addresses() {
        assert_eq!(
            without_links("Put before every [prompt](terca-yaml.md#the-prompt), [a](b)."),
            "Put before every prompt, a."
        );
        assert_eq!(without_links("`{a: [b]}` stays"), "`{a: [b]}` stays");
    }
}
