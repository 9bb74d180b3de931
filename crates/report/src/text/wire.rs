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
use crate::outcome::of_variant;
use crate::term::{Answer, Role};

/// Returns a paragraph for each sentence.
pub fn sentences_in_lines(sentences: &[String], columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    for sentence in sentences {
        answer.say(Role::Plain, "", sentence);
    }
    answer
}

/// Returns the sentences on requests and refused connections. None when nothing passed through the gateway and nothing was
/// refused.
pub fn wire(results: &Results) -> Vec<String> {
    let names = Names::of_results(results);
    let mut sentences = Vec::new();
    for variant in &results.summary.variants {
        let (environment, experiment) = (&variant.environment, &variant.experiment);
        let trials = of_variant(results, environment, experiment);
        if let Some(summary) = WireSummary::of(trials.map(|trial| &*trial.report)) {
            let lead = match names.variant(environment, experiment) {
                name if name.is_empty() => "gateway".to_owned(),
                name => format!("gateway, {name}"),
            };
            sentences.push(format!("{lead}: {}", summary.sentence(&variant.delivery)));
        }
    }
    sentences
}

/// Returns the sentences on MCP servers. None when no server was behind a tap.
pub fn mcp_servers(summary: &Summary) -> Vec<String> {
    let servers = summary.mcp_servers.iter();
    servers
        .map(|(name, server)| server.sentence(name))
        .collect()
}
