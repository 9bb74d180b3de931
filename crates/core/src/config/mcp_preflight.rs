//! `mcpPreflight` of a suite: `true`, `false`, or the time that MCP servers have to answer.

use std::time::Duration;

use crate::reader::values::{boolean, seconds};
use crate::reader::{Fields, Kind, Value, object, or_map, unlike};

/// The time for an answer if none is written. Servers that are downloaded at their start take their time.
const DEFAULT: Duration = Duration::from_secs(60);

/// The time that each MCP server has to answer before an agent is started with it. There is none if servers are not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpPreflight(pub Option<Duration>);

impl Default for McpPreflight {
    fn default() -> Self {
        McpPreflight(Some(DEFAULT))
    }
}

/// `mcpPreflight`.
pub(super) fn mcp_preflight() -> Kind<McpPreflight> {
    const EXAMPLE: &str = "{timeoutSeconds: 120}";
    let switch = boolean().map(|is_on| McpPreflight(is_on.value.then_some(DEFAULT)));
    let limit = object("mcpPreflight", "`mcpPreflight`", fields_of)
        .example(EXAMPLE)
        .linked("[map](terca-yaml.md#servers-are-asked-first)")
        .kind();
    or_map(switch, limit).checked(|node, reader| match &node.value {
        Value::Number { written, .. } => reader.refuse(
            unlike(node, "`true`, `false` or a map")
                .help(format!("write a time as `{{timeoutSeconds: {written}}}`")),
        ),
        Value::Text(text) if text.starts_with(|first: char| first.is_ascii_digit()) => reader
            .refuse(
                unlike(node, "`true`, `false` or a map")
                    .help(format!("write a time in seconds, as in `{EXAMPLE}`")),
            ),
        _ => Some(()),
    })
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<McpPreflight> {
    let limit = fields.optional(
        "timeoutSeconds",
        seconds(),
        "The time that a server has to answer. Default: `60`.",
    );
    Some(McpPreflight(Some(limit.unwrap_or(DEFAULT))))
}
