//! The loader of suites. For any files, it answers, with a suite or with errors, and every error
//! points at a place that exists.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::{self, ConfigFiles, PathKind, Surroundings};
use terca_core::plan::expand::{Overrides, expand};
use terca_core::plan::selection::Selection;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics, Style};
use terca_core::text::source::Sources;

/// The text between `terca.yaml` and an `eval.terca.yaml` in an input.
const NEXT_FILE: &str = "\n=== eval.terca.yaml\n";

pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (report, clean) = load(&text);
    let (again, _) = load(&text);
    assert_eq!(report, again, "the same files give the same report");
    assert!(
        clean || !report.is_empty(),
        "what cannot be loaded has a reason"
    );
}

/// The report, and whether there is a suite.
fn load(text: &str) -> (String, bool) {
    let mut parts = text.split(NEXT_FILE);
    let mut sources = Sources::default();
    let suite = parts
        .next()
        .map(|part| sources.add("/suite/terca.yaml", "terca.yaml", part));
    let evals = parts
        .enumerate()
        .map(|(index, part)| {
            let label = format!("{index}/eval.terca.yaml");
            sources.add(format!("/suite/{label}"), label, part)
        })
        .collect();
    let files = ConfigFiles {
        root: "/suite".into(),
        suite,
        workers: None,
        evals,
    };
    let mut problems = Diagnostics::default();
    let loaded = config::load(&files, &sources, &Imagined, &mut problems);
    assert_eq!(
        loaded.is_none(),
        problems.has_errors(),
        "a suite, or an error that says why not"
    );
    if let Some(suite) = &loaded {
        expand(
            suite,
            &Selection::default(),
            &Overrides::default(),
            &variable,
            &mut problems,
        );
    }
    for problem in problems.iter() {
        check(problem, &sources);
    }
    (problems.render(&sources, Style::PLAIN), loaded.is_some())
}

fn check(problem: &Diagnostic, sources: &Sources) {
    assert!(!problem.message.is_empty());
    for label in &problem.labels {
        let (place, text) = (label.place, &sources.get(label.place.file).text);
        assert!(
            place.start <= place.end && place.end <= text.len(),
            "{place:?} of {}: {problem:?}",
            text.len()
        );
        assert!(text.is_char_boundary(place.start), "{place:?}: {problem:?}");
        let (line, column) = sources.line_and_column(place);
        assert!(line >= 1 && column >= 1);
    }
}

fn variable(name: &str) -> Option<String> {
    (name != "MISSING").then(|| format!("value of {name}"))
}

/// A file system that has every file but those that are called missing.
struct Imagined;

impl Surroundings for Imagined {
    fn kind(&self, path: &Utf8Path) -> PathKind {
        match path.extension() {
            _ if path.as_str().contains("missing") => PathKind::Missing,
            Some(_) => PathKind::File,
            None => PathKind::Directory,
        }
    }

    fn read_text(&self, path: &Utf8Path) -> Result<String, String> {
        if path.as_str().contains("missing") {
            Err("no such file".into())
        } else {
            Ok("text".into())
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        variable(name)
    }

    fn files_below(&self, dir: &Utf8Path) -> Vec<Utf8PathBuf> {
        vec![dir.join("index.ts"), dir.join("lib/missing.ts")]
    }

    fn names_in(&self, _: &Utf8Path) -> Vec<String> {
        vec!["_test".into(), "base".into(), "AGENTS.md".into()]
    }

    fn is_executable(&self, path: &Utf8Path) -> bool {
        !path.as_str().contains("locked")
    }
}
