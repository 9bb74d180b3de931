//! `repetitions` of a suite: a number, or bounds.

use crate::config::adaptive::Adaptive;
use crate::reader::values::{count, word};
use crate::reader::{Fields, Kind, object, or_map};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// The repetitions of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetitions {
    /// This many.
    Fixed(u32),
    /// As many as it takes to decide the comparisons, within these bounds.
    Adaptive(Adaptive),
}

impl Default for Repetitions {
    fn default() -> Self {
        Repetitions::Fixed(1)
    }
}

impl Repetitions {
    /// Returns the largest number of repetitions that there can be.
    pub fn most(self) -> u32 {
        match self {
            Repetitions::Fixed(number) => number,
            Repetitions::Adaptive(bounds) => bounds.max,
        }
    }

    /// Returns the bounds of adaptive repetitions.
    pub fn adaptive(self) -> Option<Adaptive> {
        match self {
            Repetitions::Fixed(_) => None,
            Repetitions::Adaptive(bounds) => Some(bounds),
        }
    }
}

pub(super) fn repetitions() -> Kind<Repetitions> {
    let bounds = object("repetitions", "`repetitions`", bounds)
        .linked("[map](terca-yaml.md#as-many-repetitions-as-it-takes)")
        .kind();
    or_map(
        count().map(|number| Repetitions::Fixed(number.value)),
        bounds,
    )
}

fn bounds(fields: &mut Fields<'_, '_>) -> Option<Repetitions> {
    let min = fields.optional("min", count(), "The fewest repetitions (default 1).");
    let max = fields.required("max", count(), "The most repetitions.");
    fields.required(
        "until",
        word([("conclusive", ())], None),
        "When to stop: as soon as every comparison is decided.",
    );
    let max = max?;
    if let Some(min) = min.as_ref().filter(|min| min.value > max.value) {
        fields.reader.problems.push(upside_down(min, &max));
    }
    Some(Repetitions::Adaptive(Adaptive {
        min: min.map_or(1, |min| min.value),
        max: max.value,
    }))
}

fn upside_down(min: &Located<u32>, max: &Located<u32>) -> Diagnostic {
    Diagnostic::error(
        Code::OutOfRange,
        format!(
            "`repetitions`: `min` is {}, but `max` is only {}",
            min.value, max.value
        ),
    )
    .at(max.place, "`max` is smaller than `min`")
    .beside(min.place, "`min` is here")
}
