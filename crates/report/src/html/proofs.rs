//! A run of `terca validate`: whether each eval is proven, in the words of the command line.

use maud::{Markup, html};
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::validation::{Proof, proofs};
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use super::foreign::clean;
use super::pieces::{column_titles, pill};
use crate::text::validation_table::{explained, opening, outcome, verdict_words};

/// Returns the table of proofs, and what to do about evals that prove nothing.
pub fn validation(results: &Results) -> Markup {
    let proofs = proofs(results);
    let proven = proofs
        .iter()
        .filter(|proof| proof.flaws().is_empty())
        .count();
    html! {
        section aria-labelledby="proofs-title" {
            h2 #proofs-title { "Proofs" }
            p {
                (proven) " of " (prose::count(proofs.len(), "eval")) " proven. "
                span.quiet {
                    "An eval is proven when its own solution passes, and doing nothing and cheating do not."
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of proofs" {
                table.proofs {
                    caption.unseen { "Evals by the agents that check them" }
                    thead { (column_titles(&["Eval", "oracle", "nop", "cheat", "Verdict"])) }
                    tbody { @for proof in &proofs { (row(proof)) } }
                }
            }
            ul.notes { @for proof in &proofs { (flaws(proof)) } }
        }
    }
}

fn row(proof: &Proof<'_>) -> Markup {
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
        }
    }
}
