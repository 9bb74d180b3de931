//! Text: sources with places, diagnostics, error pages, wording, excerpts, masked secrets, words for a shell.

pub mod alike;
pub mod diagnostic;
pub mod excerpt;
pub mod explain;
pub(crate) mod globs;
pub mod json;
pub mod json_strings;
pub(crate) mod keys;
pub mod mask;
pub mod prose;
pub mod shell;
pub mod source;
pub mod stripped;
pub mod template;
pub mod tokens;

use sha2::{Digest, Sha256};

pub use diagnostic::{Diagnostic, Diagnostics};
pub use explain::Code;
pub use source::{Located, Place};

/// Returns the SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Writes bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
