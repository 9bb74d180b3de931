//! Bugs in the newest commit: which can be put where, which tests may notice them, and what is said about them.

use std::collections::BTreeMap;
use std::fmt::Write;

use camino::{Utf8Path, Utf8PathBuf};

use super::choice::{Chosen, Language, Role, language_of, role_of};
use super::code::declared::declared;
use super::code::inline::added;
use super::code::mutants::{Mutant, mutants};
use super::code::{Code, is_read, words};
use super::commit::{Change, Commit, Kind, Object};
use super::prompt::described;
use crate::grade::grades::Grade;
use crate::grade::test_report::CaseEnd;
use crate::text::excerpt::beginning;

/// The most test files that are run for a bug.
const MOST_TESTS: usize = 8;
/// Shorter names are in every test.
const SHORTEST_NAME: usize = 4;
/// The most failing tests that a prompt names, and the length of what each says.
const MOST_NAMED: usize = 5;
const LONGEST_LINE: usize = 200;

/// A file of a project that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path.
    pub path: Utf8PathBuf,
    /// What git has there, with its text.
    pub object: Object,
}

impl Source {
    /// Tells whether a path may be one of source or tests that can be read.
    pub fn may_be(path: &Utf8Path) -> bool {
        let is_of_project = matches!(role_of(path), Role::Code | Role::Test(_));
        is_of_project && language_of(path).is_some_and(is_read)
    }

    fn language(&self) -> Option<Language> {
        language_of(&self.path).filter(|language| is_read(*language))
    }
}

/// The source files and the tests of a project, in the language that most of its tests are in.
#[derive(Debug)]
pub struct Ground {
    language: Language,
    sources: Vec<Source>,
    /// The tests that pass as they are.
    pub tests: Vec<Source>,
}

/// A bug in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection<'a> {
    file: &'a Source,
    mutant: Mutant,
    key: u64,
}

impl Ground {
    /// Sorts the files of a project; `None` if it has no tests beside source that can be read.
    pub fn new(files: Vec<Source>) -> Option<Self> {
        let mut number: BTreeMap<Language, usize> = BTreeMap::new();
        for file in &files {
            if let (Some(language), Role::Test(_)) = (file.language(), role_of(&file.path)) {
                *number.entry(language).or_default() += 1;
            }
            // Tests inside of source files count, too.
            if file.language() == Some(Language::Rust) && added(&file.object.text).is_some() {
                *number.entry(Language::Rust).or_default() += 1;
            }
        }
        let (language, _) = number.into_iter().max_by_key(|(_, number)| *number)?;
        let files = files
            .into_iter()
            .filter(|file| file.language() == Some(language));
        let (tests, rest): (Vec<Source>, Vec<Source>) =
            files.partition(|file| matches!(role_of(&file.path), Role::Test(_)));
        let is_source = |file: &Source| {
            // A file that can be run loses its mode when it is written.
            role_of(&file.path) == Role::Code && file.object.kind == Kind::File(false)
        };
        Some(Ground {
            language,
            sources: rest.into_iter().filter(is_source).collect(),
            tests,
        })
    }

    /// Returns the tests, as they are run to see whether they pass: each by itself, in Go those of a directory.
    pub fn groups(&self) -> Vec<Vec<(Language, Utf8PathBuf)>> {
        let mut groups: BTreeMap<&Utf8Path, Vec<(Language, Utf8PathBuf)>> = BTreeMap::new();
        for test in &self.tests {
            let key = match self.language {
                Language::Go => test.path.parent().unwrap_or(&test.path),
                _ => &test.path,
            };
            let group = groups.entry(key).or_default();
            group.push((self.language, test.path.clone()));
        }
        groups.into_values().collect()
    }

    /// Returns all tests with their language.
    pub fn all_tests(&self) -> Vec<(Language, Utf8PathBuf)> {
        self.groups().concat()
    }

    /// Returns all bugs in an order that the seed decides, without those in files that no test names.
    pub fn bugs(&self, seed: u64) -> Vec<Injection<'_>> {
        let mut bugs = Vec::new();
        for file in &self.sources {
            if self.covering(file).is_empty() {
                continue;
            }
            for mutant in mutants(self.language, &file.object.text) {
                let place = format!("{seed} {} {:?} {}", file.path, mutant.place, mutant.text);
                let key = hash(&place);
                bugs.push(Injection { file, mutant, key });
            }
        }
        bugs.sort_by_key(|bug| bug.key);
        bugs
    }

    /// Returns the tests that may notice a bug in a file: those that name most of what it declares.
    fn covering(&self, file: &Source) -> Vec<(Language, Utf8PathBuf)> {
        let text = &file.object.text;
        let code = Code::read(self.language, text);
        let mut names: Vec<String> = declared(self.language, &code)
            .into_iter()
            .map(|one| one.name)
            .collect();
        let stem = file.path.file_stem().unwrap_or_default();
        names.push(stem.to_owned());
        names.retain(|name| name.len() >= SHORTEST_NAME || name == stem);
        let crate_of = |path: &Utf8Path| {
            let is_root = |dir: &&Utf8Path| {
                dir.file_name()
                    .is_some_and(|name| matches!(name, "src" | "tests"))
            };
            let root = path.ancestors().find(is_root).and_then(Utf8Path::parent);
            root.unwrap_or(Utf8Path::new("")).to_owned()
        };
        let mut found: Vec<(usize, &Source)> = Vec::new();
        for test in &self.tests {
            let said = words(&test.object.text);
            let number = names
                .iter()
                .filter(|name| said.contains(name.as_str()))
                .count();
            let is_near = match self.language {
                Language::Go => test.path.parent() == file.path.parent(),
                Language::Rust => crate_of(&test.path) == crate_of(&file.path),
                _ => number > 0,
            };
            if is_near {
                found.push((number, test));
            }
        }
        found.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        let found = found.into_iter().take(MOST_TESTS);
        let mut tests: Vec<_> = found
            .map(|(_, test)| (self.language, test.path.clone()))
            .collect();
        if self.language == Language::Rust && added(text).is_some() {
            tests.push((self.language, file.path.clone()));
        }
        tests
    }

    /// Returns a bug as a commit that takes it out again, and the file with the bug in it.
    pub fn task(&self, bug: &Injection<'_>, head: &Commit) -> (Chosen, String) {
        let Injection { file, mutant, key } = bug;
        let run = self.covering(file);
        let with_bug = mutant.applied(&file.object.text);
        let is_inline = run.iter().any(|(_, test)| *test == file.path);
        let inline = added(&file.object.text).filter(|_| is_inline);
        let stem = file.path.file_stem().unwrap_or_default();
        let message = format!(
            "Injected bug {:06x}: {} in {stem}",
            key & 0xff_ffff,
            mutant.bug.as_str()
        );
        let chosen = Chosen {
            commit: Commit {
                message,
                ..head.clone()
            },
            parent: head.id.clone(),
            tests: Vec::new(),
            solution: vec![Change {
                path: file.path.clone(),
                old: Some(Object {
                    text: with_bug.clone(),
                    ..file.object.clone()
                }),
                new: Some(file.object.clone()),
            }],
            run,
            inline: inline
                .into_iter()
                .map(|text| (file.path.clone(), text))
                .collect(),
        };
        (chosen, with_bug)
    }

    /// Returns the tests of the project as a commit that changes nothing, to see whether they pass.
    pub fn unchanged(
        &self,
        run: &[(Language, Utf8PathBuf)],
        number: usize,
        head: &Commit,
    ) -> Chosen {
        Chosen {
            commit: Commit {
                message: format!("Tests as they are {number}"),
                ..head.clone()
            },
            parent: head.id.clone(),
            tests: Vec::new(),
            solution: Vec::new(),
            run: run.to_vec(),
            inline: Vec::new(),
        }
    }
}

/// A hash that stays the same from version to version.
fn hash(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    // The last bytes are to count in all bits.
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Says which tests fail and what they say, for somebody who is to find the bug; `None` if no test can be named.
pub fn symptoms<'a>(grades: impl IntoIterator<Item = &'a Grade>) -> Option<String> {
    let mut failed: Vec<(String, String)> = Vec::new();
    for grade in grades {
        let cases = grade.report.iter().flat_map(|report| &report.cases);
        let cases = cases.filter(|case| case.end == CaseEnd::Failed);
        failed.extend(cases.map(|case| (case.name.clone(), case.message.clone())));
        if grade.report.is_none() {
            let lines = grade.output_end.iter().chain([&grade.message]);
            failed.extend(lines.filter_map(|line| failed_test(line)));
        }
    }
    let mut text =
        "The project in this directory has a bug. These of its tests fail:\n\n".to_owned();
    let mut named: Vec<&str> = Vec::new();
    for (name, said) in &failed {
        if named.contains(&name.as_str()) || named.len() == MOST_NAMED {
            continue;
        }
        named.push(name);
        let said = said.lines().next().unwrap_or_default().trim();
        let said = beginning(said, LONGEST_LINE).replace('`', "'");
        let end = if said.is_empty() {
            String::new()
        } else {
            format!(": `{said}`")
        };
        let _ = writeln!(text, "- `{}`{end}", name.replace('`', "'"));
    }
    if named.is_empty() {
        return None;
    }
    text += "\nFind the bug in the code and fix it. Leave the tests as they are.";
    Some(described(&text))
}

/// Returns the name of the test that a line of a runner's output says to have failed, and what is said about it.
fn failed_test(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("exit status 1: ").unwrap_or(line);
    let two = |text: &str, sign: &str| {
        let (name, said) = text.split_once(sign).unwrap_or((text, ""));
        Some((name.trim().to_owned(), said.trim().to_owned()))
    };
    if let Some(rest) = line.strip_prefix("FAILED ") {
        // pytest
        return rest.contains("::").then(|| two(rest, " - "))?;
    }
    if let Some(rest) = line.strip_prefix("FAIL: ").or(line.strip_prefix("ERROR: ")) {
        // unittest
        return rest
            .contains(" (")
            .then(|| two(rest, " ("))?
            .map(|(name, _)| (name, String::new()));
    }
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return two(rest, " (").map(|(name, _)| (name, String::new()));
    }
    if let Some(rest) = line.strip_prefix("not ok ") {
        let (_, name) = rest.split_once(" - ")?;
        return Some((name.trim().to_owned(), String::new()));
    }
    // cargo
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some((name.to_owned(), String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::test_report::{Case, Cases};

    fn ground(files: &[(&str, &str)]) -> Ground {
        let file = |(path, text): &(&str, &str)| Source {
            path: (*path).into(),
            object: Object {
                kind: Kind::File(false),
                id: String::new(),
                text: (*text).to_owned(),
            },
        };
        Ground::new(files.iter().map(file).collect()).unwrap()
    }

    fn head() -> Commit {
        Commit {
            id: "0123456789".repeat(4),
            parents: Vec::new(),
            seconds: 0,
            message: "Newest".into(),
        }
    }

    #[test]
    fn bugs_are_where_tests_look_and_their_order_is_the_seeds() {
        let ground = ground(&[
            ("src/parse.py", "def parse(a):\n    return a + 1\n"),
            ("src/other.py", "def unknown(a):\n    return a + 1\n"),
            ("tests/test_parse.py", "from parse import parse\n"),
            ("tests/test_more.py", "import more\n"),
            ("web.js", "function f() { return 1; }\n"),
        ]);
        let bugs = ground.bugs(0);
        assert_eq!(bugs.len(), 2, "{bugs:#?}");
        assert_eq!(ground.bugs(0), bugs);
        let orders: std::collections::BTreeSet<usize> = (0..20)
            .map(|seed| ground.bugs(seed)[0].mutant.place.start)
            .collect();
        assert_eq!(orders.len(), 2);
        let (chosen, with_bug) = ground.task(&bugs[0], &head());
        assert_eq!(
            chosen.run,
            [(Language::Python, "tests/test_parse.py".into())]
        );
        assert!(chosen.commit.message.contains("in parse"), "{chosen:?}");
        assert_eq!(chosen.solution[0].texts()[0], with_bug);
        assert_ne!(chosen.solution[0].texts()[1], with_bug);
    }

    #[test]
    fn tests_inside_of_the_file_and_of_the_package_notice_bugs() {
        let source =
            "pub fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n";
        let rust = ground(&[
            ("a/src/lib.rs", source),
            ("a/tests/x.rs", ""),
            ("b/tests/y.rs", ""),
        ]);
        let (chosen, _) = rust.task(&rust.bugs(0)[0], &head());
        let run: Vec<&str> = chosen.run.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(run, ["a/tests/x.rs", "a/src/lib.rs"]);
        assert!(chosen.inline[0].1.contains("terca_mined_tests"));
        let go = ground(&[
            ("a.go", "func F() int { return 1 }\n"),
            ("a_test.go", ""),
            ("b/b_test.go", ""),
        ]);
        let (chosen, _) = go.task(&go.bugs(0)[0], &head());
        assert_eq!(chosen.run, [(Language::Go, "a_test.go".into())]);
        assert_eq!(go.groups().len(), 2);
    }

    #[test]
    fn symptoms_are_names_of_tests_and_what_they_say() {
        let grade = |lines: &[&str]| Grade {
            message: "exit status 1: it failed".into(),
            output_end: lines.iter().map(|line| (*line).to_owned()).collect(),
            ..Grade::default()
        };
        for (line, said) in [
            (
                "FAILED tests/test_a.py::test_x - assert `1` == 2",
                "- `tests/test_a.py::test_x`: `assert '1' == 2`",
            ),
            (
                "FAIL: test_two (tests.test_count.Words.test_two)",
                "- `test_two`\n",
            ),
            ("--- FAIL: TestParse (0.00s)", "- `TestParse`\n"),
            ("not ok 3 - gives two", "- `gives two`\n"),
            ("test tests::t ... FAILED", "- `tests::t`\n"),
        ] {
            let text = symptoms([&grade(&["x", line, line])]).unwrap();
            assert_eq!(text.matches("\n- ").count(), 1, "{text}");
            assert!(text.contains(said), "{text}");
        }
        assert_eq!(
            symptoms([&grade(&["error: could not compile", "FAILED (failures=1)"])]),
            None
        );
        let case = |name: &str, end| Case {
            name: name.into(),
            end,
            message: "expected 1".into(),
        };
        let reported = Grade {
            report: Some(Cases {
                cases: vec![case("a", CaseEnd::Passed), case("b", CaseEnd::Failed)],
                ..Cases::default()
            }),
            ..grade(&["not ok 3 - c"])
        };
        let text = symptoms([&reported]).unwrap();
        assert!(
            text.contains("fail:\n\n- `b`: `expected 1`\n\nFind"),
            "{text}"
        );
    }
}
