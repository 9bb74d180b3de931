//! The keys of one map, declared one by one.
//!
//! While a file is read, each declaration takes its key from the map; a key that nobody declared is unknown. While
//! the declarations are described, the map is empty, and each adds its field to the description.

use serde_json::json;

use super::describe::{Definitions, Description, Field};
use super::kind::{list_of, optional};
use super::values::without_fraction;
use super::{Kind, Node, Patch, Reader, Value};
use crate::text::{Code, Diagnostic, Located, Place, prose};

/// The keys of one map.
pub(crate) struct Fields<'f, 'a> {
    /// The map's name with an article: "an eval".
    pub(super) what: &'static str,
    pub place: Place,
    pub(super) entries: Vec<(Located<String>, Node)>,
    pub(super) known: Vec<&'static str>,
    pub reader: &'f mut Reader<'a>,
    pub(super) described: Option<(&'f mut Definitions, Description)>,
}

/// When a key must be there, and have a value.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Presence {
    Required,
    /// A key without a value is an error.
    Filled,
    /// A key without a value is as good as none.
    Optional,
}

/// The beginning of keys that are for other programs, or a home for YAML anchors.
const FOREIGN: &str = "x-";

#[expect(
    clippy::needless_pass_by_value,
    reason = "a kind is made where a field is declared, and used once"
)]
impl Fields<'_, '_> {
    /// Declares a field that may be left out.
    pub(crate) fn optional<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> Option<T> {
        self.declare(key, &kind, Presence::Optional, None, about);
        let node = self.take_present(key)?;
        self.read(key, &kind, node)
    }

    /// Declares a field that is empty, or as usual, where it is left out.
    pub(crate) fn defaulted<T: Default + 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> T {
        self.optional(key, kind, about).unwrap_or_default()
    }

    /// Declares a field with a default that the reference shows.
    pub(crate) fn or<T>(
        &mut self,
        key: &'static str,
        kind: Kind<Located<T>>,
        default: T,
        about: &str,
    ) -> T
    where
        T: Copy + Into<serde_json::Value> + 'static,
    {
        let shown = Some(without_fraction(default.into()));
        self.declare(key, &kind, Presence::Optional, shown, about);
        let node = self.take_present(key);
        let value = node.and_then(|node| self.read(key, &kind, node));
        value.map_or(default, |located| located.value)
    }

    /// Declares a field that may be left out, but not without a value.
    pub(crate) fn filled<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> Option<T> {
        self.declare(key, &kind, Presence::Filled, None, about);
        let (_, node) = self.take(key)?;
        self.read(key, &kind, node)
    }

    /// Declares a field that must be there.
    pub(crate) fn required<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> Option<T> {
        self.declare(key, &kind, Presence::Required, None, about);
        match self.take_present(key) {
            Some(node) => self.read(key, &kind, node),
            None => {
                let article = if key.starts_with(['a', 'e', 'i', 'o']) {
                    "an"
                } else {
                    "a"
                };
                self.missing(key, format!("{} needs {article} `{key}`", self.what))
            }
        }
    }

    /// Declares a field that an experiment can set or remove.
    pub(crate) fn patch<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> Patch<T> {
        self.declare(key, &kind, Presence::Optional, None, about);
        match self.take(key) {
            None => Patch::Keep,
            Some((_, node)) if node.value == Value::Null => Patch::Remove,
            Some((_, node)) => self.read(key, &kind, node).map_or(Patch::Keep, Patch::Set),
        }
    }

    /// Declares a field that adds up with those of other levels. An empty value looks as if it replaced something.
    pub(crate) fn added<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        is_empty: fn(&T) -> bool,
        about: &str,
    ) -> Patch<T> {
        let place = self.peek(key).map(|node| node.place);
        let before = self.problem_count();
        let added = self.patch(key, kind, about);
        let is_doubtful = added.set().is_some_and(is_empty) && self.problem_count() == before;
        if let Some(place) = place.filter(|_| is_doubtful) {
            self.reader.problems.push(
                Diagnostic::warning(
                    Code::DoubtfulValue,
                    format!("`{key}` is empty and changes nothing"),
                )
                .at(place, "it adds to the outer levels, and replaces nothing")
                .help(format!(
                    "`{key}: null` drops the values of the outer levels; to keep them, remove the key"
                )),
            );
        }
        added
    }

    /// Declares a list. A list that is left out is empty.
    pub(crate) fn list<T: 'static>(
        &mut self,
        key: &'static str,
        kind: Kind<T>,
        about: &str,
    ) -> Vec<T> {
        self.defaulted(key, list_of(kind), about)
    }

    /// Declares a list that has older names, which still load with a warning. Two names at once are an error.
    pub(crate) fn renamed_list<T: 'static>(
        &mut self,
        key: &'static str,
        older: &[&'static str],
        presence: Presence,
        kind: Kind<T>,
        about: &str,
    ) -> Vec<T> {
        let list = list_of(kind);
        self.declare(key, &list, presence, None, about);
        let mut found: Vec<(Located<String>, Node)> = self.take(key).into_iter().collect();
        for older in older {
            let about = format!("The older spelling of `{key}`.");
            if let Some(field) = self.describe(older, &list, &about) {
                field.deprecated = true;
            }
            found.extend(self.take(older));
        }
        found.retain(|(_, node)| presence == Presence::Filled || node.value != Value::Null);
        let mut first: Option<Located<String>> = None;
        let mut entries = Vec::new();
        for (written, node) in found {
            let read = self.read(&written.value, &list, node);
            entries.extend(read.unwrap_or_default());
            match &first {
                Some(first) => self
                    .reader
                    .problems
                    .push(two_spellings(first, &written, key)),
                None if written.value != key => {
                    self.reader.problems.push(older_spelling(&written, key));
                }
                None => {}
            }
            first.get_or_insert(written);
        }
        entries
    }

    /// Reads a key that has no business here, so that the mistake can be explained. It is not described.
    pub(crate) fn misplaced<T: 'static>(&mut self, key: &'static str, kind: Kind<T>) -> Option<T> {
        self.known.push(key);
        let node = self.take_present(key)?;
        self.read(key, &kind, node)
    }

    fn read<T: 'static>(&mut self, key: &str, kind: &Kind<T>, node: Node) -> Option<T> {
        self.reader.about(key, |reader| kind.read(node, reader))
    }

    /// Allows keys that begin with `x-`, which Terca passes over.
    pub(crate) fn allow_foreign(&mut self) {
        self.entries
            .retain(|(key, _)| !key.value.starts_with(FOREIGN));
        let any = json!({ format!("^{FOREIGN}"): {} });
        self.demand("patternProperties", any);
    }

    /// Declares that exactly one of these keys is wanted. Returns those that are there and not read yet.
    pub(crate) fn one_of(&mut self, keys: &[&'static str]) -> Vec<Located<String>> {
        let choices: Vec<_> = keys
            .iter()
            .map(|key| json!({ "required": [key] }))
            .collect();
        self.demand("oneOf", choices.into());
        self.present(keys)
    }

    /// Returns the one of the keys that was there, or reports that there were more or none, which is `missing`.
    pub(crate) fn only(
        &mut self,
        missing: Code,
        keys: &[&str],
        mut given: Vec<Located<String>>,
    ) -> Option<Located<String>> {
        let problem = match given.as_slice() {
            [_] => return given.pop(),
            [] if self.has_more() => return None, // probably a misspelt one, which is reported as such
            [] => {
                let keys = prose::quoted_list(keys, "or");
                Diagnostic::error(missing, format!("{} needs {keys}", self.what))
                    .at(self.place, "nothing of it is here")
            }
            [first, second, ..] => Diagnostic::error(
                Code::ConflictingKeys,
                format!("both `{}` and `{}` are given", first.value, second.value),
            )
            .at(second.place, format!("{} has one of them", self.what))
            .beside(first.place, "the first is here")
            .help("remove one of them, or split the entry in two"),
        };
        self.refuse(problem)
    }

    /// Returns those of these keys that are there and not read yet, in the order of the file.
    pub(crate) fn present(&self, keys: &[&str]) -> Vec<Located<String>> {
        let mut present = self.keys();
        present.retain(|key| keys.contains(&key.value.as_str()));
        present
    }

    /// Returns the keys that are there and not read yet, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<Located<String>> {
        self.entries.iter().map(|(key, _)| key.clone()).collect()
    }

    /// Returns the value of a key that will be declared later.
    pub(crate) fn peek(&self, key: &str) -> Option<&Node> {
        let found = self.entries.iter().find(|(name, _)| name.value == key);
        found.map(|(_, node)| node)
    }

    /// Adds a keyword to the schema of the whole map.
    pub(crate) fn demand(&mut self, keyword: &str, value: serde_json::Value) {
        if let Some((_, description)) = &mut self.described {
            description.keywords.insert(keyword.to_owned(), value);
        }
    }

    /// Returns how many problems there are so far, in all files.
    pub(crate) fn problem_count(&self) -> usize {
        self.reader.problems.len()
    }

    /// Returns true when keys are left that no declaration so far has taken.
    pub(crate) fn has_more(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Reports that a key is missing.
    pub(crate) fn missing<T>(&mut self, key: &str, label: impl Into<String>) -> Option<T> {
        let problem = Diagnostic::error(Code::MissingKey, missing(key)).at(self.place, label);
        self.reader.refuse(problem)
    }

    /// Reports a problem with the map as a whole.
    pub(crate) fn refuse<T>(&mut self, problem: Diagnostic) -> Option<T> {
        self.reader.refuse(problem)
    }

    /// Reports every key that no declaration has taken.
    pub(super) fn close(self) {
        for (key, _) in &self.entries {
            let problem =
                Diagnostic::error(Code::UnknownKey, format!("unknown key `{}`", key.value))
                    .at(key.place, format!("not a key of {}", self.what));
            let known = self.known.iter().copied();
            let problem = match prose::did_you_mean(&key.value, known) {
                Some(meant) => {
                    // One mistake, one problem: the key is not missing but misspelt.
                    self.reader.problems.retract(&missing(meant), self.place);
                    problem.help(format!("did you mean `{meant}`?"))
                }
                None => problem.help(format!(
                    "the keys are {}",
                    prose::quoted_list(&self.known, "and")
                )),
            };
            self.reader.problems.push(problem);
        }
    }

    fn declare<T: 'static>(
        &mut self,
        key: &'static str,
        kind: &Kind<T>,
        presence: Presence,
        default: Option<serde_json::Value>,
        about: &str,
    ) {
        self.known.push(key);
        if let Some(field) = self.describe(key, kind, about) {
            if presence == Presence::Optional {
                field.schema = optional(field.schema.take());
            }
            field.required = presence == Presence::Required;
            field.default = default;
        }
    }

    fn describe<T: 'static>(
        &mut self,
        key: &'static str,
        kind: &Kind<T>,
        about: &str,
    ) -> Option<&mut Field> {
        let (definitions, description) = self.described.as_mut()?;
        let field = Field {
            key,
            type_name: kind.name().to_owned(),
            schema: kind.schema(definitions),
            about: about.to_owned(),
            ..Field::default()
        };
        description.fields.push(field);
        description.fields.last_mut()
    }

    fn take(&mut self, key: &str) -> Option<(Located<String>, Node)> {
        let index = self
            .entries
            .iter()
            .position(|(name, _)| name.value == key)?;
        Some(self.entries.remove(index))
    }

    fn take_present(&mut self, key: &str) -> Option<Node> {
        let (_, node) = self.take(key)?;
        (node.value != Value::Null).then_some(node)
    }
}

fn missing(key: &str) -> String {
    format!("missing key `{key}`")
}

fn older_spelling(key: &Located<String>, name: &str) -> Diagnostic {
    Diagnostic::warning(
        Code::OlderSpelling,
        format!("`{}` is the older spelling of `{name}`", key.value),
    )
    .at(key.place, format!("write `{name}` here"))
}

fn two_spellings(first: &Located<String>, second: &Located<String>, name: &str) -> Diagnostic {
    Diagnostic::error(
        Code::ConflictingKeys,
        format!("both `{}` and `{}` are given", first.value, second.value),
    )
    .at(second.place, format!("an older spelling of `{name}`"))
    .beside(first.place, "the first is here")
    .help(format!("put all entries under `{name}`"))
}
