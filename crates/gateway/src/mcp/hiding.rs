//! The answer of an MCP server without the tools that the agent is not offered.

use terca_core::mcp_tap::{HiddenTools, Side};

use crate::http::BodyError;
use crate::mcp::address::event_length;

/// The longest document, and the longest event, that is held.
const LONGEST_HELD: usize = 64 * 1024 * 1024;

/// Leaves tools out of an answer: out of the messages of a stream, or of the one message of a document.
pub(crate) struct HidingBody {
    hides: HiddenTools,
    is_stream: bool,
    /// An event, or the document, that has not ended.
    held: Vec<u8>,
}

impl HidingBody {
    pub(crate) fn new(hides: HiddenTools, is_stream: bool) -> Self {
        HidingBody {
            hides,
            is_stream,
            held: Vec::new(),
        }
    }

    /// Takes bytes. Returns those for the agent.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, BodyError> {
        self.held.extend_from_slice(bytes);
        let mut passed = Vec::new();
        if self.is_stream {
            let mut begin = 0;
            while let Some(length) = event_length(&self.held[begin..]) {
                passed.extend(self.event(&self.held[begin..begin + length]));
                begin += length;
            }
            self.held.drain(..begin);
        }
        if self.held.len() > LONGEST_HELD {
            return Err("an answer is too long to be searched for hidden tools".into());
        }
        Ok(passed)
    }

    /// Returns the rest, when the answer has ended.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        if self.is_stream {
            return self.event(&held);
        }
        let changed = self.hides.changed(Side::Server, &held);
        changed.map_or(held, String::into_bytes)
    }

    fn event(&self, event: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(event);
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let data: Vec<&str> = data.collect();
        let Some(changed) = self.hides.changed(Side::Server, data.join("\n").as_bytes()) else {
            return event.to_vec();
        };
        let others = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("data:"));
        let mut lines: Vec<String> = others.map(str::to_owned).collect();
        lines.extend(changed.lines().map(|line| format!("data: {line}")));
        format!("{}\n\n", lines.join("\n")).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"id":2,"result":{"tools":[{"name":"search"},{"name":"fetch"}]}}"#;

    fn passed(is_stream: bool, text: &str, piece: usize) -> String {
        let hides = HiddenTools::new(&["search".to_owned()]).unwrap();
        let mut body = HidingBody::new(hides, is_stream);
        let mut passed = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            passed.extend(body.feed(bytes).unwrap());
        }
        passed.extend(body.finish());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn a_document_passes_without_them() {
        for piece in [1, 7, 1000] {
            let passed = passed(false, LIST, piece);
            assert!(
                passed.contains("fetch") && !passed.contains("search"),
                "{passed}"
            );
        }
        assert_eq!(passed(false, "search, please", 3), "search, please");
    }

    #[test]
    fn events_pass_without_them_and_others_as_they_are() {
        let other = ": hi\r\n\r\nevent: ping\r\ndata: search\r\n\r\n";
        let stream = format!("{other}event: message\r\nid: 7\r\ndata: {LIST}\r\n\r\ndata:{LIST}");
        for piece in 1..stream.len() {
            let passed = passed(true, &stream, piece);
            let rest = passed
                .strip_prefix(other)
                .unwrap_or_else(|| panic!("{piece}: {passed}"));
            assert!(rest.starts_with("event: message\nid: 7\ndata: {"), "{rest}");
            assert_eq!(rest.matches("fetch").count(), 2, "{rest}");
            assert!(!rest.contains("search"), "{rest}");
        }
    }
}
