//! Variables, whose values may hold `${NAME}`.

use serde_json::json;

use crate::reader::values::plain_text;
use crate::reader::{Entries, Kind, Patch, Reader, map_of};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// Text in which `${NAME}` is replaced by a variable of Terca's own environment when the plan is made.
pub type Template = Located<String>;

/// Names and values; `null` removes a variable that a lower layer sets.
pub type Variables = Vec<(String, Patch<Template>)>;

pub(super) fn variables() -> Kind<Variables> {
    map_of(plain_text())
        .with("propertyNames", json!({ "pattern": "^[^=]+$" }))
        .then(named)
}

fn named(entries: Entries<Template>, reader: &mut Reader<'_>) -> Option<Variables> {
    for (name, _) in &entries {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            reader.problems.push(
                Diagnostic::error(
                    Code::InvalidName,
                    format!(
                        "`{}` cannot be the name of a variable",
                        name.value.escape_debug()
                    ),
                )
                .at(name.place, "a name has at least one character and no `=`"),
            );
        }
    }
    let variables = entries.into_iter();
    Some(variables.map(|(name, value)| (name.value, value)).collect())
}
