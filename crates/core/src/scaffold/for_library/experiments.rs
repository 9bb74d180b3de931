//! The experiments of a suite about a library, beside the control.

use serde_json::Value;

use super::LibrarySuite;
use crate::agent::Capabilities;
use crate::scaffold::suite::all_take_rules;
use crate::scaffold::yaml_scalar;

/// Writes the experiment that is asked about, and others as comments where the library has something to try.
pub(super) fn others(new: &LibrarySuite<'_>) -> String {
    let all_can = |can: fn(&Capabilities) -> bool| {
        new.agents
            .iter()
            .all(|agent| can(&agent.profile().capabilities))
    };
    let mut text = with_rules(new);
    let guidance = &new.library.guidance;
    if !guidance.skills.is_empty() && all_can(|can| can.skills) {
        text.push_str("  # - name: with-skills\n  #   skills:\n");
        for path in &guidance.skills {
            let path = yaml_scalar::path(&new.to_library(path.as_str()));
            text.push_str(&format!("  #     - {path}\n"));
        }
    }
    if !guidance.mcp_servers.is_empty() && all_can(|can| can.mcp_servers) {
        text.push_str("  # - name: with-mcp-servers\n  #   mcpServers:\n");
        for (name, server) in &guidance.mcp_servers {
            let name = Value::from(name.as_str());
            text.push_str(&format!("  #     {name}: {server}\n"));
        }
    }
    text
}

fn with_rules(new: &LibrarySuite<'_>) -> String {
    if !all_take_rules(&new.agents) {
        return format!(
            "  - name: with-advice\n    preamble: Use {} for everything that it can do.\n",
            new.library.name
        );
    }
    let own = new.library.guidance.rules.first();
    let path = match (own, new.new_rules()) {
        (Some(path), _) => new.to_library(path.as_str()),
        (None, path) => path.unwrap_or_default().to_owned(),
    };
    format!(
        "  - name: with-rules\n    rules: {}   # installed where the agent reads its project rules\n",
        yaml_scalar::path(&path)
    )
}
