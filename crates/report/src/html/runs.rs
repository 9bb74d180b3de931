//! The runs so far, the trend of their suite, and the choice of two to compare.

use std::collections::BTreeSet;

use maud::{Markup, html};
use terca_core::analysis::summary::wording::percent;
use terca_core::analysis::summary::{VariantSummary, summarise_figures};
use terca_core::plan::fingerprint::{CaseFingerprint, Changes};
use terca_core::run::event::RunStatus;
use terca_core::run::run_file::RunFile;
use terca_core::run::run_file::RunKind;
use terca_core::run::state::{RunState, SpentTotal};
use terca_core::text::prose;

use super::scale;
use super::shell::{PageSource, document};
use super::text::{clean, navigation, or_dash, run_status, time};
use crate::metrics;
use crate::text::runs::{ListedStatus, RunRow};

const TITLES: [&str; 6] = ["Run", "Suite", "Agents", "Started", "Status", "Pass rates"];
const NUMBERS: [&str; 3] = ["Trials", "Not passed", "Cost"];
/// So many rates are shown of a run.
const MOST_RATES: usize = 6;

/// Returns the page of all runs, the newest first.
pub fn runs_page(runs: &[ListedRun]) -> String {
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
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.runs {
                    caption.unseen { "Runs" }
                    thead {
                        tr {
                            th scope="col" { span.unseen { "Compare" } }
                            @for title in TITLES { th scope="col" { (title) } }
                            @for title in NUMBERS { th.num scope="col" { (title) } }
                        }
                    }
                    tbody { @for run in runs.iter().rev() { (row(run)) } }
                }
            }
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
                    small title={ "The suite was at commit " (clean(commit)) } {
                        (clean(&commit.chars().take(8).collect::<String>()))
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
            @for (number, agent) in run.row.agents.iter().enumerate() {
                @if number > 0 { ", " }
                (agent)
            }
            @for model in &run.models { small { (model) } }
        },
    }
}

fn status(row: &RunRow) -> Markup {
    match row.status {
        Some(ListedStatus::Running) => run_status(RunStatus::Running),
        Some(ListedStatus::Complete) => run_status(RunStatus::Complete),
        Some(ListedStatus::Interrupted) => run_status(RunStatus::Interrupted),
        Some(ListedStatus::Incomplete) => html! { span.pill { "incomplete" } },
        None => html! {
            span.pill.error { "unreadable" }
            @if let Some(note) = &row.note { small { (note) } }
        },
    }
}

/// Returns the pass rate of each variant. Those of a validation are no rates of agents.
fn rates(run: &ListedRun) -> Markup {
    if run.row.kind == Some(RunKind::Validate) {
        return html! { span.quiet { "proves evals" } };
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
    let mut suites: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| is_drawn(run)) {
        if !suites.contains(&run.row.suite.as_str()) {
            suites.push(&run.row.suite);
        }
    }
    let of_suite = |suite: &str| -> Vec<&ListedRun> {
        let of_it = runs
            .iter()
            .filter(|run| is_drawn(run) && run.row.suite == suite);
        let all: Vec<&ListedRun> = of_it.collect();
        all[all.len().saturating_sub(MOST_RUNS)..].to_vec()
    };
    html! {
        @for suite in suites {
            @let runs = of_suite(suite);
            @if runs.len() > 1 { (of_one_suite(suite, &runs)) }
        }
    }
}

/// Runs that go on or prove evals are no points of a trend.
fn is_drawn(run: &ListedRun) -> bool {
    let is_of_agents = run.row.kind.is_none_or(|kind| kind == RunKind::Agents);
    let has_ended = run
        .row
        .status
        .is_some_and(|status| status != ListedStatus::Running);
    let is_judged = run
        .variants
        .iter()
        .any(|variant| variant.figures.judged > 0);
    is_of_agents && has_ended && is_judged
}

fn of_one_suite(suite: &str, runs: &[&ListedRun]) -> Markup {
    let mut variants: Vec<(&str, &str)> = Vec::new();
    for variant in runs.iter().flat_map(|run| &run.variants) {
        let name = (variant.environment.as_str(), variant.experiment.as_str());
        if !variants.contains(&name) {
            variants.push(name);
        }
    }
    variants.truncate(MOST_VARIANTS);
    let changes: Vec<Vec<(char, String)>> = runs
        .iter()
        .enumerate()
        .map(|(number, run)| match number.checked_sub(1) {
            Some(before) => changes(runs[before], run),
            None => Vec::new(),
        })
        .collect();
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
            let named: Vec<&String> = evals.iter().take(MOST_NAMED).collect();
            let more = evals.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let named = named
                .iter()
                .map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            changes.push(('E', format!("evals changed: {named}{more}")));
        }
    }
    let sets = [
        ('M', "models", &before.models, &now.models),
        ('A', "agents", &before.agents, &now.agents),
    ];
    for (letter, noun, old, new) in sets {
        if old != new && !old.is_empty() && !new.is_empty() {
            let now: Vec<&str> = new.iter().map(String::as_str).collect();
            changes.push((letter, format!("{noun} changed: now {}", now.join(", "))));
        }
    }
    changes
}

fn found<'a>(
    run: &'a ListedRun,
    (environment, experiment): (&str, &str),
) -> Option<&'a VariantSummary> {
    run.variants
        .iter()
        .find(|one| one.environment == environment && one.experiment == experiment)
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
    let points: Vec<(usize, &VariantSummary, f64)> = runs
        .iter()
        .enumerate()
        .filter_map(|(number, run)| {
            let found = found(run, variant)?;
            Some((number, found, found.figures.pass_rate?))
        })
        .collect();
    let latest = points.last().map(|(_, _, rate)| percent(*rate));
    html! {
        tr {
            th scope="row" { (variant.0) " · " (variant.1) }
            td.num { (or_dash(latest)) }
            td.plot {
                svg.over-time aria-hidden="true" {
                    @for rate in [0.0, 0.5, 1.0] {
                        @let at = scale::percent(down(rate));
                        line.tick x1="4%" x2="96%" y1=(at) y2=(at) {}
                        text x="0" y=(at) dy="4" { (format!("{:.0}", rate * 100.0)) }
                    }
                    (letters(changes))
                    @for pair in points.windows(2) { (segment(&pair[0], &pair[1], runs.len())) }
                    @for point in &points { (dot(point, runs.len())) }
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
            @let between = (across(number, runs) + across(number.saturating_sub(1), runs)) / 2.0;
            @let at = scale::percent(between);
            @let letters: String = changes.iter().map(|(letter, _)| *letter).collect();
            line.changed x1=(at) x2=(at) y1="14%" y2="92%" {}
            text.changed x=(at) y="11%" text-anchor="middle" { (letters) }
        }
    }
}

type Point<'a> = (usize, &'a VariantSummary, f64);

fn segment(one: &Point<'_>, other: &Point<'_>, runs: usize) -> Markup {
    html! {
        line.rate x1=(scale::percent(across(one.0, runs))) y1=(scale::percent(down(one.2)))
            x2=(scale::percent(across(other.0, runs))) y2=(scale::percent(down(other.2))) {}
    }
}

fn dot((number, variant, rate): &Point<'_>, runs: usize) -> Markup {
    let x = scale::percent(across(*number, runs));
    html! {
        @if let Some(interval) = variant.figures.pass_rate_interval {
            line.interval x1=(x) x2=(x) y1=(scale::percent(down(interval.low)))
                y2=(scale::percent(down(interval.high))) {}
        }
        circle.mark cx=(x) cy=(scale::percent(down(*rate))) r="4" {}
    }
}

/// Returns a table of what the lines show.
fn figures(
    variants: &[(&str, &str)],
    runs: &[&ListedRun],
    changes: &[Vec<(char, String)>],
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Trend in figures" {
            table.runs {
                thead {
                    tr {
                        th scope="col" { "Run" }
                        @for (environment, experiment) in variants {
                            th scope="col" { (environment) " · " (experiment) }
                        }
                        th scope="col" { "Changed before it" }
                    }
                }
                tbody {
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
                }
            }
        }
    }
}

fn cell(run: &ListedRun, variant: (&str, &str)) -> Markup {
    let figures = found(run, variant).map(|found| &found.figures);
    let rate = figures.and_then(|figures| figures.pass_rate);
    let interval = figures.and_then(|figures| figures.pass_rate_interval);
    html! {
        b { (or_dash(rate.map(percent))) }
        @if let Some(interval) = interval {
            small { (percent(interval.low)) " … " (percent(interval.high)) }
        }
    }
}

/// A run on the page of all runs.
#[derive(Debug)]
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
    /// Lists a run that cannot be read.
    pub fn unreadable(row: RunRow) -> Self {
        ListedRun {
            row,
            variants: Vec::new(),
            spent: SpentTotal::default(),
            agents: BTreeSet::new(),
            models: BTreeSet::new(),
            prints: None,
            commit: None,
        }
    }

    /// Lists a run, with the facts of its `run.json` where that is there.
    pub fn of(row: RunRow, state: &RunState, file: Option<RunFile>) -> Self {
        let mut run = ListedRun::unreadable(row);
        for trial in state.trials() {
            let report = &trial.report;
            let version = report.agent_version.as_deref();
            run.agents
                .extend(version.map(|version| format!("{} {version}", trial.head.agent)));
            let observed = report.delivery.model_observed.as_ref();
            run.models
                .extend(observed.or(trial.head.model.as_ref()).cloned());
        }
        let summary = summarise_figures(state);
        ListedRun {
            variants: summary.variants,
            spent: summary.spent,
            commit: file.as_ref().and_then(|file| file.suite_commit.clone()),
            prints: file.map(|file| file.fingerprints),
            ..run
        }
    }
}
