//! The parts of a trial, one after another.

use maud::{Markup, html};
use terca_core::run::outcome::Phases;
use terca_core::text::prose;

use super::plot::stacked_bar;

/// Returns a bar of the known phases with their times, or nothing if no time is known. The time of an agent whose requests
/// passed through the gateway is split: `model_seconds` is the time in which at least one was on its way.
pub fn timeline(phases: &Phases, model_seconds: Option<f64>) -> Markup {
    let models = phases
        .agent
        .and_then(|agent| Some(model_seconds?.min(agent)));
    let all = [
        ("setup", phases.setup),
        ("models", models),
        (
            "agent",
            phases.agent.map(|agent| agent - models.unwrap_or(0.0)),
        ),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_agent_is_split_where_the_wire_is_known() {
        let phases = Phases {
            setup: Some(1.0),
            agent: Some(10.0),
            tests: None,
        };
        for (model_seconds, there) in [
            (None, &["setup 1.0s", "agent 10s"][..]),
            (Some(7.5), &["setup 1.0s", "models 7.5s", "agent 2.5s"]),
            // The gateway's clock and the agent's are not the same.
            (Some(10.2), &["models 10s", "agent 0"]),
        ] {
            let shown = timeline(&phases, model_seconds).into_string();
            for words in there {
                assert!(shown.contains(words), "{words}: {shown}");
            }
            let has_models = shown.contains("models");
            assert_eq!(has_models, model_seconds.is_some(), "{shown}");
        }
    }
}
