//! An agent's own settings, with the places of their texts: a variable that is not set is reported where it is named.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::config::variables::Template;
use crate::reader::{Kind, Node, Reader, Value as Yaml, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::json;
use crate::text::source::{Located, Place};

/// The path to a value: the keys and positions that lead to it.
type Path = Vec<String>;

/// An agent's own settings.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    value: Value,
    /// The place of the whole.
    place: Place,
    /// The places of the texts that name variables.
    texts: BTreeMap<Path, Place>,
}

impl AgentSettings {
    /// Merges an experiment's settings into those of an environment. A `null` is gone then.
    pub(crate) fn merged_into(&self, below: Option<&AgentSettings>) -> AgentSettings {
        let mut value = below.map_or(Value::Null, |below| below.value.clone());
        json::merge(&mut value, &self.value);
        let mut texts = below.map_or_else(BTreeMap::new, |below| below.texts.clone());
        texts.extend(self.texts.clone());
        AgentSettings {
            value,
            place: self.place,
            texts,
        }
    }

    /// Returns the settings with every text filled in.
    pub(crate) fn filled(&self, fill: &mut dyn FnMut(&Template) -> String) -> Value {
        let mut value = self.value.clone();
        self.fill_below(&mut value, &mut Vec::new(), fill);
        value
    }

    /// Fills in the texts of a value. Nothing is deeper than the reader of YAML allows.
    fn fill_below(
        &self,
        value: &mut Value,
        path: &mut Path,
        fill: &mut dyn FnMut(&Template) -> String,
    ) {
        match value {
            Value::String(text) if text.contains("${") => {
                let place = self.texts.get(path).copied().unwrap_or(self.place);
                *text = fill(&Located::new(std::mem::take(text), place));
            }
            Value::Array(items) => {
                for (position, item) in items.iter_mut().enumerate() {
                    path.push(position.to_string());
                    self.fill_below(item, path, fill);
                    path.pop();
                }
            }
            Value::Object(entries) => {
                for (key, entry) in entries.iter_mut() {
                    path.push(key.clone());
                    self.fill_below(entry, path, fill);
                    path.pop();
                }
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }
}

/// The agent's own settings: any map.
pub(super) fn agent_settings() -> Kind<AgentSettings> {
    Kind::scalar("map", json!({ "type": "object" }), |node, reader| {
        if !node.is_map() {
            return reader.refuse(unlike(&node, "a map of the agent's settings"));
        }
        warn_of_servers(&node, reader);
        let mut texts = BTreeMap::new();
        find_texts(&node, &mut Vec::new(), &mut texts);
        Some(AgentSettings {
            value: node.to_json(),
            place: node.place,
            texts,
        })
    })
}

/// Warns of MCP servers among the settings. The keys are those of agents in common use.
fn warn_of_servers(node: &Node, reader: &mut Reader<'_>) {
    const KEYS: [&str; 2] = ["mcpServers", "mcp_servers"];
    let Yaml::Map(entries) = &node.value else {
        return;
    };
    for (key, _) in entries {
        if KEYS.contains(&key.value.as_str()) {
            reader.problems.push(
                Diagnostic::warning(
                    Code::DoubtfulValue,
                    "MCP servers in `config` reach the agent, but Terca does not know them",
                )
                .at(
                    key.place,
                    "Terca cannot tell whether they connect or are used",
                )
                .help("move them to `mcpServers`, beside `config`"),
            );
        }
    }
}

fn find_texts(node: &Node, path: &mut Path, texts: &mut BTreeMap<Path, Place>) {
    match &node.value {
        Yaml::Text(text) if text.contains("${") => {
            texts.insert(path.clone(), node.place);
        }
        Yaml::List(items) => {
            for (position, item) in items.iter().enumerate() {
                path.push(position.to_string());
                find_texts(item, path, texts);
                path.pop();
            }
        }
        Yaml::Map(entries) => {
            for (key, entry) in entries {
                path.push(key.value.clone());
                find_texts(entry, path, texts);
                path.pop();
            }
        }
        Yaml::Text(_) | Yaml::Number { .. } | Yaml::Bool { .. } | Yaml::Null => {}
    }
}
