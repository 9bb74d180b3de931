//! Reads source code by its tokens: what it declares, which tests are inside of it, and where a bug can be put.
//!
//! Tokens and their brackets are enough for that, in four languages. A grammar would know more, but four of them are larger
//! than all that Terca has to spare; and what is read wrongly here does no harm, since every draft is proven.

pub(super) mod declared;
pub(super) mod inline;
pub(super) mod interface;
mod js;
mod list;
pub mod mutants;
mod tokens;

use std::collections::BTreeSet;

use super::choice::Language;
pub use inline::settle;
pub(super) use tokens::{Code, Kind};

/// Returns the names in a text, also those in its comments and strings.
pub(super) fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c| !tokens::is_part(c))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Tells whether source of a language can be read.
pub(super) fn is_read(language: Language) -> bool {
    language != Language::Shell
}
