//! Finds the evals of a suite, and those that look like evals and are none of it.

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use terca_core::text::Code;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics};

/// The configuration of a suite.
pub const SUITE_FILE: &str = "terca.yaml";
/// The configuration of an eval.
pub const EVAL_FILE: &str = "eval.terca.yaml";

/// Names that people give to an `eval.terca.yaml` by mistake.
const OTHER_NAMES: [&str; 6] = [
    "eval.terca.yml", "Eval.terca.yaml", "eval.terca.yaml.txt", "terca.eval.yaml", "eval.yaml",
    "eval.yml",
];

/// The parts of an eval that are directories beside its file.
const PARTS: [&str; 3] = ["_base", "_tests", "_solution"];

/// The longest file that is looked into to tell whether it is an eval.
const LONGEST: u64 = 1 << 20;

/// Tells whether a directory of this name is skipped.
pub(super) fn holds_no_evals(name: &str) -> bool {
    name.starts_with(['.', '_']) || name == "node_modules"
}

/// The files below a directory.
#[derive(Debug, Default)]
pub(super) struct FoundEvals {
    /// Every `eval.terca.yaml`, sorted.
    pub evals: Vec<Utf8PathBuf>,
    /// Directories below that have a `terca.yaml` of their own, sorted.
    pub suites: Vec<Utf8PathBuf>,
}

/// Finds every `eval.terca.yaml` below a directory. Hidden directories, `node_modules` and names with `_` hold none.
pub(super) fn find(root: &Utf8Path, problems: &mut Diagnostics) -> FoundEvals {
    let mut found = FoundEvals::default();
    let mut unseen = vec![root.to_owned()];
    while let Some(dir) = unseen.pop() {
        let entries = match dir.read_dir_utf8() {
            Ok(entries) => entries,
            Err(error) => {
                problems.push(unreadable(&dir, &error));
                continue;
            }
        };
        let known = found.evals.len();
        let mut others = Vec::new();
        // An entry whose name is not UTF-8 cannot be an eval of this suite.
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name == EVAL_FILE {
                found.evals.push(entry.path().to_owned());
            } else if kind.is_dir() && !holds_no_evals(name) {
                unseen.push(entry.path().to_owned());
            } else if name == SUITE_FILE && dir != root {
                found.suites.push(dir.clone());
            } else {
                others.push(entry);
            }
        }
        let has_eval = found.evals.len() > known;
        let label = |path: &Utf8Path| path.strip_prefix(root).unwrap_or(path).to_string();
        for entry in others {
            if let Some(warning) = skipped(&entry, has_eval) {
                problems.push(warning.in_file(label(entry.path())));
            }
        }
    }
    found.evals.sort();
    found.suites.sort();
    found
}

fn unreadable(dir: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(
        Code::UnreadableFile,
        format!("the directory cannot be read: {error}"),
    )
    .in_file(dir.as_str())
    .help("Terca looks for evals in it; make it readable, or begin its name with `_`")
}

/// Returns a warning of an eval that is not found: misnamed, behind a link, or in a directory that is skipped.
fn skipped(entry: &Utf8DirEntry, has_eval: bool) -> Option<Diagnostic> {
    let (path, name) = (entry.path(), entry.file_name());
    if OTHER_NAMES.contains(&name) {
        if has_eval || !is_eval(path) {
            return None;
        }
        let message = format!("`{name}` is not read: the file of an eval is named {EVAL_FILE}");
        let help = format!("rename it to {EVAL_FILE}");
        return Some(Diagnostic::warning(Code::SkippedEval, message).help(help));
    }
    if PARTS.contains(&name) || name.starts_with('.') {
        return None;
    }
    let kind = entry.file_type().ok()?;
    let (message, help) = if kind.is_symlink() {
        if !leads_to_evals(path) {
            return None;
        }
        (
            format!("the eval `{name}` is not read: links are not followed"),
            "replace the link with the directory, or remove it",
        )
    } else {
        if !kind.is_dir() || !name.starts_with('_') || !path.join(EVAL_FILE).is_file() {
            return None;
        }
        (
            format!("the eval `{name}` is not read: names with `_` at the beginning are skipped"),
            "remove the `_` to run it, or add `allowWarnings: [skipped-eval]` to terca.yaml to skip it on purpose",
        )
    };
    Some(Diagnostic::warning(Code::SkippedEval, message).help(help))
}

/// Tells whether a link leads to an eval, or to a directory of evals.
fn leads_to_evals(link: &Utf8Path) -> bool {
    let Ok(target) = link.canonicalize_utf8() else {
        return false;
    };
    let below = target.read_dir_utf8().into_iter().flatten().flatten();
    let mut dirs = below.map(|entry| entry.path().to_owned());
    target.join(EVAL_FILE).is_file() || dirs.any(|dir| dir.join(EVAL_FILE).is_file())
}

/// Tells whether a file that has another name is an eval by its content.
fn is_eval(path: &Utf8Path) -> bool {
    let is_short = path.metadata().is_ok_and(|meta| meta.len() <= LONGEST);
    let text = is_short.then(|| std::fs::read_to_string(path).ok());
    text.flatten().is_some_and(|text| {
        let mut lines = text.lines();
        lines.any(|line| line.starts_with("prompt:") || line.starts_with("promptFile:"))
    })
}
