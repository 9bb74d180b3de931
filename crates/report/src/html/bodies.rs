//! The trials' own pages in a file: compressed, some in each chunk, in the order of the list. The room of the file is
//! shared out among them: those that did not pass come first.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::io::{Read, Write};

use base64::prelude::*;
use camino::Utf8Path;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use terca_core::run::state::{RunState, Trial};
use terca_core::transcript::Step;
use terca_core::transcript::trial_files::{Session, TrialFiles};

use super::matrix::Matrix;
use super::text::{clean, without_control_characters};
use super::trial::{TrialPage, trial_page};
use super::trials::{Prompts, Tools, is_troubled, worst_first};

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
    /// The prompts of the run, and what people said about its trials.
    pub prompts: &'a Prompts,
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
        let mut trials = trials.into_iter().peekable();
        while trials.peek().is_some() {
            let mut chunk = gzip();
            // The number and the bytes of each trial in it.
            let mut index = Vec::new();
            let mut bytes = 0;
            while index.len() < MOST_TRIALS
                && bytes < LARGEST_CHUNK
                && let Some(trial) = trials.next()
            {
                let room = budget.next();
                let files = (self.read)(trial, room);
                tools.insert(trial.head.id, tools_of(&files.transcript));
                let page = TrialPage {
                    trial,
                    state,
                    matrix,
                    prompts: self.prompts,
                    bodies: &files,
                    run_dir: Some(self.run_dir),
                };
                let markup = without_control_characters(trial_page(&page, room).into_string());
                index.push(format!("{} {}", trial.head.id, markup.len()));
                bytes += markup.len();
                chunk.write_all(markup.as_bytes())?;
            }
            let packed = write_packed(chunk, ("data-trials", &index.join(" ")), to)?;
            budget.spend(bytes, packed);
        }
        Ok(tools)
    }
}

/// Returns the names of the tools that a session calls.
pub fn tools_of(session: &Session) -> Vec<String> {
    let mut tools = BTreeSet::new();
    for record in session.records() {
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

/// Compresses bytes as they come.
pub fn gzip() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// Writes compressed bytes as an element. Returns how many they are. The attribute must need no escapes.
pub fn write_packed(
    gzip: GzEncoder<Vec<u8>>,
    (name, value): (&str, &str),
    to: &mut dyn Write,
) -> io::Result<usize> {
    let packed = gzip.finish()?;
    let text = BASE64_STANDARD.encode(&packed);
    write!(to, "<template {name}=\"{value}\">{text}</template>")?;
    Ok(packed.len())
}

/// Returns a page with its compressed parts opened, for those who look for something in it without a browser.
pub fn unpacked(page: &str) -> String {
    let mut opened = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, element)) = rest.split_once("<template ") {
        opened.push_str(before);
        let (_, element) = element.split_once('>').unwrap_or_default();
        let (packed, after) = element.split_once("</template>").unwrap_or((element, ""));
        let mut plain = Vec::new();
        // A part that is damaged has no text.
        let bytes = BASE64_STANDARD.decode(packed).unwrap_or_default();
        let _ = GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain);
        opened.push_str(&String::from_utf8_lossy(&plain));
        rest = after;
    }
    opened + rest
}

/// The bytes that all bodies of a file may take together, compressed.
const LARGEST: usize = 13_000_000;
/// The bytes of markup that one body may take.
const LARGEST_BODY: usize = 400_000;
const SMALLEST_BODY: usize = 4_000;
/// The room in a file that shows everything.
const EVERYTHING: usize = usize::MAX / 4;
/// Markup takes about so many times the room of its compressed form. What is written corrects this.
const USUAL_RATIO: usize = 8;

/// The room that is left.
pub struct Budget {
    is_unlimited: bool,
    left: usize,
    /// The markup that was written, and its compressed size.
    markup: usize,
    packed: usize,
    /// The trials that are still to be written.
    troubled: usize,
    others: usize,
}

impl Budget {
    /// Returns the room for so many trials that did not pass, and so many others.
    pub fn new(is_unlimited: bool, troubled: usize, others: usize) -> Self {
        Budget {
            is_unlimited,
            left: LARGEST,
            markup: USUAL_RATIO,
            packed: 1,
            troubled,
            others,
        }
    }

    /// Returns the bytes of markup that the next trial may take. Trials that did not pass leave the others the
    /// smallest room, not more.
    pub fn next(&mut self) -> usize {
        if self.is_unlimited {
            return EVERYTHING;
        }
        let smallest = SMALLEST_BODY * self.packed / self.markup;
        let (kept, waiting) = match self.troubled {
            0 => (0, &mut self.others),
            _ => (self.others * smallest, &mut self.troubled),
        };
        let share = self.left.saturating_sub(kept) / (*waiting).max(1);
        *waiting = waiting.saturating_sub(1);
        let room = share * self.markup / self.packed;
        room.clamp(SMALLEST_BODY, LARGEST_BODY)
    }

    /// Notes that so much markup was written in so many bytes.
    pub fn spend(&mut self, markup: usize, packed: usize) {
        self.left = self.left.saturating_sub(packed);
        self.markup += markup;
        self.packed += packed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes trials that take all the room they are given. Returns the room of each.
    fn shared_out(troubled: usize, others: usize, ratio: usize) -> Vec<usize> {
        let mut budget = Budget::new(false, troubled, others);
        let give = |_| {
            let room = budget.next();
            budget.spend(room, room / ratio);
            room
        };
        (0..troubled + others).map(give).collect()
    }

    #[test]
    fn few_trials_get_all_they_may() {
        assert!(shared_out(60, 120, 10).iter().all(|room| *room == 400_000));
    }

    #[test]
    fn failures_come_first_and_nobody_gets_nothing() {
        let rooms = shared_out(100, 900, 10);
        assert!(
            rooms[..100].iter().all(|room| *room == 400_000),
            "{rooms:?}"
        );
        assert!(rooms[100..].iter().all(|room| *room >= 4_000), "{rooms:?}");
        let packed: usize = rooms.iter().map(|room| room / 10).sum();
        assert!((12_000_000..=13_000_000).contains(&packed), "{packed}");
    }

    #[test]
    fn bodies_that_cannot_be_compressed_keep_to_it_too() {
        let packed: usize = shared_out(1_000, 1_000, 1).iter().sum();
        assert!((11_000_000..=14_500_000).contains(&packed), "{packed}");
    }

    #[test]
    fn everything_is_everything() {
        assert!(Budget::new(true, 1, 1).next() > 1 << 40);
    }
}
