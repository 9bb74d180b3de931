//! A session that floods. What an agent says and what its tools give is decoded up to a limit; what a result rests on,
//! always.
//!
//! Decoding an event and writing it out again takes ten times as long as copying it. A session of a gigabyte is no
//! session that anybody reads as a transcript, but its raw stream is kept whole, its calls and tokens are counted to the
//! last one, and it must not hold up the trials beside it.

use super::{Decoder, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Step};

/// A line that no count, figure or ending rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// What the agent said.
    Words,
    /// What a tool gave, or what was said to the agent.
    Output,
}

/// So many bytes of asides are decoded between two events that count. No tool's output is as long, and no answer.
const MOST: u64 = 4 * 1024 * 1024;

/// A decoder that is handed what it needs.
#[expect(missing_debug_implementations, reason = "a decoder has none")]
pub struct Flood {
    pub decoder: Box<dyn Decoder>,
    limit: u64,
    /// Lines so far.
    line: u64,
    /// Bytes of asides since the last event that counts.
    asides: u64,
    /// What the line is that comes next.
    next: Option<Aside>,
    omitted: Option<Omitted>,
}

#[derive(Debug)]
struct Omitted {
    first: u64,
    lines: u64,
    bytes: u64,
    words: bool,
}

impl Flood {
    pub fn new(decoder: Box<dyn Decoder>) -> Self {
        Flood::with_limit(decoder, MOST)
    }

    pub fn with_limit(decoder: Box<dyn Decoder>, limit: u64) -> Self {
        Flood {
            decoder,
            limit,
            line: 0,
            asides: 0,
            next: None,
            omitted: None,
        }
    }

    /// Whether a line that begins like this is to be decoded, which is then done by [`Flood::line`]; else it is
    /// [`Flood::pass_over`].
    pub fn wants(&mut self, beginning: &[u8]) -> bool {
        self.next = self.decoder.aside(beginning);
        self.next.is_none() || self.asides < self.limit
    }

    pub fn line(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        self.asides = match self.next.take() {
            Some(_) => self.asides.saturating_add(line.bytes()),
            None => 0,
        };
        let mut records = self.gap();
        records.append(&mut self.decoder.stdout(line));
        records
    }

    /// A line of this length that was not wanted.
    pub fn pass_over(&mut self, bytes: u64) {
        self.line += 1;
        let omitted = self.omitted.get_or_insert(Omitted {
            first: self.line,
            lines: 0,
            bytes: 0,
            words: false,
        });
        omitted.lines += 1;
        omitted.bytes = omitted.bytes.saturating_add(bytes);
        omitted.words |= self.next.take() == Some(Aside::Words);
    }

    pub fn finish(mut self, exit: Exit) -> Reading {
        let mut records = self.gap();
        let mut reading = self.decoder.finish(exit);
        records.append(&mut reading.records);
        Reading { records, ..reading }
    }

    /// What is said in the place of what was left out.
    fn gap(&mut self) -> Vec<Record> {
        let Some(Omitted {
            first,
            lines,
            bytes,
            words,
        }) = self.omitted.take()
        else {
            return Vec::new();
        };
        let mut records = self.decoder.passed_over(lines);
        records.push(Record {
            time: None,
            line: first,
            step: Step::Omitted {
                lines,
                bytes,
                words,
            },
        });
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{find, playback};
    use crate::transcript::Role;

    fn decoder(agent: &str) -> Box<dyn Decoder> {
        let none = std::collections::BTreeSet::new();
        let inputs = playback::inputs(&[], None, &none);
        find(agent).unwrap().decoder(&inputs)
    }

    fn hear(flood: &mut Flood, line: &str) -> Vec<Record> {
        if flood.wants(&line.as_bytes()[..line.len().min(64)]) {
            return flood.line(Line::Text(line));
        }
        flood.pass_over(line.len() as u64 + 1);
        Vec::new()
    }

    fn steps(limit: u64, lines: &[&str]) -> Vec<(u64, Step)> {
        let mut flood = Flood::with_limit(decoder("gemini-cli"), limit);
        let mut records: Vec<Record> = lines
            .iter()
            .flat_map(|line| hear(&mut flood, line))
            .collect();
        records.extend(flood.finish(Exit::Code(0)).records);
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

    /// The law: whatever an adapter calls an aside, the result is the same without it.
    #[test]
    fn no_result_rests_on_an_aside() {
        let mut left_out = std::collections::BTreeSet::new();
        for (agent, recordings) in [
            (
                "gemini-cli",
                &[
                    "gemini-success.jsonl",
                    "gemini-mcp.jsonl",
                    "gemini-500.jsonl",
                ][..],
            ),
            (
                "claude-code",
                &[
                    "claude-success.jsonl",
                    "claude-subagent.jsonl",
                    "claude-mcp-hooks.jsonl",
                ],
            ),
            (
                "qwen-code",
                &[
                    "qwen-success.jsonl",
                    "qwen-mcp-failed.jsonl",
                    "qwen-500-recovered.jsonl",
                ],
            ),
        ] {
            for recording in recordings {
                let text = playback::recorded(recording);
                let read = |limit| {
                    let mut flood = Flood::with_limit(decoder(agent), limit);
                    let mut records: Vec<Record> = text
                        .lines()
                        .flat_map(|line| hear(&mut flood, line))
                        .collect();
                    let mut reading = flood.finish(Exit::Code(0));
                    records.append(&mut reading.records);
                    (records, reading)
                };
                let ((all, reading), (few, short)) = (read(u64::MAX), read(0));
                assert_eq!(format!("{reading:?}"), format!("{short:?}"), "{recording}");
                let counts = |records: &[Record]| -> Vec<Record> {
                    let aside = |step: &Step| {
                        matches!(
                            step,
                            Step::Message { .. } | Step::ToolResult { .. } | Step::Omitted { .. }
                        )
                    };
                    records
                        .iter()
                        .filter(|record| !aside(&record.step))
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
