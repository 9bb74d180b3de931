//! Two runs compared: one way for `terca compare` and for the pages.

use terca_core::analysis::compare::{Arm, Compared, between};
use terca_core::text::explain::Code;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;

use crate::cli_error::CliError;
use crate::screen;

/// The choices of a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choices {
    /// Differences that are smaller make no difference. `None`: as the baseline says.
    pub margin: Option<f64>,
    /// Evals that changed are left out.
    pub only_unchanged: bool,
}

/// Compares a run with the baseline.
pub fn compare(
    baseline: &PastRun,
    other: &PastRun,
    choices: Choices,
) -> Result<Compared, CliError> {
    if baseline.dir.canonicalize_utf8().ok() == other.dir.canonicalize_utf8().ok() {
        let text = format!("{} cannot be compared with itself", baseline.state.run());
        return Err(
            CliError::misuse(Code::NothingToCompare, text).help("`terca list` lists the runs")
        );
    }
    let names = names(baseline, other);
    let prints = [
        past_runs::fingerprints(&baseline.dir),
        past_runs::fingerprints(&other.dir),
    ];
    let first = Arm {
        name: &names[0],
        state: &baseline.state,
        prints: prints[0].as_deref(),
    };
    let second = Arm {
        name: &names[1],
        state: &other.state,
        prints: prints[1].as_deref(),
    };
    let margin = choices.margin.unwrap_or(baseline.state.margin());
    Ok(between(first, second, margin, choices.only_unchanged)?)
}

/// Returns the names of two runs: by their folders where two suites have runs of the same name.
pub fn names(one: &PastRun, other: &PastRun) -> [String; 2] {
    let runs = [one, other];
    if one.state.run() == other.state.run() {
        runs.map(|run| screen::short(&run.dir).to_string())
    } else {
        runs.map(|run| run.state.run().to_owned())
    }
}
