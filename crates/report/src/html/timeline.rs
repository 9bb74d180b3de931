//! The parts of a trial, one after another.

use maud::{Markup, html};
use terca_core::run::outcome::Phases;
use terca_core::text::prose;

use super::plot::stacked_bar;

/// Returns a bar of the known phases with their times, or nothing if no time is known.
pub fn timeline(phases: &Phases) -> Markup {
    let all = [
        ("setup", phases.setup),
        ("agent", phases.agent),
        ("tests", phases.tests),
    ];
    let known: Vec<(String, &str, f64)> = all
        .into_iter()
        .filter_map(|(name, seconds)| Some((format!("phase-{name}"), name, seconds?)))
        .collect();
    let sizes: Vec<(String, f64)> = known
        .iter()
        .map(|(class, _, seconds)| (class.clone(), *seconds))
        .collect();
    html! {
        @if sizes.iter().any(|(_, seconds)| *seconds > 0.0) {
            div.timeline {
                (stacked_bar(&sizes))
                ol.legend {
                    @for (class, name, seconds) in &known {
                        li {
                            span class={ "dot " (class) } {}
                            (name) " " (prose::duration(*seconds))
                        }
                    }
                }
            }
        }
    }
}
