//! An estimate of the tokens of a text. No tokenizer is the right one for all models.

/// English text and JSON have about this many bytes for each token.
const BYTES_OF_A_TOKEN: u64 = 4;

/// Estimates the tokens of so many bytes of text.
pub fn estimated(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_OF_A_TOKEN)
}
