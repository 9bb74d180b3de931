//! `concurrency`: one number, or one for each agent.

use crate::agent;
use crate::config::raw::RawConcurrency;
use crate::config::read::{self, Patch};
use crate::config::resolver::Resolver;
use crate::config::suite::Concurrency;
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

/// The key for all agents that are not named.
const DEFAULT: &str = "default";

pub(super) fn read(node: Node, problems: &mut Diagnostics) -> Option<RawConcurrency> {
    match node.value {
        Value::Map(_) => read::map_of(node, problems, read::count).map(RawConcurrency::ByAgent),
        Value::Number { .. } => read::count(node, problems).map(RawConcurrency::Overall),
        _ => read::wrong_type(
            node,
            "a whole number, or a map of agents and numbers",
            problems,
        ),
    }
}

pub(super) fn resolve(raw: RawConcurrency, resolver: &mut Resolver<'_>) -> Concurrency {
    let mut concurrency = Concurrency::default();
    match raw {
        RawConcurrency::Overall(number) => concurrency.others = Some(number.value),
        RawConcurrency::ByAgent(entries) => {
            for (name, number) in entries {
                let Patch::Set(number) = number else { continue };
                if name.value == DEFAULT {
                    concurrency.others = Some(number.value);
                } else if let Some(agent) = agent::find(&name.value) {
                    concurrency
                        .agents
                        .insert(agent.profile().name.to_owned(), number.value);
                } else {
                    resolver.problems.push(unknown(&name));
                }
            }
        }
    }
    concurrency
}

fn unknown(name: &Located<String>) -> Diagnostic {
    let names: Vec<&str> = std::iter::once(DEFAULT).chain(agent::names()).collect();
    let diagnostic = Diagnostic::error(
        Code::UnknownAgent,
        format!("`concurrency`: unknown agent `{}`", name.value),
    )
    .at(
        name.place,
        format!("expected one of {}", prose::quoted_list(&names, "or")),
    );
    match prose::did_you_mean(&name.value, names) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic.help(format!("`{DEFAULT}` is for all agents that are not named")),
    }
}
