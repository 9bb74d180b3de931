//! The MCP servers of a run and their tools, as the taps between agents and servers saw them: the main question of an author
//! of a server is which of its tools agents call, how often that fails, and what their descriptions cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::mcp_tap::ServerTap;
use crate::run::outcome::TrialReport;
use crate::stats::sample::median;
use crate::text::prose;

/// An MCP server over all trials of a run that had it, behind a tap.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServerSummary {
    /// The number of trials.
    pub trials: usize,
    /// The trials in which the agent started it.
    pub started: usize,
    /// The trials in which it died.
    pub died: usize,
    /// Its tools by name: those that it offered and those that were called.
    pub tools: BTreeMap<String, McpToolSummary>,
}

/// A tool of an MCP server over all trials of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpToolSummary {
    /// An estimate of the tokens of its description, the largest of all trials; `null` if it was never offered.
    pub estimated_tokens: Option<u64>,
    /// The number of calls.
    pub calls: u64,
    /// The trials with a call.
    pub trials: usize,
    /// The calls that ended in an error.
    pub errors: u64,
    /// The calls without an answer, since the session ended first.
    pub unanswered: u64,
    /// The median time until an answer, in milliseconds; `null` if there was none.
    pub median_ms: Option<f64>,
    #[serde(skip)]
    durations: Vec<f64>,
}

pub(super) fn of<'a>(
    trials: impl Iterator<Item = &'a TrialReport>,
) -> BTreeMap<String, McpServerSummary> {
    let mut summaries: BTreeMap<String, McpServerSummary> = BTreeMap::new();
    for trial in trials {
        for (name, server) in &trial.delivery.mcp_servers {
            if let Some(tap) = &server.tap {
                summaries.entry(name.clone()).or_default().add(tap);
            }
        }
    }
    let servers = summaries.values_mut();
    for tool in servers.flat_map(|server| server.tools.values_mut()) {
        tool.median_ms = median(&std::mem::take(&mut tool.durations));
    }
    summaries
}

impl McpServerSummary {
    fn add(&mut self, tap: &ServerTap) {
        self.trials += 1;
        self.started += usize::from(tap.starts > 0);
        self.died += usize::from(!tap.deaths.is_empty());
        for (name, figures) in &tap.tools {
            let tool = self.tools.entry(name.clone()).or_default();
            tool.estimated_tokens = tool.estimated_tokens.max(figures.estimated_tokens);
            tool.calls += figures.calls;
            tool.trials += usize::from(figures.calls > 0);
            tool.errors += figures.errors;
            tool.unanswered += figures.unanswered;
            let durations = figures.durations_ms.iter();
            tool.durations.extend(durations.map(|ms| *ms as f64));
        }
    }

    /// Returns an estimate of the tokens that the descriptions of all tools take; `None` if no tool was offered.
    pub fn estimated_tokens(&self) -> Option<u64> {
        let offered = self.tools.values().filter_map(|tool| tool.estimated_tokens);
        offered.reduce(u64::saturating_add)
    }

    /// Returns its tools, those that are called most often first.
    pub fn by_calls(&self) -> Vec<(&str, &McpToolSummary)> {
        let mut tools: Vec<_> = self
            .tools
            .iter()
            .map(|(name, tool)| (name.as_str(), tool))
            .collect();
        tools.sort_by_key(|(_, tool)| std::cmp::Reverse(tool.calls));
        tools
    }

    /// Returns the sentence about it: `MCP server `docs`: `search`: 41 calls in 22 of 35 trials, 3 errors, median
    /// 210 ms`.
    pub fn sentence(&self, name: &str) -> String {
        let mut parts = Vec::new();
        if self.started < self.trials {
            parts.push(format!(
                "started in {} of {}",
                self.started,
                prose::count(self.trials, "trial")
            ));
        }
        if self.died > 0 {
            parts.push(format!("crashed in {}", prose::count(self.died, "trial")));
        }
        let tools = self.by_calls();
        for (tool, figures) in tools.iter().filter(|(_, figures)| figures.calls > 0) {
            parts.push(format!("{}: {}", quoted(tool), figures.words(self.trials)));
        }
        parts.extend(never_called(&tools));
        if let Some(tokens) = self.estimated_tokens() {
            parts.push(format!(
                "descriptions of about {} tokens",
                prose::compact(tokens)
            ));
        } else if self.started > 0 {
            parts.push("no tool offered".to_owned());
        }
        format!("MCP server {}: {}", quoted(name), parts.join("; "))
    }
}

/// Returns a name between quotes. It is the server's own, and must not look like more than a name.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// Returns the tools that were never called. A server may have hundreds, so only some of them have their names.
fn never_called(tools: &[(&str, &McpToolSummary)]) -> Option<String> {
    const NAMED: usize = 5;
    let idle = tools.iter().filter(|(_, figures)| figures.calls == 0);
    let names: Vec<String> = idle.map(|(name, _)| quoted(name)).collect();
    (!names.is_empty()).then(|| format!("{}: never called", prose::few(&names, NAMED)))
}

impl McpToolSummary {
    /// Returns the words about it, of a server that was there in so many trials.
    pub fn words(&self, trials: usize) -> String {
        if self.calls == 0 {
            return "never called".to_owned();
        }
        let calls = prose::count(self.calls, "call");
        let mut words = format!(
            "{calls} in {} of {}",
            self.trials,
            prose::count(trials, "trial")
        );
        if self.errors > 0 {
            words += &format!(", {}", prose::count(self.errors, "error"));
        }
        if self.unanswered > 0 {
            words += &format!(", {} without an answer", self.unanswered);
        }
        if let Some(median) = self.median_ms {
            words += &format!(", median {}", milliseconds(median));
        }
        words
    }
}

/// Returns a time as people write it: `210 ms`, `3.2s`.
fn milliseconds(number: f64) -> String {
    if number < 1000.0 {
        return format!("{number:.0} ms");
    }
    prose::duration(number / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::delivery::McpDelivery;
    use crate::mcp_tap::ToolTap;

    fn trial(tools: &[(&str, ToolTap)], deaths: &[&str]) -> TrialReport {
        let tap = ServerTap {
            starts: u64::from(!tools.is_empty()),
            deaths: deaths.iter().map(|exit| (*exit).to_owned()).collect(),
            tools: tools
                .iter()
                .map(|(name, tool)| ((*name).to_owned(), tool.clone()))
                .collect(),
            ..ServerTap::default()
        };
        let mut report = TrialReport::pending();
        let server = McpDelivery {
            tap: Some(tap),
            ..McpDelivery::default()
        };
        let servers = &mut report.delivery.mcp_servers;
        servers.insert("docs".to_owned(), server);
        servers.insert("untapped".to_owned(), McpDelivery::default());
        report
    }

    #[test]
    fn tools_are_added_up_over_a_run() {
        let called = |calls, errors, durations: &[u64]| ToolTap {
            estimated_tokens: Some(30),
            calls,
            errors,
            durations_ms: durations.to_vec(),
            ..ToolTap::default()
        };
        let trials = [
            trial(
                &[
                    ("search", called(2, 1, &[100, 300])),
                    ("page", called(0, 0, &[])),
                ],
                &[],
            ),
            trial(&[("search", called(1, 0, &[210]))], &["exit status 4"]),
            trial(&[], &[]),
        ];
        let summaries = of(trials.iter());
        assert_eq!(summaries.keys().collect::<Vec<_>>(), ["docs"]);
        assert_eq!(
            summaries["docs"].sentence("docs"),
            "MCP server `docs`: started in 2 of 3 trials; crashed in 1 trial; `search`: 3 calls in 2 of 3 trials, \
             1 error, median 210 ms; `page`: never called; descriptions of about 60 tokens"
        );
    }

    #[test]
    fn of_many_tools_that_nobody_calls_some_are_named() {
        let idle = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("t{number}")).collect();
            let tools: Vec<_> = names
                .iter()
                .map(|name| (name.as_str(), ToolTap::default()))
                .collect();
            of([trial(&tools, &[])].iter())["docs"].sentence("docs")
        };
        assert!(
            idle(6).contains("`t4` and `t5`: never called"),
            "{}",
            idle(6)
        );
        assert!(
            idle(40).contains("`t12` and 35 more: never called"),
            "{}",
            idle(40)
        );
    }

    #[test]
    fn a_server_without_tools_is_said_to_have_none() {
        let mut one = trial(&[], &[]);
        for server in one.delivery.mcp_servers.values_mut() {
            if let Some(tap) = &mut server.tap {
                tap.starts = 1;
            }
        }
        let sentence = of([&one].into_iter())["docs"].sentence("docs");
        assert_eq!(sentence, "MCP server `docs`: no tool offered");
    }
}
