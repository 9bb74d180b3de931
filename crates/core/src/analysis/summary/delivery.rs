//! Counts of deliveries to the agents of an arm: an experiment that did not reach its agent is not one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::delivery::{Installed, McpDelivery, McpStatus};
use crate::run::outcome::TrialReport;
use crate::wire::sent_parts::{Part, Sent};

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
    /// The parts that were looked for in requests to models, which passed through the gateway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentCounts>,
}

/// The requests of several trials that had a part of the variant in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentCounts {
    /// The kind of part.
    pub part: Part,
    /// The path of rules or of a skill in the workspace, or the name of a server.
    pub name: String,
    /// The trials whose requests were looked at.
    pub trials: usize,
    /// The trials in which no request had it.
    pub trials_without: usize,
    /// The requests that had it in them.
    pub requests: u64,
    /// The requests that could have had it.
    pub of: u64,
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
    pub(crate) fn of(trials: &[&TrialReport]) -> Self {
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
            for sent in trial.wire.iter().flat_map(|wire| &wire.sent) {
                counts.add_sent(sent);
            }
        }
        counts
    }

    fn add_sent(&mut self, sent: &Sent) {
        let known = self
            .sent
            .iter()
            .position(|counts| counts.part == sent.part && counts.name == sent.name);
        let at = known.unwrap_or_else(|| {
            self.sent.push(SentCounts {
                part: sent.part,
                name: sent.name.clone(),
                trials: 0,
                trials_without: 0,
                requests: 0,
                of: 0,
            });
            self.sent.len() - 1
        });
        let counts = &mut self.sent[at];
        counts.trials += 1;
        counts.trials_without += usize::from(sent.requests == 0);
        counts.requests += sent.requests;
        counts.of += sent.of;
    }

    fn sent(&self, part: Part, name: &str) -> Option<&SentCounts> {
        let mut sent = self.sent.iter();
        sent.find(|sent| sent.part == part && sent.name == name)
    }

    /// Returns `sent 12/12 requests`, if all of these trials were looked at; else how often it was installed.
    fn reached(&self, part: Part, name: &str, installed: usize) -> String {
        let trials = self.trials;
        let before = format!("installed {installed}/{trials}");
        match self.sent(part, name) {
            Some(sent) if sent.trials == trials => sent.words(),
            Some(sent) => format!(
                "{before}, {} in {}/{trials} trials",
                sent.words(),
                sent.trials
            ),
            None => before,
        }
    }

    /// Returns a warning for each part that was in no request of some trials with this name.
    pub fn undelivered(&self, name: &str) -> Vec<String> {
        let sent = self.sent.iter();
        sent.filter_map(|sent| sent.warning(name)).collect()
    }

    /// `MCP server `firebase`: connected 30/30, used in 11/30`.
    pub fn sentences(&self) -> Vec<String> {
        let installed = |part: Part, counts: &BTreeMap<String, usize>| -> Vec<String> {
            let sentence = |(path, number): (&String, &usize)| {
                let reached = self.reached(part, path, *number);
                format!("{} `{path}`: {reached}", part.noun())
            };
            counts.iter().map(sentence).collect()
        };
        let server = |(name, counts): (&String, &McpCounts)| {
            let sent = self.sent(Part::McpServer, name);
            let tools = sent.map(|sent| format!(", tools {}", sent.words()));
            format!(
                "MCP server `{name}`: {}{}",
                counts.words(),
                tools.unwrap_or_default()
            )
        };
        [
            installed(Part::Rules, &self.rules),
            installed(Part::Skill, &self.skills),
            self.mcp_servers.iter().map(server).collect(),
        ]
        .concat()
    }
}

impl SentCounts {
    fn words(&self) -> String {
        format!("sent {}/{} requests", self.requests, self.of)
    }

    /// Returns a warning if there are trials in which it was in no request.
    fn warning(&self, arm: &str) -> Option<String> {
        let SentCounts {
            name,
            trials,
            trials_without,
            ..
        } = self;
        (*trials_without > 0).then(|| {
            let noun = self.part.noun();
            format!("{noun} `{name}`: in no request to a model in {trials_without}/{trials} trials with `{arm}`")
        })
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
