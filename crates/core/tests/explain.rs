//! The texts of `terca explain` tell the truth: their examples are tried, and the page of the documentation is theirs.

#![allow(
    clippy::expect_used,
    reason = "a test that cannot go on says so and ends"
)]

#[cfg(test)]
mod support;

use support::Project;
use terca_core::plan::expand::Overrides;
use terca_core::plan::selection::Selection;
use terca_core::text::explain;
use terca_core::text::explain::Code;

/// What stands around an example, unless it says otherwise.
const SUITE: (&str, &str) = (
    "terca.yaml",
    "environments: [{name: default, agent: codex}]\n",
);
const EVAL: (&str, &str) = (
    "fib/eval.terca.yaml",
    "prompt: Write fib.js.\ntests: [fileExists: fib.js]\n",
);

/// The files of the YAML blocks in a part of a text, by the comment in their first line.
fn files(part: &str) -> Vec<(&str, &str)> {
    let blocks = part
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    blocks
        .map(|block| {
            let first = block.lines().next().unwrap_or_default();
            let path = first
                .strip_prefix("# ")
                .expect("a block begins with the name of its file");
            (path, block)
        })
        .collect()
}

/// What is called wrong in a text, and what is called right.
fn examples(code: Code) -> [Vec<(&'static str, &'static str)>; 2] {
    let (wrong, right) = code
        .text()
        .split_once("\nRight:\n")
        .expect("an example that is right");
    [files(wrong), files(right)]
}

/// Whether a code is one of the topic whose heading begins so.
fn is_about(code: Code, heading: &str) -> bool {
    code.topic().starts_with(heading)
}

/// Everything that is said about an example.
fn codes_of(example: &[(&str, &str)], code: Code) -> (Vec<Code>, String) {
    let is_bare = code == Code::NoEvals;
    let is_about_suites = is_about(code, "Weak");
    let mut files = example.to_vec();
    files.push(("AGENTS.md", "be kind"));
    // A library beside the suite.
    files.extend([("/package.json", "{}"), ("/src/index.js", "")]);
    files.push(("/srv/data/orders.csv", "1"));
    let has = |name: &str| {
        example
            .iter()
            .any(|(path, _)| path.rsplit('/').next() == Some(name))
    };
    if !has("terca.yaml") {
        files.push(SUITE);
    }
    if !has("eval.terca.yaml") && !is_bare {
        files.push(EVAL);
    }
    // The default eval would be a second one of the name.
    let mentions_fib = example
        .iter()
        .any(|(path, text)| *path == "terca.yaml" && text.contains("name: fib"));
    files.retain(|file| *file != EVAL || !mentions_fib);
    let long = "Be kind.\n".repeat(10_000);
    files.extend([("EMPTY.md", " \n"), ("LONG.md", long.as_str())]);
    let mut project = Project::new(&files);
    if is_about_suites {
        project.lint();
    } else {
        let _ = project.plan(&Selection::default(), &Overrides::default());
    }
    (project.problems.codes(), project.report())
}

#[test]
fn examples_are_as_wrong_and_as_right_as_they_are_called() {
    let mut tried = 0;
    for code in Code::ALL {
        let [wrong, right] = examples(*code);
        if !wrong.is_empty() {
            let (codes, report) = codes_of(&wrong, *code);
            // What goes wrong in a trial cannot be seen in the text.
            let expected: &[Code] = if is_about(*code, "Trials") {
                &[]
            } else {
                &[*code]
            };
            assert_eq!(codes, expected, "{}, wrong:\n{report}", code.as_str());
            tried += 1;
        }
        if !right.is_empty() {
            let (codes, report) = codes_of(&right, *code);
            assert_eq!(codes, [], "{}, right:\n{report}", code.as_str());
        }
        assert_eq!(wrong.is_empty(), right.is_empty(), "{}", code.as_str());
    }
    let about_texts = Code::ALL
        .iter()
        .filter(|code| is_about(**code, "Configuration") || is_about(**code, "Agents"));
    // Whether a file can be read is not a matter of its text.
    assert!(about_texts.count() - 1 <= tried);
}

/// Made anew with `UPDATE_DOCS=1`.
#[test]
fn the_page_of_the_documentation_is_up_to_date() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/errors.md"
    );
    let page = explain::markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/errors.md is not up to date: UPDATE_DOCS=1 cargo test -p terca-core --test explain"
    );
}

#[test]
fn how_a_code_and_the_list_look_in_a_terminal() {
    insta::assert_snapshot!("explain_one", explain::brief(Code::UnknownKey));
    insta::assert_snapshot!("explain_all", explain::overview());
}
