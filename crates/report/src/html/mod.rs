//! A run as pages: one file to send to a colleague, or pages from a server while the run goes on.
//!
//! Everything is rendered here, by pure functions, one file per part of a page. The script in the page only sorts,
//! filters, opens and closes what is there.
//!
//! Foreign text (names, prompts, all that an agent wrote) cannot become markup: `maud` escapes every value, and only
//! [`shell`] takes constants of this program as they are. As a second wall, a policy ([`policy`]) lets the browser run
//! nothing but the page's own script, known by its hash. [`foreign`] keeps control characters out of pages.
//!
//! A page is bounded: its caller says how much room there is, and [`fit`] leaves out the middle, with a remark. In a file,
//! [`budget`] shares the room out, and [`bodies`] are compressed.

mod activity;
mod agents;
mod assets;
mod base64;
mod bodies;
mod budget;
mod causes;
mod changed;
mod compare;
mod comparisons;
mod delivery;
mod descriptions;
mod diff;
mod diff_file;
mod distributions;
mod edit;
mod effects;
mod fit;
mod foreign;
mod given;
mod heat_map;
mod judge;
mod keys;
mod listed_run;
mod log;
mod markdown;
mod masthead;
pub mod matrix;
mod mcp_servers;
mod moments;
mod news;
mod now;
mod overview;
mod packed;
mod page;
mod pair;
mod parts;
mod pieces;
mod plot;
pub(crate) mod policy;
mod preview;
mod prompts;
mod proofs;
mod remark;
mod rows;
mod runs;
mod scale;
pub mod shell;
mod siblings;
mod step;
mod test_list;
mod timeline;
mod transcript;
mod trend;
mod trial;
mod trials;
mod turns;
mod variants;
mod verdicts;
mod waterfall;

#[cfg(test)]
mod tests;

pub use assets::Kind;
pub use bodies::{Bodies, tools_of};
pub use compare::compare_page;
pub use listed_run::ListedRun;
pub use news::Told;
pub use packed::unpacked;
pub use page::{Bound, rows_json, run_page, write_run_page};
pub use prompts::Prompts;
pub use runs::runs_page;
pub use shell::message_page;
pub use trial::{Files, TrialPage, trial_document, trial_page};
