//! Puts the rows of an ablation in the place of a suite's experiments.
//!
//! Each row is the experiment without some of its parts, under a name that nothing in a trial can see: the agent
//! sees no names at all, and the suite's own commands see that of the experiment.

use crate::ablation::{Ablation, FULL, Kind, Row, RulesWithout};
use crate::config::Patch;
use crate::config::suite::{McpServers, Setup, Suite};
use crate::plan::selection::Selection;
use crate::plan::{Plan, TrialSpec};
use crate::text::{Code, Diagnostic, Diagnostics, prose};

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
            let is_left_out = |part: &usize| left_out.contains(part);
            for (server, tools) in ablation.tools_by_server() {
                if tools.iter().all(|(part, _)| is_left_out(part)) {
                    leave_out_server(&mut setup.mcp_servers, server);
                    continue;
                }
                let hidden = tools.iter().filter(|(part, _)| is_left_out(part));
                let hidden: Vec<String> = hidden.map(|(_, tool)| (*tool).to_owned()).collect();
                setup.tools_left_out.insert(server.to_owned(), hidden);
            }
        }
        Kind::Servers => {
            // By their positions: names are masked in a stored design.
            let all = experiment.mcp_servers.set().into_iter().flatten();
            let set = all.filter(|(_, server)| server.set().is_some());
            for (position, (name, _)) in set.enumerate() {
                if left_out.contains(&position) {
                    leave_out_server(&mut setup.mcp_servers, &name.value);
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

/// Leaves out a server. One of the environment that has the same name does not come back.
fn leave_out_server(servers: &mut Patch<McpServers>, left_out: &str) {
    if let Patch::Set(servers) = servers {
        let named = servers
            .iter_mut()
            .filter(|(name, _)| name.value == left_out);
        named.for_each(|(_, server)| *server = Patch::Remove);
    }
}
