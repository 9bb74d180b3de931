//! The margin of a look at a run that is there.

use clap::Args;
use terca_core::run::state::RunState;

use crate::args::values::points;

/// The margin that a person wants to see a run with, without running anything again.
#[derive(Debug, Clone, Args)]
pub struct Margin {
    /// Treat differences smaller than this (in percentage points) as equivalent (default: the run's)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
}

impl Margin {
    /// Returns the run with this margin, or with its own where nobody asked for another.
    pub(crate) fn applied_to(&self, run: RunState) -> RunState {
        run.with_margin(self.margin)
    }
}
