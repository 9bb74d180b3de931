//! A run as pages: one file to send to a colleague, or pages from a server while the run goes on.
//!
//! Everything is rendered here, by pure functions, one file per part of a page. The script in the page only filters,
//! opens and closes what is there.
//!
//! Foreign text (names, prompts, all that an agent wrote) cannot become markup: `maud` escapes every value, and only
//! [`shell`] takes constants of this program as they are. As a second wall, a policy ([`policy`]) lets the browser run
//! nothing but the page's own script, known by its hash. [`foreign`] keeps control characters out of pages.
//!
//! A page is bounded: its caller says how much room there is, and [`fit`] leaves out the middle, with a remark.

mod agents;
mod assets;
mod changed;
mod compare;
mod comparisons;
mod delivery;
mod descriptions;
mod diff;
mod distributions;
mod effects;
mod fit;
mod foreign;
mod heat_map;
mod listed_run;
mod log;
mod masthead;
pub mod matrix;
mod mcp_servers;
mod overview;
mod page;
mod pieces;
mod plot;
pub(crate) mod policy;
mod prompts;
mod proofs;
mod runs;
mod scale;
pub mod shell;
mod timeline;
mod transcript;
mod trend;
mod trial;
mod trials;
mod variants;
mod verdicts;

#[cfg(test)]
mod tests;

pub use assets::Kind;
pub use compare::compare_page;
pub use listed_run::ListedRun;
pub use page::{Bound, run_page, write_run_page};
pub use prompts::Prompts;
pub use runs::runs_page;
pub use trial::{Files, TrialPage, trial_page};
