//! The runs so far, the trend of their suite, and the choice of two to compare.

use std::collections::BTreeSet;
use std::iter;

use maud::{Markup, html};
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{Figures, VariantSummary, summarise_figures};
use terca_core::plan::fingerprint::{CaseFingerprint, Changes};
use terca_core::run::run_file::RunFile;
use terca_core::run::run_file::RunKind;
use terca_core::run::state::{RunState, SpentTotal};
use terca_core::text::prose;

use super::scale;
use super::shell::{PageSource, document};
use super::text::{navigation, or_dash, pill, time, wide_table};
use crate::groups::{first_few, grouped};
use crate::metrics;
use crate::outcome::{agent, model};
use crate::text::runs::{ListedStatus, RunRow};

const TITLES: [&str; 6] = ["Run", "Suite", "Agents", "Started", "Status", "Pass rates"];
const NUMBERS: [&str; 3] = ["Trials", "Not passed", "Cost"];
/// So many rates are shown of a run.
const MOST_RATES: usize = 6;

/// Returns the page of all runs, the newest first.
pub fn runs_page(runs: &[ListedRun]) -> String {
    let head = html! {
        tr {
            th scope="col" { span.unseen { "Compare" } }
            @for title in TITLES { th scope="col" { (title) } }
            @for title in NUMBERS { th.num scope="col" { (title) } }
        }
    };
    let rows = html! { @for run in runs.iter().rev() { (row(run)) } };
    let body = html! {
        (navigation(&html! { span.space {} }))
        main #content {
            header.masthead {
                h1 { "Runs" }
                p.facts { span { (prose::count(runs.len(), "run")) } }
            }
            p.filters.scripted {
                a #compare .button href="#" aria-disabled="true" { "Compare two runs" }
                span.quiet { "Choose two runs in the first column." }
            }
            (wide_table("runs", "Runs", "Runs", &head, &rows))
            (trend(runs))
        }
    };
    document(PageSource::Served, "Runs", &body)
}

fn row(run: &ListedRun) -> Markup {
    let row = &run.row;
    html! {
        tr {
            td.id {
                @if row.status.is_some() {
                    input type="checkbox" name="run" value=(row.run)
                        aria-label={ "Compare " (row.run) };
                }
            }
            th scope="row" { a href={ "runs/" (row.run) "/" } { (row.run) } }
            td data-title="suite" {
                (row.suite)
                @if let Some(commit) = &run.commit {
                    small title={ "The suite was at commit " (commit) } {
                        (commit.chars().take(8).collect::<String>())
                    }
                }
            }
            td data-title="agents" { (agents(run)) }
            td data-title="started" { @if let Some(at) = row.started_at { (time(at)) } }
            td.status data-title="status" { (status(row)) }
            td data-title="pass rates" { (rates(run)) }
            td.num data-title="trials" {
                (row.trials)
                @if row.errors > 0 { small.trouble { "+" (prose::count(row.errors, "error")) } }
            }
            td.num data-title="not passed" { (row.partial + row.failed) }
            td.num data-title="cost" { (or_dash(metrics::dollars(&run.spent))) }
        }
    }
}

fn agents(run: &ListedRun) -> Markup {
    match run.row.kind {
        Some(RunKind::Validate) => html! { span.quiet { "validate" } },
        _ => html! {
            (run.row.agents.join(", "))
            @for model in &run.models { small { (model) } }
        },
    }
}

fn status(row: &RunRow) -> Markup {
    match row.status {
        Some(status) => pill(status.as_str(), status.as_str()),
        None => html! {
            span.pill.error { "unreadable" }
            @if let Some(note) = &row.note { small { (note) } }
        },
    }
}

/// Returns the pass rate of each variant. Those of a validation are no rates of agents.
fn rates(run: &ListedRun) -> Markup {
    if run.row.kind == Some(RunKind::Validate) {
        return html! { span.quiet { "checks evals" } };
    }
    html! {
        @for variant in run.variants.iter().take(MOST_RATES) {
            div.rate {
                b { (or_dash(variant.figures.pass_rate.map(percent))) }
                " "
                span.quiet { (variant.environment) " · " (variant.experiment) }
            }
        }
        @if run.variants.len() > MOST_RATES {
            small { "and " (run.variants.len() - MOST_RATES) " more" }
        }
    }
}

/// More runs than this are not drawn.
const MOST_RUNS: usize = 50;
/// More variants than this are not drawn.
const MOST_VARIANTS: usize = 16;
/// So many names of evals are told of a change.
const MOST_NAMED: usize = 4;

/// Returns the trend of each suite that has two runs of agents or more.
pub fn trend(runs: &[ListedRun]) -> Markup {
    let drawn = runs.iter().filter(|run| is_drawn(run));
    let suites = grouped(drawn.map(|run| (&*run.row.suite, run)));
    html! {
        @for (suite, runs) in suites {
            @let first = runs.len().saturating_sub(MOST_RUNS);
            @if runs.len() > 1 { (of_one_suite(suite, &runs[first..])) }
        }
    }
}

/// Runs that go on or check evals are no points of a trend.
fn is_drawn(run: &ListedRun) -> bool {
    let is_of_agents = run.row.kind.is_none_or(|kind| kind == RunKind::Agents);
    let status = run.row.status;
    let has_ended = status.is_some_and(|status| status != ListedStatus::Running);
    let is_judged = run.variants.iter().any(|one| one.figures.judged > 0);
    is_of_agents && has_ended && is_judged
}

fn of_one_suite(suite: &str, runs: &[&ListedRun]) -> Markup {
    let variants = runs.iter().flat_map(|run| &run.variants);
    let variants = grouped(variants.map(|one| ((&*one.environment, &*one.experiment), ())));
    let mut variants: Vec<(&str, &str)> = variants.into_iter().map(|(name, _)| name).collect();
    variants.truncate(MOST_VARIANTS);
    let between = runs.windows(2).map(|pair| changes(pair[0], pair[1]));
    let changes: Vec<Vec<(char, String)>> = iter::once(Vec::new()).chain(between).collect();
    html! {
        section.trend aria-label={ "Trend of " (suite) } {
            h2 { "Trend of " (suite) }
            p.quiet.reading {
                "Pass rates with 95 % intervals, the latest " (prose::count(runs.len(), "run"))
                ", the newest on the right. E: evals changed, M: models changed, A: agents changed."
            }
            table.trend-lines {
                tbody {
                    @for variant in &variants { (line(*variant, runs, &changes)) }
                }
            }
            details {
                summary { "The same in figures" }
                (figures(&variants, runs, &changes))
            }
        }
    }
}

/// Returns what is another between two runs: a letter, and words.
fn changes(before: &ListedRun, now: &ListedRun) -> Vec<(char, String)> {
    let mut changes = Vec::new();
    if let (Some(old), Some(new)) = (&before.prints, &now.prints) {
        let evals: Vec<String> = Changes::between(old, new).evals.into_keys().collect();
        if !evals.is_empty() {
            let named = first_few(&evals, MOST_NAMED);
            changes.push(('E', format!("evals changed: {named}")));
        }
    }
    let sets = [
        ('M', "models", &before.models, &now.models),
        ('A', "agents", &before.agents, &now.agents),
    ];
    for (letter, noun, old, new) in sets {
        if old != new && !old.is_empty() && !new.is_empty() {
            changes.push((
                letter,
                format!(
                    "{noun} changed: now {}",
                    prose::joined(new.iter().map(String::as_str), ", ")
                ),
            ));
        }
    }
    changes
}

fn found<'a>(run: &'a ListedRun, variant: (&str, &str)) -> Option<&'a Figures> {
    let mut variants = run.variants.iter();
    let found = variants.find(|one| (&*one.environment, &*one.experiment) == variant);
    found.map(|found| &found.figures)
}

/// Returns the place of a run, in percent of the width.
fn across(number: usize, runs: usize) -> f64 {
    4.0 + 92.0 * number as f64 / (runs.saturating_sub(1)).max(1) as f64
}

/// Returns the place of a rate, in percent of the height.
fn down(rate: f64) -> f64 {
    90.0 - 72.0 * rate
}

/// Returns the row of a variant: its latest rate, and its line.
fn line(variant: (&str, &str), runs: &[&ListedRun], changes: &[Vec<(char, String)>]) -> Markup {
    let rates = runs.iter().enumerate().filter_map(|(number, run)| {
        let figures = found(run, variant)?;
        Some((across(number, runs.len()), figures, figures.pass_rate?))
    });
    let rates: Vec<(f64, &Figures, f64)> = rates.collect();
    let latest = rates.last().map(|(_, _, rate)| percent(*rate));
    let places: Vec<(f64, f64)> = rates.iter().map(|(x, _, rate)| (*x, down(*rate))).collect();
    html! {
        tr {
            th scope="row" { (variant.0) " · " (variant.1) }
            td.num { (or_dash(latest)) }
            td.plot {
                svg.over-time aria-hidden="true" {
                    @for rate in [0.0, 0.5, 1.0] {
                        (scale::line("tick", (4.0, down(rate)), (96.0, down(rate))))
                        text x="0" y=(scale::percent(down(rate))) dy="4" { (format!("{:.0}", rate * 100.0)) }
                    }
                    (letters(changes))
                    @for pair in places.windows(2) { (scale::line("rate", pair[0], pair[1])) }
                    @for (x, figures, rate) in &rates {
                        @if let Some(interval) = figures.pass_rate_interval {
                            (scale::line("interval", (*x, down(interval.low)), (*x, down(interval.high))))
                        }
                        circle.mark cx=(scale::percent(*x)) cy=(scale::percent(down(*rate))) r="4" {}
                    }
                }
            }
        }
    }
}

/// Returns an upright line before each run that differs from the one before it, with the letters of the changes.
fn letters(changes: &[Vec<(char, String)>]) -> Markup {
    let runs = changes.len();
    html! {
        @for (number, changes) in changes.iter().enumerate().filter(|(_, changes)| !changes.is_empty()) {
            @let at = (across(number, runs) + across(number.saturating_sub(1), runs)) / 2.0;
            @let letters: String = changes.iter().map(|(letter, _)| *letter).collect();
            (scale::line("changed", (at, 14.0), (at, 92.0)))
            text.changed x=(scale::percent(at)) y="11%" text-anchor="middle" { (letters) }
        }
    }
}

/// Returns a table of what the lines show.
fn figures(
    variants: &[(&str, &str)],
    runs: &[&ListedRun],
    changes: &[Vec<(char, String)>],
) -> Markup {
    let head = html! {
        tr {
            th scope="col" { "Run" }
            @for (environment, experiment) in variants {
                th scope="col" { (environment) " · " (experiment) }
            }
            th scope="col" { "Changed before it" }
        }
    };
    let rows = html! {
        @for (run, changes) in runs.iter().zip(changes).rev() {
            tr {
                th scope="row" { a href={ "runs/" (run.row.run) "/" } { (run.row.run) } }
                @for variant in variants {
                    td data-title={ (variant.0) " · " (variant.1) } { (cell(run, *variant)) }
                }
                td data-title="changed" {
                    @for (_, words) in changes { small { (words) } }
                }
            }
        }
    };
    wide_table("runs", "Trend in figures", "Trend in figures", &head, &rows)
}

fn cell(run: &ListedRun, variant: (&str, &str)) -> Markup {
    let figures = found(run, variant);
    let rate = figures.and_then(|figures| figures.pass_rate);
    html! {
        b { (or_dash(rate.map(percent))) }
        @if let Some(interval) = figures.and_then(|figures| figures.pass_rate_interval) {
            small { (percent(interval.low)) " … " (percent(interval.high)) }
        }
    }
}

/// A run on the page of all runs.
#[derive(Debug, Default)]
pub struct ListedRun {
    /// Its row in the list.
    pub row: RunRow,
    /// The figures of its variants; none of a run that cannot be read.
    pub variants: Vec<VariantSummary>,
    /// Its spending.
    pub spent: SpentTotal,
    /// Its agents with their versions.
    pub agents: BTreeSet<String>,
    /// Its models, as they answered or else as they were asked for.
    pub models: BTreeSet<String>,
    /// The fingerprints of its cases, if it has them.
    pub prints: Option<Vec<CaseFingerprint>>,
    /// The commit that the suite was at.
    pub commit: Option<String>,
}

impl ListedRun {
    /// Lists a run, with the facts of its `run.json` where that is there.
    pub fn of(row: RunRow, state: &RunState, file: Option<RunFile>) -> Self {
        let trials = || {
            state
                .trials()
                .iter()
                .map(|trial| (&trial.head, &trial.report))
        };
        let started = trials().filter(|(_, report)| report.agent_version.is_some());
        let summary = summarise_figures(state);
        ListedRun {
            variants: summary.variants,
            spent: summary.spent,
            commit: file.as_ref().and_then(|file| file.suite_commit.clone()),
            prints: file.map(|file| file.fingerprints),
            agents: started.map(|(head, report)| agent(head, report)).collect(),
            models: trials()
                .filter_map(|(head, report)| model(head, report).cloned())
                .collect(),
            row,
        }
    }
}
