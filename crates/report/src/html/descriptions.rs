//! The texts of a suite about its evals, environments and experiments.

use std::collections::BTreeMap;

use maud::{Markup, html};
use terca_core::plan::descriptions::Descriptions;

use super::fit::{fit, fit_text};
use super::foreign::clean;
use terca_core::text::prose;

/// The bytes of a description that are shown; the rest is in `results.json`.
pub const LONGEST_DESCRIPTION: usize = 2_000;
/// The bytes that the whole list may take.
const ROOM: usize = 200_000;

/// Returns the list, folded. Nothing where nothing is described.
pub fn descriptions(about: &Descriptions) -> Markup {
    let kinds = [
        ("Eval", &about.evals),
        ("Environment", &about.environments),
        ("Experiment", &about.experiments),
    ];
    let items: Vec<Markup> = kinds
        .into_iter()
        .flat_map(|(kind, texts)| list(kind, texts))
        .collect();
    let remark = |number| {
        format!(
            "… {} left out; see results.json …",
            prose::count(number, "description")
        )
    };
    html! {
        @if !items.is_empty() {
            section aria-labelledby="descriptions-title" {
                h2 #descriptions-title { "Descriptions" }
                details {
                    summary { (prose::count(items.len(), "description")) }
                    ul.descriptions { (fit(&items, ROOM, remark)) }
                }
            }
        }
    }
}

fn list(kind: &str, texts: &BTreeMap<String, String>) -> Vec<Markup> {
    texts
        .iter()
        .map(|(name, text)| {
            html! {
                li {
                    span.quiet { (kind) " " }
                    b { (name) }
                    ": "
                    (clean(&fit_text(text, LONGEST_DESCRIPTION)))
                }
            }
        })
        .collect()
}
