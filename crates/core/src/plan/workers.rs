//! The workers that `--on` names.

use crate::config::Suite;
use crate::text::{Code, Diagnostic, Diagnostics, prose};
use crate::worker_pool::{LOCAL, WorkerPool};

/// The workers that a run uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenWorkers {
    /// Trials run on this machine, too.
    pub is_local: bool,
    /// The pools, each once, in the order of their names.
    pub pools: Vec<WorkerPool>,
}

/// Finds the workers of a suite by their names. Without names, trials run on this machine alone. A name that is unknown is
/// an error.
pub fn chosen_workers(
    suite: &Suite,
    names: &[String],
    problems: &mut Diagnostics,
) -> ChosenWorkers {
    let mut chosen = ChosenWorkers {
        is_local: names.is_empty(),
        pools: Vec::new(),
    };
    for name in names {
        let pool = suite.workers.iter().find(|pool| pool.name == *name);
        match pool {
            _ if name == LOCAL => chosen.is_local = true,
            Some(pool) if chosen.pools.contains(pool) => {}
            Some(pool) => chosen.pools.push(pool.clone()),
            None => problems.push(unknown(name, suite)),
        }
    }
    chosen
}

fn unknown(name: &str, suite: &Suite) -> Diagnostic {
    let pools = suite.workers.iter().map(|pool| pool.name.as_str());
    let names: Vec<&str> = pools.chain([LOCAL]).collect();
    let message = match name {
        "" => "--on has no name".to_owned(),
        _ => format!("--on {name}: the suite has no workers of that name"),
    };
    let problem = Diagnostic::error(Code::NoMatch, message);
    if suite.workers.is_empty() {
        return problem
            .help("name machines under `workers` in terca.yaml, or in workers.yaml beside it");
    }
    let all = format!("the workers are {}", prose::quoted_list(&names, "and"));
    problem.help(all).maybe_help(prose::meant(name, names))
}
