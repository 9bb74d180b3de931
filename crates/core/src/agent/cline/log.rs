//! The lines of Cline's log that say what its stream leaves out.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What the log has told so far.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// MCP servers that did not connect, and why.
    pub(super) unavailable: BTreeMap<String, String>,
    /// The last request that a service did not answer: its HTTP status, where there was one, and what it said.
    pub(super) refused: Option<(Option<u16>, String)>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    msg: String,
    err: Option<Refusal>,
}

/// An error of the service, or of the last of several attempts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    status_code: Option<u16>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    aggregate_errors: Vec<Refusal>,
}

impl Log {
    pub(super) fn line(&mut self, line: &str) {
        let Ok(Entry { msg, err }) = serde_json::from_str(line) else {
            return;
        };
        if let (true, Some(refusal)) = (msg.contains("stream error"), err) {
            let last = refusal.aggregate_errors.last().unwrap_or(&refusal);
            self.refused = Some((last.status_code, last.message.clone()));
        }
        // `[mcp] Failed to load tools from MCP server "tiny", skipping: why`
        if let Some(trouble) = msg.strip_prefix("[mcp] Failed to load tools from MCP server \"")
            && let Some((server, why)) = trouble.split_once("\", skipping: ")
        {
            self.unavailable.insert(server.to_owned(), why.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_matter_are_read() {
        let mut log = Log::default();
        for line in [
            r#"{"level":30,"msg":"CLI run started"}"#,
            r#"{"level":30,"msg":"[mcp] Failed to load tools from MCP server \"tiny\", skipping: MCP process exited for \"tiny\" (code=3, signal=null)."}"#,
            r#"{"level":50,"err":{"message":"Failed after 2 attempts.","aggregateErrors":[{"message":"busy","statusCode":500},{"message":"slow down","statusCode":429}]},"msg":"[ai-sdk] stream error"}"#,
        ] {
            log.line(line);
        }
        assert_eq!(
            log.unavailable["tiny"],
            r#"MCP process exited for "tiny" (code=3, signal=null)."#
        );
        assert_eq!(log.refused, Some((Some(429), "slow down".to_owned())));
        log.line(r#"{"err":{"message":"no","statusCode":401},"msg":"[ai-sdk] stream error"}"#);
        assert_eq!(log.refused, Some((Some(401), "no".to_owned())));
    }
}
