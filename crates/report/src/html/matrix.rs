//! The evals and variants of a run, numbered.

use terca_core::analysis::summary::Summary;

use crate::metrics;

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
        let variants = summary.variants.iter();
        Matrix {
            evals: metrics::evals(summary),
            variants: variants
                .map(|variant| (&*variant.environment, &*variant.experiment))
                .collect(),
        }
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
        let place = self.evals.iter().position(|other| *other == eval);
        place.unwrap_or_default()
    }

    /// Returns the number of a variant.
    pub fn variant_number(&self, environment: &str, experiment: &str) -> usize {
        let mut variants = self.variants.iter();
        let place = variants.position(|other| *other == (environment, experiment));
        place.unwrap_or_default()
    }
}
