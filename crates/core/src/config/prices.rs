//! `prices` of a suite: what models cost that the shipped table does not know, or knows wrongly.

use crate::prices::{Price, Prices};
use crate::reader::values::not_negative;
use crate::reader::{Entries, Fields, Kind, Patch, map_of, object};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// `prices`. A model with `null` has no price.
pub(super) fn prices() -> Kind<Prices> {
    let price = object("price", "the price of a model", fields_of)
        .about("The price of a model, in US dollars per million tokens.")
        .example("{input: 1.25, cachedInput: 0.125, output: 10}")
        .linked("[price](terca-yaml.md#prices)")
        .kind();
    map_of(price).then(|entries: Entries<Price>, reader| {
        let mut known: Vec<&Located<String>> = Vec::new();
        for (name, _) in &entries {
            let is_same =
                |other: &&&Located<String>| other.value.to_lowercase() == name.value.to_lowercase();
            if name.value.trim().is_empty() {
                let problem = Diagnostic::error(Code::WrongValue, "the name of a model is empty");
                reader
                    .problems
                    .push(problem.at(name.place, "expected a name"));
            } else if let Some(other) = known.iter().find(is_same) {
                let message = format!("`prices` has the model `{}` twice", other.value);
                let problem = Diagnostic::error(Code::WrongValue, message)
                    .at(name.place, "the second price")
                    .beside(other.place, "the first price")
                    .help("upper and lower case are the same; remove one of the two");
                reader.problems.push(problem);
            }
            known.push(name);
        }
        let priced = entries.into_iter().map(|(name, price)| match price {
            Patch::Set(price) => (name.value, Some(price)),
            Patch::Keep | Patch::Remove => (name.value, None),
        });
        Some(Prices::new(priced))
    })
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<Price> {
    let input = fields.required("input", not_negative(), "Tokens that are sent.");
    let cached_input = fields.optional(
        "cachedInput",
        not_negative().value(),
        "Tokens sent that the service reads from its cache. Default: as `input`.",
    );
    let cache_write = fields.optional(
        "cacheWrite",
        not_negative().value(),
        "Tokens sent that the service writes to its cache. Default: as `input`.",
    );
    let output = fields.required(
        "output",
        not_negative(),
        "Tokens that the model writes, its thoughts included.",
    );
    Some(Price {
        input: input?.value,
        cached_input,
        cache_write,
        cache_write_hour: None,
        output: output?.value,
        long: None,
    })
}
