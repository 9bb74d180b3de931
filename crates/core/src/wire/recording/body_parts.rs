//! Divides bodies into parts by their content: two bodies with the same text in them have the same parts there.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A part has at least so many bytes, but for the last of a body.
const SHORTEST: usize = 1024;
/// A part has at most about so many bytes.
const LONGEST: usize = 32 * 1024;
/// One place in so many ends a part.
const ONE_IN: u64 = 4096;

/// The name of a part: the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartName([u8; 16]);

impl PartName {
    /// Returns the name of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut name = [0; 16];
        name.copy_from_slice(&Sha256::digest(bytes)[..16]);
        PartName(name)
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl From<PartName> for String {
    fn from(name: PartName) -> Self {
        name.to_string()
    }
}

impl TryFrom<String> for PartName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_name = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u128::from_str_radix(&text, 16).ok().filter(|_| is_name) {
            Some(number) => Ok(PartName(number.to_be_bytes())),
            None => Err("expected 32 hexadecimal digits"),
        }
    }
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

/// Returns the end of the first part. It depends on the bytes just before it alone.
fn end_of_part(bytes: &[u8]) -> usize {
    let mut rolling: u64 = 0;
    let mut ended = false;
    for (index, byte) in bytes.iter().enumerate() {
        // The first byte of a character, and no other, may begin a part.
        let begins_character = byte & 0xc0 != 0x80;
        if ended && begins_character || index >= 2 * LONGEST {
            return index;
        }
        // Each byte is out of the hash after 64 more.
        rolling = (rolling << 1).wrapping_add(scattered(*byte));
        let is_place = (rolling >> 40).is_multiple_of(ONE_IN);
        ended |= index + 1 >= SHORTEST && is_place || index + 1 >= LONGEST;
    }
    bytes.len()
}

/// Returns a number that looks random, the same for the same byte (the steps of SplitMix64).
fn scattered(byte: u8) -> u64 {
    let mut number = (u64::from(byte) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
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

    fn names(text: &str) -> Vec<PartName> {
        let parts = parts_of(text.as_bytes());
        parts.iter().map(|part| PartName::of(part)).collect()
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
                assert!(std::str::from_utf8(part).is_ok() && part.len() <= 2 * LONGEST);
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
        let known: BTreeSet<&PartName> = one.iter().collect();
        let new = other.iter().filter(|name| !known.contains(name)).count();
        assert!(one.len() > 50 && new <= 3, "{new} of {}", other.len());
    }

    #[test]
    fn names_are_read_back() {
        let name = PartName::of(b"x");
        let text = String::from(name);
        assert_eq!(PartName::try_from(text.clone()), Ok(name));
        for wrong in ["", "x", &text[1..], &format!("+{}", &text[1..])] {
            assert!(PartName::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
