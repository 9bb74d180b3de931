//! `--agent`: an environment that another agent runs is called by that agent's name.
//!
//! A table whose column says `gemini-cli` while Codex runs is wrong, and two runs of two agents are not the same variant. The
//! suite's own commands still see the environment's own name.

use crate::agent::AgentChoice;
use crate::config::Suite;
use crate::config::one_folder;
use crate::config::suite::Setup;
use crate::plan::selection::{Selection, selected_environments};
use crate::text::Diagnostics;

/// Leaves the selected environments, and gives new names to those that have another agent. Returns the rest of the
/// selection.
pub fn prepare(
    suite: &mut Suite,
    selection: &Selection,
    agent: &AgentChoice,
    problems: &mut Diagnostics,
) -> Selection {
    let mut unknown = Diagnostics::default();
    let selected = selected_environments(suite, selection, &mut unknown);
    let mut environments = renamed(&selected, agent);
    if unknown.has_errors() {
        // The new names are in tables and results, so they are typed, too.
        let all: Vec<&Setup> = suite.environments.iter().collect();
        let mut with_new_names = suite.clone();
        with_new_names.environments = renamed(&all, agent);
        let mut still_unknown = Diagnostics::default();
        let found = selected_environments(&with_new_names, selection, &mut still_unknown);
        if still_unknown.has_errors() {
            let unknown = unknown.iter().cloned();
            unknown.for_each(|problem| problems.push(problem));
        } else {
            environments = found.into_iter().cloned().collect();
        }
    }
    suite.environments = environments;
    Selection {
        environments: Vec::new(),
        ..selection.clone()
    }
}

/// Gives new names to the environments that have another agent.
fn renamed(selected: &[&Setup], agent: &AgentChoice) -> Vec<Setup> {
    let own = selected.iter().filter(|setup| has(setup, agent));
    let mut taken: Vec<String> = own.map(|setup| one_folder(&setup.name)).collect();
    let is_alone = selected.len() - taken.len() == 1;
    let named = selected.iter().map(|setup| {
        if has(setup, agent) {
            return (*setup).clone();
        }
        let name = new_name(agent, setup, is_alone, &taken);
        taken.push(one_folder(&name));
        Setup {
            name,
            real_name: Some(setup.name.clone()),
            ..(*setup).clone()
        }
    });
    named.collect()
}

fn has(setup: &Setup, agent: &AgentChoice) -> bool {
    setup
        .agent
        .set()
        .is_some_and(|own| own.agent == agent.agent)
}

/// Returns the agent's name, with the environment's where there are several. No two environments share a folder.
fn new_name(agent: &AgentChoice, setup: &Setup, is_alone: bool, taken: &[String]) -> String {
    let agent = agent.agent.profile().name;
    let is_free = |name: &String| !taken.contains(&one_folder(name));
    let alone = is_alone.then(|| agent.to_owned());
    let with_both = format!("{agent}-for-{}", setup.name);
    let numbered = (2..).map(|number| format!("{agent}-for-{}-{number}", setup.name));
    let mut names = alone.into_iter().chain([with_both.clone()]).chain(numbered);
    names.find(is_free).unwrap_or(with_both)
}
