//! `repetitions`: one number, or from so many to so many until the comparisons are decided.

use crate::config::adaptive::Adaptive;
use crate::config::raw::RawRepetitions;
use crate::config::read::{self, Fields};
use crate::config::resolver::Resolver;
use crate::config::suite::Suite;
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::Located;

/// What can be waited for.
const CONCLUSIVE: &str = "conclusive";

pub(super) fn read(node: Node, problems: &mut Diagnostics) -> Option<RawRepetitions> {
    match node.value {
        Value::Map(_) => adaptive(node, problems),
        _ => read::count(node, problems).map(RawRepetitions::Fixed),
    }
}

fn adaptive(node: Node, problems: &mut Diagnostics) -> Option<RawRepetitions> {
    let mut fields = Fields::open(node, "`repetitions`", problems)?;
    let min = fields.optional("min", read::count);
    let max = fields.required("max", read::count);
    fields.required("until", until);
    fields.close();
    Some(RawRepetitions::Adaptive { min, max: max? })
}

fn until(node: Node, problems: &mut Diagnostics) -> Option<()> {
    match &node.value {
        Value::Text(text) if text == CONCLUSIVE => Some(()),
        _ => read::wrong_type(node, &format!("`{CONCLUSIVE}`"), problems),
    }
}

/// With adaptive ones, the suite's own number is the largest there can be.
pub(super) fn resolve(raw: RawRepetitions, suite: &mut Suite, resolver: &mut Resolver<'_>) {
    match raw {
        RawRepetitions::Fixed(count) => suite.repetitions = count.value,
        RawRepetitions::Adaptive { min, max } => {
            if let Some(min) = min.as_ref().filter(|min| min.value > max.value) {
                resolver.problems.push(too_few(min, &max));
            }
            suite.repetitions = max.value;
            suite.adaptive = Some(Adaptive {
                min: min.map_or(1, |min| min.value),
                max: max.value,
            });
        }
    }
}

fn too_few(min: &Located<u32>, max: &Located<u32>) -> Diagnostic {
    Diagnostic::error(
        Code::OutOfRange,
        format!(
            "`repetitions`: from {} to {} there is nothing",
            min.value, max.value
        ),
    )
    .at(max.place, "`max` is smaller than `min`")
    .beside(min.place, "`min` is here")
}
