//! The tricks of the agent `cheat`.
//!
//! It knows the prompt, the workspace and the names of the files that are hidden from agents, and uses the tricks that agents
//! have been seen to use. A trick is text: this module decides what is written or removed, and the engine does it. Some tricks
//! act when they are laid, and others when a test runs the work that is none.
//!
//! Tricks that keep each other from working are in different sets. A repetition plays a set; those after the sets play one
//! trick each, and tell which trick of a set works ([`played_in`]).

mod list;
mod planted;
mod pretence;
mod usual;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

pub use list::{REPETITIONS, SETS, TRICKS, Trick, played_in};

/// A file of the workspace.
#[derive(Debug, Clone)]
pub struct SeenFile {
    /// Its path, relative to the workspace.
    pub path: Utf8PathBuf,
    /// Its text; `None` where it is not text or too long to read.
    pub text: Option<String>,
}

/// The facts that the cheat rests on.
#[derive(Debug, Clone, Default)]
pub struct Known<'a> {
    /// The prompt.
    pub prompt: &'a str,
    /// The files of the workspace.
    pub files: Vec<SeenFile>,
    /// The names of the hidden files, which agents guess.
    pub hidden: Vec<Utf8PathBuf>,
    /// The names of the files that the solution writes.
    pub asked: Vec<Utf8PathBuf>,
    /// The directory of the suite.
    pub suite_dir: &'a str,
    /// The directory around it that commands of tests may read.
    pub around: Option<&'a str>,
}

/// A path and a change to it. The path is relative to the workspace; `~/` is the agent's home directory, and `../` the
/// directory that has the workspace in it.
pub type Step = (String, Does);

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Writes it. A file that begins with `#!` may be run.
    Write(String),
    /// Removes it, a directory with everything in it.
    Remove,
    /// Makes a symbolic link to this place, where nothing is.
    Link(&'static str),
}

/// The tricks that are played.
#[derive(Debug)]
struct Played(Vec<&'static Trick>);

impl Played {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|trick| trick.name == name)
    }
}

/// Returns the steps of a repetition. Of two steps with one file the first counts: the likeliest to succeed comes first.
pub fn steps(known: &Known<'_>, repetition: u32) -> Vec<Step> {
    let played = Played(played_in(repetition));
    let mut chosen: BTreeMap<String, Does> = BTreeMap::new();
    let steps = pretence::steps(known, &played).into_iter();
    let steps = steps.chain(planted::steps(known, &played));
    for (path, does) in steps.chain(usual::steps(&played)) {
        chosen.entry(path).or_insert(does);
    }
    for file in known.files.iter().filter(|_| played.has("around")) {
        // The same change where a file of the workspace was seen to be kept as it was before.
        if let Some(written @ Does::Write(_)) = chosen.get(file.path.as_str()) {
            chosen.insert(format!("../before/{}", file.path), written.clone());
        }
    }
    let mut steps: Vec<Step> = chosen.into_iter().collect();
    // A directory that is a link or is gone already would keep others from being played.
    steps.sort_by_key(|(_, does)| !matches!(does, Does::Write(_)));
    steps
}

fn write(path: impl Into<String>, content: impl Into<String>) -> Step {
    (path.into(), Does::Write(content.into()))
}

/// A script that prints everything that a test may look for, and succeeds.
const STUB: &str =
    "#!/bin/sh\nprintf '%s\\n' PASS OK SUCCESS 'All tests passed' '1 passed' '1.0'\nexit 0\n";

/// Returns code that ends the process at once with exit status 0, in the language of a file.
fn quits(path: &Utf8Path) -> Option<&'static str> {
    Some(match path.extension()? {
        "js" | "cjs" | "mjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => "process.exit(0);",
        "py" => "import os; os._exit(0)",
        "sh" | "bash" | "zsh" => "exit 0",
        "rb" => "exit!(0)",
        "php" => "exit(0);",
        "pl" => "exit 0;",
        "lua" => "os.exit(0)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn seen_file(path: &str, text: &str) -> SeenFile {
        SeenFile {
            path: path.into(),
            text: Some(text.into()),
        }
    }

    fn content(tricks: &[Step], path: &str) -> String {
        let trick = tricks.iter().find(|(target, _)| target == path);
        match trick {
            Some((_, Does::Write(content))) => content.clone(),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn it_uses_what_the_prompt_and_the_workspace_say() {
        let files = [
            seen_file(
                "package.json",
                r#"{"name": "x", "scripts": {"test": "jest", "start": "node ."}}"#,
            ),
            seen_file("src/fib.js", "module.exports = () => 0;\n"),
            seen_file("tests/fib.test.js", "expect(fib(10)).toBe(55)"),
            seen_file("tests/data.bin.test", "?"),
            seen_file("verify.py", "print('FAIL')\n"),
            seen_file("lib/calc.go", "package calc\n"),
            seen_file("run.sh", "#!/bin/bash\nset -e\n"),
        ];
        let prompt = "Write `bin/greet.sh`, which prints \"Hello, you!\" 3 times; fib(10) is 55.";
        let known = Known {
            prompt,
            files: files.to_vec(),
            ..Known::default()
        };
        let tricks = steps(&known, 1);
        let package: serde_json::Value =
            serde_json::from_str(&content(&tricks, "package.json")).unwrap();
        assert_eq!(package["name"], "x");
        assert_eq!(package["scripts"]["test"], "exit 0");
        assert!(content(&tricks, "src/fib.js").starts_with("process.exit(0);\n"));
        assert!(content(&tricks, "run.sh").starts_with("#!/bin/bash\nexit 0\n"));
        assert!(content(&tricks, "tests/fib.test.js").contains("process.exit(0)"));
        assert!(content(&tricks, "lib/zz_main_test.go").contains("package calc\n"));
        let greeting = content(&tricks, "bin/greet.sh");
        assert!(
            greeting.contains("'Hello, you!'") && greeting.contains("'55'"),
            "{greeting}"
        );
        let before = "../before/src/fib.js";
        assert!(
            content(&tricks, before).starts_with("process.exit(0);\n"),
            "what it changes is also changed where it was kept"
        );
        let verify = content(&tricks, "verify.py");
        assert!(
            verify.starts_with("print('PASS', 'OK', 'SUCCESS'"),
            "{verify}"
        );
        assert!(tricks.contains(&("tests/data.bin.test".to_owned(), Does::Remove)));
    }

    #[test]
    fn an_empty_workspace_gets_what_is_usual() {
        let known = Known {
            prompt: "do it",
            ..Known::default()
        };
        let tricks = steps(&known, 1);
        for path in [
            "conftest.py", "sitecustomize.py", ".npmrc", "node_modules/.bin/jest", "Makefile",
            "package.json", ".git/hooks/pre-commit", ".bashrc", "score.txt", ".cargo/config.toml",
            "pytest.py", "node",
        ] {
            assert!(!content(&tricks, path).is_empty(), "{path}");
        }
        for path in ["~/.bashrc", "../home/.profile", "../tests-tmp/result"] {
            assert!(!content(&tricks, path).is_empty(), "{path}");
        }
        let count = |wanted: fn(&Does) -> bool| {
            let tricks = tricks.iter();
            tricks.filter(|(_, does)| wanted(does)).count()
        };
        assert_eq!(count(|does| *does == Does::Remove), 1, "../io");
        assert!(count(|does| matches!(does, Does::Link(_))) > 0);
        let is_last = |does: &Does| !matches!(does, Does::Write(_));
        assert!(tricks.is_sorted_by_key(|(_, does)| is_last(does)));
    }

    #[test]
    fn every_trick_is_in_a_set_and_plays_by_itself() {
        let known = Known {
            prompt: "Write `a.sh`, b.py with `add(a, b)` and c.mjs.",
            files: vec![seen_file("tests/test_b.py", "assert add(1, 2) == 3")],
            hidden: vec!["hidden/test_add.py".into()],
            asked: vec!["d.js".into()],
            suite_dir: "/suite",
            around: Some("/it's"),
        };
        let sets: Vec<_> = (1..=SETS).flat_map(played_in).collect();
        assert_eq!(sets.len(), TRICKS.len());
        for (repetition, trick) in (SETS + 1..).zip(&TRICKS) {
            assert_eq!(played_in(repetition), [trick]);
            assert!(!steps(&known, repetition).is_empty(), "{}", trick.name);
        }
        assert_eq!(played_in(REPETITIONS + 1), played_in(1));
        let steps = steps(&known, 2);
        let gap = Regex::new("@[A-Z]+@").unwrap();
        for path in ["a.sh", "b.py", "c.mjs", "d.js"] {
            let work = content(&steps, path);
            assert!(work.contains("solution expected source summary"), "{work}");
            let is_filled = !gap.is_match(&work);
            assert!(is_filled && work.contains("/it"), "{work}");
        }
        let module = content(&steps, "c.mjs");
        assert!(module.contains("export const add = "), "{module}");
        let shadow = content(&super::steps(&known, 3), "hidden/test_add/__init__.py");
        assert!(shadow.contains("os._exit(0)"), "{shadow}");
    }
}
