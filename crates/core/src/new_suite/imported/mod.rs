//! What a task of another format becomes: an eval, with notes about what differs.
//!
//! Each format has a reader beside this module. A reader names every part that it cannot carry over in a [`Note`], once
//! for a file. One that the eval needs is a [`Loss`]: it makes the eval `incomplete`.

pub(in crate::new_suite) mod losses;
#[cfg(test)]
pub(in crate::new_suite) mod made;
pub(in crate::new_suite) mod suite;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::mine::recipe::Step;
use crate::text::json::yaml_line;
use crate::text::prose;
pub use losses::{Loss, Note, summary};
pub use suite::Suite;

/// A task, with the means to read it.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub struct Task<'a> {
    /// The name of its directory.
    pub name: &'a str,
    /// Every file, relative to its directory, in order.
    pub files: &'a [Utf8PathBuf],
    /// Symbolic links, which are not followed.
    pub links: &'a [Utf8PathBuf],
    /// Reads the text of a file; `None` when it is missing or not text.
    pub text: &'a dyn Fn(&Utf8Path) -> Option<String>,
}

/// The eval that a task became.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The name of the eval's directory.
    pub folder: String,
    /// Files to write, with paths relative to that directory.
    pub written: Vec<(Utf8PathBuf, String)>,
    /// Files to copy: their path in the task and their path in the eval.
    pub copied: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// It runs in an image, which Docker or Podman builds.
    pub has_image: bool,
    /// Differences from the task, losses first.
    pub notes: Vec<Note>,
}

/// Returns the beginning of `eval.terca.yaml`: where the eval comes from, and how it differs.
pub(in crate::new_suite) fn head(origin: &str, notes: &[Note]) -> String {
    let (losses, changes): (Vec<&Note>, Vec<&Note>) =
        notes.iter().partition(|note| note.loss.is_some());
    let mut text = format!("# Imported from {}.\n", one_line(origin));
    if !changes.is_empty() {
        text += "# Differences from the original task:\n";
        let lines = changes.iter().map(|note| one_line(&note.text));
        text.extend(lines.map(|line| format!("#   - {line}\n")));
    }
    if !losses.is_empty() {
        text += "# Add what is missing, then remove this list. Until then the eval runs only when `-t` selects it.\n";
        let lines = losses.iter().map(|note| json!(one_line(&note.text)));
        text += &keys(&[("incomplete", Value::from_iter(lines))]);
    }
    text
}

/// What `eval.terca.yaml` says. The prompt is `prompt.md`.
#[derive(Debug, Default)]
pub(in crate::new_suite) struct EvalFile<'a> {
    /// Where the eval comes from, in words.
    pub origin: String,
    pub description: Option<&'a str>,
    /// `timeoutSeconds` and the like.
    pub limits: Vec<(&'a str, Value)>,
    pub tags: Vec<&'a str>,
    /// Commands that run once, before all trials.
    pub setup: &'a [Step],
    pub tests: Vec<Value>,
}

impl EvalFile<'_> {
    /// Returns the eval, with the file and its notes in order.
    pub(in crate::new_suite) fn eval(
        self,
        folder: String,
        mut written: Vec<(Utf8PathBuf, String)>,
        copied: Vec<(Utf8PathBuf, Utf8PathBuf)>,
        mut notes: Vec<Note>,
    ) -> Imported {
        notes.sort_by_key(|note| note.loss.is_none());
        written.push(("eval.terca.yaml".into(), self.text(&notes)));
        Imported {
            folder,
            written,
            copied,
            has_image: false,
            notes,
        }
    }

    fn text(self, notes: &[Note]) -> String {
        let mut pairs = Vec::new();
        if let Some(description) = self.description {
            pairs.push(("description", json!(description)));
        }
        pairs.push(("promptFile", json!("prompt.md")));
        pairs.extend(self.limits);
        pairs.push(("tags", json!(self.tags)));
        if !self.setup.is_empty() {
            pairs.push(("prepare", json!(self.setup)));
        }
        if !self.tests.is_empty() {
            pairs.push(("tests", Value::Array(self.tests)));
        }
        head(&self.origin, notes) + &keys(&pairs)
    }
}

/// Returns the test that runs the hidden `check.sh` of a directory, which may leave a report beside itself.
pub(in crate::new_suite) fn hidden_tests(dir: &str, report: Option<&str>, seconds: u64) -> Value {
    let command = format!("sh {dir}/check.sh");
    let asked = match report {
        None => json!(command),
        Some(report) => json!({ "command": command, "report": format!("{dir}/{report}") }),
    };
    json!({ "name": "hidden tests", "commandSuccess": asked, "timeoutSeconds": seconds })
}

/// Returns keys of `eval.terca.yaml`, with each item of a list of objects or sentences on a line of its own.
pub(in crate::new_suite) fn keys(keys: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (key, value) in keys {
        match value.as_array() {
            Some(items) if *key != "tags" => {
                text += &format!("{key}:\n");
                text.extend(
                    items
                        .iter()
                        .map(|item| format!("  - {}\n", yaml_line(item))),
                );
            }
            _ => text += &format!("{key}: {}\n", yaml_line(value)),
        }
    }
    text
}

fn one_line(text: &str) -> String {
    prose::joined(
        text.split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty()),
        " ",
    )
}

/// Makes a name for the eval: directories that begin with `_` or `.` hold no evals.
pub(in crate::new_suite) fn folder(name: &str) -> String {
    if name.starts_with(['_', '.']) {
        format!("task-{}", name.trim_start_matches(['_', '.']))
    } else {
        name.to_owned()
    }
}

/// Returns a note about keys of a file that are not used.
pub(in crate::new_suite) fn unused(what: &str, value: &Value, known: &[&str]) -> Option<Note> {
    let keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
    let unused: Vec<&String> = keys.filter(|key| !known.contains(&key.as_str())).collect();
    let text = || {
        format!(
            "{what} ({}): Terca has nothing like it",
            prose::few(&unused, 5)
        )
    };
    (!unused.is_empty()).then(|| Note::change(text()))
}

/// Returns a text as it is, and another value as JSON.
pub(in crate::new_suite) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads YAML.
pub(in crate::new_suite) fn yaml(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })
}
