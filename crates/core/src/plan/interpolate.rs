//! Replaces `${NAME}` by values of Terca's own environment.

use std::collections::BTreeMap;

use crate::agent::mcp::McpServer;
use crate::config::suite::{Action, Template, Variables};
use crate::reader::Entries;
use crate::text::Diagnostics;
use crate::text::template::{self, Filled};

/// Replaces `${NAME}` and keeps the values that it took, which are secrets.
pub(super) struct Interpolator<'a> {
    /// Looks up a variable of Terca's own environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The values that were taken.
    pub secrets: Vec<String>,
    pub problems: &'a mut Diagnostics,
}

impl Interpolator<'_> {
    /// Merges variables, later layers over earlier ones, and fills in their values.
    pub(super) fn variables<'v>(
        &mut self,
        layers: impl IntoIterator<Item = &'v Variables>,
    ) -> Vec<(String, String)> {
        let merged = merged(layers).into_iter();
        merged
            .map(|(name, value)| (name.to_owned(), self.fill(value)))
            .collect()
    }

    /// Fills in the texts of an MCP server.
    pub(super) fn server(&mut self, server: &McpServer<Template>) -> McpServer<String> {
        let mut pairs = |pairs: &[(String, Template)]| {
            let filled = pairs.iter();
            filled
                .map(|(name, value)| (name.clone(), self.fill(value)))
                .collect()
        };
        match server {
            McpServer::Stdio {
                command,
                args,
                env,
                cwd,
            } => McpServer::Stdio {
                env: pairs(env),
                command: self.fill(command),
                args: args.iter().map(|arg| self.fill(arg)).collect(),
                cwd: cwd.as_ref().map(|cwd| self.fill(cwd)),
            },
            McpServer::Remote {
                url,
                headers,
                transport,
            } => McpServer::Remote {
                headers: pairs(headers),
                url: self.fill(url),
                transport: *transport,
            },
        }
    }

    /// Fills in the contents of files.
    pub(super) fn actions(&mut self, actions: &[Action<Template>]) -> Vec<Action> {
        let filled = actions.iter().map(|action| match action.clone() {
            Action::Copy {
                source,
                destination,
            } => Action::Copy {
                source,
                destination,
            },
            Action::Write {
                destination,
                content,
            } => Action::Write {
                destination,
                content: self.fill(&content),
            },
            Action::Run(command) => Action::Run(command),
        });
        filled.collect()
    }

    /// Fills in a text.
    pub(super) fn fill(&mut self, template: &Template) -> String {
        let filled = self.public(template);
        for value in filled.taken {
            if !self.secrets.contains(&value) {
                self.secrets.push(value);
            }
        }
        filled.text
    }

    /// Fills in a text without making a secret of the values: results are about the model.
    pub(super) fn public(&mut self, template: &Template) -> Filled {
        let filled = template::fill(&template.value, self.variable);
        for name in &filled.unset {
            self.problems.push(template::unset(name, template.place));
        }
        filled
    }
}

/// Lays maps over each other: `null` drops an entry of a map below.
pub(super) fn merged<'a, T: 'a>(
    maps: impl IntoIterator<Item = &'a Entries<T>>,
) -> BTreeMap<&'a str, &'a T> {
    let mut merged = BTreeMap::new();
    for (name, value) in maps.into_iter().flatten() {
        match value.set() {
            Some(value) => merged.insert(name.value.as_str(), value),
            None => merged.remove(name.value.as_str()),
        };
    }
    merged
}
