//! Reads a recording. It may come from anybody: nothing of it is trusted, and what it says about itself is checked.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::GzDecoder;
use terca_core::wire::recording::{
    FORMAT, Header, LARGEST, Line, Part, PartName, RecordedAnswer, RecordedRequest, VERSION,
};
use thiserror::Error;

use crate::http::request_body::LARGEST as LARGEST_BODY;

/// The most bytes of lines that are read: the last line may go beyond the limit of the recorder.
const MOST: u64 = LARGEST + 128 * 1024 * 1024;
/// The most requests.
const MOST_REQUESTS: usize = 50_000;

/// A recording that cannot be used.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is no recording, or a damaged one.
    #[error("line {line} of it is damaged: {problem}")]
    Damaged {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// Another version of Terca wrote it.
    #[error(
        "it has version {0} of the format, but this Terca reads version {VERSION}; use the version of Terca that \
         wrote it"
    )]
    Version(u32),
    /// It is larger than any that Terca writes.
    #[error("it is larger than any that Terca writes ({0})")]
    TooLarge(&'static str),
}

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    pub(crate) header: Header,
    pub(crate) exchanges: Vec<RecordedExchange>,
    /// The reason why the rest of the session is missing, if it is.
    pub(crate) stopped: Option<String>,
    parts: HashMap<PartName, Vec<u8>>,
}

/// A request and its answer, if there is one.
#[derive(Debug)]
pub(crate) struct RecordedExchange {
    pub(crate) request: RecordedRequest,
    pub(crate) answer: Option<RecordedAnswer>,
}

impl Recording {
    /// Reads a recording to its end, or to the place where it was cut off.
    pub fn read(file: File) -> Result<Self, RecordingError> {
        let mut reader = BufReader::new(GzDecoder::new(BufReader::new(file)).take(MOST));
        let mut builder = Builder::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let end = match reader.read_until(b'\n', &mut line) {
                Ok(length) => length == 0,
                // Terca was killed while it wrote.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    return Err(builder.damaged("it is not compressed by gzip"));
                }
                Err(error) => return Err(RecordingError::Io(error)),
            };
            // A line without its end was being written.
            if line.last() == Some(&b'\n') {
                builder.line(&line)?;
            }
            if end {
                break;
            }
        }
        if reader.get_ref().limit() == 0 {
            return Err(RecordingError::TooLarge("its lines"));
        }
        builder.finish()
    }

    /// Returns the addresses of services that the shell named when it was recorded, by variable.
    pub fn addresses(&self) -> &BTreeMap<String, String> {
        &self.header.addresses
    }

    /// Returns the bytes of a body.
    pub(crate) fn body(&self, names: &[PartName]) -> Vec<u8> {
        let parts = names.iter().filter_map(|name| self.parts.get(name));
        parts.flatten().copied().collect()
    }
}

#[derive(Debug, Default)]
struct Builder {
    header: Option<Header>,
    requests: BTreeMap<u64, RecordedRequest>,
    answers: HashMap<u64, RecordedAnswer>,
    stopped: Option<String>,
    parts: HashMap<PartName, Vec<u8>>,
    number: usize,
}

impl Builder {
    fn damaged(&self, problem: impl Into<String>) -> RecordingError {
        RecordingError::Damaged {
            line: self.number.max(1),
            problem: problem.into(),
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), RecordingError> {
        self.number += 1;
        let Some(header) = &self.header else {
            return self.first_line(line);
        };
        debug_assert_eq!(header.version, VERSION, "no other is kept");
        let line: Line =
            serde_json::from_slice(line).map_err(|error| self.damaged(error.to_string()))?;
        match line {
            Line::Header(_) => return Err(self.damaged("there is a second header")),
            Line::Part(part) => {
                let bytes = bytes_of(&part).map_err(|problem| self.damaged(problem))?;
                self.parts.insert(part.name, bytes);
            }
            Line::Request(request) => {
                self.check(&request.body)?;
                if self.requests.len() >= MOST_REQUESTS {
                    return Err(RecordingError::TooLarge("its number of requests"));
                }
                let number = request.number;
                if self.requests.insert(number, request).is_some() {
                    return Err(self.damaged(format!("there are two requests {number}")));
                }
            }
            Line::Answer(answer) => {
                self.check(&answer.body)?;
                let number = answer.number;
                let has_request = self.requests.contains_key(&number);
                if !has_request || self.answers.insert(number, answer).is_some() {
                    return Err(self.damaged(format!("there is no one request {number}")));
                }
            }
            Line::Stopped(stopped) => self.stopped = Some(stopped.reason),
        }
        Ok(())
    }

    /// Reads the header. Of another version no more is known than that it is one.
    fn first_line(&mut self, line: &[u8]) -> Result<(), RecordingError> {
        let value: serde_json::Value =
            serde_json::from_slice(line).map_err(|error| self.damaged(error.to_string()))?;
        if value["format"] != FORMAT {
            return Err(self.damaged("it is not a recording of Terca"));
        }
        let version = value["version"]
            .as_u64()
            .and_then(|version| u32::try_from(version).ok());
        match version {
            Some(VERSION) => {}
            Some(other) => return Err(RecordingError::Version(other)),
            None => return Err(self.damaged("the version is missing")),
        }
        match serde_json::from_value(value) {
            Ok(Line::Header(header)) => self.header = Some(header),
            Ok(_) => return Err(self.damaged("there is no header")),
            Err(error) => return Err(self.damaged(error.to_string())),
        }
        Ok(())
    }

    /// Checks that a body can be put together, and that it is not larger than any can be.
    fn check(&self, names: &[PartName]) -> Result<(), RecordingError> {
        let mut length = 0;
        for name in names {
            let Some(part) = self.parts.get(name) else {
                return Err(self.damaged(format!("there is no part {name}")));
            };
            length += part.len();
            if length > LARGEST_BODY {
                return Err(RecordingError::TooLarge("a body"));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Recording, RecordingError> {
        let Some(header) = self.header.take() else {
            return Err(self.damaged("there is no header"));
        };
        let requests = std::mem::take(&mut self.requests).into_iter();
        let exchanges = requests.map(|(number, request)| RecordedExchange {
            request,
            answer: self.answers.remove(&number),
        });
        Ok(Recording {
            header,
            exchanges: exchanges.collect(),
            stopped: self.stopped,
            parts: self.parts,
        })
    }
}

/// Returns the bytes of a part, if they are those that its name says.
fn bytes_of(part: &Part) -> Result<Vec<u8>, String> {
    let bytes = match (&part.text, &part.hex) {
        (Some(text), None) => Some(text.as_bytes().to_vec()),
        (None, Some(hex)) => bytes_of_hex(hex.as_bytes()),
        _ => None,
    };
    match bytes {
        Some(bytes) if PartName::of(&bytes) == part.name => Ok(bytes),
        _ => Err(format!("the part {} has another content", part.name)),
    }
}

fn bytes_of_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks(2).map(|pair| {
        let text = std::str::from_utf8(pair)
            .ok()
            .filter(|text| text.len() == 2);
        text.and_then(|text| u8::from_str_radix(text, 16).ok())
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::json;

    use super::*;

    const HEADER: &str =
        r#"{"kind":"header","format":"terca-exchanges","version":1,"directory":"/d"}"#;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(text: &str) -> Result<Recording, String> {
        Recording::read(file(&compressed(text.as_bytes()))).map_err(|error| error.to_string())
    }

    fn part(text: &str) -> String {
        let name = PartName::of(text.as_bytes());
        json!({"kind": "part", "name": name, "text": text}).to_string()
    }

    fn request(number: u64, body: &[PartName]) -> String {
        json!({"kind": "request", "number": number, "atMs": 0, "method": "POST", "path": "/v1/messages", "headers": {}, "body": body}).to_string()
    }

    #[test]
    fn what_was_cut_off_is_read_up_to_there() {
        let name = PartName::of(b"yes");
        let text = format!(
            "{HEADER}\n{}\n{}\n{}",
            part("yes"),
            request(1, &[name]),
            request(2, &[name])
        );
        let recording = read(&text).unwrap();
        assert_eq!(recording.exchanges.len(), 1, "the last line has no end");
        assert_eq!(recording.body(&recording.exchanges[0].request.body), b"yes");
        assert!(recording.exchanges[0].answer.is_none());
        let whole = compressed(format!("{text}\n").as_bytes());
        let cut = Recording::read(file(&whole[..whole.len() - 9])).unwrap();
        assert!(cut.exchanges.len() <= 2);
    }

    #[test]
    fn foreign_and_damaged_files_are_refused_with_a_reason() {
        let name = PartName::of(b"yes");
        let other = PartName::of(b"no");
        for (text, expected) in [
            (String::new(), "there is no header"),
            ("{}\n".to_owned(), "not a recording of Terca"),
            ("not JSON\n".to_owned(), "line 1 of it is damaged"),
            (
                HEADER.replace(":1,", ":2,") + "\n",
                "version 2 of the format",
            ),
            (format!("{HEADER}\n{HEADER}\n"), "second header"),
            (
                format!("{HEADER}\n{}\n", request(1, &[name])),
                "there is no part",
            ),
            (
                format!(
                    "{HEADER}\n{}\n",
                    part("yes").replace(&name.to_string(), &other.to_string())
                ),
                "has another content",
            ),
            (
                format!("{HEADER}\n{}\n{}\n", request(1, &[]), request(1, &[])),
                "two requests 1",
            ),
            (
                format!(
                    "{HEADER}\n{}\n",
                    r#"{"kind":"answer","number":7,"status":200,"body":[],"end":"whole"}"#
                ),
                "no one request 7",
            ),
            (
                format!("{HEADER}\n{}\n", r#"{"kind":"surprise"}"#),
                "unknown variant",
            ),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(expected), "{error} for {text}");
        }
        let no_gzip = Recording::read(file(b"plain text\n")).unwrap_err();
        assert!(no_gzip.to_string().contains("gzip"), "{no_gzip}");
    }

    #[test]
    fn a_bomb_is_refused_before_it_takes_the_memory() {
        // One part of many bytes, named again and again.
        let long = "x".repeat(1 << 20);
        let name = PartName::of(long.as_bytes());
        let text = format!(
            "{HEADER}\n{}\n{}\n",
            part(&long),
            request(1, &vec![name; 100])
        );
        let error = read(&text).unwrap_err();
        assert!(
            error.contains("larger than any") && error.contains("a body"),
            "{error}"
        );
        // A line without an end, which is short as long as it is compressed.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(HEADER.as_bytes()).unwrap();
        encoder.write_all(b"\n").unwrap();
        let zeros = vec![b'0'; 1 << 20];
        for _ in 0..(MOST >> 20) + 1 {
            encoder.write_all(&zeros).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 1 << 22, "{}", bomb.len());
        let error = Recording::read(file(&bomb)).unwrap_err();
        assert!(error.to_string().contains("its lines"), "{error}");
    }
}
