//! Ablations: which part of an experiment earns its effect.
//!
//! One experiment for each part would need as many trials for each of them. In a factorial design, every trial is used
//! for every part: each *row* of the design is the experiment with some of its parts, every part is in half of the
//! trials of every eval, and its effect is the difference between both halves.
//!
//! The design is made once, before the run, and is stored with it ([`Ablation`]). So a run can be resumed and
//! analysed later, and nothing of it depends on how designs are made in another version.

pub mod deal;
pub mod hadamard;
pub mod parts;
mod scan;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text::mask::Mask;
use crate::text::prose;

pub use parts::{RulesWithout, Split};

/// The name of the row that has all parts.
pub const FULL: &str = "full";
/// The name of the row that has no part.
pub const NONE: &str = "none";
/// The most parts of an ablation. Each needs two rows, and a row is a variant of the run.
pub const MOST_PARTS: usize = 100;

/// The kind of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Parts of the rules.
    Rules,
    /// MCP servers.
    Servers,
    /// Skills.
    Skills,
    /// Tools of MCP servers.
    Tools,
}

impl Kind {
    /// Returns the word for all of them.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Rules => "rules",
            Kind::Servers => "servers",
            Kind::Skills => "skills",
            Kind::Tools => "tools",
        }
    }

    /// Returns the key of an experiment that has them.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Servers | Kind::Tools => "mcpServers",
            kind => kind.as_str(),
        }
    }

    /// Returns the word for one of them.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Rules => "part",
            Kind::Servers => "server",
            Kind::Skills => "skill",
            Kind::Tools => "tool",
        }
    }
}

/// The design of an ablation, as a run stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ablation {
    /// The experiment whose parts these are.
    pub experiment: String,
    /// The kind of the parts.
    pub kind: Kind,
    /// The way in which the rules are split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The hash of the rules that were split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The parts, in the order in which they are written.
    pub parts: Vec<Part>,
    /// The rows of the design. Each is an experiment of the run.
    pub rows: Vec<Row>,
    /// The rows that each eval is run with.
    pub evals: Vec<EvalRows>,
}

/// A part of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its name.
    pub name: String,
    /// An estimate of the tokens that it adds to each request, where that can be known before a run.
    pub tokens: Option<u64>,
    /// The server of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_of: Option<ToolOf>,
}

impl Part {
    /// Returns a part that is no tool.
    pub fn new(name: String, tokens: Option<u64>) -> Self {
        Part {
            name,
            tokens,
            tool_of: None,
        }
    }
}

/// The tool that a part is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOf {
    /// The name of its server in the experiment.
    pub server: String,
    /// Its own name.
    pub tool: String,
}

/// A row of a design: some of the parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The name of its experiment in the run.
    pub experiment: String,
    /// The positions of the parts that it has.
    pub parts: Vec<usize>,
}

/// The rows of one eval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalRows {
    /// The eval's name.
    pub eval: String,
    /// The positions of its rows, one for each trial.
    pub rows: Vec<usize>,
}

impl EvalRows {
    /// Makes an eval without rows.
    pub fn new(eval: String) -> Self {
        let rows = Vec::new();
        EvalRows { eval, rows }
    }
}

/// A design that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DesignError {
    /// There is nothing to tell apart.
    #[error("there {found}, and an ablation needs at least two")]
    TooFewParts {
        /// The kind of the parts.
        kind: Kind,
        /// The parts in words.
        found: String,
    },
    /// There are too many parts.
    #[error("{0} parts are too many for an ablation; the most are {MOST_PARTS}")]
    TooManyParts(usize),
    /// Not every row would be used.
    #[error(
        "{trials} trials of {evals} are too few: the design for {parts} parts has {rows} rows, and every row is needed once"
    )]
    TooFewTrials {
        /// Trials of an eval.
        trials: usize,
        /// The evals in words.
        evals: String,
        /// The number of parts.
        parts: usize,
        /// The number of rows.
        rows: usize,
        /// The fewest trials of an eval that are enough.
        needed: usize,
    },
}

impl Ablation {
    /// Makes the design of these parts and evals, which have no rows so far.
    ///
    /// `trials` are those of each eval; `None` is one for each row.
    pub fn designed(mut self, trials: Option<usize>, seed: u64) -> Result<Self, DesignError> {
        let number = self.parts.len();
        if number < 2 {
            let noun = self.kind.noun();
            return Err(DesignError::TooFewParts {
                kind: self.kind,
                found: match number {
                    0 => format!("are no {noun}s to compare"),
                    _ => format!("is one {noun} only, `{}`", self.parts[0].name),
                },
            });
        }
        if number > MOST_PARTS {
            return Err(DesignError::TooManyParts(number));
        }
        let rows = deal::rows(number);
        let trials = trials.unwrap_or(rows.len());
        let needed = deal::fewest_trials(rows.len() / 2, self.evals.len());
        if trials < needed {
            return Err(DesignError::TooFewTrials {
                trials,
                evals: prose::count(self.evals.len(), "eval"),
                parts: number,
                rows: rows.len(),
                needed,
            });
        }
        let dealt = deal::deal(rows.len() / 2, self.evals.len(), trials, seed);
        for (eval, rows) in self.evals.iter_mut().zip(dealt) {
            eval.rows = rows;
        }
        let rows = rows.iter().enumerate();
        self.rows = rows.map(|(position, row)| Row::of(position, row)).collect();
        Ok(self)
    }

    /// Tells whether the row of this experiment has a part; `None` if there is no such row.
    pub fn has(&self, experiment: &str, part: usize) -> Option<bool> {
        let row = self.rows.iter().find(|row| row.experiment == experiment)?;
        Some(row.parts.contains(&part))
    }

    /// Returns how often an eval is run with the row of this experiment.
    pub fn repetitions(&self, eval: &str, experiment: &str) -> u32 {
        let is_it = |position: &&usize| {
            let row = self.rows.get(**position);
            row.is_some_and(|row| row.experiment == experiment)
        };
        let of = self.evals.iter().find(|of| of.eval == eval);
        of.map_or(0, |of| of.rows.iter().filter(is_it).count() as u32)
    }

    /// Returns how often an eval is run with a row at most.
    pub fn most_repetitions(&self) -> u32 {
        let counts = self.evals.iter().flat_map(|of| {
            let rows = self.rows.iter();
            rows.map(|row| self.repetitions(&of.eval, &row.experiment))
        });
        counts.max().unwrap_or(1).max(1)
    }

    /// Returns the number of trials of an eval.
    pub fn trials_of_eval(&self) -> usize {
        self.evals.first().map_or(0, |of| of.rows.len())
    }

    /// Masks secrets in the names of its parts. They are found by their positions.
    #[must_use]
    pub fn masked(mut self, mask: &Mask) -> Self {
        for part in &mut self.parts {
            part.name = mask.text(&part.name);
        }
        self
    }

    /// Returns the parts that are tools, with their positions and names, by the name of their server.
    pub(crate) fn tools_by_server(&self) -> BTreeMap<&str, Vec<(usize, &str)>> {
        let mut servers: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (position, part) in self.parts.iter().enumerate() {
            if let Some(ToolOf { server, tool }) = &part.tool_of {
                servers.entry(server).or_default().push((position, tool));
            }
        }
        servers
    }

    /// Returns the names of the parts that a row does not have.
    pub fn missing(&self, row: &Row) -> Vec<&str> {
        let parts = self.parts.iter().enumerate();
        parts
            .filter(|(position, _)| !row.parts.contains(position))
            .map(|(_, part)| part.name.as_str())
            .collect()
    }
}

impl Row {
    fn of(position: usize, has: &[bool]) -> Self {
        let parts = has.iter().enumerate().filter(|(_, has)| **has);
        Row {
            experiment: match position {
                0 => FULL.to_owned(),
                1 => NONE.to_owned(),
                _ => format!("row-{:02}", position + 1),
            },
            parts: parts.map(|(part, _)| part).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
