//! The part of a text that is still there when its control characters are taken out.
//!
//! Reports leave out colours and other control sequences. A key that was printed with a colour in the middle would be
//! put together again there, where nobody knows the keys any more.

/// A text without control characters and sequences, and the place of each byte in the text it was taken from.
pub(super) struct Visible {
    pub(super) bytes: Vec<u8>,
    pub(super) places: Vec<usize>,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// The beginning of a control character in JSON.
const IN_JSON: &[u8] = b"\\u00";

impl Visible {
    /// Returns the visible part of a text. None means that it is the whole text.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if !has_control(bytes) {
            return None;
        }
        let mut visible = Visible {
            bytes: Vec::with_capacity(bytes.len()),
            places: Vec::with_capacity(bytes.len()),
        };
        let mut at = 0;
        while at < bytes.len() {
            match control(&bytes[at..]) {
                Some((ESCAPE, length)) => at += length + sequence(&bytes[at + length..]),
                Some((_, length)) => at += length,
                None => {
                    visible.bytes.push(bytes[at]);
                    visible.places.push(at);
                    at += 1;
                }
            }
        }
        (visible.bytes.len() < bytes.len()).then_some(visible)
    }
}

/// Returns whether a text has a control character, as it is or in the writing of JSON.
pub(super) fn has_control(bytes: &[u8]) -> bool {
    // Without a way out, so that many bytes are compared at once.
    let is_raw = bytes
        .iter()
        .fold(false, |found, byte| found | is_control(*byte));
    is_raw || memchr::memmem::find(bytes, IN_JSON).is_some()
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Returns the control character that a text begins with, as it is or in the writing of JSON, and its length there.
fn control(text: &[u8]) -> Option<(u8, usize)> {
    let first = *text.first()?;
    if is_control(first) {
        return Some((first, 1));
    }
    let digits = text.strip_prefix(IN_JSON)?.get(..2)?;
    let code = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    is_control(code).then_some((code, IN_JSON.len() + 2))
}

/// Returns the length of the control sequence after an escape character. It is 0 for one that has no end.
fn sequence(text: &[u8]) -> usize {
    let Some((first, rest)) = text.split_first() else {
        return 0;
    };
    match first {
        b'[' => ended(rest, b' '..=b'?'),
        b' '..=b'/' => ended(rest, b' '..=b'/'),
        b']' | b'P' | b'X' | b'^' | b'_' => title(rest),
        b'0'..=b'~' => 1,
        _ => 0,
    }
}

/// Returns the length of a sequence whose last character comes after those of a range, with its first character.
fn ended(rest: &[u8], range: std::ops::RangeInclusive<u8>) -> usize {
    let length = rest.iter().take_while(|byte| range.contains(byte)).count();
    match rest.get(length) {
        Some(b'0'..=b'~') => length + 2,
        _ => 0,
    }
}

/// Returns the length of a sequence with a text in it, such as the title of a window. It ends in its line.
fn title(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != b'\n' {
        match control(&rest[at..]) {
            Some((BELL, length)) => return 1 + at + length,
            Some((ESCAPE, length)) => {
                let end = rest[at + length..]
                    .iter()
                    .take_while(|byte| **byte == b'\\');
                return 1 + at + length + end.count();
            }
            _ => at += 1,
        }
    }
    0
}
