//! The files of a new suite and a new eval. They run at once and teach their fields.
//!
//! The texts are the files of `templates`, so that developers read them as users will.

mod for_library;
pub mod library;
mod suite;
mod templates;

use camino::{Utf8Path, Utf8PathBuf};

pub(crate) use suite::schemas;
pub use suite::{NewSuite, eval_name_problem};
pub use templates::About;

/// The directory of the schemas that a suite's editor lines point at. It is hidden, so that Terca looks for no
/// eval in it, and committed with the suite, so that editors need no network.
pub const SCHEMAS: &str = ".schemas";
/// The schema of `terca.yaml` in that directory.
pub const SUITE_SCHEMA: &str = "terca.schema.json";
/// The schema of `eval.terca.yaml` in that directory.
pub const EVAL_SCHEMA: &str = "eval.schema.json";

/// A file to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The path relative to the suite's directory.
    pub path: Utf8PathBuf,
    /// The whole content.
    pub content: String,
}

impl NewFile {
    pub(crate) fn new(path: impl Into<Utf8PathBuf>, content: impl Into<String>) -> Self {
        NewFile {
            path: path.into(),
            content: content.into(),
        }
    }
}

/// Returns the line by which editors find the schema of a file.
pub(crate) fn editor_line(file: &Utf8Path, schema: &str) -> String {
    let depth = file.components().count().saturating_sub(1);
    format!(
        "# yaml-language-server: $schema={}{SCHEMAS}/{schema}\n",
        "../".repeat(depth)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_editor_line_leads_to_the_suite() {
        let line = |file: &str| editor_line(Utf8Path::new(file), "x.json");
        assert_eq!(
            line("terca.yaml"),
            "# yaml-language-server: $schema=.schemas/x.json\n"
        );
        assert_eq!(
            line("a/b/eval.terca.yaml"),
            "# yaml-language-server: $schema=../../.schemas/x.json\n"
        );
    }
}
