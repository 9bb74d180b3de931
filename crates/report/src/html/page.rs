//! The page of a run: verdicts first, then the figures, then the trials; and what is new on it since it was told last.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::io::Write;

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::summarise_figures;
use terca_core::run::state::RunState;

use super::bodies::{Bodies, gzip, write_packed};
use super::matrix::Matrix;
use super::overview::overview;
use super::shell::{PageSource, frame, keys};
use super::text::{navigation, without_control_characters};
use super::trials::trials;
use super::trials::{Prompts, Tools, row_json, write_rows};

/// The place where the trials' own pages come from.
#[derive(Debug)]
pub enum Bound<'a> {
    /// All are in the page.
    Within(Bodies<'a>),
    /// The page asks its server for them.
    OnDemand {
        /// The number of events of the run that the page shows.
        seen: u64,
    },
}

/// Returns the page of a run.
pub fn run_page(state: &RunState, bound: &Bound<'_>) -> String {
    let mut page = Vec::new();
    // Memory is never full: that would end the program.
    let _ = write_run_page(state, bound, &mut page);
    String::from_utf8(page).unwrap_or_default()
}

/// Returns the rows of the list, for a page that asks its server for them.
pub fn rows_json(state: &RunState, prompts: &Prompts) -> String {
    let summary = summarise_figures(state);
    let mut rows = Vec::new();
    // Memory is never full: that would end the program.
    let _ = write_rows(
        state,
        &Matrix::of(&summary),
        prompts,
        &Tools::new(),
        &mut rows,
    );
    String::from_utf8(rows).unwrap_or_default()
}

/// Writes the page of a run, trial by trial.
pub fn write_run_page(state: &RunState, bound: &Bound<'_>, to: &mut dyn Write) -> io::Result<()> {
    let results = Results::of(state);
    let matrix = Matrix::of(&results.summary);
    let (kind, seen, prompts) = match bound {
        Bound::Within(bodies) => (PageSource::File, None, Some(bodies.prompts)),
        Bound::OnDemand { seen } => (PageSource::Served, Some(*seen), None),
    };
    let body = html! {
        (top(kind))
        main #content {
            div #overview data-seen=[seen] {
                @for (_, part) in overview(state, &results, &matrix, Timestamp::now()) { (part) }
                (trials(state, &matrix, prompts))
            }
            div #stage hidden {}
        }
        (footer(&results))
        (keys())
    };
    let title = format!("{} · {}", results.suite, results.run);
    let (before, after) = frame(kind, &title);
    to.write_all(before.as_bytes())?;
    to.write_all(without_control_characters(body.into_string()).as_bytes())?;
    if let Bound::Within(bodies) = bound {
        let tools = bodies.write(state, &matrix, to)?;
        // The rows come last, because they name the tools that a trial used.
        let mut rows = gzip();
        write_rows(state, &matrix, bodies.prompts, &tools, &mut rows)?;
        write_packed(rows, ("id", "all-rows"), to)?;
    }
    to.write_all(after.as_bytes())
}

fn top(kind: PageSource) -> Markup {
    navigation(&html! {
        @if kind == PageSource::Served { a href="../../" { "All runs" } }
        a #to-run href="#" { "Run" }
        a #to-trials href="#trials" { "Trials" }
        span.space {}
        span #live .quiet role="status" hidden {}
        a #previous hidden href="#trials" { "← Previous" }
        a #next hidden href="#trials" { "Next →" }
    })
}

fn footer(results: &Results) -> Markup {
    html! {
        footer {
            p.quiet {
                "Made by Terca " (results.terca_version) " · seed " (results.seed)
                @if let Some(run) = &results.replay_of {
                    " · a replay of " (run) ": tokens are as recorded"
                }
                " · "
                button #show-keys type="button" .plain { "keys ( ? )" }
            }
        }
    }
}

/// What a page has, by the hashes of its parts and rows.
#[derive(Debug, Default)]
pub struct Told {
    parts: HashMap<&'static str, u64>,
    rows: HashMap<u32, u64>,
}

impl Told {
    /// Returns what has changed since the last call, as JSON: the number of events of the run that the page has seen
    /// then, the markup of parts by their ids, and rows. At the first call, that is everything.
    pub fn news(
        &mut self,
        state: &RunState,
        prompts: &Prompts,
        (seen, now): (u64, Timestamp),
    ) -> Option<String> {
        let results = Results::of(state);
        let matrix = Matrix::of(&results.summary);
        let mut changed_parts = HashMap::new();
        for (id, markup) in overview(state, &results, &matrix, now) {
            let html = without_control_characters(markup.into_string());
            if is_new(&mut self.parts, id, &html) {
                changed_parts.insert(id, html);
            }
        }
        let mut rows = Vec::new();
        for trial in state.trials() {
            let row = row_json(trial, &matrix, prompts);
            if is_new(&mut self.rows, trial.head.id, &row) {
                rows.push(row);
            }
        }
        if changed_parts.is_empty() && rows.is_empty() {
            return None;
        }
        let parts = serde_json::to_string(&changed_parts).ok()?;
        let rows = rows.join(",");
        Some(format!(
            "{{\"seen\":{seen},\"parts\":{parts},\"rows\":[{rows}]}}"
        ))
    }
}

/// Notes a text, and returns whether it is another one than before.
fn is_new<K: Eq + Hash>(known: &mut HashMap<K, u64>, key: K, text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    known.insert(key, hash) != Some(hash)
}
