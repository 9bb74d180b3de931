//! Counts of deliveries to the agents of an arm: an experiment that did not reach its agent is not one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::delivery::{Installed, McpDelivery, McpStatus};
use crate::run::outcome::TrialReport;

/// In how many trials what was there, of those that came to their agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryCounts {
    /// The number of trials.
    pub trials: usize,
    /// Rules files by path, with the number of trials.
    pub rules: BTreeMap<String, usize>,
    /// Files of skills by path, with the number of trials.
    pub skills: BTreeMap<String, usize>,
    /// MCP servers by name.
    pub mcp_servers: BTreeMap<String, McpCounts>,
}

/// Of the trials that had the server; what the agent does not say is in none of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpCounts {
    /// The number of trials.
    pub trials: usize,
    /// The trials in which it is known whether it connected.
    pub status_known: usize,
    /// The trials in which it connected.
    pub connected: usize,
    /// The trials in which the number of calls is known.
    pub calls_known: usize,
    /// The trials in which there was a call.
    pub used: usize,
}

impl DeliveryCounts {
    pub(super) fn of(trials: &[&TrialReport]) -> Self {
        let mut counts = DeliveryCounts::default();
        for trial in trials.iter().filter(|trial| trial.came_to_its_agent()) {
            counts.trials += 1;
            count(&mut counts.rules, &trial.delivery.rules);
            count(&mut counts.skills, &trial.delivery.skills);
            for (name, server) in &trial.delivery.mcp_servers {
                counts
                    .mcp_servers
                    .entry(name.clone())
                    .or_default()
                    .add(server);
            }
        }
        counts
    }

    /// `MCP server `firebase`: connected 30/30, used in 11/30`.
    pub fn sentences(&self) -> Vec<String> {
        let installed = |noun: &str, counts: &BTreeMap<String, usize>| -> Vec<String> {
            let sentence =
                |(path, number)| format!("{noun} `{path}`: installed {number}/{}", self.trials);
            counts.iter().map(sentence).collect()
        };
        let server = |(name, counts): (&String, &McpCounts)| {
            format!("MCP server `{name}`: {}", counts.words())
        };
        [
            installed("rules", &self.rules),
            installed("skill", &self.skills),
            self.mcp_servers.iter().map(server).collect(),
        ]
        .concat()
    }
}

fn count(counts: &mut BTreeMap<String, usize>, installed: &[Installed]) {
    // A part of the rules is not the rules.
    for file in installed.iter().filter(|file| !file.may_be_cut) {
        *counts.entry(file.path.clone()).or_default() += 1;
    }
}

impl McpCounts {
    fn add(&mut self, server: &McpDelivery) {
        self.trials += 1;
        self.status_known += usize::from(server.status.is_some());
        self.connected += usize::from(server.status == Some(McpStatus::Connected));
        self.calls_known += usize::from(server.calls.is_some());
        self.used += usize::from(server.calls.is_some_and(|calls| calls > 0));
    }

    fn words(&self) -> String {
        let share = |number: usize, known: usize| match known {
            0 => "unknown".to_owned(),
            known => format!("{number}/{known}"),
        };
        let used = if self.calls_known > 0 {
            "used in"
        } else {
            "use"
        };
        format!(
            "connected {}, {used} {}",
            share(self.connected, self.status_known),
            share(self.used, self.calls_known)
        )
    }
}
