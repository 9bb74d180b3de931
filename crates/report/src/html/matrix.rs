//! The evals and variants of a run, numbered, and the names of variants.

use terca_core::analysis::summary::{CellSummary, Summary};

/// The evals and variants of a run. The script finds them by their numbers.
#[derive(Debug)]
pub struct Matrix<'a> {
    /// The names of the evals, in the order of the run.
    pub evals: Vec<&'a str>,
    /// The environment and the experiment of each variant.
    pub variants: Vec<(&'a str, &'a str)>,
}

impl<'a> Matrix<'a> {
    /// Lists the evals and variants of a summary.
    pub fn of(summary: &'a Summary) -> Self {
        let mut evals: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for cell in &summary.cells {
            if seen.insert(cell.eval.as_str()) {
                evals.push(&cell.eval);
            }
        }
        let variants = summary
            .variants
            .iter()
            .map(|variant| (variant.environment.as_str(), variant.experiment.as_str()))
            .collect();
        Matrix { evals, variants }
    }

    /// Returns a name that tells a variant from the others: what all have alike is left out.
    pub fn variant_name(&self, environment: &str, experiment: &str) -> String {
        let one_environment = self.variants.iter().all(|(other, _)| *other == environment);
        let one_experiment = self.variants.iter().all(|(_, other)| *other == experiment);
        match (one_environment, one_experiment) {
            (true, _) => experiment.to_owned(),
            (false, true) => environment.to_owned(),
            (false, false) => format!("{environment} · {experiment}"),
        }
    }

    /// Returns the number of an eval.
    pub fn eval_number(&self, eval: &str) -> usize {
        self.evals
            .iter()
            .position(|other| *other == eval)
            .unwrap_or_default()
    }

    /// Returns the number of a variant.
    pub fn variant_number(&self, environment: &str, experiment: &str) -> usize {
        self.variants
            .iter()
            .position(|other| *other == (environment, experiment))
            .unwrap_or_default()
    }

    /// Finds the figures of an eval in a variant.
    pub fn cell<'s>(
        &self,
        summary: &'s Summary,
        eval: &str,
        (environment, experiment): (&str, &str),
    ) -> Option<&'s CellSummary> {
        summary.cells.iter().find(|cell| {
            cell.eval == eval && cell.environment == environment && cell.experiment == experiment
        })
    }
}
