//! Fields that add up: `before`, `preamble` and `postamble`.
//!
//! The levels are the suite, the environment and the experiment; an eval is inside the suite. Each level adds to what
//! the levels around it have, and `null` drops what they have. So `null` in an experiment drops what the suite and the
//! environment add, `null` in an environment drops what the suite adds, and so does `null` in an eval. An eval's own
//! `before` belongs to its task: no variant drops it.

use crate::reader::values::text;
use crate::reader::{Fields, Patch};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Place;

/// The same field on all levels.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a, T> {
    /// The suite's.
    pub suite: Option<&'a T>,
    /// The eval's.
    pub eval: &'a Patch<T>,
    /// The environment's.
    pub environment: &'a Patch<T>,
    /// The experiment's.
    pub experiment: &'a Patch<T>,
}

impl<'a, T: PartialEq> Levels<'a, T> {
    /// Returns what is left of each level: the suite's, the eval's, the environment's, the experiment's.
    pub fn added_up(self) -> [Option<&'a T>; 4] {
        let inside_suite = [self.eval, self.environment, self.experiment];
        let keeps_suite = inside_suite.iter().all(|level| **level != Patch::Remove);
        let keeps_environment = *self.experiment != Patch::Remove;
        [
            self.suite.filter(|_| keeps_suite),
            self.eval.set(),
            self.environment.set().filter(|_| keeps_environment),
            self.experiment.set(),
        ]
    }
}

/// Declares a text that adds up.
pub(super) fn added_text(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    about: &str,
) -> Patch<String> {
    let place = fields.peek(key).map(|node| node.place);
    let added = fields.patch(key, text().value(), about);
    if let (Patch::Set(text), Some(place)) = (&added, place)
        && text.trim().is_empty()
    {
        fields.reader.problems.push(adds_nothing(key, place));
    }
    added
}

/// Warns of an empty value, which looks as if it replaced something.
pub(super) fn adds_nothing(key: &str, place: Place) -> Diagnostic {
    Diagnostic::warning(
        Code::DoubtfulValue,
        format!("`{key}` is empty and changes nothing"),
    )
    .at(place, "it adds to the outer levels, and replaces nothing")
    .help(format!(
        "`{key}: null` drops the values of the outer levels; to keep them, remove the key"
    ))
}
