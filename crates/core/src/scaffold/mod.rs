//! What a new suite and a new eval look like: files that run at once and teach their fields.
//!
//! The texts stand in files of their own beside this one, so that they can be read as their users will read them.
//! Words between `@` are filled in.

mod eval;
mod suite;
mod word;

use camino::{Utf8Path, Utf8PathBuf};

pub use eval::{eval, eval_name_problem};
pub use suite::{NewSuite, suite};

/// Where a suite keeps the schemas that its editor lines point at. Hidden, so that no eval is looked for in it;
/// committed with the suite, so that nobody needs a network to be helped.
pub const SCHEMAS: &str = ".schemas";
pub const SUITE_SCHEMA: &str = "terca.schema.json";
pub const EVAL_SCHEMA: &str = "eval.schema.json";

/// A file to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Relative to the suite's directory.
    pub path: Utf8PathBuf,
    pub content: String,
}

impl NewFile {
    fn new(path: impl Into<Utf8PathBuf>, content: impl Into<String>) -> Self {
        NewFile {
            path: path.into(),
            content: content.into(),
        }
    }
}

/// Which eval to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// One that shows every part: files to start from, hidden tests, weights.
    Example,
    /// The smallest that is complete, to be written over.
    Small,
}

impl Sample {
    /// What the eval is called when nobody says.
    pub fn usual_name(self) -> &'static str {
        match self {
            Sample::Example => "001-slug",
            Sample::Small => "001-hello",
        }
    }
}

/// The line by which editors find the schema of a file.
fn editor_line(file: &Utf8Path, schema: &str) -> String {
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
