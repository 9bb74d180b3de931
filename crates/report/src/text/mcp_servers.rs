//! The MCP servers of a run and their tools, a sentence each.
//!
//! ```text
//! MCP server `docs`: `search_docs`: 41 calls in 22 of 35 trials, 3 errors, median 210 ms; `get_page`: never called; …
//! ```

use terca_core::analysis::summary::Summary;

use crate::term::answer::Answer;
use crate::term::style::{Palette, Role};

/// Empty when no server was behind a tap.
pub fn mcp_servers(summary: &Summary, columns: usize, palette: Palette) -> String {
    let mut answer = Answer::new(columns, palette);
    for sentence in sentences(summary) {
        answer.say(Role::Plain, "", &sentence);
    }
    answer.into_text()
}

/// Returns the sentences.
pub(crate) fn sentences(summary: &Summary) -> Vec<String> {
    let servers = summary.mcp_servers.iter();
    servers
        .map(|(name, server)| server.sentence(name))
        .collect()
}
