//! Suites of other tools: one file has many cases, and their assertions become tests.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use serde_json::{Value, json};

use super::{EvalFile, Imported, Loss, Note, Task, folder};
use crate::new_suite::mine::recipe::Step;
use crate::reader::paths::{folder_name, inside};
use crate::text::prose;

/// A score from which a judge is content, where the suite names none.
const CONTENT: f64 = 0.5;

/// What the file of a suite became.
#[derive(Debug, Default)]
pub struct Suite {
    /// Its evals, in order.
    pub evals: Vec<Imported>,
    /// What cannot become an eval, and why.
    pub complaints: Vec<String>,
}

impl Suite {
    /// Adds an eval. No two of them have one directory.
    pub(in crate::new_suite) fn push(&mut self, mut eval: Imported) {
        let taken = |folder: &str| self.evals.iter().any(|other| other.folder == folder);
        let name = eval.folder.clone();
        let mut number = 2;
        while taken(&eval.folder) {
            eval.folder = format!("{name}-{number}");
            number += 1;
        }
        self.evals.push(eval);
    }
}

/// A case of a suite that becomes an eval.
#[allow(missing_debug_implementations, reason = "the task holds a function")]
pub(in crate::new_suite) struct Case<'a> {
    task: &'a Task<'a>,
    file: &'a Utf8Path,
    pub description: Option<String>,
    pub limits: Vec<(&'static str, Value)>,
    pub tags: Vec<String>,
    pub setup: Vec<Step>,
    pub notes: Vec<Note>,
    tests: Vec<Value>,
    copied: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    gone: BTreeSet<String>,
    unlike: BTreeSet<String>,
}

impl<'a> Case<'a> {
    /// Begins a case of a suite's file. The tag is the name of the tool.
    pub(in crate::new_suite) fn new(task: &'a Task<'a>, file: &'a Utf8Path, tag: &str) -> Self {
        Case {
            task,
            file,
            description: None,
            limits: Vec::new(),
            tags: vec![tag.to_owned()],
            setup: Vec::new(),
            notes: Vec::new(),
            tests: Vec::new(),
            copied: Vec::new(),
            gone: BTreeSet::new(),
            unlike: BTreeSet::new(),
        }
    }

    /// Adds the tests that an assertion becomes; `None` if no test of Terca asks for the same.
    pub(in crate::new_suite) fn ask(
        &mut self,
        kind: &str,
        tests: Option<Vec<Value>>,
        weight: &Value,
    ) {
        match tests {
            _ if weight == 0 => {}
            None => {
                self.unlike.insert(kind.to_owned());
            }
            Some(tests) => self.tests.extend(tests.into_iter().map(|mut test| {
                if weight.is_number() {
                    test["weight"] = weight.clone();
                }
                test
            })),
        }
    }

    /// Copies a file or directory, named as the suite's file names it, into the workspace.
    pub(in crate::new_suite) fn copy(&mut self, from: &str, to: &str) {
        let dir = self.file.parent().unwrap_or(Utf8Path::new(""));
        let paths = (inside(dir.join(from).as_str()), inside(to));
        let (Ok(source), Ok(to)) = paths else {
            self.gone.insert(from.to_owned());
            return;
        };
        let before = self.copied.len();
        for file in self.task.files.iter().filter(|file| *file != self.file) {
            if let Ok(rest) = file.strip_prefix(&source) {
                let base = Utf8Path::new("_base").join(&to);
                let to = if rest == "" { base } else { base.join(rest) };
                self.copied.push((file.clone(), to));
            }
        }
        let mut links = self.task.links.iter();
        if self.copied.len() == before || links.any(|link| link.starts_with(&source)) {
            self.gone.insert(from.to_owned());
        }
    }

    /// Returns the eval of a name and a prompt.
    pub(in crate::new_suite) fn eval(mut self, name: &str, prompt: String) -> Imported {
        let told = |items: &BTreeSet<String>| prose::few(items, 5);
        if !self.gone.is_empty() {
            let reason = "missing, a symbolic link, or not below the imported directory";
            let text = format!("{}: {reason}", told(&self.gone));
            self.notes.push(Note::lost(Loss::Files, text));
        }
        if !self.unlike.is_empty() {
            let text = format!("{}: no test of Terca asks for that", told(&self.unlike));
            self.notes.push(Note::lost(Loss::Tests, text));
        } else if self.tests.is_empty() {
            let text = "nothing verifies the work: the eval has no tests";
            self.notes.push(Note::lost(Loss::Tests, text));
        }
        let file = EvalFile {
            origin: format!("`{name}` of {}", self.file),
            description: self.description.as_deref(),
            limits: self.limits,
            tags: self.tags.iter().map(String::as_str).collect(),
            setup: &self.setup,
            tests: self.tests,
        };
        let folder = place(self.file).join(slug(name)).into_string();
        let written = vec![("prompt.md".into(), prompt)];
        file.eval(folder, written, self.copied, self.notes)
    }
}

/// Returns the directory of a suite's evals: that of its file, and the part of the file's name that is its own.
fn place(file: &Utf8Path) -> Utf8PathBuf {
    let dirs = file.parent().into_iter().flat_map(Utf8Path::components);
    let mut place: Utf8PathBuf = dirs.map(|dir| folder(dir.as_str())).collect();
    let parts = file.file_stem().unwrap_or_default().split('.');
    let own = parts.filter(|part| !["eval", "vally", "promptfooconfig"].contains(part));
    let own: Vec<&str> = own.collect();
    if !own.is_empty() {
        place.push(slug(&own.join("-")));
    }
    place
}

/// Makes a name that a shell takes as it is.
pub(in crate::new_suite) fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    folder_name(&prose::joined(
        words.filter(|word| !word.is_empty()).map(str::to_lowercase),
        "-",
    ))
}

/// Returns a test of what the agent says; `None` for a pattern that Terca cannot read.
pub(in crate::new_suite) fn said(pattern: &str, is_wanted: bool) -> Option<Vec<Value>> {
    Regex::new(pattern).ok()?;
    let key = if is_wanted {
        "outputMatches"
    } else {
        "outputNotMatches"
    };
    Some(vec![json!({ "transcript": { key: pattern } })])
}

/// Returns a test by a judge.
pub(in crate::new_suite) fn judged(rubric: &str, threshold: &Value) -> Option<Vec<Value>> {
    let score = threshold.as_f64().unwrap_or(CONTENT);
    Some(vec![
        json!({ "judge": { "rubric": rubric, "passScore": score } }),
    ])
}

/// Returns the items of a list, or the one that stands for it.
pub(in crate::new_suite) fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}
