//! The templates of new suites and evals: the files of `templates/`, at the places where they are written to.
//!
//! Words between `@` are filled in. A name may end with `.template`, where a tool would take the template for its own file.

use camino::Utf8Path;

use super::NewFile;
use super::library::{Language, Library};

/// The subject of a new suite.
#[derive(Debug, Clone)]
pub enum About {
    /// A library, which its evals use.
    Library(Box<Library>),
    /// An example that shows what there is.
    Example,
    /// As little as works.
    Small,
}

impl About {
    /// Returns the name of the first eval.
    pub fn usual_eval(&self) -> &'static str {
        evals(of(self)).next().unwrap_or_default()
    }
}

pub(super) type Files = &'static [(&'static str, &'static str)];

/// The files of one directory.
macro_rules! files {
    ($dir:literal: $($file:literal),+) => {
        &[$(($file, include_str!(concat!("templates/", $dir, "/", $file)))),+]
    };
}

/// Returns the files of the workspaces and of the evals.
pub(super) fn of(about: &About) -> Files {
    let language = match about {
        About::Example => {
            return files!("example": "_base/README.md", "001-slug/eval.terca.yaml", "001-slug/_base/examples.txt",
                "001-slug/_tests/hidden/check.sh", "001-slug/_solution/slug.sh");
        }
        About::Small => {
            return files!("small": "001-hello/eval.terca.yaml", "001-hello/_tests/hidden/check.sh",
                "001-hello/_solution/hello.sh");
        }
        About::Library(library) => library.language,
    };
    match language {
        Language::Node => files!("node": "_base/package.json",
            "001-exports/eval.terca.yaml", "001-exports/_tests/hidden/exports.test.mjs", "001-exports/_solution/exports.mjs",
            "002-kinds/eval.terca.yaml", "002-kinds/_tests/hidden/kinds.test.mjs", "002-kinds/_solution/kinds.mjs"),
        Language::Python => files!("python": "_base/.gitignore.template",
            "001-exports/eval.terca.yaml", "001-exports/_tests/hidden/test_exports.py", "001-exports/_solution/exports.py",
            "002-kinds/eval.terca.yaml", "002-kinds/_tests/hidden/test_kinds.py", "002-kinds/_solution/kinds.py"),
        Language::Rust => files!("rust": "_base/Cargo.toml.template", "_base/.gitignore.template",
            "001-version/eval.terca.yaml", "001-version/_tests/hidden/check.sh", "001-version/_solution/src/main.rs.template",
            "002-reexport/eval.terca.yaml", "002-reexport/_tests/tests/hidden.rs.template",
            "002-reexport/_solution/src/lib.rs.template"),
        Language::Go => files!("go": "_base/go.mod.template",
            "001-import/eval.terca.yaml", "001-import/_tests/hidden/check.sh", "001-import/_solution/main.go.template",
            "002-documentation/eval.terca.yaml", "002-documentation/_tests/hidden/check.sh",
            "002-documentation/_solution.sh"),
    }
}

/// Returns the files of the eval about a rule.
pub(super) fn rule(language: Language) -> Files {
    match language {
        Language::Node => {
            files!("node": "rule/eval.terca.yaml", "rule/_tests/hidden/check.sh", "rule/_solution/example.mjs")
        }
        Language::Python => {
            files!("python": "rule/eval.terca.yaml", "rule/_tests/hidden/check.sh", "rule/_solution/example.py")
        }
        Language::Rust => {
            files!("rust": "rule/eval.terca.yaml", "rule/_tests/hidden/check.sh", "rule/_solution/src/main.rs.template")
        }
        Language::Go => {
            files!("go": "rule/eval.terca.yaml", "rule/_tests/hidden/check.sh", "rule/_solution/main.go.template")
        }
    }
}

/// Returns the usual names of the evals.
pub(super) fn evals(files: Files) -> impl Iterator<Item = &'static str> {
    let names = files.iter().map(|(path, _)| path);
    names.filter_map(|path| path.strip_suffix("/eval.terca.yaml"))
}

/// Returns the files below a directory of the templates, as they are written below another directory.
pub(super) fn written(
    files: Files,
    from: &str,
    to: &str,
    fill: impl Fn(&str) -> String,
) -> Vec<NewFile> {
    let file = |(path, text): &(&str, &str)| {
        let path = Utf8Path::new(path.trim_end_matches(".template"));
        let path = Utf8Path::new(to).join(path.strip_prefix(from).ok()?);
        Some(NewFile::new(path, fill(text)))
    };
    files.iter().filter_map(file).collect()
}
