//! Finds what differs between two arms beside the experiment: a verdict cannot tell the two apart.

use std::collections::{BTreeMap, BTreeSet};

use super::pairs::{Cell, Scope};
use crate::agent::delivery::is_same_model;
use crate::run::outcome::TrialReport;
use crate::run::state::Trial;
use crate::text::prose;

/// Warns of each difference between an arm and its baseline that the suite did not ask for.
pub(super) fn warnings(scope: &Scope<'_, '_>, arm: &str, baseline: &str) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for place in scope.places {
        let of = |name: &str| {
            let cells = scope.grid.cells.iter();
            let cells = cells.filter(|cell| cell.place == *place && cell.arm == name);
            Side::of(cells)
        };
        let (one, other) = (of(arm), of(baseline));
        for (noun, values) in one.differences(&other) {
            let warning = format!(
                "{noun} is not the same on both sides: {} with `{arm}`, {} with `{baseline}`; the difference may come from that",
                values[0], values[1]
            );
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// The facts about the trials of an arm that its experiment may not have meant to change.
#[derive(Debug, Default)]
struct Side {
    /// The agents and models that were asked for.
    asked: BTreeSet<(String, Option<String>)>,
    /// The versions of the agent that were asked for, and those that it reported.
    versions_asked: BTreeSet<String>,
    versions: BTreeSet<String>,
    models: BTreeSet<String>,
    /// Parameters of requests by name, with their values.
    parameters: BTreeMap<String, BTreeSet<String>>,
    tools: Tools,
}

/// The tools that the trials of an arm offered to the model.
#[derive(Debug, Default)]
struct Tools {
    /// Those of every trial that offered some; `None` if there was no such trial.
    always: Option<BTreeSet<String>>,
    /// Those of any trial.
    ever: BTreeSet<String>,
    /// The MCP servers and skills that were there, which have tools of their own.
    extensions: BTreeSet<String>,
    /// The names of servers and of their tools.
    of_servers: BTreeSet<String>,
}

impl Tools {
    fn add(&mut self, report: &TrialReport) {
        let offered = report.wire.iter().flat_map(|wire| &wire.tools);
        let offered: BTreeSet<String> = offered.cloned().collect();
        if !offered.is_empty() {
            self.ever.extend(offered.iter().cloned());
            let always = match self.always.take() {
                Some(always) => always.intersection(&offered).cloned().collect(),
                None => offered,
            };
            self.always = Some(always);
        }
        let delivery = &report.delivery;
        let skills = delivery.skills.iter().map(|skill| skill.path.clone());
        self.extensions.extend(skills);
        for (server, seen) in &delivery.mcp_servers {
            self.extensions.insert(server.clone());
            let tools = seen.tap.iter().flat_map(|tap| tap.tools.keys());
            self.of_servers
                .extend(tools.chain([server]).map(|name| letters(name)));
        }
    }

    /// Returns the tools that all trials here and none there offered. A side with more servers or skills has more tools.
    fn only_here(&self, other: &Tools) -> BTreeSet<String> {
        let (Some(always), Some(_)) = (&self.always, &other.always) else {
            return BTreeSet::new();
        };
        if !self.extensions.is_subset(&other.extensions) {
            return BTreeSet::new();
        }
        let is_of_server = |tool: &&String| {
            let tool = letters(tool);
            let mut names = self.of_servers.iter().chain(&other.of_servers);
            names.any(|name| tool.contains(name))
        };
        let only = always.difference(&other.ever);
        only.filter(|tool| !is_of_server(tool)).cloned().collect()
    }
}

/// Returns a name without what each agent puts between its words.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl Side {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell<'a>>) -> Self {
        let mut side = Side::default();
        for trial in cells.flat_map(|cell| &cell.trials) {
            side.add(trial);
        }
        side
    }

    fn add(&mut self, trial: &Trial) {
        let Trial { head, report, .. } = trial;
        if !report.status.is_done() {
            return;
        }
        self.asked.insert((head.agent.clone(), head.model.clone()));
        (self.versions_asked).extend(report.delivery.version_requested.clone());
        self.versions.extend(report.agent_version.clone());
        self.models.extend(report.delivery.model_observed.clone());
        self.tools.add(report);
        let parameters = report.wire.iter().flat_map(|wire| &wire.parameters);
        for (name, values) in parameters {
            // Requests beside the task may have others, so that of most requests counts.
            let most = values.iter().max_by_key(|(_, requests)| **requests);
            let known = self.parameters.entry(name.clone()).or_default();
            known.extend(most.map(|(value, _)| value.clone()));
        }
    }

    /// Returns the names of what differs, with the values of both sides. Another agent or model is what the experiment is about.
    fn differences(&self, other: &Side) -> Vec<(String, [String; 2])> {
        if self.asked != other.asked {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut differ = |noun: &str, one: &BTreeSet<String>, other: &BTreeSet<String>| {
            if one != other {
                found.push((noun.to_owned(), [one, other].map(words)));
            }
        };
        let is_known =
            |one: &BTreeSet<String>, other: &BTreeSet<String>| !one.is_empty() && !other.is_empty();
        let is_asked = self.versions_asked != other.versions_asked;
        if is_known(&self.versions, &other.versions) && !is_asked {
            differ("the agent's version", &self.versions, &other.versions);
        }
        if is_known(&self.models, &other.models) && !are_same(&self.models, &other.models) {
            differ("the model", &self.models, &other.models);
        }
        let names: BTreeSet<&String> = self
            .parameters
            .keys()
            .chain(other.parameters.keys())
            .collect();
        let none = BTreeSet::new();
        // An arm without any request says nothing.
        for name in names
            .into_iter()
            .filter(|_| is_known(&self.models, &other.models))
        {
            let of = |side: &Side| side.parameters.get(name).unwrap_or(&none).clone();
            differ(name, &of(self), &of(other));
        }
        let only = [
            self.tools.only_here(&other.tools),
            other.tools.only_here(&self.tools),
        ];
        if only.iter().any(|tools| !tools.is_empty()) {
            let values = only.map(|tools| match tools.is_empty() {
                true => "no other".to_owned(),
                false => format!("also {}", words(&tools)),
            });
            found.push(("the list of tools".to_owned(), values));
        }
        found
    }
}

fn are_same(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let each_is_in = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let mut names = one.iter();
        names.all(|name| other.iter().any(|known| is_same_model(name, known)))
    };
    each_is_in(one, other) && each_is_in(other, one)
}

fn words(values: &BTreeSet<String>) -> String {
    const MOST: usize = 3;
    match values.is_empty() {
        true => "none".to_owned(),
        false => prose::few(&values.iter().collect::<Vec<_>>(), MOST),
    }
}
