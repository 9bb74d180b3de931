//! The declaration of a kind of test: its key, a sentence for people, and a reader of its settings.

use std::sync::Arc;

use serde_json::json;

use super::test::TestKind;
use crate::reader::{Kind, Value};
use crate::text::{Code, Diagnostic};

/// The declaration of a kind of test.
pub(crate) struct TestKindDeclaration {
    /// The key in a test.
    pub key: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// Its settings.
    pub settings: fn() -> Settings,
}

/// A reader of a kind's settings.
pub(crate) type Settings = Kind<Arc<dyn TestKind>>;

/// Makes a declaration's settings of a kind of value.
pub(super) fn settings<T: TestKind + 'static>(kind: Kind<T>) -> Settings {
    kind.map(|test| Arc::new(test) as Arc<dyn TestKind>)
}

/// Refuses settings that ask for nothing: such a test would always pass.
pub(super) fn asking<T: 'static>(
    key: &'static str,
    example: &'static str,
    kind: Kind<T>,
) -> Kind<T> {
    kind.with("minProperties", json!(1))
        .checked(move |node, reader| {
            let Value::Map(entries) = &node.value else {
                return Some(());
            };
            let asks = entries.iter().any(|(key, node)| match &node.value {
                Value::Null => false,
                // `only: []` is a demand: nothing may be changed.
                Value::List(items) => !items.is_empty() || key.value == "only",
                _ => true,
            });
            if asks {
                return Some(());
            }
            reader.refuse(
                Diagnostic::error(Code::AsksNothing, format!("`{key}` requires nothing"))
                    .at(node.place, "this test would always pass")
                    .help(format!("add the requirement, such as `{example}`")),
            )
        })
}
