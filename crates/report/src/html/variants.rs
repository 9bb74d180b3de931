//! What each variant is: its description, and what its agents were given, with a mark where the baseline's were given something else.

use std::collections::BTreeSet;

use maud::{Markup, html};
use terca_core::agent::delivery::Installed;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::text::prose;

use super::descriptions::LONGEST_DESCRIPTION;
use super::fit::fit_text;
use super::foreign::clean;
use super::matrix::Matrix;
use super::pieces::column_titles;

/// The digits of a hash that tell two files apart.
const SHORT_HASH: usize = 8;
/// More variants than this would be a table that nobody reads.
const MOST: usize = 60;
const TITLES: [&str; 6] = [
    "Variant", "Model", "Rules", "Skills", "MCP servers", "In full",
];

/// The things that the agents of a variant were given, in the order of the columns.
#[derive(Default, PartialEq)]
struct Given([BTreeSet<String>; 4]);

/// Returns the table, folded. Nothing where there is one variant only.
pub fn variants(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let about = &results.descriptions.experiments;
    html! {
        @if matrix.variants.len() > 1 {
            section aria-labelledby="variants-title" {
                h2 #variants-title { "Variants" }
                details {
                    summary { "What each of " (prose::count(matrix.variants.len(), "variant")) " gives to its agents" }
                    div.scroll tabindex="0" role="region" aria-label="Table of variants" {
                        table.proofs {
                            caption.unseen { "What agents were given" }
                            thead { (column_titles(&TITLES)) }
                            tbody {
                                @for variant in matrix.variants.iter().take(MOST) {
                                    (row(results, matrix, *variant, about.get(variant.1)))
                                }
                            }
                        }
                    }
                    p.quiet.reading {
                        "≠: not as with " (results.summary.baseline) ". Files are named with the beginning of their hashes."
                    }
                }
            }
        }
    }
}

fn row(
    results: &Results,
    matrix: &Matrix<'_>,
    (environment, experiment): (&str, &str),
    about: Option<&String>,
) -> Markup {
    let own = given(results, environment, experiment);
    let baseline = given(results, environment, &results.summary.baseline);
    html! {
        tr {
            th scope="row" {
                (matrix.variant_name(environment, experiment))
                @if let Some(text) = about { small { (clean(&fit_text(text, LONGEST_DESCRIPTION))) } }
            }
            @for (own, other) in own.0.iter().zip(&baseline.0) {
                td {
                    @if own.is_empty() {
                        @if own != other { (other_than_baseline()) }
                        "–"
                    }
                    @for name in own {
                        div {
                            @if own != other { (other_than_baseline()) }
                            (name)
                        }
                    }
                }
            }
            td { (in_full(results, environment, experiment)) }
        }
    }
}

/// Returns links to all that an agent of the variant was given, and to what differs from the baseline's.
fn in_full(results: &Results, environment: &str, experiment: &str) -> Markup {
    let first = |experiment: &str| {
        let is_it = |trial: &&TrialResult| {
            trial.head.environment == environment && trial.head.experiment == experiment
        };
        results.trials.iter().find(is_it).map(|trial| trial.head.id)
    };
    let baseline = &results.summary.baseline;
    let own = first(experiment);
    let other = first(baseline).filter(|_| experiment != baseline);
    html! {
        @if let Some(own) = own {
            a href={ "#trial-" (own) } { "trial #" (own) }
            @if let Some(other) = other {
                " · "
                a href={ "#pair-" (other) "-" (own) } { "beside " (baseline) }
            }
        }
    }
}

fn other_than_baseline() -> Markup {
    html! { b title="not as with the baseline" { "≠ " } }
}

/// Gathers what the trials of a variant were given.
fn given(results: &Results, environment: &str, experiment: &str) -> Given {
    let mut found = Given::default();
    let [models, rules, skills, servers] = &mut found.0;
    let is_it = |head: &terca_core::run::event::TrialHead| {
        head.environment == environment && head.experiment == experiment
    };
    for trial in results.trials.iter().filter(|trial| is_it(&trial.head)) {
        let delivery = &trial.report.delivery;
        models.extend(
            delivery
                .model_observed
                .as_ref()
                .or(trial.head.model.as_ref())
                .cloned(),
        );
        rules.extend(delivery.rules.iter().map(file));
        skills.extend(delivery.skills.iter().map(file));
        servers.extend(delivery.mcp_servers.keys().cloned());
    }
    found
}

fn file(installed: &Installed) -> String {
    let hash: String = installed.sha256.chars().take(SHORT_HASH).collect();
    format!("{} ({hash})", installed.path)
}
