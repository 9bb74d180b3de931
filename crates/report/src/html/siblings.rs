//! The other trials of the same eval: its repetitions, and those of other variants, a dot for each.

use maud::{Markup, html};
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};

use super::heat_map::Matrix;
use super::pair::{counterpart, pair_address};

/// More dots and more variants are counted.
const MOST_DOTS: usize = 10;
const MOST_VARIANTS: usize = 8;

/// Returns a line of dots for each variant, that of the trial first.
pub fn siblings(state: &RunState, matrix: &Matrix<'_>, trial: &Trial) -> Markup {
    let head = &trial.head;
    let of_eval = || {
        state
            .trials()
            .iter()
            .filter(|other| other.head.eval == head.eval)
    };
    let own = (head.environment.as_str(), head.experiment.as_str());
    let others = matrix.variants.iter().filter(|variant| **variant != own);
    let hidden = (matrix.variants.len()).saturating_sub(MOST_VARIANTS);
    let shown = std::iter::once(&own).chain(others).take(MOST_VARIANTS);
    let lines = shown.filter_map(|variant| {
        let of_variant = |other: &&Trial| {
            (
                other.head.environment.as_str(),
                other.head.experiment.as_str(),
            ) == *variant
        };
        let trials: Vec<&Trial> = of_eval().filter(of_variant).collect();
        (!trials.is_empty()).then(|| (matrix.variant_name(variant.0, variant.1), trials))
    });
    let counterpart = counterpart(state, trial);
    html! {
        div.siblings {
            @for (name, trials) in lines {
                span.variant-dots {
                    span { (name) }
                    @for other in near(&trials, head.id) { (dot(other, head.id)) }
                    @if trials.len() > MOST_DOTS { span { "of " (trials.len()) } }
                }
            }
            @if hidden > 0 { span { "and " (hidden) " more" } }
            @if let Some(other) = counterpart {
                a.button.compare href=(pair_address(beside(state, trial, other))) {
                    "Compare with #" (other.head.id) " ("
                    (matrix.variant_name(&other.head.environment, &other.head.experiment))
                    ", " (other.report.status.as_str()) ")"
                }
            }
        }
    }
}

/// Returns the first trials, or those around the one that is shown.
fn near<'a, 'b>(trials: &'b [&'a Trial], current: u32) -> &'b [&'a Trial] {
    let place = trials.iter().position(|trial| trial.head.id == current);
    let first = place.unwrap_or(0).saturating_sub(MOST_DOTS / 2);
    let first = first.min(trials.len().saturating_sub(MOST_DOTS));
    &trials[first..trials.len().min(first + MOST_DOTS)]
}

/// Puts the baseline first.
fn beside(state: &RunState, trial: &Trial, other: &Trial) -> (u32, u32) {
    match other.head.experiment == state.baseline() && trial.head.experiment != state.baseline() {
        true => (other.head.id, trial.head.id),
        false => (trial.head.id, other.head.id),
    }
}

fn dot(trial: &Trial, current: u32) -> Markup {
    let head = &trial.head;
    let status = trial.report.status;
    let label = format!(
        "#{}, repetition {}: {}",
        head.id,
        head.repetition,
        status.as_str()
    );
    let is_current = (head.id == current).then_some("page");
    html! {
        a class={ "sibling " (status.as_str()) } href={ "#trial-" (head.id) } aria-label=(label)
            aria-current=[is_current] { (sign(status)) }
    }
}

/// Returns a dot that says what its colour says.
fn sign(status: Status) -> &'static str {
    match status {
        Status::Passed => "●",
        Status::Partial => "◐",
        Status::Failed => "○",
        Status::Error => "!",
        Status::Interrupted | Status::Pending => "·",
    }
}
