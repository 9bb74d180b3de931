//! The part that a file has in a project, by its path.

use camino::Utf8Path;

/// The language of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// JavaScript and TypeScript.
    Node,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// A script for `sh`.
    Shell,
}

/// The part that a file has in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A test that can be run.
    Test(Language),
    /// A file beside tests that they need.
    OfTests,
    /// A source file.
    Code,
    /// A copy of somebody else's work.
    Vendored,
    /// Documents, settings, lock files.
    Other,
}

const CODE: &str = "rs go py pyi js mjs cjs jsx ts mts cts tsx vue svelte sh bash c h cc cpp hpp cs java kt kts scala \
                    rb php pl lua swift m ex exs erl hs ml clj dart zig nim jl r sql proto";

pub(super) fn role_of(path: &Utf8Path) -> Role {
    let dirs: Vec<&str> = path
        .parent()
        .into_iter()
        .flat_map(|dir| dir.components())
        .map(|part| part.as_str())
        .collect();
    let is_vendored = |dir: &&str| {
        matches!(
            *dir,
            "vendor" | "node_modules" | "third_party" | "third-party" | "vendored" | ".yarn"
        )
    };
    if dirs.iter().any(is_vendored) {
        return Role::Vendored;
    }
    let is_in_tests = dirs
        .iter()
        .any(|dir| matches!(*dir, "test" | "tests" | "__tests__" | "testdata" | "spec"));
    match (language_of(path), is_in_tests) {
        (Some(language), _) if is_test(path, language, is_in_tests) => Role::Test(language),
        (_, true) => Role::OfTests,
        _ if path.file_name() == Some("conftest.py") => Role::OfTests,
        _ if is_code(path) => Role::Code,
        _ => Role::Other,
    }
}

fn is_code(path: &Utf8Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_lowercase();
    CODE.split_whitespace().any(|code| code == extension)
}

fn language_of(path: &Utf8Path) -> Option<Language> {
    Some(match path.extension()? {
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Language::Node,
        "py" => Language::Python,
        "rs" => Language::Rust,
        "go" => Language::Go,
        "sh" => Language::Shell,
        _ => return None,
    })
}

/// Tells whether a runner of the language takes the file for a test.
fn is_test(path: &Utf8Path, language: Language, is_in_tests: bool) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    // Small projects have one file for all tests.
    let is_the_one = matches!(stem, "test" | "tests");
    let is_named = is_the_one || stem.starts_with("test_") || stem.ends_with("_test");
    match language {
        Language::Go => stem.ends_with("_test"),
        Language::Python => is_named,
        Language::Rust => is_in_tests || is_the_one,
        Language::Shell => is_named || (is_in_tests && !is_helper(stem)),
        Language::Node => {
            let is_marked = [".test", ".spec", "-test"]
                .iter()
                .any(|end| stem.ends_with(end));
            is_marked || is_named || (is_in_tests && !is_helper(stem))
        }
    }
}

/// Tells whether a file beside tests is named as something that they load.
fn is_helper(stem: &str) -> bool {
    let name = stem.to_lowercase();
    [
        "helper", "util", "fixture", "setup", "mock", "common", "lib", "index",
    ]
    .iter()
    .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_paths() {
        use Language::{Go, Node, Python, Rust, Shell};
        for (path, role) in [
            ("src/parse.py", Role::Code),
            ("tests/test_parse.py", Role::Test(Python)),
            ("pkg/parse_test.py", Role::Test(Python)),
            ("tests/conftest.py", Role::OfTests),
            ("conftest.py", Role::OfTests),
            ("tests/data/a.json", Role::OfTests),
            ("parse_test.go", Role::Test(Go)),
            ("testdata/x.go", Role::OfTests),
            ("src/a.test.ts", Role::Test(Node)),
            ("src/a.spec.js", Role::Test(Node)),
            ("src/__tests__/a.tsx", Role::Test(Node)),
            ("test/a.mjs", Role::Test(Node)),
            ("test/helpers.js", Role::OfTests),
            ("crates/a/tests/it/b.rs", Role::Test(Rust)),
            ("crates/a/src/b/tests.rs", Role::Test(Rust)),
            ("crates/a/src/b.rs", Role::Code),
            ("tests/run.sh", Role::Test(Shell)),
            ("vendor/a/b_test.go", Role::Vendored),
            ("node_modules/a/index.js", Role::Vendored),
            ("README.md", Role::Other),
            ("Cargo.lock", Role::Other),
            ("latest.py", Role::Code),
            ("testing.py", Role::Code),
            ("test.py", Role::Test(Python)),
            ("test.js", Role::Test(Node)),
        ] {
            assert_eq!(role_of(Utf8Path::new(path)), role, "{path}");
        }
    }
}
