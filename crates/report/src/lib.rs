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
//! | | | [`closing()`] | counts, warnings, where the results are |
//! | | | [`next()`] | what to do about it |
//!
//! For other programs there are [`junit()`], [`markdown()`], [`csv()`] and [`trial_rows::json_lines`], and what GitHub
//! Actions understands in [`github`].
//! [`html`] has all of it as pages, for a file or a browser.
//!
//! [`plan_overview`] and [`plan_trials`] show a run that is yet to come, [`runs_table`] those that were,
//! [`proofs_table`] what a run of `terca validate` says about its evals, [`compared()`] what `terca compare` found,
//! [`forecast()`] what a run would take and could show, [`health()`] what the evals tell and cost.
//!
//! Text flows one way: foreign text enters a [`spans::Spans`] and is cleaned there; it is measured, aligned and
//! cut as text; colour and the cursor's movements are added last. So no name, message or agent can garble a
//! terminal, and everything but the painter can be tested by looking at strings.

pub mod agents;
pub mod ansi;
pub mod bar;
mod clock;
pub mod closing;
pub mod compared;
pub mod csv;
mod eta;
pub mod failures;
pub mod figure;
pub mod forecast;
pub mod frame;
pub mod github;
pub mod grid;
pub mod header;
pub mod health;
pub mod html;
pub mod jsonl;
pub mod junit;
pub mod layout;
pub mod line;
pub mod markdown;
mod markdown_text;
pub mod names;
pub mod next;
pub mod notices;
pub mod painter;
pub mod plain;
pub mod plan;
pub mod proofs;
pub mod regraded;
pub mod runs;
pub mod serve;
pub mod size;
pub mod spans;
pub mod style;
pub mod table;
pub mod tally;
pub mod trial_rows;
pub mod tty;
pub mod verdicts;
pub mod whereabouts;
pub mod width;
mod xml;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod same_figures;
#[cfg(test)]
mod screen;

pub use agents::{AgentRow, agents_table};
pub use closing::closing;
pub use compared::{compared, compared_markdown};
pub use csv::csv;
pub use failures::failures;
pub use forecast::forecast;
pub use frame::frame;
pub use health::health;
pub use jsonl::JsonLines;
pub use junit::junit;
pub use markdown::markdown;
pub use next::{Circumstances, next};
pub use painter::RESTORE;
pub use plain::Plain;
pub use plan::{plan_overview, plan_trials};
pub use proofs::{flaws, proofs_table};
pub use regraded::regraded;
pub use runs::{RunRow, runs_table};
pub use size::Size;
pub use style::Palette;
pub use table::results_table;
pub use tty::Tty;
pub use verdicts::verdicts;
pub use whereabouts::Whereabouts;
