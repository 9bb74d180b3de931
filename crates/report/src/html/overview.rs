//! The overview of a run: verdicts first, then what changed, then the figures. Each part is replaced when it has changed.

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::is_validation;
use terca_core::run::state::RunState;

use super::changed::{sides, what_changed};
use super::descriptions::descriptions;
use super::distributions::distributions;
use super::effects::effects;
use super::heat_map::heat_map;
use super::masthead::masthead;
use super::matrix::Matrix;
use super::mcp_servers::mcp_servers;
use super::now::at_work;
use super::parts::parts;
use super::proofs::validation;
use super::variants::variants;
use super::verdicts::{remarks, verdicts};

/// Returns the parts before the list of trials, by their ids.
pub fn overview(
    state: &RunState,
    results: &Results,
    matrix: &Matrix<'_>,
    now: Timestamp,
) -> Vec<(&'static str, Markup)> {
    let summary = &results.summary;
    let is_validation = is_validation(results);
    let of_agents = |part: &dyn Fn() -> Markup| match is_validation {
        true => html! {},
        false => part(),
    };
    let verdicts = match &summary.ablation {
        _ if is_validation => validation(results),
        Some(ablation) => parts(summary, ablation),
        None => verdicts(results),
    };
    [
        ("part-masthead", masthead(results)),
        ("part-now", at_work(state, matrix, now)),
        ("part-verdicts", verdicts),
        ("part-changed", what_changed(&sides(results))),
        ("part-heat", of_agents(&|| heat_map(results, matrix))),
        ("part-effects", effects(summary)),
        ("part-remarks", remarks(summary)),
        ("part-mcp", mcp_servers(summary)),
        ("part-variants", of_agents(&|| variants(results, matrix))),
        ("part-descriptions", descriptions(&results.descriptions)),
        ("part-spent", distributions(results, matrix)),
    ]
    .into_iter()
    .map(|(id, part)| (id, html! { div id=(id) data-part { (part) } }))
    .collect()
}
