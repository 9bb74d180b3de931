//! `network` and `allow`: the hosts that a contained agent reaches.

use serde_json::json;

use crate::reader::{Kind, Node, Reader, Value, filled_text, list_of, unlike};
use crate::text::{Code, Diagnostic};
use crate::wire::network::{HostPattern, Network};

const EXPECTED: &str = "`off`, `model`, `open` or a list of hosts";

/// A name, a domain or an address, with a port or without.
const PATTERN: &str = r"^((\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)$";

/// `network`. YAML takes `off` for a boolean in some of its versions, so both are read.
pub(super) fn network() -> Kind<Network> {
    let schema = json!({
        "oneOf": [
            { "enum": Network::WORDS },
            { "type": "array", "items": { "type": "string", "pattern": PATTERN }, "minItems": 1 },
        ]
    });
    Kind::scalar(EXPECTED, schema, read)
}

fn read(node: Node, reader: &mut Reader<'_>) -> Option<Network> {
    let found = match &node.value {
        Value::Text(word) => Network::of_word(word),
        Value::Bool { written, .. } => Network::of_word(written),
        Value::List(hosts) if hosts.is_empty() => {
            let problem = unlike(&node, EXPECTED).help("`network: off` reaches no host");
            return reader.refuse(problem);
        }
        Value::List(_) => return hosts().read(node, reader).map(Network::Hosts),
        _ => None,
    };
    match found {
        Some(network) => Some(network),
        None => reader.refuse(unlike(&node, EXPECTED)),
    }
}

/// `allow`, and the list of `network`.
pub(super) fn hosts() -> Kind<Vec<HostPattern>> {
    list_of(host())
}

fn host() -> Kind<HostPattern> {
    let text = filled_text().called("host").with("pattern", json!(PATTERN));
    text.then(|text, reader| {
        let problem = match text.value.parse::<HostPattern>() {
            Ok(pattern) if pattern.is_out_of_reach() => {
                return reader.refuse(
                    Diagnostic::error(
                        Code::WrongValue,
                        format!("`{}` cannot be reached from a sandbox", text.value),
                    )
                    .at(
                        text.place,
                        "a service on this machine needs a port of 1024 or above, as in `localhost:8080`",
                    ),
                );
            }
            Ok(pattern) => return Some(pattern),
            Err(problem) => problem,
        };
        reader.refuse(
            Diagnostic::error(
                Code::WrongValue,
                format!("`{}` is not a host", text.value.escape_debug()),
            )
            .at(text.place, problem.to_string()),
        )
    })
}
