//! Text: sources with places, diagnostics, error pages, wording, masking of secrets.

pub mod diagnostic;
pub mod explain;
pub mod json;
pub mod mask;
pub mod prose;
pub mod source;
