//! Finds secrets that arrive in pieces.
//!
//! Agents stream what a model says a few letters at a time, each in an event of its own. So the texts that are at the
//! same place of their events are joined, and a secret is looked for across the seams.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use super::Mask;
use crate::text::json_strings;

/// The most places in events that are followed. An agent may make up as many as it likes.
const MOST_PATHS: usize = 4096;
/// The most pieces that are remembered. What follows is left out of the copy.
const MOST_EDITS: usize = 1_000_000;

/// Looks for secrets across the lines of a stream of events.
#[derive(Debug)]
pub struct Pieces {
    mask: Mask,
    joined: HashMap<u64, Joined>,
    edits: Edits,
    /// The pieces since they were last taken, for somebody who writes the stream while it comes in.
    fresh: Option<Vec<Range<u64>>>,
}

/// The end of the text at one place of the events.
#[derive(Debug, Default)]
struct Joined {
    text: Vec<u8>,
    parts: VecDeque<Part>,
}

/// A piece of a text: its place in the stream and its length.
#[derive(Debug, Clone, Copy)]
struct Part {
    place: u64,
    length: usize,
}

/// The place of a piece, and whether it is the first of its secret.
type Marked = (Range<u64>, bool);

/// The pieces of secrets in a stream, by their places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edits {
    /// The end of each piece, and whether it is the first of its secret, by its beginning.
    pieces: BTreeMap<u64, (u64, bool)>,
    /// The place from which on nothing is kept, because there are too many pieces.
    pub cut: Option<u64>,
}

impl Edits {
    /// Returns whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.cut.is_none()
    }

    /// Takes out the first piece: where it begins, where it ends, and whether it is the first of its secret.
    pub fn pop(&mut self) -> Option<(u64, u64, bool)> {
        let (start, (end, is_first)) = self.pieces.pop_first()?;
        Some((start, end, is_first))
    }

    fn add(&mut self, mut start: u64, mut end: u64, mut is_first: bool) {
        while let Some((&other, &(other_end, other_first))) = self.pieces.range(..end).next_back() {
            if other_end <= start {
                break;
            }
            self.pieces.remove(&other);
            is_first = if other <= start {
                other_first
            } else {
                is_first
            };
            start = start.min(other);
            end = end.max(other_end);
        }
        self.pieces.insert(start, (end, is_first));
    }
}

impl Pieces {
    /// Begins with an empty stream.
    pub fn new(mask: &Mask) -> Self {
        Pieces {
            mask: mask.clone(),
            joined: HashMap::new(),
            edits: Edits::default(),
            fresh: None,
        }
    }

    /// Begins with an empty stream that is written while it comes in.
    pub fn live(mask: &Mask) -> Self {
        Pieces {
            fresh: Some(Vec::new()),
            ..Pieces::new(mask)
        }
    }

    /// Returns the places of the pieces that were found since the last time.
    pub fn take_fresh(&mut self) -> Vec<Range<u64>> {
        self.fresh.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Reads a line that begins at this place of the stream. A line that is no JSON has no pieces.
    pub fn line(&mut self, place: u64, line: &[u8]) {
        let is_json = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        if self.mask.is_empty() || self.edits.cut.is_some() || !is_json {
            return;
        }
        for string in json_strings::of(line) {
            if string.is_name || string.range.is_empty() {
                continue;
            }
            if self.joined.len() >= MOST_PATHS && !self.joined.contains_key(&string.path) {
                self.joined.clear();
            }
            let joined = self.joined.entry(string.path).or_default();
            let start = place + string.range.start as u64;
            let mut marked = Vec::new();
            joined.add(start, &line[string.range], &self.mask, &mut marked);
            for (range, is_first) in marked {
                self.edits.add(range.start, range.end, is_first);
                if let Some(fresh) = &mut self.fresh {
                    fresh.push(range);
                }
            }
        }
        if self.edits.pieces.len() > MOST_EDITS {
            self.edits.cut = Some(place);
        }
    }

    /// Returns the pieces that were found.
    pub fn finish(self) -> Edits {
        self.edits
    }
}

impl Joined {
    fn add(&mut self, place: u64, text: &[u8], mask: &Mask, marked: &mut Vec<Marked>) {
        let seam = self.text.len();
        let overlap = mask.overlap();
        if mask.may_cross(&self.text, &text[..text.len().min(overlap)]) {
            // A secret that is in this text as a whole is masked in any case.
            self.text
                .extend_from_slice(&text[..text.len().min(overlap)]);
            self.parts.push_back(Part {
                place,
                length: self.text.len() - seam,
            });
            for secret in mask.secrets_in(&self.text) {
                if secret.start < seam && seam < secret.end {
                    self.mark(secret, marked);
                }
            }
            self.text.truncate(seam);
            self.parts.pop_back();
        }
        if text.len() >= overlap {
            let cut = text.len() - overlap;
            self.text.clear();
            self.text.extend_from_slice(&text[cut..]);
            self.parts.clear();
            self.parts.push_back(Part {
                place: place + cut as u64,
                length: overlap,
            });
            return;
        }
        self.text.extend_from_slice(text);
        self.parts.push_back(Part {
            place,
            length: text.len(),
        });
        self.forget(self.text.len().saturating_sub(overlap));
    }

    fn mark(&self, secret: Range<usize>, marked: &mut Vec<Marked>) {
        let mut at = 0;
        for part in &self.parts {
            let end = at + part.length;
            let from = secret.start.max(at);
            let to = secret.end.min(end);
            if from < to {
                let start = part.place + (from - at) as u64;
                marked.push((start..start + (to - from) as u64, from == secret.start));
            }
            at = end;
        }
    }

    /// Forgets so many bytes of the beginning.
    fn forget(&mut self, bytes: usize) {
        self.text.drain(..bytes);
        let mut left = bytes;
        while let Some(part) = self.parts.front_mut() {
            if part.length > left {
                part.place += left as u64;
                part.length -= left;
                return;
            }
            left -= part.length;
            self.parts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MASK;
    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

    fn masked(lines: &[String]) -> String {
        let mask = Mask::new([KEY]);
        let mut pieces = Pieces::new(&mask);
        let mut text = String::new();
        for line in lines {
            pieces.line(text.len() as u64, line.as_bytes());
            text += &format!("{line}\n");
        }
        let mut edits = pieces.finish();
        let (mut edited, mut at) = (String::new(), 0);
        while let Some((start, end, is_first)) = edits.pop() {
            edited += &text[at..start as usize];
            edited += if is_first { MASK } else { "" };
            at = end as usize;
        }
        mask.text(&(edited + &text[at..]))
    }

    fn deltas(text: &str, lengths: &[usize]) -> Vec<String> {
        let mut lines = Vec::new();
        let (mut rest, mut lengths) = (text, lengths.iter().cycle());
        while !rest.is_empty() {
            let length = (*lengths.next().unwrap()).clamp(1, rest.len());
            let (piece, after) = rest.split_at(length);
            lines.push(format!(r#"{{"type":"delta","d":{{"text":"{piece}"}}}}"#));
            lines.push(r#"{"type":"ping","d":{"other":"x"}}"#.to_owned());
            rest = after;
        }
        lines
    }

    fn joined(stream: &str) -> String {
        let texts = stream.lines().filter_map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["d"]["text"].as_str().map(str::to_owned)
        });
        texts.collect()
    }

    #[test]
    fn a_key_in_pieces_of_any_length_is_masked_in_all_of_them() {
        let said = format!("the key is {KEY}, and again {KEY}.");
        for lengths in [&[1][..], &[2, 3], &[5], &[1, 17], &[30], &[44, 1], &[1000]] {
            let stream = masked(&deltas(&said, lengths));
            assert_eq!(
                joined(&stream),
                "the key is ***, and again ***.",
                "{lengths:?}: {stream}"
            );
        }
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        let lines = deltas("nothing of the kind, sk-ant- and so on", &[3]);
        assert_eq!(masked(&lines), lines.join("\n") + "\n");
    }
}
