//! Leaves out parts of a session that is too long to decode as a whole.
//!
//! Decoding an event and writing it out again takes ten times as long as copying it. Nobody reads a session of a
//! gigabyte as a transcript, and it must not delay the trials beside it. So an agent's words and its tools' output are
//! decoded up to a limit. The raw stream is still kept whole, and calls and tokens are counted to the last one.

use super::Decoder;
use crate::agent::decoder::{RawLine, Skippable};
use crate::text::mask::Mask;
use crate::transcript::{Record, Step};

/// The bytes of skippable lines that are decoded between two events that count. No tool's output and no answer is
/// usually as long.
const LIMIT: u64 = 4 * 1024 * 1024;

/// The bytes of a line by which an adapter tells whether it is skippable.
const DECIDING: usize = 64;

/// The lines that a decoder was spared.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Another limit than the usual one.
    limit: Option<u64>,
    /// Lines that were not decoded.
    skipped: u64,
    /// Bytes of skippable lines since the last event that counts.
    skippable_bytes: u64,
    omitted: Omitted,
}

#[derive(Debug, Default)]
struct Omitted {
    lines: u64,
    bytes: u64,
    words: bool,
}

impl Decoder {
    /// Returns it with another limit for the bytes of skippable lines that are decoded between two events that count.
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.filter.limit = Some(limit);
        self
    }

    /// Reads a line of standard output without the keys in it, or leaves it out.
    pub fn line(&mut self, line: RawLine<'_>, mask: &Mask) -> Vec<Record> {
        let beginning = &line.text[..line.text.len().min(DECIDING)];
        let skippable = self.skippable(beginning);
        let filter = &mut self.filter;
        if let Some(kind) = skippable
            && filter.skippable_bytes >= filter.limit.unwrap_or(LIMIT)
        {
            filter.skipped += 1;
            let omitted = &mut filter.omitted;
            omitted.lines += 1;
            omitted.bytes = omitted.bytes.saturating_add(line.bytes + 1);
            omitted.words |= kind == Skippable::Words;
            return Vec::new();
        }
        filter.skippable_bytes = match skippable {
            Some(_) => filter.skippable_bytes.saturating_add(line.bytes),
            None => 0,
        };
        self.end_gap();
        line.read(mask, |line| self.stdout(line))
    }

    /// Returns a number that grows with every sign of life in the talk with the model. A line that is not decoded is one, because
    /// only an answer or the output of a tool is left out.
    pub fn progress(&self) -> u64 {
        self.session.conversation.progress() + self.filter.skipped
    }

    /// Returns whether a tool is at work, as far as the agent shows it.
    pub fn is_tool_running(&self) -> bool {
        self.session.conversation.is_tool_running()
    }

    /// Adds the step that replaces the lines left out, after the steps that are still held back.
    pub(super) fn end_gap(&mut self) {
        let Omitted {
            lines,
            bytes,
            words,
        } = std::mem::take(&mut self.filter.omitted);
        if lines == 0 {
            return;
        }
        let session = &mut self.session;
        session.conversation.tools_ended();
        if words {
            session.answered();
        }
        session.flush();
        session.records.push(Record {
            time: None,
            at_ms: None,
            line: session.line + 1,
            step: Step::Omitted {
                lines,
                bytes,
                words,
            },
        });
        session.line += lines;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Conversation, find, playback};
    use crate::process::Exit;
    use crate::transcript::Role;

    fn decoder(agent: &str) -> Decoder {
        let none = std::collections::BTreeSet::new();
        let inputs = playback::inputs(&[], None, &none);
        find(agent).unwrap().decoder(&inputs)
    }

    fn read(filter: &mut Decoder, line: &str) -> Vec<Record> {
        filter.line(RawLine::whole(line.as_bytes()), &Mask::default())
    }

    fn steps(limit: u64, lines: &[&str]) -> Vec<(u64, Step)> {
        let mut filter = decoder("gemini-cli").with_limit(limit);
        let mut records: Vec<Record> = lines
            .iter()
            .flat_map(|line| read(&mut filter, line))
            .collect();
        records.extend(filter.finish(Exit::Code(0)).records);
        records
            .into_iter()
            .map(|record| (record.line, record.step))
            .collect()
    }

    const WORDS: &str =
        r#"{"type":"message","role":"assistant","delta":true,"content":"0123456789"}"#;
    const CALL: &str = r#"{"type":"tool_use","tool_name":"shell","tool_id":"1","parameters":{}}"#;
    const RESULT: &str =
        r#"{"type":"tool_result","tool_id":"1","status":"success","output":"out"}"#;

    #[test]
    fn a_flood_is_left_out_in_its_place_and_the_next_call_ends_it() {
        let call = |id: &str| Step::ToolCall {
            id: Some(id.into()),
            tool: "shell".into(),
            input: serde_json::json!({}),
            server: None,
            server_tool: None,
        };
        let said = |text: &str| Step::Message {
            role: Role::Assistant,
            text: text.into(),
        };
        let result = Step::ToolResult {
            id: Some("1".into()),
            ok: true,
            output: Some("out".into()),
        };
        let omitted = |lines: u64, line: &str, words| Step::Omitted {
            lines,
            bytes: lines * (line.len() as u64 + 1),
            words,
        };
        assert_eq!(
            steps(
                100,
                &[
                    WORDS, WORDS, WORDS, CALL, RESULT, RESULT, RESULT, CALL, WORDS
                ]
            ),
            [
                (1, said("01234567890123456789")),
                (3, omitted(1, WORDS, true)),
                (4, call("1")),
                (5, result.clone()),
                (6, result),
                (7, omitted(1, RESULT, false)),
                (8, call("1")),
                (9, said("0123456789")),
            ]
        );
    }

    #[test]
    fn what_is_left_out_at_the_end_is_said_too() {
        let steps = steps(0, &[RESULT, WORDS]);
        let bytes = (RESULT.len() + WORDS.len() + 2) as u64;
        assert_eq!(
            steps,
            [(
                1,
                Step::Omitted {
                    lines: 2,
                    bytes,
                    words: true
                }
            )]
        );
    }

    /// The law: without the lines that an adapter calls skippable, the result is the same.
    #[test]
    fn no_result_depends_on_a_skippable_line() {
        let mut left_out = std::collections::BTreeSet::new();
        for (agent, recordings) in [
            (
                "gemini-cli",
                &[
                    "gemini-success.jsonl", "gemini-mcp.jsonl", "gemini-500.jsonl",
                ][..],
            ),
            (
                "claude-code",
                &[
                    "claude-success.jsonl", "claude-subagent.jsonl", "claude-mcp-hooks.jsonl",
                ],
            ),
            (
                "qwen-code",
                &[
                    "qwen-success.jsonl", "qwen-mcp-failed.jsonl", "qwen-500-recovered.jsonl",
                ],
            ),
        ] {
            for recording in recordings {
                let text = playback::recorded(recording);
                let session = |limit| {
                    let mut filter = decoder(agent).with_limit(limit);
                    let mut records: Vec<Record> = text
                        .lines()
                        .flat_map(|line| read(&mut filter, line))
                        .collect();
                    let mut reading = filter.finish(Exit::Code(0));
                    records.append(&mut reading.records);
                    // A flood of words is taken for an answer, also where it is the prompt that is repeated.
                    reading.conversation = Conversation::default();
                    (records, reading)
                };
                let ((all, reading), (few, short)) = (session(u64::MAX), session(0));
                assert_eq!(format!("{reading:?}"), format!("{short:?}"), "{recording}");
                let counts = |records: &[Record]| -> Vec<Record> {
                    let skippable = |step: &Step| {
                        matches!(
                            step,
                            Step::Message { .. } | Step::ToolResult { .. } | Step::Omitted { .. }
                        )
                    };
                    records
                        .iter()
                        .filter(|record| !skippable(&record.step))
                        .cloned()
                        .collect()
                };
                assert_eq!(counts(&all), counts(&few), "{recording}");
                if few
                    .iter()
                    .any(|record| matches!(record.step, Step::Omitted { .. }))
                {
                    left_out.insert(agent);
                }
            }
        }
        assert_eq!(
            left_out.len(),
            3,
            "every one of them leaves something out: {left_out:?}"
        );
    }
}
