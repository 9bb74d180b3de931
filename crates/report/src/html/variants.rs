//! What each variant is, the MCP servers, and the descriptions of the suite. Of a variant: its description, and what its agents were given, with a mark where the baseline's were given something else.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{McpServerSummary, Summary};
use terca_core::mcp_tap::ServerTap;
use terca_core::plan::descriptions::Descriptions;
use terca_core::text::prose;
use terca_core::wire::sent_parts::{Part, Sent};

use super::matrix::Matrix;
use super::text::{column_titles, fit, fit_text, left_out, or_dash, section, wide_table};
use crate::outcome::{model, of_variant};

/// The digits of a hash that tell two files apart.
const SHORT_HASH: usize = 8;
/// More variants than this would be a table that nobody reads.
const MOST: usize = 60;
const TITLES: [&str; 6] = [
    "Variant", "Model", "Rules", "Skills", "MCP servers", "In full",
];

/// The things that the agents of a variant were given, in the order of the columns.
type Given = [BTreeSet<String>; 4];

/// Returns the table, folded. Nothing where there is one variant only.
pub fn variants(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let about = &results.descriptions.experiments;
    let number = matrix.variants.len();
    let rows = html! {
        @for variant in matrix.variants.iter().take(MOST) {
            (row(results, matrix, *variant, about.get(variant.1)))
        }
    };
    let head = column_titles(&TITLES);
    let body = html! {
        details {
            summary { "What each of " (prose::count(number, "variant")) " gives to its agents" }
            (wide_table("proofs", "Table of variants", "What agents were given", &head, &rows))
            p.quiet.reading {
                "≠: not as with " (results.summary.baseline) ". Files are named with the beginning of their hashes."
            }
        }
    };
    html! {
        @if number > 1 { (section("variants", "Variants", &body)) }
    }
}

fn row(
    results: &Results,
    matrix: &Matrix<'_>,
    (environment, experiment): (&str, &str),
    about: Option<&String>,
) -> Markup {
    let own = given(results, environment, experiment);
    let baseline = given(results, environment, &results.summary.baseline);
    html! {
        tr {
            th scope="row" {
                (matrix.variant_name(environment, experiment))
                @if let Some(text) = about { small { (fit_text(text, LONGEST_DESCRIPTION)) } }
            }
            @for (own, other) in own.iter().zip(&baseline) {
                td {
                    @if own.is_empty() {
                        (other_than_baseline(own != other)) "–"
                    }
                    @for name in own {
                        div { (other_than_baseline(own != other)) (name) }
                    }
                }
            }
            td { (in_full(results, environment, experiment)) }
        }
    }
}

/// Returns links to all that an agent of the variant was given, and to what differs from the baseline's.
fn in_full(results: &Results, environment: &str, experiment: &str) -> Markup {
    let first = |experiment| of_variant(results, environment, experiment).next();
    let first = |experiment| first(experiment).map(|trial| trial.head.id);
    let baseline = &results.summary.baseline;
    let own = first(experiment);
    let other = first(baseline).filter(|_| experiment != baseline);
    html! {
        @if let Some(own) = own {
            a href={ "#trial-" (own) } { "trial #" (own) }
            @if let Some(other) = other {
                " · "
                a href={ "#pair-" (other) "-" (own) } { "beside " (baseline) }
            }
        }
    }
}

fn other_than_baseline(is_other: bool) -> Markup {
    html! { @if is_other { b title="not as with the baseline" { "≠ " } } }
}

/// Gathers what the trials of a variant were given.
fn given(results: &Results, environment: &str, experiment: &str) -> Given {
    let mut found = Given::default();
    let [models, rules, skills, servers] = &mut found;
    for trial in of_variant(results, environment, experiment) {
        let delivery = &trial.report.delivery;
        models.extend(model(&trial.head, &trial.report).cloned());
        rules.extend(delivery.rules.iter().map(file));
        skills.extend(delivery.skills.iter().map(file));
        servers.extend(delivery.mcp_servers.keys().cloned());
    }
    found
}

fn file(installed: &Installed) -> String {
    let hash: String = installed.sha256.chars().take(SHORT_HASH).collect();
    format!("{} ({hash})", installed.path)
}

/// Returns the list, or nothing if nothing is known.
pub fn delivery(delivery: &Delivery, sent: &[Sent]) -> Option<Markup> {
    let items = html! {
        @for file in &delivery.rules { (installed(Part::Rules, file, sent)) }
        @for file in &delivery.skills { (installed(Part::Skill, file, sent)) }
        @for (name, server) in &delivery.mcp_servers { (mcp_server(name, server, sent)) }
        @if let Some(model) = &delivery.model_requested {
            li { "model asked for: " code { (model) } }
        }
        @if let Some(model) = &delivery.model_observed {
            li { "model seen: " code { (model) } }
        }
    };
    (!items.0.is_empty()).then(|| html! { ul { (items) } })
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

/// Returns a table for each server, or nothing where none was behind a tap.
pub fn mcp_servers(summary: &Summary) -> Markup {
    let body = html! {
        p.quiet {
            "Calls that Terca saw between agents and servers. Tokens are estimates, one for four bytes: most agents \
             send the descriptions of all tools with every request."
        }
        div.cards {
            @for (name, server) in &summary.mcp_servers { (card(name, server)) }
        }
    };
    html! {
        @if !summary.mcp_servers.is_empty() { (section("mcp", "MCP servers", &body)) }
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
                        thead { (column_titles(&["tool", "calls", "tokens, about"])) }
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

/// The bytes of a description that are shown; the rest is in `results.json`.
pub const LONGEST_DESCRIPTION: usize = 2_000;
/// The bytes that the whole list may take.
const ROOM: usize = 200_000;

/// Returns the list, folded. Nothing where nothing is described.
pub fn descriptions(about: &Descriptions) -> Markup {
    let kinds = [
        ("Eval", &about.evals),
        ("Environment", &about.environments),
        ("Experiment", &about.experiments),
    ];
    let items: Vec<Markup> = kinds
        .into_iter()
        .flat_map(|(kind, texts)| list(kind, texts))
        .collect();
    let number = items.len();
    let body = html! {
        details {
            summary { (prose::count(number, "description")) }
            ul.descriptions { (fit(items, ROOM, left_out("description", "results.json"))) }
        }
    };
    html! {
        @if number > 0 { (section("descriptions", "Descriptions", &body)) }
    }
}

fn list(kind: &str, texts: &BTreeMap<String, String>) -> Vec<Markup> {
    let item = |(name, text): (&String, &String)| {
        html! {
            li {
                span.quiet { (kind) " " }
                b { (name) }
                ": "
                (fit_text(text, LONGEST_DESCRIPTION))
            }
        }
    };
    texts.iter().map(item).collect()
}
