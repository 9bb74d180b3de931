//! Divides bodies into parts by their content: two bodies with the same text in them have the same parts there.

use crate::text::sha256;

/// A part has at least so many bytes, but for the last of a body.
const SHORTEST: usize = 1024;
/// A part has at most about so many bytes.
const LONGEST: usize = 32 * 1024;
/// The number of bytes that decide whether a part ends behind them.
const WINDOW: usize = 8;

/// Returns the name of a part: the hash of its bytes.
pub fn part_name(bytes: &[u8]) -> String {
    sha256(bytes)[..32].to_owned()
}

/// Divides a body into parts. A character is never divided.
pub fn parts_of(body: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(end_of_part(rest));
        parts.push(part);
        rest = after;
    }
    parts
}

/// Returns the end of the first part. It depends on the bytes just before it alone: one place in 4096 is an end.
fn end_of_part(bytes: &[u8]) -> usize {
    let is_end = |end: &usize| {
        let before = bytes[end - WINDOW..*end].iter();
        let number = before.fold(0, |number, byte| number << 8 | u64::from(*byte));
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52 == 0
    };
    let most = bytes.len().min(LONGEST);
    let end = (SHORTEST..most).find(is_end).unwrap_or(most);
    // The first byte of a character, and no other, may begin a part.
    let mut next = (end..bytes.len()).take(4);
    next.find(|at| bytes[*at] & 0xc0 != 0x80)
        .unwrap_or(bytes.len().min(end + 4))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn prose(words: u64, seed: u64) -> String {
        let mut text = String::new();
        for number in 0..words {
            let word = (number ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            text += &format!("wörd{word} ");
        }
        text
    }

    fn names(text: &str) -> Vec<String> {
        let parts = parts_of(text.as_bytes());
        parts.iter().map(|part| part_name(part)).collect()
    }

    #[test]
    fn parts_make_up_the_body_and_are_text() {
        for text in [
            String::new(),
            "short".into(),
            prose(50_000, 1),
            "x".repeat(1 << 20),
        ] {
            let parts = parts_of(text.as_bytes());
            assert_eq!(parts.concat(), text.as_bytes());
            for part in parts {
                assert!(std::str::from_utf8(part).is_ok() && part.len() <= LONGEST + 4);
            }
        }
        let no_text = vec![0x80; 1 << 20];
        assert_eq!(parts_of(&no_text).concat(), no_text);
    }

    #[test]
    fn a_body_with_more_in_the_middle_shares_nearly_all_of_its_parts() {
        let (before, after) = (prose(20_000, 1), prose(20_000, 2));
        let one = names(&format!("{before}{after}"));
        let other = names(&format!("{before}a few words more {after}"));
        let known: BTreeSet<&String> = one.iter().collect();
        let new = other.iter().filter(|name| !known.contains(name)).count();
        assert!(one.len() > 50 && new <= 3, "{new} of {}", other.len());
    }
}
