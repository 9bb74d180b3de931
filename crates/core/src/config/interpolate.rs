//! Replaces `${NAME}` by values of Terca's own environment.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::agent::mcp::McpServer;
use crate::config::action::Action;
use crate::config::agent_settings::AgentSettings;
use crate::config::variables::{Template, Variables};
use crate::reader::Patch;
use crate::text::diagnostic::Diagnostics;
use crate::text::template::{self, Filled};

/// Replaces `${NAME}` and keeps the values that it took, which are secrets.
pub(crate) struct Interpolator<'a> {
    /// Looks up a variable of Terca's own environment.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The values that were taken.
    pub(crate) secrets: Vec<String>,
    pub(crate) problems: &'a mut Diagnostics,
}

impl Interpolator<'_> {
    /// Merges variables, later layers over earlier ones, and fills in their values.
    pub(crate) fn variables(&mut self, layers: &[&Variables]) -> Vec<(String, String)> {
        let mut merged: BTreeMap<&str, &Template> = BTreeMap::new();
        for (name, value) in layers.iter().copied().flatten() {
            match value {
                Patch::Set(template) => merged.insert(name, template),
                Patch::Keep | Patch::Remove => merged.remove(name.as_str()),
            };
        }
        merged
            .into_iter()
            .map(|(name, template)| (name.to_owned(), self.fill(template)))
            .collect()
    }

    /// Fills in the texts of an MCP server.
    pub(crate) fn server(&mut self, server: &McpServer<Template>) -> McpServer<String> {
        match server {
            McpServer::Stdio {
                command,
                args,
                env,
                cwd,
            } => McpServer::Stdio {
                command: self.fill(command),
                args: args.iter().map(|arg| self.fill(arg)).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| (name.clone(), self.fill(value)))
                    .collect(),
                cwd: cwd.as_ref().map(|cwd| self.fill(cwd)),
            },
            McpServer::Remote {
                url,
                headers,
                transport,
            } => McpServer::Remote {
                url: self.fill(url),
                headers: headers
                    .iter()
                    .map(|(name, value)| (name.clone(), self.fill(value)))
                    .collect(),
                transport: *transport,
            },
        }
    }

    /// Fills in the contents of files.
    pub(crate) fn actions(&mut self, actions: &[Action<Template>]) -> Vec<Action> {
        actions.iter().map(|action| self.action(action)).collect()
    }

    fn action(&mut self, action: &Action<Template>) -> Action {
        match action {
            Action::Copy {
                source,
                destination,
            } => Action::Copy {
                source: source.clone(),
                destination: destination.clone(),
            },
            Action::Write {
                destination,
                content,
            } => Action::Write {
                destination: destination.clone(),
                content: self.fill(content),
            },
            Action::Run(command) => Action::Run(command.clone()),
        }
    }

    /// Fills in the texts of an agent's settings. Keys are left as they are.
    pub(crate) fn settings(&mut self, settings: &AgentSettings) -> Value {
        settings.filled(&mut |template| self.fill(template))
    }

    /// Fills in the name of a model. It is no secret: results are about it.
    pub(crate) fn model(&mut self, model: &Template) -> String {
        self.public(model).text
    }

    fn fill(&mut self, template: &Template) -> String {
        let filled = self.public(template);
        for value in filled.taken {
            if !self.secrets.contains(&value) {
                self.secrets.push(value);
            }
        }
        filled.text
    }

    /// Fills in a text without making a secret of the values.
    fn public(&mut self, template: &Template) -> Filled {
        let filled = template::fill(&template.value, self.variable);
        for name in &filled.unset {
            self.problems.push(template::unset(name, template.place));
        }
        filled
    }
}
