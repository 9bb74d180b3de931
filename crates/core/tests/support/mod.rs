//! A suite that exists only in memory.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent;
use terca_core::agent::AgentChoice;
use terca_core::config::{self, ConfigFiles, PathKind, Suite, Surroundings};
use terca_core::plan::expand::{Overrides, expand};
use terca_core::plan::lints::report_lints;
use terca_core::plan::selection::Selection;
use terca_core::plan::{Plan, TrialSpec};
use terca_core::text::diagnostic::{Diagnostics, Style};
use terca_core::text::source::{FileId, Sources};

pub(crate) const ROOT: &str = "/suite";

enum Entry {
    File(String),
    Directory,
    Link(Utf8PathBuf),
}

impl Entry {
    fn text(&self) -> Option<&str> {
        match self {
            Entry::File(text) => Some(text),
            Entry::Directory | Entry::Link(_) => None,
        }
    }
}

/// Files by absolute path, and everything found wrong with them so far.
pub(crate) struct Project {
    entries: BTreeMap<Utf8PathBuf, Entry>,
    sources: Sources,
    files: ConfigFiles,
    variables: BTreeMap<String, String>,
    pub(crate) problems: Diagnostics,
}

impl Project {
    /// Paths and texts. `docs/` is a directory, and `out -> /etc` a symbolic link.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let entries: BTreeMap<Utf8PathBuf, Entry> =
            files.iter().map(|(path, text)| entry(path, text)).collect();
        let mut sources = Sources::default();
        let mut add_all = |name: &str| -> Vec<FileId> {
            let named = entries
                .iter()
                .filter(|(path, _)| path.file_name() == Some(name));
            named
                .filter_map(|(path, entry)| Some(sources.add(path, label(path), entry.text()?)))
                .collect()
        };
        let suite = add_all("terca.yaml").first().copied();
        let files = ConfigFiles {
            root: ROOT.into(),
            suite,
            workers: add_all("workers.yaml").first().copied(),
            evals: add_all("eval.terca.yaml"),
        };
        let (variables, problems) = Default::default();
        Project {
            entries,
            sources,
            files,
            variables,
            problems,
        }
    }

    /// A variable of Terca's own environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub(crate) fn load(&mut self) -> Option<Suite> {
        let mut problems = std::mem::take(&mut self.problems);
        let suite = config::load(&self.files, &self.sources, &*self, &mut problems);
        self.problems = problems;
        suite
    }

    /// The plan of a suite that loads; what the selection or the variants have against it is in the problems.
    pub(crate) fn plan(&mut self, selection: &Selection, overrides: &Overrides) -> Option<Plan> {
        let suite = self.load()?;
        let variable = |name: &str| self.variables.get(name).cloned();
        Some(expand(
            &suite, selection, overrides, &variable, &mut self.problems,
        ))
    }

    /// Adds what is doubtful about the plan.
    pub(crate) fn lint(&mut self) {
        let nothing = (Selection::default(), Overrides::default());
        let (Some(suite), Some(plan)) = (self.load(), self.plan(&nothing.0, &nothing.1)) else {
            return;
        };
        let mut problems = std::mem::take(&mut self.problems);
        report_lints(&suite, &plan, self, &mut problems);
        problems.sort();
        self.problems = problems;
    }

    pub(crate) fn report(&self) -> String {
        self.problems.render(&self.sources, Style::PLAIN)
    }
}

fn label(path: &Utf8Path) -> &str {
    path.strip_prefix(ROOT).unwrap_or(path).as_str()
}

fn entry(path: &str, text: &str) -> (Utf8PathBuf, Entry) {
    let root = Utf8Path::new(ROOT);
    match path.split_once(" -> ") {
        Some((link, target)) => (root.join(link), Entry::Link(target.into())),
        None if path.ends_with('/') => (root.join(path.trim_end_matches('/')), Entry::Directory),
        None => (root.join(path), Entry::File(text.to_owned())),
    }
}

impl Surroundings for Project {
    fn kind(&self, path: &Utf8Path) -> PathKind {
        match self.entries.get(path) {
            Some(Entry::File(_)) => PathKind::File,
            Some(Entry::Directory) => PathKind::Directory,
            Some(Entry::Link(target)) => self.kind(&path.parent().unwrap_or(path).join(target)),
            None if self.entries.keys().any(|known| known.starts_with(path)) => PathKind::Directory,
            None => PathKind::Missing,
        }
    }

    fn read_text(&self, path: &Utf8Path) -> Result<String, String> {
        match self.entries.get(path) {
            Some(Entry::File(text)) if text.contains('\0') => Err("it is not text".into()),
            Some(Entry::File(text)) => Ok(text.clone()),
            _ => Err("no such file".into()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn files_below(&self, dir: &Utf8Path) -> Vec<Utf8PathBuf> {
        let files = self.entries.iter();
        let files = files.filter(|(_, entry)| matches!(entry, Entry::File(_)));
        let files = files.map(|(path, _)| path.clone());
        let mut files: Vec<Utf8PathBuf> = files.filter(|path| path.starts_with(dir)).collect();
        files.sort();
        files
    }

    fn names_in(&self, dir: &Utf8Path) -> Vec<String> {
        let below = self.entries.keys();
        let firsts = below.filter_map(|path| path.strip_prefix(dir).ok()?.components().next());
        let mut names: Vec<String> = firsts.map(|name| name.as_str().to_owned()).collect();
        names.dedup();
        names
    }

    fn is_executable(&self, path: &Utf8Path) -> bool {
        !path.as_str().ends_with(".txt")
    }
}

/// The plan of a suite that must be right, run with the agent `nop`.
pub(crate) fn plan(files: &[(&str, &str)]) -> Plan {
    plan_of(Project::new(files), &Selection::default(), &with_nop())
}

pub(crate) fn plan_of(mut project: Project, selection: &Selection, overrides: &Overrides) -> Plan {
    let plan = project.plan(selection, overrides);
    assert!(!project.problems.has_errors(), "{}", project.report());
    plan.expect("a plan where there are no errors")
}

/// One trial's place in the matrix.
pub(crate) fn coordinates(trial: &TrialSpec) -> (String, String, String, u32) {
    let (eval, variant) = (&trial.case.eval, &trial.case.variant);
    (
        eval.name.clone(),
        variant.environment.clone(),
        variant.experiment.clone(),
        trial.repetition,
    )
}

/// Every variant runs with `nop`, so that a suite needs no agent of its own.
pub(crate) fn with_nop() -> Overrides {
    let agent = agent::find("nop").map(AgentChoice::of);
    Overrides {
        agent,
        ..Overrides::default()
    }
}

pub(crate) fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}
