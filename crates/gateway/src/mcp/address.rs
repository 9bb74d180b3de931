//! Addresses that an MCP server names: one for messages, and one of a document about signing in.

use hyper::Uri;

/// Returns the address that a server means by a text, if it is at the same host as the server: clients use no other.
pub(crate) fn resolve(server: &Uri, text: &str) -> Option<Uri> {
    let scheme = server.scheme_str()?;
    let authority = server.authority()?;
    let path = server.path();
    let whole = if text.contains("://") {
        text.to_owned()
    } else if text.starts_with("//") {
        format!("{scheme}:{text}")
    } else if text.starts_with('/') {
        format!("{scheme}://{authority}{text}")
    } else if text.starts_with('?') {
        format!("{scheme}://{authority}{path}{text}")
    } else {
        let dir = path.rfind('/').map_or("/", |end| &path[..=end]);
        format!("{scheme}://{authority}{dir}{text}")
    };
    let found: Uri = whole.parse().ok()?;
    let is_same = found.scheme() == server.scheme()
        && found.host() == server.host()
        && port(&found) == port(server)
        && !found.authority()?.as_str().contains('@');
    is_same.then_some(found)
}

/// Returns the port of an address, which may be the usual one of its scheme.
pub(crate) fn port(uri: &Uri) -> Option<u16> {
    let usual = match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    };
    uri.port_u16().or(usual)
}

/// Looks for the event by which a server of the older transport names its address for messages. It is the first of a
/// stream.
#[derive(Debug, Default)]
pub(crate) struct EndpointSearch {
    held: Vec<u8>,
}

/// The longest beginning of a stream that is held back.
const LONGEST: usize = 64 * 1024;

/// The beginning of a stream that was searched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    /// These bytes are none of the event; it may still come.
    NotYet(Vec<u8>),
    /// This is the rest of the beginning; there is no such event.
    None(Vec<u8>),
    /// The address in the event, the bytes before the event and those after it.
    Found {
        before: Vec<u8>,
        address: String,
        after: Vec<u8>,
    },
}

impl EndpointSearch {
    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Searched {
        self.held.extend_from_slice(bytes);
        let mut passed = 0;
        while let Some(length) = event_length(&self.held[passed..]) {
            let event = &self.held[passed..passed + length];
            match meaning(event) {
                Meaning::Nothing => passed += length,
                Meaning::Other => return Searched::None(self.take()),
                Meaning::Endpoint(address) => {
                    let after = self.held.split_off(passed + length);
                    self.held.truncate(passed);
                    return Searched::Found {
                        before: self.take(),
                        address,
                        after,
                    };
                }
            }
        }
        if self.held.len() - passed > LONGEST {
            return Searched::None(self.take());
        }
        let rest = self.held.split_off(passed);
        Searched::NotYet(std::mem::replace(&mut self.held, rest))
    }

    /// Returns what is held back, at the end of the stream.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Returns the length of the first event, with the empty line that ends it.
pub(crate) fn event_length(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            if matches!(&bytes[start..index], b"" | b"\r") {
                return Some(index + 1);
            }
            start = index + 1;
        }
    }
    None
}

enum Meaning {
    /// A remark, which is for nobody.
    Nothing,
    Endpoint(String),
    Other,
}

fn meaning(event: &[u8]) -> Meaning {
    let text = String::from_utf8_lossy(event);
    let field = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    };
    match (field("event").map(str::trim), field("data")) {
        (Some("endpoint"), Some(address)) => Meaning::Endpoint(address.trim().to_owned()),
        (_, Some(_)) => Meaning::Other,
        (_, None) => Meaning::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_resolved_as_clients_do() {
        let server: Uri = "https://docs.example/v1/sse?key=k".parse().unwrap();
        for (text, expected) in [
            ("/messages?id=1", Some("https://docs.example/messages?id=1")),
            ("messages", Some("https://docs.example/v1/messages")),
            ("?id=1", Some("https://docs.example/v1/sse?id=1")),
            (
                "https://docs.example:443/m",
                Some("https://docs.example:443/m"),
            ),
            ("//docs.example/m", Some("https://docs.example/m")),
            ("http://docs.example/m", None),
            ("https://other.example/m", None),
            ("https://docs.example:8443/m", None),
            ("https://me@docs.example/m", None),
            ("//other.example/m", None),
            ("/a b", None),
        ] {
            let found = resolve(&server, text).map(|found| found.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_first_event_is_found_in_pieces_of_any_length() {
        let text = b": hi\r\n\r\nevent: endpoint\r\ndata: /messages?id=1\r\n\r\ndata: {}\n\n";
        for piece in 1..text.len() {
            let mut search = EndpointSearch::default();
            let mut before = Vec::new();
            let mut found = None;
            let mut rest = Vec::new();
            for bytes in text.chunks(piece) {
                if found.is_some() {
                    rest.extend_from_slice(bytes);
                    continue;
                }
                match search.feed(bytes) {
                    Searched::NotYet(bytes) => before.extend(bytes),
                    Searched::None(bytes) => panic!("{bytes:?}"),
                    Searched::Found {
                        before: more,
                        address,
                        after,
                    } => {
                        before.extend(more);
                        found = Some(address);
                        rest = after;
                    }
                }
            }
            assert_eq!(before, b": hi\r\n\r\n", "{piece}");
            assert_eq!(found.as_deref(), Some("/messages?id=1"));
            assert_eq!(rest, b"data: {}\n\n");
        }
    }

    #[test]
    fn any_other_stream_passes_as_it_is() {
        let mut search = EndpointSearch::default();
        let other = b"event: message\ndata: {}\n\nevent: endpoint\ndata: /x\n\n";
        assert_eq!(search.feed(other), Searched::None(other.to_vec()));
        let endless = vec![b'x'; LONGEST + 1];
        let mut search = EndpointSearch::default();
        assert_eq!(search.feed(&endless), Searched::None(endless.clone()));
        let mut search = EndpointSearch::default();
        assert_eq!(search.feed(b"data: "), Searched::NotYet(Vec::new()));
        assert_eq!(search.take(), b"data: ");
    }
}
