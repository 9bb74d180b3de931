//! Reads a recording. It may come from anybody: nothing of it is trusted, and what it says about itself is checked.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::GzDecoder;
use terca_core::wire::recording::{
    BodyPart, FORMAT, Header, LARGEST, RecordedAnswer, RecordedRequest, RecordingLine, VERSION,
    part_name,
};
use thiserror::Error;

use crate::http::request_body::LARGEST as LARGEST_BODY;

/// The most bytes of lines that are read: the last line may go beyond the limit of the recorder.
const MOST: u64 = LARGEST + 128 * 1024 * 1024;
/// The most requests.
const MOST_REQUESTS: usize = 50_000;

/// A recording that cannot be used.
#[derive(Debug, Error)]
#[error("line {line} of it cannot be used: {problem}")]
pub struct RecordingError {
    line: usize,
    problem: String,
}

/// A recording that was read.
#[derive(Debug, Default)]
pub struct Recording {
    pub(crate) header: Header,
    /// The requests in order, with their answers.
    pub(crate) exchanges: Vec<RecordedExchange>,
    /// The reason why the rest of the session is missing, if it is.
    pub(crate) stopped: Option<String>,
    parts: HashMap<String, Vec<u8>>,
}

/// A request of a recording, and its answer.
#[derive(Debug)]
pub(crate) struct RecordedExchange {
    pub request: RecordedRequest,
    pub answer: Option<RecordedAnswer>,
    /// The hash of its normal form, once it was needed.
    pub key: Option<u64>,
    pub is_played: bool,
}

impl Recording {
    /// Reads a recording to its end, or to the place where it was cut off.
    pub fn read(file: File) -> Result<Self, RecordingError> {
        let mut reader = BufReader::new(GzDecoder::new(BufReader::new(file)).take(MOST));
        let mut recording = Recording::default();
        let mut line = 0;
        let mut is_end = false;
        while !is_end {
            line += 1;
            let mut text = Vec::new();
            let problem = match reader.read_until(b'\n', &mut text) {
                // Terca was killed while it wrote.
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    Some(error.to_string())
                }
                read => {
                    is_end = !matches!(read, Ok(1..));
                    // A line without its end was being written.
                    let is_line = text.ends_with(b"\n");
                    is_line.then(|| recording.add(&text)).and_then(Result::err)
                }
            };
            let problem = problem.or_else(|| match is_end {
                true if reader.get_ref().limit() == 0 => Some(too_large("its lines")),
                true if recording.header.version == 0 => Some(NO_HEADER.to_owned()),
                _ => None,
            });
            if let Some(problem) = problem {
                return Err(RecordingError { line, problem });
            }
        }
        Ok(recording)
    }

    /// Returns the addresses of services that the shell named when it was recorded, by variable.
    pub fn addresses(&self) -> &BTreeMap<String, String> {
        &self.header.addresses
    }

    /// Returns the bytes of a body.
    pub(crate) fn body(&self, names: &[String]) -> Vec<u8> {
        let parts = names.iter().filter_map(|name| self.parts.get(name));
        parts.flatten().copied().collect()
    }

    fn add(&mut self, text: &[u8]) -> Result<(), String> {
        let line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let is_first = self.header.version == 0;
        match line {
            RecordingLine::Header(header) => {
                let Header {
                    format, version, ..
                } = &header;
                match (is_first, *version) {
                    (false, _) => return Err("there is a second header".to_owned()),
                    _ if format != FORMAT => {
                        return Err("it is not a recording of Terca".to_owned());
                    }
                    (_, VERSION) => self.header = header,
                    _ => {
                        return Err(format!(
                            "it has version {version} of the format, but this Terca reads version {VERSION}; use the \
                             version of Terca that wrote it"
                        ));
                    }
                }
            }
            _ if is_first => return Err(NO_HEADER.to_owned()),
            RecordingLine::Part(part) => {
                let bytes = bytes_of(&part)?;
                self.parts.insert(part.name, bytes);
            }
            RecordingLine::Request(request) => {
                self.check(&request.body)?;
                if self.exchanges.len() >= MOST_REQUESTS {
                    return Err(too_large("its number of requests"));
                }
                self.exchanges.push(RecordedExchange {
                    request,
                    answer: None,
                    key: None,
                    is_played: false,
                });
            }
            RecordingLine::Answer(answer) => {
                self.check(&answer.body)?;
                // The latest are the likeliest.
                let mut exchanges = self.exchanges.iter_mut().rev();
                match exchanges.find(|one| one.request.number == answer.number) {
                    Some(exchange) => exchange.answer = Some(answer),
                    None => return Err(format!("there is no request {}", answer.number)),
                }
            }
            RecordingLine::Stopped { reason } => self.stopped = Some(reason),
        }
        Ok(())
    }

    /// Checks that a body can be put together, and that it is not larger than any can be.
    fn check(&self, names: &[String]) -> Result<(), String> {
        let mut length = 0;
        for name in names {
            let part = self.parts.get(name);
            length += part
                .ok_or_else(|| format!("there is no part {name}"))?
                .len();
            if length > LARGEST_BODY {
                return Err(too_large("a body"));
            }
        }
        Ok(())
    }
}

const NO_HEADER: &str = "there is no header";

fn too_large(what: &str) -> String {
    format!("it is larger than any that Terca writes ({what})")
}

/// Returns the bytes of a part, if they are those that its name says.
fn bytes_of(part: &BodyPart) -> Result<Vec<u8>, String> {
    let bytes = match (&part.text, &part.hex) {
        (Some(text), None) => Some(text.as_bytes().to_vec()),
        (None, Some(hex)) => bytes_of_hex(hex.as_bytes()),
        _ => None,
    };
    match bytes {
        Some(bytes) if part_name(&bytes) == part.name => Ok(bytes),
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
        let name = part_name(text.as_bytes());
        json!({"kind": "part", "name": name, "text": text}).to_string()
    }

    fn request(number: u64, body: &[String]) -> String {
        json!({"kind": "request", "number": number, "atMs": 0, "method": "POST", "path": "/v1/messages", "headers": {}, "body": body}).to_string()
    }

    #[test]
    fn what_was_cut_off_is_read_up_to_there() {
        let name = part_name(b"yes");
        let text = format!(
            "{HEADER}\n{}\n{}\n{}",
            part("yes"),
            request(1, std::slice::from_ref(&name)),
            request(2, std::slice::from_ref(&name))
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
        let name = part_name(b"yes");
        let other = part_name(b"no");
        for (text, expected) in [
            (String::new(), "there is no header"),
            ("{}\n".to_owned(), "line 1 of it cannot be used"),
            (
                HEADER.replace("terca-", "other-") + "\n",
                "not a recording of Terca",
            ),
            ("not JSON\n".to_owned(), "line 1 of it cannot be used"),
            (
                HEADER.replace(":1,", ":2,") + "\n",
                "version 2 of the format",
            ),
            (format!("{HEADER}\n{HEADER}\n"), "second header"),
            (
                format!("{HEADER}\n{}\n", request(1, std::slice::from_ref(&name))),
                "there is no part",
            ),
            (
                format!("{HEADER}\n{}\n", part("yes").replace(&name, &other)),
                "has another content",
            ),
            (format!("{}\n", request(1, &[])), "there is no header"),
            (
                format!(
                    "{HEADER}\n{}\n",
                    r#"{"kind":"answer","number":7,"status":200,"body":[],"end":"whole"}"#
                ),
                "no request 7",
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
        let name = part_name(long.as_bytes());
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
