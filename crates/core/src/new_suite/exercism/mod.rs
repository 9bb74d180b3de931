//! Imports exercises of Exercism's tracks as evals. Aider's polyglot benchmark has the same layout.
//!
//! ```text
//! bowling/                          python-bowling/
//!   .docs/introduction.md             eval.terca.yaml    tags, setup, the hidden check
//!   .docs/instructions.md      ─►     prompt.md          the texts, and the files to write
//!   .meta/config.json                 _base/             the stub, and all that is no test
//!   .meta/example.py                  _solution/         the example, under the stub's name
//!   bowling.py, bowling_test.py       _tests/            everything but the stub; `.exercism/check.sh` runs the tests
//! ```
//!
//! Tests are set up and run as those of a mined commit. An agent may change the files of the solution alone: all
//! others are hidden or put back before the tests.

mod track;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::imported::{EvalFile, Imported, Loss, Note, Task, hidden_tests};
use super::mine::choice::{Role, role_of};
use crate::text::prose;
use track::{Exercise, Track};

/// The limit of one run of the tests in Aider's benchmark, in seconds.
const TESTS_SECONDS: u64 = 180;
/// The manifest that an example in Rust needs.
const EXAMPLE_MANIFEST: &str = ".meta/Cargo-example.toml";
/// Texts of an exercise, in the order in which people read them.
const TEXTS: [&str; 3] = [
    ".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md",
];

/// Turns an exercise into an eval, or says why that is impossible.
pub fn import(task: &Task<'_>) -> Result<Imported, String> {
    let config = (task.text)(".meta/config.json".into()).unwrap_or_default();
    let config: Value = serde_json::from_str(&config)
        .map_err(|error| format!(".meta/config.json is not JSON: {error}"))?;
    let named = |key: &str| paths(&config["files"][key]);
    let (solution, tests) = (named("solution"), named("test"));
    let first = solution
        .first()
        .ok_or(".meta/config.json names no `files.solution`")?;
    let track = Track::of(first).ok_or_else(|| {
        format!("its language is not known by {first}: Terca runs the tests of C++, Go, Java, JavaScript, Python and Rust")
    })?;
    let mut notes = Vec::new();
    let is_there = |path: &Utf8PathBuf| task.files.contains(path);
    let mut run = tests.clone();
    run.retain(is_there);
    if run.is_empty() {
        return Err("none of the tests that .meta/config.json names is there".into());
    }
    let gone: Vec<&Utf8PathBuf> = (solution.iter().chain(&tests))
        .filter(|path| !is_there(path))
        .chain(task.links)
        .collect();
    if !gone.is_empty() {
        let text = format!("{}: missing, or symbolic links", prose::few(&gone, 5));
        notes.push(Note::lost(Loss::Files, text));
    }
    let mut parts = Parts::default();
    parts.place(task, track, &solution, &tests, &mut notes);
    let mut examples = named("example");
    examples.extend(named("exemplar"));
    examples.retain(is_there);
    if examples.is_empty() {
        let text = "there is no example, so it is not known whether the eval can be passed";
        notes.push(Note::change(text));
    }
    parts.solve(&examples, &solution);
    let manifest = example_manifest(task, &solution);
    if let Some(manifest) = &manifest {
        parts.replace_manifest(manifest, &mut notes);
    }
    let exercise = Exercise {
        track,
        run: &run,
        solution: &solution,
        files: task.files,
        text: &|path| match &manifest {
            Some(manifest) if path == "Cargo.toml" => Some(manifest.clone()),
            _ => (task.text)(path),
        },
    };
    let how = exercise.how(&mut notes);
    parts.written.extend(how.scripts);
    let prompt = prompt(task, &solution)?;
    parts.written.push(("prompt.md".into(), prompt));
    let file = EvalFile {
        origin: format!("the exercise {} ({})", task.name, track.tag()),
        description: config["blurb"].as_str(),
        tags: vec![track.tag(), "exercism"],
        setup: &how.setup,
        tests: vec![hidden_tests(track::CHECK, how.report, TESTS_SECONDS)],
        ..EvalFile::default()
    };
    let folder = format!("{}-{}", track.tag(), task.name);
    Ok(file.eval(folder, parts.written, parts.copied, notes))
}

fn paths(value: &Value) -> Vec<Utf8PathBuf> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str)
        .map(Utf8PathBuf::from)
        .collect()
}

/// Files of an eval.
#[derive(Debug, Default)]
struct Parts {
    written: Vec<(Utf8PathBuf, String)>,
    copied: Vec<(Utf8PathBuf, Utf8PathBuf)>,
}

impl Parts {
    /// Puts the files of an exercise where they belong.
    fn place(
        &mut self,
        task: &Task<'_>,
        track: Track,
        solution: &[Utf8PathBuf],
        tests: &[Utf8PathBuf],
        notes: &mut Vec<Note>,
    ) {
        let mut is_unskipped = false;
        for file in task.files {
            let is_about = |dir: &Utf8Path| dir.file_name().is_some_and(|dir| dir.starts_with('.'));
            if file.ancestors().skip(1).any(is_about) {
                continue;
            }
            let is_solution = solution.contains(file);
            let is_test = tests.contains(file)
                || matches!(role_of(file), Role::Test(_) | Role::OfTests) && !is_solution;
            if !is_test {
                self.copied
                    .push((file.clone(), Utf8Path::new("_base").join(file)));
            }
            if is_solution {
                continue;
            }
            let to = Utf8Path::new("_tests").join(file);
            let text = (task.text)(file).filter(|_| tests.contains(file));
            let changed = text.and_then(|text| track.without_skips(&text));
            is_unskipped |= changed.is_some();
            match changed {
                Some(text) => self.written.push((to, text)),
                None => self.copied.push((file.clone(), to)),
            }
        }
        if is_unskipped {
            notes.push(Note::change(
                "all tests run, also those that the exercise skips until they are wanted",
            ));
        }
    }

    /// Puts examples in the places of the stubs that they replace.
    fn solve(&mut self, examples: &[Utf8PathBuf], solution: &[Utf8PathBuf]) {
        let mut taken: BTreeSet<&Utf8Path> = BTreeSet::new();
        for example in examples {
            let free = || {
                solution
                    .iter()
                    .filter(|stub| !taken.contains(stub.as_path()))
            };
            let stub = free()
                .find(|stub| stub.file_name() == example.file_name())
                .or_else(|| {
                    let mut stubs = free().filter(|_| has_plain_name(example));
                    stubs.find(|stub| stub.extension() == example.extension())
                });
            // One without a stub is beside the first.
            let to = match stub {
                Some(stub) => stub.clone(),
                None => solution[0].with_file_name(example.file_name().unwrap_or_default()),
            };
            taken.extend(stub.map(Utf8PathBuf::as_path));
            self.copied
                .push((example.clone(), Utf8Path::new("_solution").join(to)));
        }
    }

    /// Gives the agent the crates that the example uses.
    fn replace_manifest(&mut self, manifest: &str, notes: &mut Vec<Note>) {
        let base = Utf8Path::new("_base/Cargo.toml");
        self.copied.retain(|(_, to)| to != base);
        self.written.push((base.to_owned(), manifest.to_owned()));
        notes.push(Note::change(format!(
            "Cargo.toml is {EXAMPLE_MANIFEST}, since the example uses crates"
        )));
    }
}

/// Tells whether an example has a name that says nothing about its place.
fn has_plain_name(example: &Utf8Path) -> bool {
    let name = example.file_name().unwrap_or_default();
    ["example", "exemplar", "proof"]
        .iter()
        .any(|word| name.starts_with(word))
}

/// Returns the manifest of an example that uses crates.
fn example_manifest(task: &Task<'_>, solution: &[Utf8PathBuf]) -> Option<String> {
    let manifest = (task.text)(EXAMPLE_MANIFEST.into())?;
    let is_used = solution.iter().any(|file| file == "Cargo.toml");
    (is_used && manifest.contains("dependencies")).then_some(manifest)
}

fn prompt(task: &Task<'_>, solution: &[Utf8PathBuf]) -> Result<String, String> {
    let texts = TEXTS
        .iter()
        .filter_map(|path| (task.text)(Utf8Path::new(path)));
    let texts: Vec<String> = texts.map(|text| text.trim().to_owned()).collect();
    if texts.iter().all(String::is_empty) {
        return Err("there is no .docs/instructions.md (or it is not UTF-8 text)".into());
    }
    Ok(format!(
        "{}\n\n# Where to write it\n\nWrite the solution in {}. Keep the names that are there, because hidden tests use them. \
         Use no packages but those that are installed.\n",
        texts.join("\n\n"),
        prose::list(solution.iter().map(|file| format!("`{file}`")), "and")
    ))
}

#[cfg(test)]
mod tests;
