//! The proof that a variant reached the agent.
//!
//! An experiment that never reached the agent is not an experiment, so every trial says what the agent was really given
//! and what it used of that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::access::Access;
use super::models;
use crate::mcp_tap::ServerTap;

/// The parts of a variant as they reached the agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The file of rules.
    pub rules: Vec<Installed>,
    /// The files of skills.
    pub skills: Vec<Installed>,
    /// The MCP servers, by name.
    pub mcp_servers: BTreeMap<String, McpDelivery>,
    /// The model of the variant.
    pub model_requested: Option<String>,
    /// The model that the service named in its answers, where the agent passes it on; never what was asked for.
    pub model_observed: Option<String>,
    /// The version of the agent that the variant asks for, and that Terca has installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_requested: Option<String>,
    /// The service that it was led to and its means to sign in, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
}

impl Delivery {
    /// Returns the model requested and the model observed, where they are not the same model.
    pub fn other_model(&self) -> Option<(&str, &str)> {
        let requested = self.model_requested.as_deref()?;
        let observed = self.model_observed.as_deref()?;
        (!models::is_same(requested, observed)).then_some((requested, observed))
    }
}

/// Returns whether two names mean the same model.
pub fn is_same_model(one: &str, other: &str) -> bool {
    models::is_same(one, other)
}

/// A file of rules, or the directory of a skill, as it was in the workspace when the agent started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// Its path, relative to the workspace.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal; of a skill, that of all its files.
    pub sha256: String,
    /// True if it is longer than the agent is known to read.
    #[serde(default)]
    pub may_be_cut: bool,
    /// Uses of a skill, where the agent shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
}

impl Delivery {
    /// Adds the uses of skills, by their names. A skill is called by its name, which is that of its directory.
    pub fn add_skill_uses(&mut self, uses: &BTreeMap<String, u64>) {
        for skill in &mut self.skills {
            let name = skill.path.rsplit('/').next().unwrap_or_default();
            skill.uses = Some(uses.get(name).copied().unwrap_or(0));
        }
    }
}

/// An MCP server as its tap saw it. Everything is `null` where there was no tap.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpDelivery {
    /// `null` also for a server that was not started, or has not answered yet.
    pub status: Option<McpStatus>,
    /// Calls of its tools.
    pub calls: Option<u64>,
    /// Those of the calls that failed.
    pub failed_calls: Option<u64>,
    /// The figures of the tap between the agent and the server, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tap: Option<ServerTap>,
}

impl McpDelivery {
    /// Returns the facts that the tap of a server has seen.
    pub fn seen(tap: ServerTap) -> Self {
        let status = if tap.connected > 0 {
            Some(McpStatus::Connected)
        } else if tap.is_broken() {
            Some(McpStatus::Failed)
        } else {
            None
        };
        McpDelivery {
            status,
            calls: Some(tap.calls()),
            failed_calls: Some(tap.errors()),
            tap: Some(tap),
        }
    }
}

/// The state of an MCP server when the session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpStatus {
    /// It answered.
    Connected,
    /// It did not start or did not answer.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_was_not_seen_is_no_other_model() {
        let mut delivery = Delivery {
            model_requested: Some("gpt-5".into()),
            ..Delivery::default()
        };
        assert_eq!(delivery.other_model(), None);
        delivery.model_observed = Some("gpt-5-mini".into());
        assert_eq!(delivery.other_model(), Some(("gpt-5", "gpt-5-mini")));
    }

    #[test]
    fn a_server_is_what_its_tap_has_seen() {
        let started = ServerTap {
            starts: 1,
            ..ServerTap::default()
        };
        let died = ServerTap {
            deaths: vec!["exit status 3".to_owned()],
            ..started.clone()
        };
        let refused = ServerTap {
            refused: 1,
            ..started.clone()
        };
        let connected = ServerTap {
            connected: 1,
            ..died.clone()
        };
        for (tap, expected) in [
            (ServerTap::default(), None),
            (started, None),
            (died, Some(McpStatus::Failed)),
            (refused, Some(McpStatus::Failed)),
            (connected, Some(McpStatus::Connected)),
        ] {
            let delivery = McpDelivery::seen(tap);
            assert_eq!(delivery.status, expected, "{delivery:?}");
            assert_eq!((delivery.calls, delivery.failed_calls), (Some(0), Some(0)));
        }
    }

    #[test]
    fn skills_are_counted_by_their_names() {
        let skill = |path: &str| Installed {
            path: path.to_owned(),
            ..Installed::default()
        };
        let mut delivery = Delivery {
            skills: vec![
                skill(".claude/skills/whistling"),
                skill(".claude/skills/idle"),
            ],
            ..Delivery::default()
        };
        delivery.add_skill_uses(&BTreeMap::from([("whistling".to_owned(), 2)]));
        let uses: Vec<_> = delivery.skills.iter().map(|skill| skill.uses).collect();
        assert_eq!(uses, [Some(2), Some(0)]);
    }
}
