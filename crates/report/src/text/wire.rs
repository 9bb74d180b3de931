//! The requests of each variant to models, the connections that its agents were refused, and the calls of MCP servers, a
//! sentence each.
//!
//! ```text
//! gateway, gemini.base: 14 requests, 2 failed (429 ×2), 1 tried again, first byte after 0.8s (in 3 trials); …
//! MCP server `docs`: `search_docs`: 41 calls in 22 of 35 trials, 3 errors, median 210 ms; `get_page`: never called; …
//! ```

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::Summary;
use terca_core::analysis::wire_summary::WireSummary;

use crate::names::Names;
use crate::term::answer::Answer;
use crate::term::style::{Palette, Role};

/// Empty when nothing passed through the gateway and nothing was refused.
pub fn wire(results: &Results, columns: usize, palette: Palette) -> String {
    let mut answer = Answer::new(columns, palette);
    for sentence in sentences(results) {
        answer.say(Role::Plain, "", &sentence);
    }
    answer.into_text()
}

/// Returns the sentences on requests and refused connections.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let names = Names::of(results.trials.iter().map(|trial| &*trial.head));
    let mut sentences = Vec::new();
    for variant in &results.summary.variants {
        let trials = results.trials.iter().filter(|trial| {
            trial.head.environment == variant.environment
                && trial.head.experiment == variant.experiment
        });
        let Some(summary) = WireSummary::of(trials.map(|trial| &*trial.report)) else {
            continue;
        };
        let name = names.variant(&variant.environment, &variant.experiment);
        let lead = if name.is_empty() {
            "gateway".to_owned()
        } else {
            format!("gateway, {name}")
        };
        sentences.push(format!("{lead}: {}", summary.sentence()));
    }
    sentences
}

/// Empty when no server was behind a tap.
pub fn mcp_servers(summary: &Summary, columns: usize, palette: Palette) -> String {
    let mut answer = Answer::new(columns, palette);
    for sentence in mcp_server_sentences(summary) {
        answer.say(Role::Plain, "", &sentence);
    }
    answer.into_text()
}

/// Returns the sentences on MCP servers.
pub(crate) fn mcp_server_sentences(summary: &Summary) -> Vec<String> {
    let servers = summary.mcp_servers.iter();
    servers
        .map(|(name, server)| server.sentence(name))
        .collect()
}
