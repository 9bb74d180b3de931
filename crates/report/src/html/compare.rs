//! Two runs: what `terca compare` says of them, as a page.
//!
//! The comparison is made once, by its caller, for the terminal and for the page. Here it is only shown.

use maud::{Markup, html};
use terca_core::analysis::compare::Compared;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::Comparison;
use terca_core::run::event::TrialHead;

use super::changed::{Sides, what_changed};
use super::overview::agents;
use super::shell::{PageSource, document};
use super::text::{navigation, run_status, section, sentence, time};
use super::verdicts::{Row, table};
use crate::metrics;
use crate::text::compared::{remarks, title};

/// Returns the page of two runs, or the reason why they cannot be compared.
pub fn compare_page(first: &Results, second: &Results, found: Result<&Compared, &str>) -> String {
    let body = html! {
        (navigation(&html! { a href="../../" { "All runs" } span.space {} }))
        main #content {
            header.masthead {
                h1 { "Two runs" }
                @if let Ok(found) = found { p.about { (sentence(&title(found))) } }
            }
            div.cards.pair {
                (about("A", first))
                (about("B", second))
            }
            @match found {
                Ok(found) => (compared(first, second, found)),
                Err(reason) => div.callout { (reason) },
            }
        }
    };
    let title = format!("{} and {}", first.run, second.run);
    document(PageSource::Served, &title, &body)
}

fn about(letter: &str, results: &Results) -> Markup {
    let summary = &results.summary;
    html! {
        section.card {
            h2 { (letter) ": " a href={ "../../runs/" (results.run) "/" } { (results.run) } }
            p.facts {
                (run_status(results.status))
                span { (results.suite) }
                @if let Some(at) = results.started_at { (time(at)) }
            }
            (agents(results))
            p {
                (summary.passed) " of " (summary.trials) " trials passed, "
                (summary.errors) " ended in errors"
            }
            @if let Some(spent) = metrics::spent_on(results) { p.quiet { "spent: " (spent) } }
        }
    }
}

fn compared(first: &Results, second: &Results, found: &Compared) -> Markup {
    let place = |one: &Comparison| one.place.clone().unwrap_or("all variants".to_owned());
    let rows = found.comparisons.iter();
    let rows: Vec<Row<'_>> = rows
        .map(|comparison| Row::of(comparison, [place(comparison), String::new()]))
        .collect();
    let body = html! {
        (table(found.by.place(), &rows, found.margin))
        (differences(found))
    };
    html! {
        (section("verdicts", "Verdicts: B against A", &body))
        (what_changed(&sides(first, second, found)))
    }
}

/// Returns what differs between the runs beside their outcomes.
fn differences(found: &Compared) -> Markup {
    let remarks = remarks(found);
    html! {
        @if !remarks.is_empty() {
            h3 { "Between the runs" }
            ul.notes {
                @for (_, label, text) in &remarks { li { (sentence(label)) (sentence(text)) } }
            }
        }
    }
}

/// The ways in which a comparison names a variant: without a part that all share and nobody named.
const NAMES: [fn(&TrialHead) -> String; 4] = [
    |head| format!("{}.{}", head.environment, head.experiment),
    |head| head.environment.clone(),
    |head| head.experiment.clone(),
    |_| "default".to_owned(),
];

fn sides<'a>(first: &'a Results, second: &'a Results, found: &'a Compared) -> Vec<Sides<'a>> {
    let comparisons = found.comparisons.iter();
    let places = comparisons.filter_map(|one| Some((one, one.place.as_deref()?)));
    let has_all = |name: &&fn(&TrialHead) -> String| {
        let has = |place: &str| second.trials.iter().any(|trial| name(&trial.head) == place);
        places.clone().all(|(_, place)| has(place))
    };
    let Some(name) = NAMES.iter().find(has_all) else {
        return Vec::new();
    };
    let of = |results: &'a Results, place: &str| {
        let trials = results.trials.iter();
        let trials: Vec<&TrialResult> = trials.filter(|trial| name(&trial.head) == place).collect();
        (trials, format!("../../runs/{}/", results.run))
    };
    places
        .clone()
        .map(|(comparison, place)| Sides {
            comparison,
            name: place.to_owned(),
            baseline: of(first, place),
            arm: of(second, place),
        })
        .collect()
}
