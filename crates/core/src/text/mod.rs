//! Text: sources with places, diagnostics, error pages, wording, excerpts, masked secrets.

pub mod diagnostic;
pub mod excerpt;
pub mod explain;
pub(crate) mod globs;
pub mod json;
pub mod json_strings;
pub mod mask;
pub mod prose;
pub mod source;
pub mod template;
