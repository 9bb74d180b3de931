//! Differences of an eval from its task: what it lacks, and what is merely otherwise.

use std::collections::BTreeMap;

use crate::text::prose;

/// A kind of thing that a task needs and its eval lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Files that were not copied.
    Files,
    /// Packages that are not installed.
    Packages,
    /// Services that are not started.
    Services,
    /// Something that the tests need.
    Tests,
}

/// A difference from the task.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// What the eval lacks; `None` is a mere change.
    pub loss: Option<Loss>,
    /// The difference, in words.
    pub text: String,
}

impl Note {
    pub(in crate::new_suite) fn change(text: impl Into<String>) -> Self {
        Note {
            loss: None,
            text: text.into(),
        }
    }

    pub(in crate::new_suite) fn lost(loss: Loss, text: impl Into<String>) -> Self {
        Note {
            loss: Some(loss),
            text: text.into(),
        }
    }
}

/// Returns the last line of an import: how many evals there are, and what they lack.
pub fn summary(evals: &[&[Note]]) -> String {
    let imported = format!("{} imported", prose::count(evals.len(), "eval"));
    let mut counts: BTreeMap<Loss, usize> = BTreeMap::new();
    let mut incomplete = 0;
    for notes in evals {
        let mut losses: Vec<Loss> = notes.iter().filter_map(|note| note.loss).collect();
        losses.sort_unstable();
        losses.dedup();
        incomplete += usize::from(!losses.is_empty());
        for loss in losses {
            *counts.entry(loss).or_default() += 1;
        }
    }
    if incomplete == 0 {
        return imported;
    }
    let words = |(loss, number): (Loss, usize)| {
        let need = if number == 1 { "needs" } else { "need" };
        match loss {
            Loss::Files => format!("{number} lost files"),
            Loss::Packages => format!("{number} {need} packages"),
            Loss::Services => format!("{number} {need} services"),
            Loss::Tests => format!("{number} {need} more for the tests"),
        }
    };
    let incomplete = match incomplete {
        1 => "1 is incomplete and does not run until it is completed".to_owned(),
        many => format!("{many} are incomplete and do not run until they are completed"),
    };
    format!(
        "{imported}: {}; {incomplete}",
        prose::joined(counts.into_iter().map(words), ", ")
    )
}
