//! What agents are doing at this moment, and how long the rest will take.

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::run::event::{Phase, RunStatus};
use terca_core::run::state::{RunState, Trial};
use terca_core::text::prose;

use super::foreign::clean;
use super::matrix::Matrix;
use crate::live::clock::{growing, seconds_between};
use crate::live::eta::seconds_left;

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
    let phase = match live.phase {
        Phase::Agent => "agent at work",
        other => other.as_str(),
    };
    let doing: String = live.doing.chars().take(LONGEST_LINE).collect();
    html! {
        li {
            a href={ "#trial-" (head.id) } { "#" (head.id) " " (head.eval) }
            span.quiet { (matrix.variant_name(&head.environment, &head.experiment)) " · " (head.repetition) }
            span { (phase) " " (since(live.phase_since, at)) }
            @if let Some(on) = &live.on { span.quiet { "on " (clean(on)) } }
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
