//! The parts of a trial, one after another, and the steps of its session over time.

use maud::{Markup, html};
use terca_core::run::outcome::Phases;
use terca_core::text::prose;
use terca_core::transcript::Step;
use terca_core::transcript::trial_files::{ModelRequest, Session};
use terca_core::wire::Wire;

use super::scale::{round, stacked_bar};
use super::step::ShownStep;
use super::transcript::steps;
use super::turns::{Clock, in_and_out};

/// Returns a bar of the known phases with their times, or nothing if no time is known. The time of an agent whose requests
/// passed through the gateway is split.
pub fn timeline(phases: &Phases, wire: Option<&Wire>) -> Markup {
    let models = wire.map(|wire| wire.model_seconds);
    let tools = wire.and_then(|wire| wire.tool_seconds);
    let split = models.unwrap_or(0.0) + tools.unwrap_or(0.0);
    let rest = phases.agent.map(|agent| (agent - split).max(0.0));
    let all = [
        ("setup", phases.setup),
        ("models", models),
        ("tools", tools),
        ("agent", rest),
        ("tests", phases.tests),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, seconds)| Some((name, seconds?)));
    let sizes = known
        .clone()
        .map(|(name, seconds)| (format!("phase-{name}"), seconds));
    let sizes: Vec<(String, f64)> = sizes.collect();
    html! {
        @if sizes.iter().any(|(_, seconds)| *seconds > 0.0) {
            div.timeline {
                (stacked_bar(&sizes))
                ol.legend {
                    @for (name, seconds) in known {
                        li {
                            span class={ "dot phase-" (name) } {}
                            (name) " " (prose::duration(seconds))
                        }
                    }
                }
            }
        }
    }
}

/// More bars are left out, with a remark.
const MOST_BARS: usize = 150;
const WIDE: f64 = 1000.0;

struct Bar {
    class: &'static str,
    name: String,
    from: f64,
    seconds: f64,
    detail: String,
    step: Option<u32>,
}

/// Returns the bars, or nothing where no times are known.
pub fn waterfall(
    session: &Session,
    requests: &[ModelRequest],
    clock: Clock,
    trial: u32,
) -> Option<Markup> {
    let mut bars: Vec<Bar> = requests.iter().map(of_request).collect();
    bars.extend(calls(session, clock));
    bars.sort_by(|one, other| one.from.total_cmp(&other.from));
    let end = bars
        .iter()
        .map(|bar| bar.from + bar.seconds)
        .fold(0.0, f64::max);
    if bars.len() < 2 || end <= 0.0 {
        return None;
    }
    let left_out = bars.len().saturating_sub(MOST_BARS);
    Some(html! {
        details.waterfall {
            summary { "Waterfall " span.quiet { (prose::count(bars.len(), "call")) " in " (prose::duration(end)) } }
            ol {
                @for bar in bars.iter().take(MOST_BARS) { (row(bar, end, trial)) }
            }
            @if left_out > 0 { p.note { "… " (prose::count(left_out, "later call")) " left out" } }
        }
    })
}

fn of_request(request: &ModelRequest) -> Bar {
    let detail = [
        in_and_out(request.input_tokens, request.output_tokens),
        request.failure.clone(),
    ];
    let detail: Vec<String> = detail.into_iter().flatten().collect();
    let is_answered = request.failure.is_none();
    Bar {
        class: if is_answered { "model" } else { "model failed" },
        name: request.model.clone().unwrap_or_else(|| "model".to_owned()),
        from: request.started,
        seconds: request.seconds,
        detail: detail.join(", "),
        step: None,
    }
}

fn calls(session: &Session, clock: Clock) -> Vec<Bar> {
    let mut all = steps(session.records());
    all.retain(|shown| matches!(shown.lead.step, Step::ToolCall { .. }));
    let bar = |shown: &ShownStep<'_>| {
        Some(Bar {
            class: "call",
            name: shown.lead.step.headline(),
            from: clock.at(shown.lead)?,
            seconds: clock.between(shown.lead, shown.result?)?,
            detail: String::new(),
            step: Some(shown.number),
        })
    };
    all.iter().filter_map(bar).collect()
}

fn row(bar: &Bar, end: f64, trial: u32) -> Markup {
    let x = bar.from / end * WIDE;
    let width = (bar.seconds / end * WIDE).max(2.0);
    html! {
        li {
            span.name {
                @match bar.step {
                    Some(step) => a href={ "#trial-" (trial) "/step-" (step) } { (bar.name) },
                    None => (bar.name),
                }
            }
            svg.line viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
                rect class=(bar.class) x=(round(x)) y="1" width=(round(width)) height="8" {}
            }
            span.quiet {
                "+" (prose::duration(bar.from)) ", " (prose::duration(bar.seconds))
                @if !bar.detail.is_empty() { ", " (bar.detail) }
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
        let wire = |model_seconds, tool_seconds| Wire {
            model_seconds,
            tool_seconds,
            ..Wire::default()
        };
        for (wire, there) in [
            (None, &["setup 1.0s", "agent 10s"][..]),
            (Some(wire(7.5, None)), &["models 7.5s", "agent 2.5s"]),
            (
                Some(wire(7.5, Some(2.0))),
                &["setup 1.0s", "models 7.5s", "tools 2.0s", "agent 0.5s"],
            ),
            // The gateway's clock and the agent's are not the same.
            (Some(wire(10.2, Some(0.0))), &["models 10s", "agent 0"]),
        ] {
            let shown = timeline(&phases, wire.as_ref()).into_string();
            for words in there {
                assert!(shown.contains(words), "{words}: {shown}");
            }
            let has_models = shown.contains("models");
            assert_eq!(has_models, wire.is_some(), "{shown}");
        }
    }
}
