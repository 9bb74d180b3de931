//! What a task of another format becomes: an eval, with notes about what differs.
//!
//! Each format has a reader beside this module. A reader names every part that it cannot carry over in a [`Note`], once
//! for a file. One that the eval needs is a [`Loss`]: it makes the eval `incomplete`.

pub(in crate::new_suite) mod losses;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::mine::recipe::Step;
use crate::text::json::yaml_line;
pub use losses::{Loss, Note, summary};

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

/// An eval whose one test is a hidden script.
#[derive(Debug)]
pub(in crate::new_suite) struct Scripted<'a> {
    /// Where it comes from, in words.
    pub(in crate::new_suite) origin: String,
    pub(in crate::new_suite) description: Option<&'a str>,
    pub(in crate::new_suite) tags: Vec<&'a str>,
    /// Commands that run once, before all trials.
    pub(in crate::new_suite) setup: &'a [Step],
    /// The directory of `check.sh`.
    pub(in crate::new_suite) check: &'a str,
    /// The report that the script writes beside itself.
    pub(in crate::new_suite) report: Option<&'a str>,
    /// The limit of the test.
    pub(in crate::new_suite) seconds: u64,
}

impl Scripted<'_> {
    /// Returns `eval.terca.yaml`. The prompt is `prompt.md`.
    pub(in crate::new_suite) fn file(&self, notes: &[Note]) -> String {
        let mut pairs = Vec::new();
        if let Some(description) = self.description {
            pairs.push(("description", json!(description)));
        }
        pairs.push(("promptFile", json!("prompt.md")));
        pairs.push(("tags", json!(self.tags)));
        if !self.setup.is_empty() {
            pairs.push(("prepare", json!(self.setup)));
        }
        let command = format!("sh {}/check.sh", self.check);
        let asked = match self.report {
            None => json!(command),
            Some(report) => {
                json!({ "command": command, "report": format!("{}/{report}", self.check) })
            }
        };
        let test = json!({
            "name": "hidden tests",
            "commandSuccess": asked,
            "timeoutSeconds": self.seconds,
        });
        pairs.push(("tests", json!([test])));
        head(&self.origin, notes) + &keys(&pairs)
    }
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
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Makes a name for the eval: directories that begin with `_` or `.` hold no evals.
pub(in crate::new_suite) fn folder(name: &str) -> String {
    if name.starts_with(['_', '.']) {
        format!("task-{}", name.trim_start_matches(['_', '.']))
    } else {
        name.to_owned()
    }
}

/// Reads YAML.
pub(in crate::new_suite) fn yaml(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })
}
