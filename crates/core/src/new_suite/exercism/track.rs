//! How the tests of an exercise are set up and run, by its language.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use crate::new_suite::imported::{Loss, Note};
use crate::new_suite::mine::choice::Language;
use crate::new_suite::mine::recipe::{Project, Step, recipes};
use crate::text::shell::{joined, removal};

/// The directory of the hidden check in the workspace.
pub(super) const CHECK: &str = ".exercism";
/// The report of the runner, in the same directory.
const REPORT: &str = "report";

/// The language of an exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Track {
    Mined(Language),
    Java,
    Cpp,
}

/// What runs the tests of an exercise.
#[derive(Debug, Default)]
pub(super) struct How {
    /// Commands that run once, before all trials.
    pub setup: Vec<Step>,
    /// The report that the check writes.
    pub report: Option<&'static str>,
    /// The hidden check, and what it needs.
    pub scripts: Vec<(Utf8PathBuf, String)>,
}

impl Track {
    /// Returns the language of a file of the solution.
    pub(super) fn of(file: &Utf8Path) -> Option<Self> {
        Some(match file.extension()? {
            "py" => Track::Mined(Language::Python),
            "js" | "mjs" | "ts" => Track::Mined(Language::Node),
            "rs" | "toml" => Track::Mined(Language::Rust),
            "go" | "mod" => Track::Mined(Language::Go),
            "java" => Track::Java,
            "cpp" | "h" => Track::Cpp,
            _ => return None,
        })
    }

    pub(super) fn tag(self) -> &'static str {
        match self {
            Track::Mined(Language::Python) => "python",
            Track::Mined(Language::Node) => "javascript",
            Track::Mined(Language::Rust) => "rust",
            Track::Mined(Language::Go) => "go",
            Track::Mined(Language::Shell) => "shell",
            Track::Java => "java",
            Track::Cpp => "cpp",
        }
    }

    /// Returns tests without the marks that skip some of them, if there are any.
    pub(super) fn without_skips(self, text: &str) -> Option<String> {
        let (pattern, replacement) = match self {
            Track::Mined(Language::Node) => (
                r"\b(?:x(test|it|describe)\b|(test|it|describe)\.skip\b)",
                "$1$2",
            ),
            Track::Mined(Language::Rust) => (r#"(?m)^\s*#\[ignore(?:\s*=\s*"[^"]*")?\]\s*?\n"#, ""),
            Track::Java => (r#"@Disabled(?:\("[^"]*"\))?"#, ""),
            _ => return None,
        };
        let pattern = Regex::new(pattern).ok()?;
        let changed = pattern.replace_all(text, replacement);
        (changed != text).then(|| changed.into_owned())
    }
}

/// An exercise whose tests are to be run.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub(super) struct Exercise<'a> {
    pub track: Track,
    /// The tests.
    pub run: &'a [Utf8PathBuf],
    pub solution: &'a [Utf8PathBuf],
    /// All files.
    pub files: &'a [Utf8PathBuf],
    pub text: &'a dyn Fn(&Utf8Path) -> Option<String>,
}

impl Exercise<'_> {
    /// Returns how the tests are run. What is missing for it becomes a note.
    pub(super) fn how(&self, notes: &mut Vec<Note>) -> How {
        let mut how = How::default();
        let mut check = format!(
            "# Runs the tests of the exercise. Written by `terca import exercism`.\nset -e\nmined=\"$PWD/{CHECK}\"\n"
        );
        check += &match self.track {
            Track::Mined(language) => self.mined(language, &mut how),
            Track::Java => java(notes),
            Track::Cpp => self.cpp(notes),
        };
        how.scripts
            .push((Utf8Path::new("_tests").join(CHECK).join("check.sh"), check));
        how
    }

    /// Returns the lines that run tests as those of a mined commit are run.
    fn mined(&self, language: Language, how: &mut How) -> String {
        let mut files: BTreeSet<Utf8PathBuf> = self.files.iter().cloned().collect();
        let uses_crates = |text: String| text.contains("dependencies");
        let manifest = (self.text)("Cargo.toml".into());
        // Cargo writes the lock file, which names no source then.
        if language == Language::Rust && !manifest.is_some_and(uses_crates) {
            files.insert("Cargo.lock".into());
        }
        let text = |path: &Utf8Path| match (self.text)(path) {
            None if path == "Cargo.lock" => Some(String::new()),
            text => text,
        };
        let is_run = |path: &&Utf8PathBuf| Track::of(path) == Some(self.track);
        let run = self.run.iter().filter(is_run);
        let run: Vec<_> = run.map(|path| (language, path.clone())).collect();
        let project = Project {
            files: &files,
            text: &text,
        };
        let mut lines = format!("report=\"$mined/{REPORT}\"\n");
        how.report = Some(REPORT);
        for recipe in recipes(&run, &project) {
            let is_absent = |path: &&Utf8PathBuf| !files.contains(*path);
            lines += &removal(recipe.settings.iter().filter(is_absent));
            lines += &format!("(\n{})\n", recipe.check);
            how.setup.extend(recipe.setup);
            if let Some((name, text)) = recipe.script {
                let path = Utf8Path::new("_tests").join(CHECK).join(name);
                how.scripts.push((path, text.to_owned()));
            }
        }
        lines
    }

    /// Returns the lines that compile and run tests with Catch, which is among the files.
    fn cpp(&self, notes: &mut Vec<Note>) -> String {
        let asks_for_boost = |text: String| text.contains("Boost");
        if (self.text)("CMakeLists.txt".into()).is_some_and(asks_for_boost) {
            notes.push(Note::lost(
                Loss::Packages,
                "CMakeLists.txt asks for Boost, which is not installed",
            ));
        }
        notes.push(Note::change(
            "the tests are compiled without CMake, which takes names from the directory's",
        ));
        let main = Utf8PathBuf::from("test/tests-main.cpp");
        let main = self.files.iter().filter(|file| **file == main);
        let sources = self.run.iter().chain(self.solution).chain(main);
        let sources = sources.filter(|file| file.extension() == Some("cpp"));
        let compile = format!(
            "${{CXX:-c++}} -std=c++17 -pthread -DEXERCISM_RUN_ALL_TESTS -I. -o \"$TMPDIR/tests\" {}\n",
            joined(sources)
        );
        compile
            + "\"$TMPDIR/tests\" > \"$TMPDIR/ran\" 2>&1 || { cat \"$TMPDIR/ran\"; exit 1; }\n\
               cat \"$TMPDIR/ran\"\ngrep -q '^All tests passed' \"$TMPDIR/ran\"\n"
    }
}

/// Returns the line that runs tests with Gradle, which has to be there.
fn java(notes: &mut Vec<Note>) -> String {
    notes.push(Note::lost(
        Loss::Packages,
        "build.gradle: Gradle and JUnit are not installed; the tests run `sh gradlew --offline test`",
    ));
    "sh gradlew --offline --no-daemon test\n".to_owned()
}
