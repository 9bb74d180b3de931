//! The MCP servers of a run and their tools, as the taps between agents and servers saw them.

use maud::{Markup, html};
use terca_core::analysis::summary::{McpServerSummary, Summary};
use terca_core::text::prose;

use super::pieces::or_dash;

/// Returns a table for each server, or nothing where none was behind a tap.
pub fn mcp_servers(summary: &Summary) -> Markup {
    html! {
        @if !summary.mcp_servers.is_empty() {
            section aria-labelledby="mcp-title" {
                h2 #mcp-title { "MCP servers" }
                p.quiet {
                    "Calls that Terca saw between agents and servers. Tokens are estimates, one for four bytes: most \
                     agents "
                    "send the descriptions of all tools with every request."
                }
                div.cards {
                    @for (name, server) in &summary.mcp_servers { (card(name, server)) }
                }
            }
        }
    }
}

fn card(name: &str, server: &McpServerSummary) -> Markup {
    let tokens = server.estimated_tokens().map(prose::compact);
    html! {
        figure.card {
            h3 { code { (name) } }
            p.quiet {
                "started in " (server.started) " of " (prose::count(server.trials, "trial"))
                @if server.died > 0 { ", crashed in " (prose::count(server.died, "trial")) }
                @if let Some(tokens) = tokens { ", descriptions of about " (tokens) " tokens" }
            }
            @if !server.tools.is_empty() {
                div.scroll {
                    table {
                        thead {
                            tr { th scope="col" { "tool" } th scope="col" { "calls" } th scope="col" { "tokens, about" } }
                        }
                        tbody {
                            @for (tool, figures) in server.by_calls() {
                                tr {
                                    th scope="row" { code { (tool) } }
                                    td { (figures.words(server.trials)) }
                                    td { (or_dash(figures.estimated_tokens.map(prose::compact))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
