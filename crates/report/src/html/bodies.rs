//! The trials' own pages in a file: compressed, some in each chunk, in the order of the list.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

use camino::Utf8Path;
use terca_core::run::remark::Remark;
use terca_core::run::state::{RunState, Trial};
use terca_core::transcript::Step;
use terca_core::transcript::trial_files::{Session, TrialFiles};

use super::budget::Budget;
use super::foreign::{clean, without_control_characters};
use super::matrix::Matrix;
use super::packed::Packed;
use super::prompts::Prompts;
use super::rows::{Tools, is_troubled, worst_first};
use super::trial::{Files, TrialPage, trial_page};

/// The most trials of a chunk, which is opened as a whole.
const MOST_TRIALS: usize = 256;
/// A chunk with so many bytes of markup takes no more trials.
const LARGEST_CHUNK: usize = 1_500_000;
/// The most tools that are named for a trial.
const MOST_TOOLS: usize = 40;

/// Everything that the pages of a run's trials are made of.
pub struct Bodies<'a> {
    /// The run's directory, to be named in the page.
    pub run_dir: &'a Utf8Path,
    /// The prompts of the run.
    pub prompts: &'a Prompts,
    /// What people said about trials, by their ids.
    pub remarks: &'a BTreeMap<u32, Remark>,
    /// Reads the files of a trial when they are needed, so that they are not all in memory. The number is how many
    /// bytes of each can be shown at most.
    pub read: &'a dyn Fn(&Trial, usize) -> TrialFiles,
    /// Whether nothing is left out, however large the file becomes.
    pub is_full: bool,
}

impl std::fmt::Debug for Bodies<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bodies")
            .field("run_dir", &self.run_dir)
            .field("is_full", &self.is_full)
            .finish_non_exhaustive()
    }
}

impl Bodies<'_> {
    /// Writes the trials' own pages, inert until one is opened. Returns the tools that each trial used.
    pub(super) fn write(
        &self,
        state: &RunState,
        matrix: &Matrix<'_>,
        to: &mut dyn Write,
    ) -> io::Result<Tools> {
        let trials = worst_first(state);
        let troubled = trials.iter().filter(|trial| is_troubled(trial)).count();
        let mut budget = Budget::new(self.is_full, troubled, trials.len() - troubled);
        let mut tools = HashMap::new();
        let mut chunk = Chunk::new();
        for trial in trials {
            let room = budget.next();
            let files = (self.read)(trial, room);
            tools.insert(trial.head.id, tools_of(&files.transcript));
            chunk.add(
                trial.head.id,
                &self.markup(state, matrix, trial, &files, room),
            )?;
            if chunk.is_full() {
                chunk.write(&mut budget, to)?;
                chunk = Chunk::new();
            }
        }
        chunk.write(&mut budget, to)?;
        Ok(tools)
    }

    fn markup(
        &self,
        state: &RunState,
        matrix: &Matrix<'_>,
        trial: &Trial,
        files: &TrialFiles,
        room: usize,
    ) -> String {
        let head = &trial.head;
        let page = TrialPage {
            trial,
            state,
            matrix,
            prompt: self.prompts.get(head),
            given: self.prompts.given(head),
            remark: self.remarks.get(&head.id),
            descriptions: state.descriptions(),
            bodies: files,
            files: Files::In(self.run_dir),
        };
        without_control_characters(trial_page(&page, room).into_string())
    }
}

/// Trials that are compressed together.
#[derive(Debug)]
struct Chunk {
    packed: Packed,
    /// The number and the bytes of each trial.
    index: String,
    trials: usize,
}

impl Chunk {
    fn new() -> Self {
        Chunk {
            packed: Packed::new(),
            index: String::new(),
            trials: 0,
        }
    }

    fn add(&mut self, id: u32, markup: &str) -> io::Result<()> {
        let space = if self.trials == 0 { "" } else { " " };
        // A text takes everything.
        let _ = write!(self.index, "{space}{id} {}", markup.len());
        self.trials += 1;
        self.packed.write_all(markup.as_bytes())
    }

    fn is_full(&self) -> bool {
        self.trials >= MOST_TRIALS || self.packed.bytes >= LARGEST_CHUNK
    }

    fn write(self, budget: &mut Budget, to: &mut dyn Write) -> io::Result<()> {
        if self.trials == 0 {
            return Ok(());
        }
        let markup = self.packed.bytes;
        let packed = self.packed.write(("data-trials", &self.index), to)?;
        budget.spend(markup, packed);
        Ok(())
    }
}

/// Returns the names of the tools that a session calls.
pub fn tools_of(session: &Session) -> Vec<String> {
    let mut tools = BTreeSet::new();
    for record in session.head.iter().chain(&session.tail) {
        if let Step::ToolCall {
            tool,
            server,
            server_tool,
            ..
        } = &record.record.step
        {
            let tool = server_tool.as_ref().unwrap_or(tool);
            let name = match server {
                Some(server) => format!("{server}: {tool}"),
                None => tool.clone(),
            };
            tools.insert(clean(&name).chars().take(80).collect());
            if tools.len() >= MOST_TOOLS {
                break;
            }
        }
    }
    tools.into_iter().collect()
}
