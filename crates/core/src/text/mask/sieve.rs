//! Tells quickly that a text has no secret in it, as nearly all texts.

use std::collections::HashSet;

use aho_corasick::AhoCorasick;

use super::STRIDE;
use super::forms::{Form, FormKind};
use super::visible::has_control;

/// The length of the pieces of keys that are looked for: a number of this many bytes is compared at once.
const PIECE: usize = 8;
/// The bits of the first look-up: few enough to stay in the nearest cache.
const BITS: usize = 1 << 16;

/// Finds out if a text may have a secret. It looks at one place in [`STRIDE`]: every fragment of a key that is long
/// enough has a whole piece that begins at one of them.
#[derive(Debug)]
pub(super) struct Sieve {
    bits: Vec<u64>,
    pieces: HashSet<u64>,
    whole: Option<AhoCorasick>,
    /// The pairs of bytes that are next to each other in a secret.
    pairs: Vec<u64>,
}

impl Sieve {
    pub(super) fn new(forms: &[Form]) -> Option<Self> {
        let mut sieve = Sieve {
            bits: vec![0; BITS / 64],
            pieces: HashSet::new(),
            whole: None,
            pairs: vec![0; BITS / 64],
        };
        let mut whole: Vec<&[u8]> = Vec::new();
        for form in forms {
            for pair in form.text.windows(2) {
                set(&mut sieve.pairs, bit_of(pair[0], pair[1]));
            }
            if form.kind == FormKind::Whole {
                whole.push(&form.text);
                continue;
            }
            for piece in form.text.windows(PIECE).filter_map(number) {
                set(&mut sieve.bits, place(piece));
                sieve.pieces.insert(piece);
            }
        }
        if !whole.is_empty() {
            sieve.whole = Some(AhoCorasick::new(whole).ok()?);
        }
        Some(sieve)
    }

    /// Returns whether a text may have a secret.
    pub(super) fn lets_through(&self, text: &[u8]) -> bool {
        if self
            .whole
            .as_ref()
            .is_some_and(|whole| whole.is_match(text))
        {
            return true;
        }
        if self.pieces.is_empty() {
            return false;
        }
        let mut at = 0;
        while let Some(piece) = text.get(at..at + PIECE).and_then(number) {
            if has(&self.bits, place(piece)) && self.pieces.contains(&piece) {
                return true;
            }
            at += STRIDE;
        }
        false
    }

    /// Returns whether a secret may begin in one text and go on in the next.
    pub(super) fn lets_cross(&self, before: &[u8], after: &[u8]) -> bool {
        let (Some(last), Some(first)) = (before.last(), after.first()) else {
            return false;
        };
        has(&self.pairs, bit_of(*last, *first)) || has_control(before) || has_control(after)
    }
}

fn bit_of(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

fn set(bits: &mut [u64], bit: usize) {
    bits[bit / 64] |= 1 << (bit % 64);
}

fn has(bits: &[u64], bit: usize) -> bool {
    bits[bit / 64] >> (bit % 64) & 1 == 1
}

fn number(piece: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(piece.try_into().ok()?))
}

/// Returns the bit of a piece: the upper bits of a product depend on all its bytes.
fn place(piece: u64) -> usize {
    (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

#[cfg(test)]
mod tests {
    use super::super::SHORTEST_FRAGMENT;
    use super::super::forms::forms_of;
    use super::*;

    #[test]
    fn every_fragment_at_every_place_is_let_through() {
        let key = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";
        let sieve = Sieve::new(&forms_of(key)).unwrap();
        for start in 0..=key.len() - SHORTEST_FRAGMENT {
            let fragment = &key[start..start + SHORTEST_FRAGMENT];
            for before in 0..11 {
                let text = format!("{}{fragment}", ".".repeat(before));
                assert!(sieve.lets_through(text.as_bytes()), "{text}");
            }
        }
        assert!(!sieve.lets_through(&b"nothing of the kind, sk-ant- and so on".repeat(100)));
        let whole = Sieve::new(&forms_of("password")).unwrap();
        assert!(whole.lets_through(b"my password is") && !whole.lets_through(b"my passwor is"));
    }
}
