//! Tests of an eval, and the pure half of grading.
//!
//! A test kind is one file: its fields, the evidence it wants and how it judges that. [`kinds`](self) lists them in
//! one table. The engine answers a test's [`Question`] (it runs the command, it looks for the file) and hands the
//! evidence to the judge that the question carries. So every verdict is table-tested, and grading again is the same
//! two steps. A test that cannot be judged gives no score at all: [`NoVerdict`] makes an error of the trial, because
//! the agent's work is not known to be wrong.

mod assertion;
mod budget;
mod changed_files;
mod command_score;
mod command_success;
mod declaration;
mod evidence;
mod failure_line;
mod file_contains;
mod file_exists;
pub mod grades;
mod judge;
mod judgement;
mod kinds;
mod programs;
mod test;
pub mod test_report;
mod trace;
mod transcript;
mod verdict;

pub use evidence::{CommandEnd, FileContent, Session, ToolUse};
pub use failure_line::failure_line;
pub use grades::Grade;
pub use judgement::{
    Brief, JudgeRecord, JudgeTest, JudgedBy, Judgement, Opinion, Reason, VERDICT_FILE,
    prompt as judge_prompt,
};
pub(crate) use kinds::KINDS;
pub use programs::{
    absolute_programs_named, bare_scripts_named, may_bring_files, programs_named,
    script_paths_named,
};
pub use test::{JudgeOf, Question, TestKind, TestSpec};
pub use trace::{last_traced, traced};
pub use verdict::{NoVerdict, score, with_failure_line};

pub use crate::reader::patterns::{Glob, PathPattern};
