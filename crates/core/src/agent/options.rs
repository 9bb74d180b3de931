//! Options that mean the same for every agent, and the way in which an agent takes each of them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::text::json::merge;

/// The options of a variant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentOptions {
    /// The effort of the model, in the agent's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The most turns of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// A text after the agent's own system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Tools of the agent that it may not use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// The temperature of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Further arguments of its command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

/// The way in which an agent takes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// An option of its command line, followed by the value. Items of a list have commas between them.
    Flag(&'static str),
    /// A setting, as a path of keys with dots.
    Setting(&'static str),
    /// A variable of its environment.
    Variable(&'static str),
}

/// The ways in which an agent takes the options that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OptionWays {
    /// The effort of the model.
    pub effort: Option<Way>,
    /// The most turns of a session.
    pub max_turns: Option<Way>,
    /// A text after its own system prompt.
    pub system_prompt: Option<Way>,
    /// Tools that it may not use.
    pub disallowed_tools: Option<Way>,
    /// The temperature of the model.
    pub temperature: Option<Way>,
}

impl OptionWays {
    /// No option at all.
    pub const NONE: OptionWays = OptionWays {
        effort: None,
        max_turns: None,
        system_prompt: None,
        disallowed_tools: None,
        temperature: None,
    };
}

impl AgentOptions {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == AgentOptions::default()
    }

    /// Returns the options that are set: the field, the value, and the way in which this agent takes it.
    fn set(&self, ways: &OptionWays) -> Vec<(&'static str, Value, Option<Way>)> {
        let tools = (!self.disallowed_tools.is_empty()).then(|| json!(self.disallowed_tools));
        let all = [
            (
                "effort",
                self.effort.as_ref().map(|it| json!(it)),
                ways.effort,
            ),
            (
                "maxTurns",
                self.max_turns.map(|it| json!(it)),
                ways.max_turns,
            ),
            (
                "systemPrompt",
                self.system_prompt.as_ref().map(|it| json!(it)),
                ways.system_prompt,
            ),
            ("disallowedTools", tools, ways.disallowed_tools),
            (
                "temperature",
                self.temperature.map(|it| json!(it)),
                ways.temperature,
            ),
        ];
        let all = all.into_iter();
        all.filter_map(|(field, value, way)| Some((field, value?, way)))
            .collect()
    }

    /// Returns the fields that an agent cannot take. Arguments are for agents that are programs.
    pub fn refused(&self, ways: &OptionWays, is_program: bool) -> Vec<&'static str> {
        let set = self.set(ways).into_iter();
        let refused = set.filter(|(.., way)| way.is_none());
        let refused = refused.map(|(field, ..)| field);
        let args = !self.args.is_empty() && !is_program;
        refused.chain(args.then_some("args")).collect()
    }

    /// Returns the agent's settings with the options that are settings. Settings of its own take precedence.
    pub fn config(&self, ways: &OptionWays, own: Option<&Value>) -> Option<Value> {
        let mut settings: Option<Value> = None;
        for (_, value, way) in self.set(ways) {
            if let Some(Way::Setting(path)) = way {
                let keys = path.rsplit('.');
                let nested = keys.fold(value, |value, key| json!({ key: value }));
                merge(settings.get_or_insert_default(), &nested);
            }
        }
        if let Some(own) = own {
            merge(settings.get_or_insert_default(), own);
        }
        settings
    }

    /// Returns the arguments to add to the agent's command line.
    pub fn arguments(&self, ways: &OptionWays) -> Vec<String> {
        let mut arguments = Vec::new();
        for (_, value, way) in self.set(ways) {
            if let Some(Way::Flag(flag)) = way {
                arguments.extend([flag.to_owned(), words(&value)]);
            }
        }
        arguments.extend(self.args.iter().cloned());
        arguments
    }

    /// Returns the variables to add to the agent's environment.
    pub fn variables(&self, ways: &OptionWays) -> Vec<(String, String)> {
        let set = self.set(ways).into_iter();
        let variables = set.filter_map(|(_, value, way)| match way {
            Some(Way::Variable(name)) => Some((name.to_owned(), words(&value))),
            _ => None,
        });
        variables.collect()
    }
}

/// Returns a value as a command line has it.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(words).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::find;

    #[test]
    fn every_agent_takes_options_in_its_own_way() {
        let options = AgentOptions {
            effort: Some("high".into()),
            max_turns: Some(7),
            system_prompt: Some("Be kind.".into()),
            disallowed_tools: vec!["web".into(), "shell".into()],
            temperature: Some(0.5),
            args: vec!["--more".into()],
        };
        let mut shown = String::new();
        for name in [
            "claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "goose", "command",
        ] {
            let profile = find(name).unwrap().profile();
            let ways = &profile.options;
            shown += &format!(
                "{name}: {} | {} | {:?} | cannot: {}\n",
                options.arguments(ways).join(" "),
                options
                    .config(ways, Some(&json!({"model": {"own": 1}})))
                    .unwrap(),
                options.variables(ways),
                options.refused(ways, profile.program.is_some()).join(" "),
            );
        }
        insta::assert_snapshot!(shown);
    }
}
