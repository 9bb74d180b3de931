//! `concurrency` of a suite: a number, or one for each agent.

use std::collections::BTreeMap;

use serde_json::json;

use crate::agent;
use crate::reader::values::count;
use crate::reader::{Entries, Kind, Patch, Reader, Value, map_of, or_map, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

/// The number of trials in flight at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Concurrency {
    /// The number for all agents that are not named together; `None` is the number of CPUs.
    pub others: Option<u32>,
    /// The number for each agent that is named.
    pub agents: BTreeMap<String, u32>,
}

/// The key for all agents that are not named.
const DEFAULT: &str = "default";

pub(super) fn concurrency() -> Kind<Concurrency> {
    let names: Vec<&str> = std::iter::once(DEFAULT)
        .chain(agent::names_and_aliases())
        .collect();
    let overall = count().map(|number| Concurrency {
        others: Some(number.value),
        agents: BTreeMap::new(),
    });
    let by_agent = map_of(count().value())
        .with("propertyNames", json!({ "enum": names }))
        .then(by_agent);
    or_map(overall, by_agent).checked(|node, reader| match node.value {
        Value::Map(_) | Value::Number { .. } => Some(()),
        _ => reader.refuse(unlike(
            node,
            "a whole number, or a map of agents and numbers",
        )),
    })
}

fn by_agent(entries: Entries<u32>, reader: &mut Reader<'_>) -> Option<Concurrency> {
    let mut concurrency = Concurrency::default();
    for (name, number) in entries {
        let Patch::Set(number) = number else { continue };
        if name.value == DEFAULT {
            concurrency.others = Some(number);
        } else if let Some(agent) = agent::find(&name.value) {
            let name = agent.profile().name.to_owned();
            concurrency.agents.insert(name, number);
        } else {
            reader.problems.push(unknown(&name));
        }
    }
    Some(concurrency)
}

fn unknown(name: &Located<String>) -> Diagnostic {
    let names: Vec<&str> = std::iter::once(DEFAULT).chain(agent::names()).collect();
    let problem = Diagnostic::error(
        Code::UnknownAgent,
        format!("`concurrency`: unknown agent `{}`", name.value),
    )
    .at(
        name.place,
        format!("expected one of {}", prose::quoted_list(&names, "or")),
    );
    problem.help(
        prose::meant(&name.value, names)
            .unwrap_or_else(|| format!("`{DEFAULT}` is for all agents that are not named")),
    )
}
