//! Who ran: the agents of a run with their versions and models, as their trials report them.

use std::collections::BTreeSet;

use maud::{Markup, html};
use terca_core::agent::control::is_control;
use terca_core::analysis::results::Results;
use terca_core::text::prose;

/// An agent in an environment, with a model that was asked for.
struct Agent<'a> {
    environment: &'a str,
    name: &'a str,
    requested: Option<&'a str>,
    experiments: BTreeSet<&'a str>,
    versions: BTreeSet<&'a str>,
    observed: BTreeSet<&'a str>,
}

/// Returns the agents, a line each.
pub fn agents(results: &Results) -> Markup {
    let agents = gathered(results);
    let is_shared = |agent: &Agent<'_>| {
        let same = |other: &&Agent<'_>| other.environment == agent.environment;
        agents.iter().filter(same).count() > 1
    };
    html! {
        ul.agents {
            @for agent in &agents {
                li {
                    @if agents.len() > 1 || agent.environment != "default" {
                        b { (agent.environment) }
                        @if is_shared(agent) {
                            " " span.quiet { (agent.experiments.iter().copied().collect::<Vec<_>>().join(", ")) }
                        }
                        ": "
                    }
                    (agent.words())
                }
            }
        }
    }
}

fn gathered(results: &Results) -> Vec<Agent<'_>> {
    let mut agents: Vec<Agent<'_>> = Vec::new();
    for trial in &results.trials {
        let head = &trial.head;
        let (name, requested) = (head.agent.as_str(), head.model.as_deref());
        let is_it = |agent: &Agent<'_>| {
            agent.environment == head.environment
                && agent.name == name
                && agent.requested == requested
        };
        let at = agents.iter().position(is_it).unwrap_or_else(|| {
            agents.push(Agent {
                environment: &head.environment,
                name,
                requested,
                experiments: BTreeSet::new(),
                versions: BTreeSet::new(),
                observed: BTreeSet::new(),
            });
            agents.len() - 1
        });
        let agent = &mut agents[at];
        agent.experiments.insert(&head.experiment);
        agent.versions.extend(trial.report.agent_version.as_deref());
        agent
            .observed
            .extend(trial.report.delivery.model_observed.as_deref());
    }
    agents
}

impl Agent<'_> {
    /// `claude-code 2.1.197, model claude-sonnet-5`.
    fn words(&self) -> String {
        let mut text = self.name.to_owned();
        if is_control(self.name) {
            return text + ", which checks evals and is no agent";
        }
        let list = |names: &BTreeSet<&str>| {
            let names: Vec<&str> = names.iter().copied().collect();
            prose::list(&names, "and")
        };
        if !self.versions.is_empty() {
            text += &format!(" {}", list(&self.versions));
        }
        let is_as_asked = self
            .observed
            .iter()
            .all(|model| Some(*model) == self.requested);
        match self.requested {
            Some(model) => text += &format!(", model {model}"),
            None if self.observed.is_empty() => text += ", its default model",
            None => text += &format!(", its default model: {}", list(&self.observed)),
        }
        if self.requested.is_some() && !is_as_asked {
            text += &format!(" (answered by {})", list(&self.observed));
        }
        text
    }
}
