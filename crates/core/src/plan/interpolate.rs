//! Replaces `${NAME}` by values of Terca's own environment.

use std::collections::BTreeMap;

use crate::agent::mcp::McpServer;
use crate::config::Patch;
use crate::config::suite::{Template, Variables};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;

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

    fn fill(&mut self, template: &Template) -> String {
        let mut filled = String::new();
        let mut rest = template.value.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            filled.push_str(before);
            let Some((inner, tail)) = after.split_once('}') else {
                filled.push_str("${");
                rest = after;
                continue;
            };
            filled.push_str(&self.value_of(inner, template));
            rest = tail;
        }
        filled + rest
    }

    fn value_of(&mut self, inner: &str, template: &Template) -> String {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        match ((self.variable)(name), default) {
            (Some(value), _) if !value.is_empty() || default.is_none() => {
                if !value.is_empty() && !self.secrets.contains(&value) {
                    self.secrets.push(value.clone());
                }
                value
            }
            (_, Some(default)) => default.to_owned(),
            _ => {
                self.problems.push(
                    Diagnostic::error(
                        Code::UnsetVariable,
                        format!("the variable `{name}` is not set"),
                    )
                    .at(template.place, "taken from the environment Terca runs in")
                    .help(format!("set it, or write `${{{name}:-default}}`")),
                );
                String::new()
            }
        }
    }
}
