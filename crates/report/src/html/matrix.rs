//! The evals and variants of a run, numbered, and what variants are called.

use terca_core::analysis::summary::{CellSummary, Summary};

#[derive(Debug)]
pub struct Matrix<'a> {
    pub evals: Vec<&'a str>,
    /// Environment and experiment.
    pub variants: Vec<(&'a str, &'a str)>,
}

impl<'a> Matrix<'a> {
    pub fn of(summary: &'a Summary) -> Self {
        let mut evals: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for cell in &summary.cells {
            if seen.insert(cell.eval.as_str()) {
                evals.push(&cell.eval);
            }
        }
        let variants = summary.variants.iter();
        let variants =
            variants.map(|variant| (variant.environment.as_str(), variant.experiment.as_str()));
        Matrix {
            evals,
            variants: variants.collect(),
        }
    }

    /// What tells a variant from the others: a name that all have alike is left out.
    pub fn variant_name(&self, environment: &str, experiment: &str) -> String {
        let one_environment = self.variants.iter().all(|(other, _)| *other == environment);
        let one_experiment = self.variants.iter().all(|(_, other)| *other == experiment);
        match (one_environment, one_experiment) {
            (true, _) => experiment.to_owned(),
            (false, true) => environment.to_owned(),
            (false, false) => format!("{environment} · {experiment}"),
        }
    }

    pub fn eval_number(&self, eval: &str) -> usize {
        self.evals
            .iter()
            .position(|other| *other == eval)
            .unwrap_or_default()
    }

    pub fn variant_number(&self, environment: &str, experiment: &str) -> usize {
        self.variants
            .iter()
            .position(|other| *other == (environment, experiment))
            .unwrap_or_default()
    }

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
