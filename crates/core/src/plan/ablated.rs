//! Puts the rows of an ablation in the place of a suite's experiments.
//!
//! Each row is the experiment without some of its parts, under a name that nothing in a trial can see: the agent
//! sees no names at all, and the suite's own commands see that of the experiment.

use crate::ablation::{Ablation, FULL, Kind, Row, RulesWithout, ToolOf};
use crate::config::Patch;
use crate::config::suite::{Setup, Suite};
use crate::plan::selection::Selection;
use crate::plan::{Plan, TrialSpec};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;

/// Leaves the rows of a design in a suite. Returns the rest of the selection.
pub fn prepare(
    suite: &mut Suite,
    selection: &Selection,
    ablation: &Ablation,
    problems: &mut Diagnostics,
) -> Selection {
    let named = |setup: &&Setup| setup.name == ablation.experiment;
    match suite.experiments.iter().find(named).cloned() {
        Some(experiment) => {
            let rows = ablation.rows.iter();
            suite.experiments = rows.map(|row| row_of(&experiment, ablation, row)).collect();
            FULL.clone_into(&mut suite.baseline);
        }
        None => problems.push(Diagnostic::error(
            Code::NoMatch,
            format!("the suite has no experiment `{}`", ablation.experiment),
        )),
    }
    Selection {
        experiments: Vec::new(),
        ..selection.clone()
    }
}

/// Leaves the trials that the design gives to each eval.
pub fn keep_dealt(plan: &mut Plan, ablation: &Ablation) {
    plan.keep(|trial: &TrialSpec| {
        let experiment = &trial.case.variant.experiment;
        trial.repetition <= ablation.repetitions(&trial.case.eval.name, experiment)
    });
}

fn row_of(experiment: &Setup, ablation: &Ablation, row: &Row) -> Setup {
    let missing = ablation.missing(row);
    let description = match missing.as_slice() {
        [] => format!("`{}` with all its parts", ablation.experiment),
        missing => format!("without {}", prose::list(missing, "and")),
    };
    let mut setup = Setup {
        name: row.experiment.clone(),
        description: Some(description),
        real_name: Some(experiment.name.clone()),
        ..experiment.clone()
    };
    let left_out: Vec<usize> = (0..ablation.parts.len())
        .filter(|part| !row.parts.contains(part))
        .collect();
    match ablation.kind {
        Kind::Rules => {
            setup.rules_without = ablation.split.map(|split| RulesWithout {
                split,
                parts: ablation.parts.len(),
                left_out,
            });
        }
        Kind::Skills => leave_out(&mut setup.skills, &left_out),
        Kind::Tools => {
            let parts = left_out.iter().filter_map(|part| ablation.parts.get(*part));
            for ToolOf { server, tool } in parts.filter_map(|part| part.tool_of.as_ref()) {
                let of_server = setup.tools_left_out.entry(server.clone()).or_default();
                of_server.push(tool.clone());
            }
        }
        // A server of the environment that has the same name does not come back.
        Kind::Servers => {
            if let Patch::Set(servers) = &mut setup.mcp_servers {
                let set = servers
                    .iter_mut()
                    .filter(|(_, server)| server.set().is_some());
                for (position, (_, server)) in set.enumerate() {
                    if left_out.contains(&position) {
                        *server = Patch::Remove;
                    }
                }
            }
        }
    }
    setup
}

fn leave_out<T>(list: &mut Patch<Vec<T>>, left_out: &[usize]) {
    if let Patch::Set(items) = list {
        let mut position = 0..;
        items.retain(|_| position.next().is_none_or(|item| !left_out.contains(&item)));
    }
}
