//! A run as pages: one file to send to a colleague, or the same from a server while the run goes on.
//!
//! Everything is rendered here, by pure functions, one file per part of a page; the script in the page only filters,
//! opens and closes what is there. Foreign text (names, prompts, whatever an agent wrote) enters through
//! [`markup`], which escapes all of it: there is no way to put a string into a page as markup. Behind that stands
//! a policy ([`policy`]) that lets the browser run nothing but the page's own script, known by its hash.
//!
//! A page is bounded: whoever asks for one says how much room there is, and [`fit`] leaves out what does not fit,
//! in the middle, with a remark.

pub mod assets;
pub mod compare;
pub mod diff;
pub mod distributions;
pub mod effects;
pub mod fit;
pub mod foreign;
pub mod heat_map;
pub mod log;
pub mod markup;
pub mod masthead;
pub mod matrix;
pub mod page;
pub mod policy;
pub mod prompts;
pub mod runs;
pub mod shell;
pub mod timeline;
pub mod transcript;
pub mod trial;
pub mod trials;
pub mod verdicts;

#[cfg(test)]
mod tests;

pub use assets::Kind;
pub use compare::compare_page;
pub use page::{Bound, run_page};
pub use prompts::Prompts;
pub use runs::runs_page;
pub use trial::{Files, TrialPage, trial_page};
