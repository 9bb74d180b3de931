//! The templates of new suites and evals: the files of `templates/`, at the places where they are written to.
//!
//! Words between `@` are filled in. A name may end with `.template`, where a tool would take the template for its own file.

use camino::{Utf8Path, Utf8PathBuf};

use super::library::Language;
use super::{EVAL_SCHEMA, NewFile, editor_line};

/// Paths below the directory of a template, and the texts of the files.
type Files = &'static [(&'static str, &'static str)];

/// An eval as it is made.
#[derive(Debug)]
pub(super) struct EvalTemplate {
    /// The default name of its directory.
    pub(super) name: &'static str,
    files: Files,
}

macro_rules! files {
    ($dir:literal: $($file:literal),+) => {
        &[$(($file, include_str!(concat!("templates/", $dir, "/", $file)))),+]
    };
}

macro_rules! eval {
    ($dir:literal / $name:literal: $($file:literal),+) => {
        EvalTemplate {
            name: $name,
            files: &[$(($file, include_str!(concat!("templates/", $dir, "/", $name, "/", $file)))),+],
        }
    };
}

/// The eval that shows every part.
pub(super) const EXAMPLE: EvalTemplate = eval!("example" / "001-slug":
    "eval.terca.yaml", "_base/examples.txt", "_tests/hidden/check.sh", "_solution/slug.sh");

/// The smallest complete eval.
pub(super) const SMALL: EvalTemplate = eval!("small" / "001-hello":
    "eval.terca.yaml", "_tests/hidden/check.sh", "_solution/hello.sh");

const NODE: [EvalTemplate; 2] = [
    eval!("node" / "001-exports":
        "eval.terca.yaml", "_tests/hidden/exports.test.mjs", "_solution/exports.mjs"),
    eval!("node" / "002-kinds":
        "eval.terca.yaml", "_tests/hidden/kinds.test.mjs", "_solution/kinds.mjs"),
];

const PYTHON: [EvalTemplate; 2] = [
    eval!("python" / "001-exports":
        "eval.terca.yaml", "_tests/hidden/test_exports.py", "_solution/exports.py"),
    eval!("python" / "002-kinds":
        "eval.terca.yaml", "_tests/hidden/test_kinds.py", "_solution/kinds.py"),
];

const RUST: [EvalTemplate; 2] = [
    eval!("rust" / "001-version":
        "eval.terca.yaml", "_tests/hidden/check.sh", "_solution/src/main.rs.template"),
    eval!("rust" / "002-reexport":
        "eval.terca.yaml", "_tests/tests/hidden.rs.template", "_solution/src/lib.rs.template"),
];

const GO: [EvalTemplate; 2] = [
    eval!("go" / "001-import":
        "eval.terca.yaml", "_tests/hidden/check.sh", "_solution/main.go.template"),
    eval!("go" / "002-documentation":
        "eval.terca.yaml", "_tests/hidden/check.sh", "_solution.sh"),
];

/// Returns the two evals of a suite about a library.
pub(super) fn of_language(language: Language) -> &'static [EvalTemplate; 2] {
    match language {
        Language::Node => &NODE,
        Language::Python => &PYTHON,
        Language::Rust => &RUST,
        Language::Go => &GO,
    }
}

/// Returns the files that every workspace of a suite about a library starts with, beside the library.
pub(super) fn base(language: Language, fill: &dyn Fn(&str) -> String) -> Vec<NewFile> {
    let files: Files = match language {
        Language::Node => files!("node": "_base/package.json"),
        Language::Python => files!("python": "_base/.gitignore.template"),
        Language::Rust => {
            files!("rust": "_base/Cargo.toml.template", "_base/.gitignore.template")
        }
        Language::Go => files!("go": "_base/go.mod.template"),
    };
    written(files, Utf8Path::new(""), fill)
}

impl EvalTemplate {
    /// Returns the files of the eval in a directory. Without schemas in the suite there is no line for editors.
    pub(super) fn written(
        &self,
        dir: &Utf8Path,
        has_schemas: bool,
        fill: &dyn Fn(&str) -> String,
    ) -> Vec<NewFile> {
        let mut files = written(self.files, dir, fill);
        if let Some(first) = files.first_mut().filter(|_| has_schemas) {
            first.content = editor_line(&first.path, EVAL_SCHEMA) + &first.content;
        }
        files
    }
}

fn written(files: Files, dir: &Utf8Path, fill: &dyn Fn(&str) -> String) -> Vec<NewFile> {
    let path = |name: &str| -> Utf8PathBuf { dir.join(name.trim_end_matches(".template")) };
    let files = files.iter();
    files
        .map(|(name, text)| NewFile::new(path(name), fill(text)))
        .collect()
}
