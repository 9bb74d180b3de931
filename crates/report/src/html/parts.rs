//! What each part of an experiment earned, in the figures and words of `terca ablate`.

use maud::{Markup, html};
use terca_core::analysis::summary::wording::thousands;
use terca_core::analysis::summary::{AblationSummary, Comparison, PartEffect, Summary};

use super::comparisons::Comparisons;
use super::foreign::sentence;
use crate::text::ablation::{in_words, opening, per_thousand};

/// Returns the table of parts, with one plot.
pub fn parts(summary: &Summary, ablation: &AblationSummary) -> Markup {
    let parts = &ablation.parts;
    let compared: Vec<Comparison> = parts.iter().map(|part| part.comparison.clone()).collect();
    let comparisons = Comparisons {
        of: &compared,
        title: ablation.kind.noun(),
        names: parts
            .iter()
            .map(|part| [part.name.clone(), size(part)])
            .collect(),
        words: parts.iter().map(|part| part.finding.as_str()).collect(),
        delivered: vec![Vec::new(); parts.len()],
        margin: summary.margin,
    };
    html! {
        section aria-labelledby="verdicts-title" {
            h2 #verdicts-title { "Parts" }
            p.quiet { (sentence(&opening(ablation))) }
            (comparisons.table())
            ul.notes {
                @for (label, text) in in_words(summary, ablation) {
                    li { (label) (sentence(&text)) }
                }
            }
        }
    }
}

/// Returns the size of a part, and its effect for each 1,000 tokens.
fn size(part: &PartEffect) -> String {
    let Some(tokens) = part.tokens else {
        return String::new();
    };
    let size = format!("about {} tokens", thousands(tokens));
    match part.per_thousand_tokens {
        Some(value) => format!("{size}, {} per 1,000", per_thousand(part, value)),
        None => size,
    }
}
