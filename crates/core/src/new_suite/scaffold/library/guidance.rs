//! The rules, skills and MCP servers that a library has for agents already.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use super::{Files, is_plain};

/// Files with rules, the most general first.
const RULES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// The names of files and directories for agents.
pub(super) const NAMES: [&str; 4] = [RULES[0], RULES[1], RULES[2], "skills"];
/// Rules of an editor, one file each.
const CURSOR_RULES: &str = ".cursor/rules";
/// Directories with a skill in each directory.
const SKILLS: [&str; 3] = [".claude/skills", ".agents/skills", "skills"];
/// The settings that name MCP servers.
const MCP: &str = ".mcp.json";

/// The rules, skills and MCP servers of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidance {
    /// The files with rules; the experiment takes the first.
    pub rules: Vec<Utf8PathBuf>,
    /// The directories of skills.
    pub skills: Vec<Utf8PathBuf>,
    /// The MCP servers by name, as their settings have them.
    pub mcp_servers: Map<String, Value>,
}

impl Guidance {
    /// Looks for them in the library, and in the directories above it as far as `top`. The nearest come first.
    pub(super) fn find(files: &Files<'_>, top: &Utf8Path) -> Self {
        let mut all = Guidance::default();
        let dirs = files.dir.ancestors();
        for dir in dirs.take_while(|dir| dir.starts_with(top)) {
            let up = files.way_to(dir);
            let up = Utf8Path::new(&up);
            let own = Guidance::here(&Files { dir, ..*files });
            all.rules.extend(own.rules.iter().map(|path| up.join(path)));
            all.skills
                .extend(own.skills.iter().map(|path| up.join(path)));
            for (name, server) in own.mcp_servers {
                all.mcp_servers.entry(name).or_insert(server);
            }
        }
        all
    }

    fn here(files: &Files<'_>) -> Self {
        let mut rules: Vec<Utf8PathBuf> =
            files.existing(RULES).into_iter().map(Into::into).collect();
        if files.has(CURSOR_RULES) {
            let own = files.below(CURSOR_RULES).into_iter();
            rules.extend(own.filter(|path| matches!(path.extension(), Some("mdc" | "md"))));
        }
        let skills = SKILLS.iter().filter(|dir| files.has(dir));
        let skills = skills.flat_map(|dir| files.below(dir));
        let skills = skills.filter(|path| path.file_name() == Some("SKILL.md"));
        let mut skills: Vec<Utf8PathBuf> = skills
            .filter_map(|path| path.parent().map(Into::into))
            .collect();
        rules.retain(|path| is_plain(path.as_str().trim_start_matches('.')));
        skills.retain(|path: &Utf8PathBuf| is_plain(path.as_str().trim_start_matches('.')));
        Guidance {
            rules,
            skills,
            mcp_servers: mcp_servers(files).unwrap_or_default(),
        }
    }
}

/// Reads the servers that a suite can name as they are: programs without variables, and addresses.
fn mcp_servers(files: &Files<'_>) -> Option<Map<String, Value>> {
    let settings: Value = serde_json::from_str(&files.text(MCP)?).ok()?;
    let servers = settings.get("mcpServers")?.as_object()?;
    let own = servers.iter().filter(|(name, _)| is_plain(name));
    let own = own.filter_map(|(name, server)| Some((name.clone(), as_in_a_suite(server)?)));
    Some(own.collect())
}

fn as_in_a_suite(server: &Value) -> Option<Value> {
    let keys: &[&str] = match (server.get("command"), server.get("url")) {
        (Some(Value::String(_)), None) => &["command", "args"],
        (None, Some(Value::String(_))) => &["url"],
        _ => return None,
    };
    let parts = keys.iter().filter_map(|key| {
        let value = server.get(*key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let parts: Map<String, Value> = parts.collect();
    let text = Value::Object(parts.clone()).to_string();
    (!text.contains("${")).then_some(Value::Object(parts))
}
