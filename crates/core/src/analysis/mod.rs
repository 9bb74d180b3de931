//! Answers drawn from runs: results, figures, comparisons, verdicts and forecasts.

pub mod compare;
mod distinct;
pub mod forecast;
pub mod history;
pub mod metrics;
pub mod results;
pub mod rounds;
pub mod summary;
pub mod validation;
pub mod wire_summary;
