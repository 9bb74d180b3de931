//! A run as pages: one file to send to a colleague, or pages from a server while the run goes on.
//!
//! Everything is rendered here, by pure functions, one file per part of a page. The script in the page only sorts,
//! filters, opens and closes what is there.
//!
//! Foreign text (names, prompts, all that an agent wrote) cannot become markup: `maud` escapes every value, and only
//! [`shell`] takes constants of this program as they are. As a second wall, a policy ([`shell::policy`]) lets the browser run
//! nothing but the page's own script, known by its hash. [`text`] keeps control characters out of pages.
//!
//! A page is bounded: its caller says how much room there is, and [`text::fit`] leaves out the middle, with a remark. In a
//! file, [`bodies`] shares the room out and compresses.

mod bodies;
mod causes;
mod changed;
mod compare;
mod diff;
mod effects;
mod heat_map;
mod log;
mod markdown;
mod matrix;
mod overview;
mod page;
mod pair;
mod runs;
mod scale;
pub(crate) mod shell;
mod step;
mod test_list;
mod text;
mod timeline;
mod transcript;
mod trial;
mod trials;
mod turns;
mod variants;
mod verdicts;

#[cfg(test)]
mod tests;

pub use bodies::{Bodies, tools_of, unpacked};
pub use compare::compare_page;
pub use matrix::Matrix;
pub use page::{Bound, Told, rows_json, run_page, write_run_page};
pub use runs::{ListedRun, runs_page};
pub use shell::{PageSource, message_page};
pub use trial::{TrialPage, trial_document, trial_page};
pub use trials::Prompts;
