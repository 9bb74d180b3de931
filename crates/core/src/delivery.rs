//! What the agent was really given, and what of it it used.
//!
//! An experiment that never reached the agent is not an experiment, so every trial carries this proof.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub rules: Vec<Installed>,
    pub skills: Vec<Installed>,
    pub mcp_servers: BTreeMap<String, McpDelivery>,
    pub model_requested: Option<String>,
    pub model_observed: Option<String>,
}

/// A file as it stood in the workspace when the agent started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    pub path: String,
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpDelivery {
    /// `null` when the agent does not say.
    pub status: Option<McpStatus>,
    pub calls: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpStatus {
    Connected,
    Failed,
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
