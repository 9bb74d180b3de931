//! The overview of a run: verdicts first, then what changed, then the figures. Each part is replaced when it has changed.

use std::collections::BTreeSet;

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::agent::control::is_control;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::validation::is_validation;
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::prose;

use super::causes::validation;
use super::changed::{sides, what_changed};
use super::effects::{distributions, effects};
use super::heat_map::heat_map;
use super::matrix::Matrix;
use super::scale::stacked_bar;
use super::text::{clean, fit_text, run_status, time};
use super::trials::phase;
use super::variants::{LONGEST_DESCRIPTION, descriptions, mcp_servers, variants};
use super::verdicts::{parts, remarks, verdicts};
use crate::groups::grouped;
use crate::live::eta::seconds_left;
use crate::live::time_limits::{growing, seconds_between};
use crate::metrics;
use crate::outcome::endings;

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

/// Returns the masthead of a run.
pub fn masthead(results: &Results) -> Markup {
    let mut counts = endings(&results.summary).to_vec();
    counts.retain(|(_, number)| *number > 0);
    html! {
        header.masthead {
            h1 { (results.suite) }
            @if let Some(about) = &results.descriptions.suite {
                p.about { (fit_text(about, LONGEST_DESCRIPTION)) }
            }
            p.facts {
                (run_status(results.status))
                span { (results.run) }
                @if let Some(at) = results.started_at { (time(at)) }
                @if let Some(seconds) = results.seconds() { span { (prose::duration(seconds)) } }
                span { (prose::count(results.summary.trials, "trial")) }
                @if let Some(spent) = metrics::spent_on(results) { span { "spent: " (spent) } }
                @if results.grading > 1 { span { "graded again: this is grading " (results.grading) } }
            }
            (agents(results))
            // What the agents of a validation do not pass is no failure.
            @if !is_validation(results) {
                (bar(&counts))
                (legend(&counts))
            }
        }
    }
}

fn bar(counts: &[(Status, usize)]) -> Markup {
    let sizes = counts.iter();
    let sizes = sizes.map(|(status, number)| (format!("fill-{}", status.as_str()), *number as f64));
    stacked_bar(&sizes.collect::<Vec<_>>())
}

/// Returns the counts in words. Each links to its trials.
fn legend(counts: &[(Status, usize)]) -> Markup {
    html! {
        ul.legend {
            @for (status, number) in counts {
                li {
                    a href={ "#trials?status=" (status.as_str()) } {
                        span class={ "dot fill-" (status.as_str()) } {}
                        b { (number) }
                        " " (status.as_str())
                    }
                }
            }
        }
    }
}

/// More trials than this are counted and not listed.
const MOST_TRIALS: usize = 64;
/// The characters of a line about an agent's work.
const LONGEST_LINE: usize = 200;

/// Returns the trials in flight, of a run that goes on.
pub fn at_work(state: &RunState, matrix: &Matrix<'_>, at: Timestamp) -> Markup {
    if state.status() != RunStatus::Running {
        return html! {};
    }
    let in_flight = state.in_flight();
    let counts = state.counts();
    let left = seconds_left(state, at).map(prose::duration);
    let more = in_flight.len().saturating_sub(MOST_TRIALS);
    html! {
        section.now aria-labelledby="now-title" {
            h2 #now-title { "At work now" }
            p.facts {
                span { (counts.finished()) " of " (prose::count(counts.total, "trial")) " done" }
                span { (in_flight.len()) " running" }
                @if let Some(began) = state.started_at() { span { (since(began, at)) " since the start" } }
                @if let Some(left) = left { span { "about " (left) " left" } }
            }
            ul {
                @for trial in in_flight.take(MOST_TRIALS) { (line(trial, matrix, at)) }
                @if more > 0 { li.quiet { "and " (prose::count(more, "more trial")) } }
            }
        }
    }
}

fn line(trial: &Trial, matrix: &Matrix<'_>, at: Timestamp) -> Markup {
    let head = &trial.head;
    let Some(live) = &trial.live else {
        return html! {};
    };
    let doing: String = live.doing.chars().take(LONGEST_LINE).collect();
    html! {
        li {
            a href={ "#trial-" (head.id) } { "#" (head.id) " " (head.eval) }
            span.quiet { (matrix.variant_name(&head.environment, &head.experiment)) " · " (head.repetition) }
            span { (phase(live.phase)) " " (since(live.phase_since, at)) }
            @if let Some(on) = &live.on { span.quiet { "on " (on) } }
            code.doing { (clean(&doing)) }
        }
    }
}

/// Returns the time since a moment. The script lets it grow.
fn since(moment: Timestamp, at: Timestamp) -> Markup {
    html! {
        time.since datetime=(moment.to_string()) { (growing(seconds_between(moment, at))) }
    }
}

/// Returns the agents of each environment with the models that were asked for, a line each.
pub fn agents(results: &Results) -> Markup {
    let agents = grouped(results.trials.iter().map(|trial| {
        let head = &trial.head;
        (
            (&*head.environment, &*head.agent, head.model.as_deref()),
            trial,
        )
    }));
    let is_shared = |environment: &str| {
        let same = agents
            .iter()
            .filter(|((other, ..), _)| *other == environment);
        same.count() > 1
    };
    html! {
        ul.agents {
            @for ((environment, name, requested), trials) in &agents {
                li {
                    @if agents.len() > 1 || *environment != "default" {
                        b { (environment) }
                        @if is_shared(environment) {
                            " " span.quiet { (distinct(trials, |trial| Some(&trial.head.experiment)).join(", ")) }
                        }
                        ": "
                    }
                    (words(name, *requested, trials))
                }
            }
        }
    }
}

/// Returns what there is of the trials, sorted, each once.
fn distinct<'a>(
    trials: &[&'a TrialResult],
    read: fn(&'a TrialResult) -> Option<&'a String>,
) -> Vec<&'a str> {
    let found = trials.iter().filter_map(|trial| read(trial));
    let found: BTreeSet<&str> = found.map(String::as_str).collect();
    found.into_iter().collect()
}

/// `claude-code 2.1.197, model claude-sonnet-5`.
fn words(name: &str, requested: Option<&str>, trials: &[&TrialResult]) -> String {
    if is_control(name) {
        return format!("{name}, which checks evals and is no agent");
    }
    let mut text = name.to_owned();
    let versions = distinct(trials, |trial| trial.report.agent_version.as_ref());
    if !versions.is_empty() {
        text += &format!(" {}", prose::list(&versions, "and"));
    }
    let observed = distinct(trials, |trial| {
        trial.report.delivery.model_observed.as_ref()
    });
    let answered = prose::list(&observed, "and");
    match requested {
        Some(model) => {
            text += &format!(", model {model}");
            if observed.iter().any(|other| *other != model) {
                text += &format!(" (answered by {answered})");
            }
        }
        None if observed.is_empty() => text += ", its default model",
        None => text += &format!(", its default model: {answered}"),
    }
    text
}
