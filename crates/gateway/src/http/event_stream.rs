//! Divides a stream of server-sent events into its events, of which no more than the beginning is held.

/// The longest event, and the longest JSON document, that is held. Of anything longer the beginning is.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StreamEvent<'a> {
    /// Its name; empty if it has none.
    pub(crate) name: &'a str,
    /// Its data, or the beginning of it.
    pub(crate) data: &'a [u8],
    /// The length of its data.
    pub(crate) bytes: usize,
}

impl StreamEvent<'_> {
    /// Returns whether all of its data is there.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes == self.data.len()
    }
}

/// Divides a stream into its events.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    line_bytes: usize,
    name: String,
    data: Vec<u8>,
    data_bytes: usize,
    has_data: bool,
    /// An event had an identity, so a stream that ends can be taken up again.
    pub(crate) has_ids: bool,
}

impl EventStream {
    /// Takes bytes, and hands on the events that end in them.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], on_event: &mut dyn FnMut(StreamEvent<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..end]);
            self.end_line(on_event);
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
    }

    /// Hands on an event that has no end when the stream has ended.
    pub(crate) fn finish(&mut self, on_event: &mut dyn FnMut(StreamEvent<'_>)) {
        self.end_line(on_event);
        self.end_event(on_event);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.line_bytes += bytes.len();
        let room = LONGEST.saturating_sub(self.line.len() + self.data.len());
        self.line.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn end_line(&mut self, on_event: &mut dyn FnMut(StreamEvent<'_>)) {
        let line = std::mem::take(&mut self.line);
        let mut missing = std::mem::take(&mut self.line_bytes) - line.len();
        // A carriage return is of the end of the line.
        let text = line.strip_suffix(b"\r").unwrap_or(&line);
        if text.is_empty() && missing <= 1 {
            self.end_event(on_event);
        } else if let Some(data) = text.strip_prefix(b"data:") {
            let data = data.trim_ascii_start();
            if self.has_data {
                self.data.push(b'\n');
                self.data_bytes += 1;
            }
            self.has_data = true;
            self.data.extend_from_slice(data);
            self.data_bytes += data.len() + missing;
        } else if text.is_empty() || self.data.len() >= LONGEST {
            // There was no room for the beginning, so its kind is unknown.
            missing = missing.max(1);
            self.data_bytes += missing;
        } else if let Some(name) = text.strip_prefix(b"event:") {
            self.name = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        } else if text.starts_with(b"id:") {
            self.has_ids = true;
        }
    }

    fn end_event(&mut self, on_event: &mut dyn FnMut(StreamEvent<'_>)) {
        let data = std::mem::take(&mut self.data);
        let bytes = std::mem::take(&mut self.data_bytes);
        let name = std::mem::take(&mut self.name);
        if std::mem::take(&mut self.has_data) {
            on_event(StreamEvent {
                name: &name,
                data: &data,
                bytes,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], piece: usize) -> Vec<(String, Vec<u8>, usize)> {
        let mut found = Vec::new();
        let mut stream = EventStream::default();
        let mut add = |event: StreamEvent<'_>| {
            found.push((event.name.to_owned(), event.data.to_vec(), event.bytes));
        };
        for bytes in text.chunks(piece) {
            stream.feed(bytes, &mut add);
        }
        stream.finish(&mut add);
        found
    }

    #[test]
    fn events_are_whole_in_pieces_of_any_length() {
        let text = b": hello\n\nevent: message\r\nid: 7\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n\ndata:x\n\ndata: end";
        for piece in [1, 2, 3, 7, 1000] {
            let found = read(text, piece);
            let named = |index: usize| (found[index].0.as_str(), found[index].1.as_slice());
            assert_eq!(found.len(), 3, "{found:?}");
            assert_eq!(named(0), ("message", &b"{\"a\":\n1}"[..]));
            assert_eq!(named(1), ("", &b"x"[..]));
            assert_eq!(named(2), ("", &b"end"[..]));
        }
    }

    #[test]
    fn an_event_without_an_end_takes_no_more_memory_than_its_beginning() {
        let mut text = b"data: ".to_vec();
        text.resize(3 * LONGEST, b'x');
        text.extend_from_slice(b"\r\ndata: more\n\ndata: next\n\n");
        for piece in [1 << 16, text.len()] {
            let found = read(&text, piece);
            assert_eq!(found.len(), 2);
            assert!(found[0].1.len() <= LONGEST + 1 && found[0].2 > 2 * LONGEST);
            assert_eq!((found[1].1.as_slice(), found[1].2), (&b"next"[..], 4));
        }
    }
}
