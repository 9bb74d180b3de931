//! A run with what a list of runs and a trend need to know of it.

use std::collections::BTreeSet;

use terca_core::analysis::summary::{VariantSummary, summarise_figures};
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::run_file::RunFile;
use terca_core::run::state::{RunState, SpentTotal};

use crate::text::runs::RunRow;

/// A run on the page of all runs.
#[derive(Debug)]
pub struct ListedRun {
    /// Its row in the list.
    pub row: RunRow,
    /// The figures of its variants; none of a run that cannot be read.
    pub variants: Vec<VariantSummary>,
    /// Its spending.
    pub spent: SpentTotal,
    /// Its agents with their versions.
    pub agents: BTreeSet<String>,
    /// Its models, as they answered or else as they were asked for.
    pub models: BTreeSet<String>,
    /// The fingerprints of its cases, if it has them.
    pub prints: Option<Vec<CaseFingerprint>>,
    /// The commit that the suite was at.
    pub commit: Option<String>,
}

impl ListedRun {
    /// Lists a run that cannot be read.
    pub fn unreadable(row: RunRow) -> Self {
        ListedRun {
            row,
            variants: Vec::new(),
            spent: SpentTotal::default(),
            agents: BTreeSet::new(),
            models: BTreeSet::new(),
            prints: None,
            commit: None,
        }
    }

    /// Lists a run, with the facts of its `run.json` where that is there.
    pub fn of(row: RunRow, state: &RunState, file: Option<RunFile>) -> Self {
        let mut run = ListedRun::unreadable(row);
        for trial in state.trials() {
            let report = &trial.report;
            let version = report.agent_version.as_deref();
            run.agents
                .extend(version.map(|version| format!("{} {version}", trial.head.agent)));
            let observed = report.delivery.model_observed.as_ref();
            run.models
                .extend(observed.or(trial.head.model.as_ref()).cloned());
        }
        let summary = summarise_figures(state);
        ListedRun {
            variants: summary.variants,
            spent: summary.spent,
            commit: file.as_ref().and_then(|file| file.suite_commit.clone()),
            prints: file.map(|file| file.fingerprints),
            ..run
        }
    }
}
