//! The causes of failures: messages that are alike, counted. And the checks of evals, in a run that validates them.

use std::collections::BTreeSet;

use maud::{Markup, html};
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::validation::{Flaw, Proof, proofs};
use terca_core::run::event::TrialHead;
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::alike::alike;
use terca_core::text::excerpt::without_middle;
use terca_core::text::{prose, sha256};

use super::matrix::Matrix;
use super::text::{clean, column_titles, pill, section, wide_table};
use crate::groups::grouped;
use crate::text::validation_table::{explained, fallen, opening, outcome, verdict_words};

/// The causes that are shown at first, and at all.
const FIRST: usize = 6;
const MOST: usize = 100;
const LONGEST_MESSAGE: usize = 240;
/// More names than this are only counted.
const MOST_NAMES: usize = 2;

/// A cause: the test, or the kind of an error, and what the messages have alike; and the messages with the trials that they are of.
type Cause<'a> = ((&'a str, String), Vec<(&'a str, &'a TrialHead)>);

/// Returns the tests that lost points, or else the error, each with its message.
fn losses(trial: &Trial) -> impl Iterator<Item = (&str, &str)> {
    let errors = trial.report.error.iter();
    let errors = errors.map(|error| (error.kind.as_str(), error.message.as_str()));
    let losses = trial.report.losses();
    errors.chain(losses.map(|(test, grade)| (test, grade.message.as_str())))
}

/// Returns the keys of a trial's causes, by which an address names them.
pub fn keys(trial: &Trial) -> Vec<String> {
    losses(trial)
        .map(|(test, message)| key(test, &alike(message)))
        .collect()
}

/// Returns ten digits: the same for the same cause in every run.
fn key(test: &str, pattern: &str) -> String {
    let mut hash = sha256(format!("{test}\0{pattern}").as_bytes());
    hash.truncate(10);
    hash
}

fn causes(state: &RunState) -> Vec<Cause<'_>> {
    let mut causes = grouped(state.trials().iter().flat_map(|trial| {
        losses(trial).map(|(test, message)| ((test, alike(message)), (message, &*trial.head)))
    }));
    causes.sort_by_key(|(_, struck)| std::cmp::Reverse(struck.len()));
    causes
}

/// Returns a table of the causes, the most frequent first. Each leads to its trials.
pub fn causes_table(state: &RunState, matrix: &Matrix<'_>) -> Markup {
    let causes = causes(state);
    let (first, rest) = causes.split_at(causes.len().min(FIRST));
    let rest = &rest[..rest.len().min(MOST - FIRST)];
    let left_out = causes.len() - first.len() - rest.len();
    html! {
        @if !causes.is_empty() {
            h3 #causes-title { "Failures by cause" }
            (table(first, matrix, "Failures by cause"))
            @if !rest.is_empty() {
                details {
                    summary { (prose::count(rest.len() + left_out, "more cause")) }
                    (table(rest, matrix, "More causes"))
                    @if left_out > 0 {
                        p.note { "… " (prose::count(left_out, "cause")) " left out …" }
                    }
                }
            }
        }
    }
}

fn table(causes: &[Cause<'_>], matrix: &Matrix<'_>, caption: &str) -> Markup {
    html! {
        table.causes {
            caption.unseen { (caption) }
            thead { (column_titles(&["Trials", "Message", "Test", "Evals", "Variants"])) }
            tbody { @for cause in causes { (row(cause, matrix)) } }
        }
    }
}

fn row(((test, pattern), struck): &Cause<'_>, matrix: &Matrix<'_>) -> Markup {
    let count = prose::count(struck.len(), "trial");
    let (first, _) = struck[0];
    let is_same = struck.iter().all(|(message, _)| *message == first);
    let message = if is_same { first } else { pattern };
    let heads = struck.iter().map(|(_, head)| head);
    let evals = heads.clone().map(|head| head.eval.clone());
    let variants = heads.map(|head| matrix.variant_name(&head.environment, &head.experiment));
    html! {
        tr {
            td.num {
                a href={ "#trials?cause=" (key(test, pattern)) } aria-label={ (count) ": " (test) } {
                    (struck.len())
                }
            }
            th scope="row" { (clean(&without_middle(message, LONGEST_MESSAGE))) }
            td { (test) }
            td { (names(evals, "eval")) }
            td { (names(variants, "variant")) }
        }
    }
}

fn names(names: impl Iterator<Item = String>, noun: &str) -> String {
    let names: BTreeSet<String> = names.collect();
    match names.len() {
        0..=MOST_NAMES => prose::joined(names, ", "),
        number => prose::count(number, noun),
    }
}

/// Returns the table of evals that were checked, and what to do about those that measure nothing.
pub fn validation(results: &Results) -> Markup {
    let proofs = proofs(results);
    let sound = proofs.iter().filter(|proof| proof.flaws().is_empty());
    let sound = sound.count();
    let head = column_titles(&["Eval", "oracle", "nop", "cheat", "Verdict"]);
    let rows = html! { @for proof in &proofs { (proofs_row(proof)) } };
    let caption = "Evals by the agents that check them";
    let body = html! {
        p {
            (sound) " of " (prose::count(proofs.len(), "eval")) " sound. "
            span.quiet {
                "An eval is sound when its own solution passes, doing nothing does not, and it withstands the tricks of the cheat."
            }
        }
        (wide_table("proofs", "Table of proofs", caption, &head, &rows))
        ul.notes { @for proof in &proofs { (flaws(proof)) } }
    };
    section("proofs", "Proofs", &body)
}

fn proofs_row(proof: &Proof<'_>) -> Markup {
    let flaws = proof.flaws();
    let class = if flaws.is_empty() { "passed" } else { "failed" };
    html! {
        tr {
            th scope="row" { (proof.eval) }
            (cell(proof.oracle, true))
            (cell(proof.nop, false))
            (cell(proof.cheat, false))
            td { (pill(class, &verdict_words(&flaws))) }
        }
    }
}

/// Returns the end of a trial. Passing is what the oracle should do and the others should not.
fn cell(trial: Option<&TrialResult>, should_pass: bool) -> Markup {
    let Some(trial) = trial else {
        return html! { td { "–" } };
    };
    let status = trial.report.status;
    let is_right = (status == Status::Passed) == should_pass;
    let class = match (status.is_judged(), is_right) {
        (false, _) => "trouble",
        (true, true) => "good",
        (true, false) => "bad",
    };
    html! {
        td {
            a class=(class) href={ "#trial-" (trial.head.id) } { (outcome(trial)) }
            @if status.is_judged() {
                small { @if is_right { " as it should" } @else { " as it should not" } }
            }
        }
    }
}

fn flaws(proof: &Proof<'_>) -> Markup {
    html! {
        @for flaw in proof.flaws() {
            @let (before, word, after) = opening(flaw);
            @let (text, trial) = explained(proof, flaw);
            li {
                b { (proof.eval) }
                (before)
                @if !word.is_empty() { b.bad { (word) } }
                (after)
                (clean(&text))
                @if let Some(trial) = trial {
                    " " a href={ "#trial-" (trial.head.id) } { "trial #" (trial.head.id) }
                }
            }
            @for fall in proof.falls().iter().filter(|_| flaw == Flaw::Gameable) {
                @let (names, text) = fallen(fall);
                li { b { (names) } (text) " " a href={ "#trial-" (fall.trial.head.id) } { "trial #" (fall.trial.head.id) } }
            }
        }
    }
}
