//! All views of a run.
//!
//! A view reads what `terca-core` knows ([`RunState`](terca_core::run::state::RunState) while the run goes on,
//! [`Results`](terca_core::analysis::results::Results) afterwards) and never talks to the engine.
//!
//! | while it runs | | afterwards | |
//! |---|---|---|---|
//! | [`Tty`] | live, in a terminal | [`results_table`] | evals by variants |
//! | [`Plain`] | lines, for logs | [`failures()`] | what did not pass, and why |
//! | [`JsonLines`] | events, for programs | [`verdicts()`] | the experiments against the baseline |
//! | | | [`footer()`] | counts, warnings, where the results are |
//! | | | [`tests_table()`] | tests by variants |
//! | | | [`trial_view()`] | one trial |
//! | | | [`suggestions()`] | what to do about it |
//!
//! For other programs there are [`junit()`], [`markdown()`], [`csv()`] and [`json_lines()`], and what GitHub Actions
//! understands in [`github`]. [`html`] has all of it as pages, for a file or a browser.
//!
//! [`plan_overview`], [`agent_inputs()`] and [`plan_trials`] show a run that is yet to come, [`runs_table`] those that were,
//! [`validation_table()`] what a run of `terca validate` says about its evals, [`compared()`] what `terca compare` found,
//! [`forecast()`] what a run would take and could show, [`mined()`] what became of a history.
//!
//! Floors, from the lowest: `term`; `metrics`, `names`, `outcome`, `groups` and `context`; `live`; `text`; `export`;
//! `html` and `serve`. A floor uses those below it.

mod context;
mod export;
mod groups;
pub mod html;
mod live;
mod metrics;
mod names;
mod outcome;
pub mod serve;
mod term;
mod text;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod same_figures;

pub use context::Context;
pub use export::csv::csv;
pub use export::github;
pub use export::jsonl::JsonLines;
pub use export::junit::junit;
pub use export::markdown::{compared_markdown, markdown};
pub use export::trial_rows::{COLUMNS as TRIAL_COLUMNS, Column as TrialColumn, json_lines};
pub use live::plain::Plain;
pub use live::time_limits::TimeLimits;
pub use live::tty::Tty;
pub use names::Names;
pub use term::painter::RESTORE;
pub use term::{
    Answer, Filtered, Palette, Role, Size, UNLIMITED, shown, shown_json, shown_painted, truncate,
    wrap,
};
pub use text::ablation::{ablation, ablation_plan};
pub use text::agent_inputs::agent_inputs;
pub use text::agents::{AgentRow, agents_table};
pub use text::compared::compared;
pub use text::failures::{brief_failures, failures};
pub use text::footer::footer;
pub use text::forecast::forecast;
pub use text::mined::{mined, mined_line};
pub use text::plan::{plan_overview, plan_trials};
pub use text::regraded::regraded;
pub use text::runs::{ListedStatus, RunRow, runs_table};
pub use text::session::step as session_step;
pub use text::suggestions::{Circumstances, suggestions};
pub use text::table::{brief_table, results_table};
pub use text::tests_table::tests_table;
pub use text::trial::{TrialView, trial as trial_view};
pub use text::validation_table::{flaws, tricks_tried, validation_table};
pub use text::verdicts::{brief_verdicts, verdicts};
pub use text::wire::{mcp_servers, sentences_in_lines, wire};
