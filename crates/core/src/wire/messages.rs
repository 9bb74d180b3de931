//! Divides the bytes that pass into messages: lines, server-sent events, or one document.

use std::mem::take;

/// The way in which messages follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Each is a line.
    Lines,
    /// Each is a server-sent event.
    Events,
    /// There is one.
    Document,
}

/// The bytes of a message, with their end.
#[derive(Debug)]
pub struct Piece {
    framing: Framing,
    /// The bytes, or the beginning of them.
    pub bytes: Vec<u8>,
    /// All of them are there.
    pub is_whole: bool,
}

/// A message without its framing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The name of an event; empty if it has none.
    pub name: String,
    /// The message itself.
    pub data: String,
    /// It is an event with an identity, so a stream that ends can be taken up again.
    pub has_id: bool,
}

impl Piece {
    /// Reads the message.
    pub fn message(&self) -> Message {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.framing != Framing::Events {
            let data = text.into_owned();
            return Message {
                data,
                ..Message::default()
            };
        }
        let field = |name: &str| -> Vec<&str> {
            let values = text.lines().filter_map(|line| line.strip_prefix(name));
            values.map(str::trim).collect()
        };
        Message {
            name: field("event:").concat(),
            data: field("data:").join("\n"),
            has_id: !field("id:").is_empty(),
        }
    }

    /// Returns the bytes, with another message in them if there is one.
    pub fn changed(self, data: Option<&str>) -> Vec<u8> {
        let Some(data) = data else {
            return self.bytes;
        };
        let text = String::from_utf8_lossy(&self.bytes);
        let mut lines: Vec<String> = Vec::new();
        if self.framing == Framing::Events {
            let others = text.lines().filter(|line| !line.starts_with("data:"));
            lines.extend(others.filter(|line| !line.is_empty()).map(str::to_owned));
            lines.extend(data.lines().map(|line| format!("data: {line}")));
            lines.push(String::new());
        } else {
            lines.push(data.to_owned());
        }
        if self.framing == Framing::Events || text.ends_with('\n') {
            lines.push(String::new());
        }
        lines.join("\n").into_bytes()
    }
}

/// Divides bytes into the pieces that are a message each. Of a long one no more than the beginning is held.
#[derive(Debug)]
pub struct MessagePieces {
    framing: Framing,
    longest: usize,
    /// The piece that has begun, or the beginning of it.
    held: Vec<u8>,
    is_cut: bool,
    /// There is something in its last line.
    is_line_filled: bool,
}

impl MessagePieces {
    /// Begins without a piece. The most bytes of one are given.
    pub fn new(framing: Framing, longest: usize) -> Self {
        MessagePieces {
            framing,
            longest,
            held: Vec::new(),
            is_cut: false,
            is_line_filled: false,
        }
    }

    /// Takes bytes, and returns the pieces that end in them.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = self.longest - self.held.len();
            self.held.extend_from_slice(&line[..room.min(line.len())]);
            self.is_cut |= line.len() > room;
            self.is_line_filled |= !line.trim_ascii().is_empty();
            if line.ends_with(b"\n") {
                let is_filled = take(&mut self.is_line_filled);
                let is_end = match self.framing {
                    Framing::Lines => true,
                    Framing::Events => !is_filled,
                    Framing::Document => false,
                };
                if is_end {
                    pieces.extend(self.finish());
                }
            }
        }
        pieces
    }

    /// Returns the last piece, which has no end.
    pub fn finish(&mut self) -> Option<Piece> {
        let piece = Piece {
            framing: self.framing,
            bytes: take(&mut self.held),
            is_whole: !take(&mut self.is_cut),
        };
        (!piece.bytes.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names, the data and whether they are whole.
    fn read(text: &[u8], piece: usize, longest: usize) -> Vec<(String, String, bool)> {
        let mut pieces = MessagePieces::new(Framing::Events, longest);
        let chunks = text.chunks(piece);
        let mut found: Vec<Piece> = chunks.flat_map(|bytes| pieces.feed(bytes)).collect();
        found.extend(pieces.finish());
        let read = found.iter().map(|piece| (piece.message(), piece.is_whole));
        let read = read.map(|(message, is_whole)| (message.name, message.data, is_whole));
        read.filter(|(_, data, _)| !data.is_empty()).collect()
    }

    fn event(name: &str, data: &str) -> (String, String, bool) {
        (name.to_owned(), data.to_owned(), true)
    }

    #[test]
    fn events_are_whole_in_pieces_of_any_length() {
        let text = b": hello\n\nevent: message\r\nid: 7\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n\ndata:x\n\ndata: end";
        for piece in [1, 2, 3, 7, 1000] {
            let expected = [
                event("message", "{\"a\":\n1}"),
                event("", "x"),
                event("", "end"),
            ];
            assert_eq!(read(text, piece, 1000), expected, "{piece}");
        }
    }

    #[test]
    fn an_event_that_is_too_long_takes_no_more_memory_than_its_beginning() {
        let text = format!("data: {}\r\ndata: more\n\ndata: next\n\n", "x".repeat(1000));
        for piece in [1, 100, 10_000] {
            let found = read(text.as_bytes(), piece, 300);
            assert_eq!(found.len(), 2);
            assert!(found[0].1.len() <= 300 && !found[0].2);
            assert_eq!(found[1], event("", "next"));
        }
    }
}
