//! `--aa`: compares an experiment with itself, so that any difference is chance or a fault of the set-up.
//!
//! The experiment runs under two names that nothing in a trial can see: the agent sees no names at all, and the
//! suite's own commands see the real one in both arms.

use crate::config::Suite;
use crate::config::suite::Setup;
use crate::plan::selection::{Selection, select};
use crate::text::Diagnostics;

/// The two names of the experiment. The first is the baseline.
pub const NAMES: [&str; 2] = ["A", "A again"];

/// Leaves one experiment, the baseline or the first that is selected, under two names. Returns the rest of the
/// selection.
pub fn prepare(suite: &mut Suite, selection: &Selection, problems: &mut Diagnostics) -> Selection {
    let experiment = select(suite, selection, problems).main_experiment(suite);
    suite.experiments = NAMES
        .into_iter()
        .map(|name| called(&experiment, name))
        .collect();
    NAMES[0].clone_into(&mut suite.baseline);
    Selection {
        experiments: Vec::new(),
        ..selection.clone()
    }
}

fn called(experiment: &Setup, name: &str) -> Setup {
    Setup {
        name: name.to_owned(),
        real_name: Some(experiment.name.clone()),
        ..experiment.clone()
    }
}
