//! Finds the strings in a line of JSON without reading it as a whole.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Deeper documents are not looked into.
const DEEPEST: usize = 256;

/// A string in a line of JSON: a value, or the name of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonString {
    /// Its place in the line, without the quotes and with its escapes.
    pub range: Range<usize>,
    /// A hash of the names that lead to it. Strings of two lines that belong together have the same.
    pub path: u64,
    /// It is the name of a value.
    pub is_name: bool,
}

/// A list or an object that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    path: u64,
    is_object: bool,
    /// The next string is the name of a value.
    name_is_next: bool,
    /// The path of the next value.
    value: u64,
}

/// Returns the strings of a line, up to a place where it is no JSON.
pub fn of(line: &[u8]) -> Vec<JsonString> {
    let mut strings = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let byte = line[at];
        at += 1;
        match byte {
            b'"' => {
                let Some(length) = string_length(&line[at..]) else {
                    break;
                };
                let range = at..at + length;
                at += length + 1;
                let (path, is_name) = match open.last_mut() {
                    Some(open) if open.is_object && open.name_is_next => {
                        open.value = hash(open.path, &line[range.clone()]);
                        (open.path, true)
                    }
                    Some(open) => (open.value, false),
                    None => (0, false),
                };
                strings.push(JsonString {
                    range,
                    path,
                    is_name,
                });
            }
            b'{' | b'[' => {
                let path = open.last().map_or(1, |open| open.value);
                if open.len() == DEEPEST {
                    break;
                }
                open.push(Open {
                    path,
                    is_object: byte == b'{',
                    name_is_next: byte == b'{',
                    value: path,
                });
            }
            b'}' | b']' => {
                open.pop();
            }
            b':' | b',' => {
                if let Some(open) = open.last_mut() {
                    open.name_is_next = byte == b',';
                }
            }
            _ => {}
        }
    }
    strings
}

fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

fn hash(path: u64, name: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    (path, name).hash(&mut hash);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_with_their_paths() {
        let line = r#"{"a":{"t":"one"},"b":[{"t":"two \" {"},"x"],"n":1,"a":{"t":"three"}}"#;
        let strings = of(line.as_bytes());
        let values: Vec<(&str, u64)> = strings
            .iter()
            .filter(|string| !string.is_name)
            .map(|string| (&line[string.range.clone()], string.path))
            .collect();
        let texts: Vec<&str> = values.iter().map(|(text, _)| *text).collect();
        assert_eq!(texts, ["one", r#"two \" {"#, "x", "three"]);
        assert_eq!(values[0].1, values[3].1, "the same names lead there");
        assert_ne!(values[0].1, values[1].1);
        assert_ne!(values[1].1, values[2].1);
        assert!(of(br#"{"a":"never ends"#).len() == 1);
        assert!(of(b"}]:,").is_empty());
    }
}
