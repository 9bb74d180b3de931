//! The things that the agent of a trial was given: rules, skills, MCP servers, and its model.

use maud::{Markup, html};
use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
use terca_core::mcp_tap::ServerTap;
use terca_core::sought::{Part, Sent};
use terca_core::text::prose;

/// Returns the list, or nothing if nothing is known.
pub fn delivery(delivery: &Delivery, sent: &[Sent]) -> Option<Markup> {
    let is_empty = delivery.rules.is_empty()
        && delivery.skills.is_empty()
        && delivery.mcp_servers.is_empty()
        && delivery.model_requested.is_none()
        && delivery.model_observed.is_none();
    let list = html! {
        ul {
            @for file in &delivery.rules { (installed(Part::Rules, file, sent)) }
            @for file in &delivery.skills { (installed(Part::Skill, file, sent)) }
            @for (name, server) in &delivery.mcp_servers { (mcp_server(name, server, sent)) }
            @if let Some(model) = &delivery.model_requested {
                li { "model asked for: " code { (model) } }
            }
            @if let Some(model) = &delivery.model_observed {
                li { "model seen: " code { (model) } }
            }
        }
    };
    (!is_empty).then_some(list)
}

/// `, sent 12/12 requests`, where the requests were looked at.
fn reached(part: Part, name: &str, sent: &[Sent]) -> Option<String> {
    let mut sent = sent.iter();
    let sent = sent.find(|sent| sent.part == part && sent.name == name)?;
    Some(format!(", sent {}/{} requests", sent.requests, sent.of))
}

fn installed(part: Part, file: &Installed, sent: &[Sent]) -> Markup {
    let hash: String = file.sha256.chars().take(12).collect();
    html! {
        li {
            (part.noun()) " " code { (file.path) }
            @if let Some(reached) = reached(part, &file.path, sent) { (reached) }
            span.quiet { " sha256 " (hash) "…" }
            @if file.may_be_cut { ", longer than the part that the agent reads" }
            @if let Some(uses) = file.uses { ", " (prose::count(uses as usize, "use")) }
        }
    }
}

/// Returns a list of the tools that the server offered, and of those that were called.
fn tools(tap: &ServerTap) -> Markup {
    html! {
        @if tap.starts == 0 { ", never started" }
        @if !tap.deaths.is_empty() { ", died (" (tap.deaths.join(", ")) ")" }
        @if !tap.tools.is_empty() {
            ul {
                @for (name, tool) in &tap.tools {
                    li {
                        code { (name) } ": "
                        @match tool.calls {
                            0 => "never called",
                            calls => (prose::count(calls as usize, "call")),
                        }
                        @if tool.errors > 0 { ", " (prose::count(tool.errors as usize, "error")) }
                    }
                }
            }
        }
    }
}

fn mcp_server(name: &str, server: &McpDelivery, sent: &[Sent]) -> Markup {
    let status = match server.status {
        Some(McpStatus::Connected) => "connected",
        Some(McpStatus::Failed) => "did not connect",
        None => "not known whether it connected",
    };
    html! {
        li {
            "MCP server " code { (name) } ": " (status)
            @if let Some(calls) = server.calls { ", " (prose::count(calls as usize, "call")) }
            @if let Some(failed @ 1..) = server.failed_calls { ", " (failed) " of them failed" }
            @if let Some(reached) = reached(Part::McpServer, name, sent) { (reached) }
            @if let Some(tap) = &server.tap { (tools(tap)) }
        }
    }
}
