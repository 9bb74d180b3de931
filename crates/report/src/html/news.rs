//! What is new on the page of a run since it was told last: the parts and rows that have changed, and no others.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::run::state::RunState;

use super::foreign::without_control_characters;
use super::matrix::Matrix;
use super::overview::overview;
use super::prompts::Prompts;
use super::rows::row_json;

/// What a page has, by the hashes of its parts and rows.
#[derive(Debug, Default)]
pub struct Told {
    parts: HashMap<&'static str, u64>,
    rows: HashMap<u32, u64>,
}

impl Told {
    /// Returns what has changed since the last call, as JSON: the number of events of the run that the page has seen
    /// then, the markup of parts by their ids, and rows. At the first call, that is everything.
    pub fn news(
        &mut self,
        state: &RunState,
        prompts: &Prompts,
        (seen, now): (u64, Timestamp),
    ) -> Option<String> {
        let results = Results::of(state);
        let matrix = Matrix::of(&results.summary);
        let mut changed_parts = HashMap::new();
        for (id, markup) in overview(state, &results, &matrix, now) {
            let html = without_control_characters(markup.into_string());
            if is_new(&mut self.parts, id, &html) {
                changed_parts.insert(id, html);
            }
        }
        let mut rows = Vec::new();
        for trial in state.trials() {
            let row = row_json(trial, &matrix, prompts);
            if is_new(&mut self.rows, trial.head.id, &row) {
                rows.push(row);
            }
        }
        if changed_parts.is_empty() && rows.is_empty() {
            return None;
        }
        let parts = serde_json::to_string(&changed_parts).ok()?;
        let rows = rows.join(",");
        Some(format!(
            "{{\"seen\":{seen},\"parts\":{parts},\"rows\":[{rows}]}}"
        ))
    }
}

/// Notes a text, and returns whether it is another one than before.
fn is_new<K: Eq + Hash>(known: &mut HashMap<K, u64>, key: K, text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    known.insert(key, hash) != Some(hash)
}
