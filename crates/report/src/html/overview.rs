//! The overview of a run: verdicts first, then what changed, then the figures. Each part is replaced when it has changed.

use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::is_validation;

use super::changed::{sides, what_changed};
use super::descriptions::descriptions;
use super::distributions::distributions;
use super::effects::effects;
use super::heat_map::heat_map;
use super::masthead::masthead;
use super::matrix::Matrix;
use super::mcp_servers::mcp_servers;
use super::proofs::validation;
use super::variants::variants;
use super::verdicts::verdicts;

/// Returns all parts before the list of trials.
pub fn overview(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let summary = &results.summary;
    let is_validation = is_validation(results);
    html! {
        div #part-masthead data-part { (masthead(results)) }
        div #part-verdicts data-part {
            @if is_validation { (validation(results)) } @else { (verdicts(results)) }
        }
        div #part-changed data-part { (what_changed(&sides(results))) }
        div #part-heat data-part {
            @if !is_validation { (heat_map(summary, matrix)) }
        }
        div #part-effects data-part { (effects(summary)) }
        div #part-mcp data-part { (mcp_servers(summary)) }
        div #part-variants data-part {
            @if !is_validation { (variants(results, matrix)) }
        }
        div #part-descriptions data-part { (descriptions(&results.descriptions)) }
        div #part-spent data-part { (distributions(results, matrix)) }
    }
}
