//! `terca mine` over projects in Rust: the recipe of cargo, proven by drafts.

use camino::Utf8Path;
use terca_testkit::Project;

use crate::common::history::History;
use crate::common::project;

use super::all_are_written;

/// A project in whose home there is no toolchain: that of the caller is used.
fn project_with_rust() -> Project {
    let home = std::env::var("HOME").unwrap_or_default();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    match Utf8Path::new(&rustup).is_dir() {
        true => project().env("RUSTUP_HOME", &rustup),
        false => project(),
    }
}

const MANIFEST: &str = "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"words\"\nversion = \"0.1.0\"\n";

#[test]
#[ignore = "needs bubblewrap"]
fn a_crate_with_a_lock_file_and_without_dependencies() {
    let project = project_with_rust();
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[
            ("Cargo.toml", MANIFEST),
            ("Cargo.lock", LOCK),
            (
                "src/lib.rs",
                "pub fn words(text: &str) -> usize {\n    text.len()\n}\n",
            ),
        ],
    );
    // In `tests`, and in a file that the library has in it.
    let outside = history.commit(
        "Count words and not bytes",
        &[
            (
                "src/lib.rs",
                "pub fn words(text: &str) -> usize {\n    text.split_whitespace().count()\n}\n",
            ),
            (
                "tests/count.rs",
                "#[test]\nfn two() {\n    assert_eq!(words::words(\"ab cd\"), 2);\n}\n",
            ),
        ],
    );
    let inside = history.commit(
        "Give the longest of the words",
        &[
            (
                "src/lib.rs",
                "#[cfg(test)]\nmod tests;\n\npub fn words(text: &str) -> usize {\n    text.split_whitespace().count()\n}\n\n\
                 pub fn longest(text: &str) -> &str {\n    text.split_whitespace().max_by_key(|word| word.len()).unwrap_or(\"\")\n}\n",
            ),
            ("src/tests.rs", "#[test]\nfn of_two() {\n    assert_eq!(super::longest(\"a bc\"), \"bc\");\n}\n"),
        ],
    );
    // A target of several modules, one of which could never pass, and a module that targets share.
    history.commit(
        "Add tests in a directory",
        &[
            ("tests/it/main.rs", "mod never;\n"),
            (
                "tests/it/never.rs",
                "#[test]\nfn never() {\n    panic!();\n}\n",
            ),
        ],
    );
    let of_module = history.commit(
        "Give the first of the words",
        &[
            (
                "src/first.rs",
                "pub fn first(text: &str) -> &str {\n    text.split_whitespace().next().unwrap_or(\"\")\n}\n",
            ),
            (
                "src/lib.rs",
                "#[cfg(test)]\nmod tests;\n\nmod first;\npub use first::first;\n\npub fn longest(text: &str) -> &str {\n    \
                 text.split_whitespace().max_by_key(|word| word.len()).unwrap_or(\"\")\n}\n",
            ),
            ("tests/it/main.rs", "#[path = \"../common/mod.rs\"]\nmod common;\nmod first;\nmod never;\n"),
            ("tests/it/first.rs", "#[test]\nfn of_two() {\n    assert_eq!(words::first(crate::common::TEXT), \"ab\");\n}\n"),
            ("tests/common/mod.rs", "pub const TEXT: &str = \"ab cd\";\n"),
        ],
    );
    all_are_written(&project, &[&outside, &inside, &of_module]);
}

#[test]
#[ignore = "needs bubblewrap"]
fn a_program_without_a_library() {
    let project = project_with_rust();
    let mut history = History::new(&project);
    let main = |number: u8| {
        format!(
            "#[cfg(test)]\nmod tests;\n\nfn number() -> u8 {{\n    {number}\n}}\n\nfn main() {{\n    println!(\"{{}}\", number());\n}}\n"
        )
    };
    history.commit(
        "Start the whole project",
        &[
            ("Cargo.toml", MANIFEST),
            ("Cargo.lock", LOCK),
            ("src/main.rs", &main(1)),
            (
                "src/tests.rs",
                "#[test]\nfn it_is_one() {\n    assert_eq!(super::number(), 1);\n}\n",
            ),
        ],
    );
    let commit = history.commit(
        "Print another number instead",
        &[
            ("src/main.rs", &main(2)),
            (
                "src/tests.rs",
                "#[test]\nfn it_is_two() {\n    assert_eq!(super::number(), 2);\n}\n",
            ),
        ],
    );
    all_are_written(&project, &[&commit]);
}

/// Without a lock file nobody knows which crates are needed, and both crates of the workspace have the same setup.
#[test]
#[ignore = "needs bubblewrap"]
fn two_crates_of_a_workspace_that_has_no_lock_file() {
    let project = project_with_rust();
    let mut history = History::new(&project);
    let crate_of = |name: &str| MANIFEST.replace("words", name);
    history.commit(
        "Start the whole project",
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n",
            ),
            ("one/Cargo.toml", &crate_of("one")),
            ("one/src/lib.rs", "pub fn number() -> u8 {\n    0\n}\n"),
            ("two/Cargo.toml", &crate_of("two")),
            ("two/src/lib.rs", "pub fn number() -> u8 {\n    0\n}\n"),
        ],
    );
    let commit = history.commit(
        "Give each crate its number",
        &[
            ("one/src/lib.rs", "pub fn number() -> u8 {\n    1\n}\n"),
            (
                "one/tests/number.rs",
                "#[test]\nfn is_one() {\n    assert_eq!(one::number(), 1);\n}\n",
            ),
            ("two/src/lib.rs", "pub fn number() -> u8 {\n    2\n}\n"),
            (
                "two/tests/number.rs",
                "#[test]\nfn is_two() {\n    assert_eq!(two::number(), 2);\n}\n",
            ),
        ],
    );
    all_are_written(&project, &[&commit]);
}

/// The tests of a commit are added to the file that an agent leaves, which still has its own.
#[test]
#[ignore = "needs bubblewrap"]
fn tests_inside_of_source_files() {
    let project = project_with_rust();
    let mut history = History::new(&project);
    let file = |name: &str, value: u8| {
        format!(
            "pub fn {name}() -> u8 {{\n    {value}\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    \
             fn it_gives() {{\n        assert_eq!({name}(), {value});\n    }}\n}}\n"
        )
    };
    let start = [
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/lib.rs", &file("two", 1)),
    ];
    history.commit("Start the whole project", &start);
    let other = history.commit(
        "Give what the name says",
        &[("src/lib.rs", &file("two", 2))],
    );
    let named = history.commit(
        "Give something larger",
        &[("src/lib.rs", &file("twenty", 20))],
    );
    all_are_written(&project, &[&other, &named]);
    let eval = format!("repository-evals/give-something-larger-{}", &named[..9]);
    let prompt = project.read(&format!("{eval}/prompt.md"));
    assert!(
        prompt.contains(
            "## Interface\n\nTests use these names:\n\n- `pub fn twenty() -> u8` in `src/lib.rs`\n"
        ),
        "{prompt}"
    );
    let tests = project.read(&format!("{eval}/_tests/.mined/src/lib.rs"));
    assert!(tests.contains("mod terca_mined_tests {"), "{tests}");
}
