//! Files of a project that agents take MCP servers from, beside those that a suite gives.

use serde_json::Value;

/// The files that are known, by agent: the key of the servers in them, and whether the agent reads the file when Terca
/// starts it. Claude Code is started with `--strict-mcp-config`.
const KNOWN: [(&str, &str, &str, bool); 5] = [
    ("gemini-cli", ".gemini/settings.json", "mcpServers", true),
    ("qwen-code", ".qwen/settings.json", "mcpServers", true),
    ("opencode", "opencode.json", "mcp", true),
    ("opencode", "opencode.jsonc", "mcp", true),
    ("claude-code", ".mcp.json", "mcpServers", false),
];

/// Returns a sentence about each file of a project that names MCP servers for an agent. `read` reads a file of the
/// project.
pub fn servers_in_project(agent: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut sentences = Vec::new();
    for (_, file, key, is_read) in KNOWN.iter().filter(|(known, ..)| *known == agent) {
        if read(file).is_some_and(|text| names(&text, key)) {
            let what = match is_read {
                true => {
                    "that the agent may use, but Terca does not know them; move them to `mcpServers`"
                }
                false => "that the agent does not get; to give it these servers, use `mcpServers`",
            };
            sentences.push(format!(
                "`{file}` in the workspace names MCP servers {what}"
            ));
        }
    }
    sentences
}

/// Tells whether a document names servers. One with comments is no JSON, and its words decide.
fn names(text: &str, key: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(document) => document[key]
            .as_object()
            .is_some_and(|servers| !servers.is_empty()),
        Err(_) => text.contains(&format!("\"{key}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_agent_at_hand_are_told() {
        let servers = r#"{"mcpServers": {"docs": {"command": "x"}}}"#;
        for (agent, file, text, told) in [
            (
                "gemini-cli",
                ".gemini/settings.json",
                servers,
                Some("does not know them"),
            ),
            (
                "gemini-cli",
                ".gemini/settings.json",
                "// why\n{\"mcpServers\": {}}",
                Some("does not know them"),
            ),
            (
                "gemini-cli", ".gemini/settings.json", r#"{"mcpServers": {}}"#, None,
            ),
            (
                "gemini-cli", ".gemini/settings.json", r#"{"general": {}}"#, None,
            ),
            ("gemini-cli", ".mcp.json", servers, None),
            ("claude-code", ".mcp.json", servers, Some("does not get")),
            (
                "opencode",
                "opencode.json",
                r#"{"mcp": {"docs": {}}}"#,
                Some("does not know them"),
            ),
            ("codex", ".mcp.json", servers, None),
        ] {
            let read = |asked: &str| (asked == file).then(|| text.to_owned());
            let sentences = servers_in_project(agent, &read);
            match told {
                Some(words) => assert!(
                    sentences.len() == 1
                        && sentences[0].contains(words)
                        && sentences[0].contains(file),
                    "{agent} {text}: {sentences:?}"
                ),
                None => assert_eq!(sentences, Vec::<String>::new(), "{agent} {text}"),
            }
        }
    }

    #[test]
    fn the_agents_are_known() {
        for (agent, ..) in KNOWN {
            assert!(crate::agent::find(agent).is_some(), "{agent}");
        }
    }
}
