//! The files of an eval that a commit becomes.
//!
//! ```text
//! parse-empty-lines-3f2a1b9c0/
//!   eval.terca.yaml    setup, hidden check, where it comes from
//!   prompt.md          the commit's message, or the text of an agent, to be edited
//!   _base/             the tree of the commit's parent, without its history
//!   _tests/            the commit's tests and what is beside them; `.mined/check.sh` runs them
//!   _solution/         the rest of the commit; `_solution.sh` removes what it removes
//! ```

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::choice::Chosen;
use super::commit::{Change, Entry, Kind, Side};
use super::describe::Writer;
use super::file_role::{Role, role_of};
use super::prompt::{prompt, without_pointers};
use super::recipe::{Recipe, Step};
use super::{Reason, Refusal};
use crate::new_suite::scaffold::{EVAL_SCHEMA, editor_line};
use crate::text::json::yaml_line;
use crate::text::shell::quoted;

/// The directory of the hidden check in the workspace.
const CHECK: &str = ".mined";
/// The files of an eval that say what it is.
const PROMPT: &str = "prompt.md";
const EVAL: &str = "eval.terca.yaml";
/// Files beside the tests that are hidden with them, at most.
const MOST_BESIDE: usize = 300;

/// The wishes for drafts.
#[derive(Debug, Clone, PartialEq)]
pub struct Wishes {
    /// The setup command, instead of those that are known for the project.
    pub setup: Option<String>,
    /// The command that runs tests, instead of the known one. `{files}` are the tests.
    pub test_command: Option<String>,
    /// The time limit of the tests, in seconds.
    pub test_seconds: f64,
}

/// A file that is an object of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its path in the eval.
    pub to: Utf8PathBuf,
    /// Its path in the project.
    pub from: Utf8PathBuf,
    /// Its kind.
    pub kind: Kind,
    /// The hash of its content.
    pub id: String,
}

/// An eval that is yet to be proven.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The commit that it is made from.
    pub chosen: Chosen,
    /// The name of its directory.
    pub folder: String,
    /// Files with their texts.
    pub written: Vec<(Utf8PathBuf, String)>,
    /// Files with their objects.
    pub placed: Vec<Placed>,
    /// The keys of its file.
    keys: String,
}

impl Draft {
    /// Returns the files that differ when an agent wrote the prompt.
    pub fn described(&self, prompt: String, by: &Writer) -> [(&'static str, String); 2] {
        let eval = eval_file(&self.chosen, &self.folder, &self.keys, Some(by));
        [(PROMPT, prompt), (EVAL, eval)]
    }
}

/// Makes an eval of a commit, with the tree of its parent.
pub fn draft(
    chosen: Chosen,
    tree: &[Entry],
    recipes: &[Recipe],
    wishes: &Wishes,
) -> Result<Draft, Refusal> {
    if recipes.is_empty() && wishes.test_command.is_none() {
        return Err(Reason::UnknownTests.into());
    }
    let prompt = prompt(&chosen.commit.message)?;
    let after = after(tree, &chosen);
    let mut placed: Vec<Placed> = tree
        .iter()
        .map(|entry| place("_base", &entry.path, &entry.kind, &entry.id))
        .collect();
    let hidden = hidden(&chosen, &after, recipes);
    for path in &hidden.kept {
        if let Some((kind, id)) = after.get(path.as_path()) {
            placed.push(place("_tests", path, kind, id));
        }
    }
    let (mut gone, mut written) = (Vec::new(), Vec::new());
    for Change { path, new, .. } in &chosen.solution {
        match new {
            Some(Side { kind, id }) => placed.push(place("_solution", path, kind, id)),
            None => gone.push(path.as_path()),
        }
    }
    if !gone.is_empty() {
        let script = format!("# Removes what the commit removes.\n{}", removal(&gone));
        written.push(("_solution.sh".into(), script));
    }
    let check_dir = Utf8Path::new("_tests").join(CHECK);
    let files: BTreeSet<(&str, &str)> = recipes
        .iter()
        .flat_map(|recipe| recipe.files.clone())
        .collect();
    let files = files.into_iter();
    written.extend(files.map(|(name, text)| (check_dir.join(name), text.to_owned())));
    let check = check_script(&chosen, recipes, &hidden.removed, wishes);
    written.push((check_dir.join("check.sh"), check));
    written.push((PROMPT.into(), prompt));
    let folder = folder(&chosen);
    let keys = keys(recipes, wishes);
    written.push((EVAL.into(), eval_file(&chosen, &folder, &keys, None)));
    for (path, text) in steps_of_tests(recipes, wishes) {
        placed.retain(|other| other.to != path);
        written.push((path, text));
    }
    Ok(Draft {
        chosen,
        folder,
        written,
        placed,
        keys,
    })
}

fn place(below: &str, path: &Utf8Path, kind: &Kind, id: &str) -> Placed {
    Placed {
        to: Utf8Path::new(below).join(path),
        from: path.to_owned(),
        kind: *kind,
        id: id.to_owned(),
    }
}

/// Returns the tree that the commit leaves.
fn after<'a>(tree: &'a [Entry], chosen: &'a Chosen) -> BTreeMap<&'a Utf8Path, (Kind, &'a str)> {
    let mut files: BTreeMap<&Utf8Path, (Kind, &str)> = tree
        .iter()
        .map(|entry| (entry.path.as_path(), (entry.kind, entry.id.as_str())))
        .collect();
    for Change { path, new, .. } in chosen.tests.iter().chain(&chosen.solution) {
        match new {
            Some(side) => files.insert(path, (side.kind, &side.id)),
            None => files.remove(path.as_path()),
        };
    }
    files
}

/// Files that tests find as the commit has them, and files that they do not find.
struct Hidden {
    kept: BTreeSet<Utf8PathBuf>,
    removed: BTreeSet<Utf8PathBuf>,
}

/// An agent may change every file that it sees. The tests, files beside them and the settings of the runner are those of
/// the commit.
fn hidden(
    chosen: &Chosen,
    after: &BTreeMap<&Utf8Path, (Kind, &str)>,
    recipes: &[Recipe],
) -> Hidden {
    let changed = chosen.tests.iter().map(|change| change.path.clone());
    let settings = recipes
        .iter()
        .flat_map(|recipe| recipe.settings.iter().cloned());
    let all: BTreeSet<Utf8PathBuf> = changed.chain(settings).collect();
    let (mut kept, removed): (BTreeSet<Utf8PathBuf>, BTreeSet<Utf8PathBuf>) = all
        .into_iter()
        .partition(|path| after.contains_key(path.as_path()));
    let dirs: BTreeSet<&Utf8Path> = chosen
        .run
        .iter()
        .filter_map(|(_, test)| test.parent())
        .collect();
    let beside = after.iter().filter(|(path, (kind, _))| {
        matches!(role_of(path), Role::Test(_) | Role::OfTests)
            && matches!(kind, Kind::File(_))
            && dirs.iter().any(|dir| path.starts_with(dir))
    });
    kept.extend(beside.map(|(path, _)| (*path).to_owned()).take(MOST_BESIDE));
    Hidden { kept, removed }
}

/// Returns files that a step of the setup writes and that tests must find as they were. Parts of one project share them.
fn steps_of_tests(recipes: &[Recipe], wishes: &Wishes) -> BTreeMap<Utf8PathBuf, String> {
    let steps = recipes.iter().flat_map(|recipe| &recipe.setup);
    steps
        .filter(|_| wishes.setup.is_none())
        .filter_map(|step| match step {
            Step::File(path, text) => Some((Utf8Path::new("_tests").join(path), text.clone())),
            Step::Command(_) => None,
        })
        .collect()
}

fn removal<P: AsRef<Utf8Path>>(paths: &[P]) -> String {
    let lines = paths
        .iter()
        .map(|path| format!("rm -rf -- {}\n", quoted(path.as_ref().as_str())));
    lines.collect()
}

fn check_script(
    chosen: &Chosen,
    recipes: &[Recipe],
    removed: &BTreeSet<Utf8PathBuf>,
    wishes: &Wishes,
) -> String {
    let mut script = "# Runs the tests of the commit.\nset -e\nmined=\"$PWD/.mined\"\n".to_owned();
    let steps = steps_of_tests(recipes, wishes);
    let removed: Vec<&Utf8PathBuf> = removed
        .iter()
        .filter(|path| !steps.iter().any(|(own, _)| own.ends_with(path)))
        .collect();
    if !removed.is_empty() {
        script += "# The commit has none of these, and they decide what is run.\n";
        script += &removal(&removed);
    }
    if let Some(command) = &wishes.test_command {
        let files: Vec<String> = chosen
            .run
            .iter()
            .map(|(_, test)| quoted(test.as_str()))
            .collect();
        return script + &command.replace("{files}", &files.join(" ")) + "\n";
    }
    for recipe in recipes {
        script += &format!("rm -f \"$TMPDIR/ran\"\n(\n{})\n", recipe.check);
    }
    script + "echo the tests of the commit have passed\n"
}

/// Writes a whole number as one.
fn seconds(seconds: f64) -> Value {
    match seconds.fract() == 0.0 {
        true => json!(seconds as u64),
        false => json!(seconds),
    }
}

/// Makes a name of the message's first words and the commit.
fn folder(chosen: &Chosen) -> String {
    let subject = without_pointers(chosen.commit.subject()).to_lowercase();
    let mut slug = String::new();
    for word in subject.split(|c: char| !c.is_ascii_alphanumeric()) {
        if slug.len() + word.len() > 40 {
            break;
        }
        if !word.is_empty() {
            slug += word;
            slug.push('-');
        }
    }
    format!(
        "{}{}",
        if slug.is_empty() { "commit-" } else { &slug },
        chosen.commit.short()
    )
}

/// Returns the keys that say how the eval is set up and tested.
fn keys(recipes: &[Recipe], wishes: &Wishes) -> String {
    let mut tags: Vec<&str> = recipes.iter().map(|recipe| recipe.tag).collect();
    tags.dedup();
    tags.extend(["mined", "edit-me"]);
    let mut text = String::new();
    let mut key = |name: &str, value: Value| text += &format!("{name}: {}\n", yaml_line(&value));
    key("promptFile", json!(PROMPT));
    key("tags", json!(tags));
    let prepare = prepare(recipes, wishes);
    if !prepare.is_empty() {
        key("prepare", Value::Array(prepare));
    }
    let test = json!([{
        "name": "tests of the commit",
        "commandSuccess": format!("sh {CHECK}/check.sh"),
        "timeoutSeconds": seconds(wishes.test_seconds),
    }]);
    key("tests", test);
    text
}

fn eval_file(chosen: &Chosen, folder: &str, keys: &str, by: Option<&Writer>) -> String {
    let commit = &chosen.commit;
    let editor = editor_line(&Utf8Path::new(folder).join(EVAL), EVAL_SCHEMA);
    let edit = match by {
        None => "# EDIT ME: prompt.md is the commit's message. Say what is wanted and how it is used, with every name that the\n\
                 # hidden tests need. Then remove the tag `edit-me`.\n"
            .to_owned(),
        Some(by) => format!(
            "# EDIT ME: {} wrote prompt.md from the commit. Read it beside the hidden tests, then remove the tag `edit-me`.\n",
            one_line(&by.words())
        ),
    };
    let mut mined = json!({ "commit": commit.id, "date": commit.date() });
    if let Some(by) = by {
        mined["promptBy"] = json!(by);
    }
    format!(
        "{editor}# Made by `terca mine` from the commit {} of {}.\n{edit}{keys}x-mined: {}\n",
        commit.short(),
        commit.date(),
        yaml_line(&mined)
    )
}

/// A model's name is anything that a service says, and a comment is one line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn prepare(recipes: &[Recipe], wishes: &Wishes) -> Vec<Value> {
    if let Some(command) = &wishes.setup {
        let is_empty = command.trim().is_empty();
        return if is_empty {
            Vec::new()
        } else {
            vec![json!({ "command": command })]
        };
    }
    let mut steps: Vec<Value> = Vec::new();
    for step in recipes.iter().flat_map(|recipe| &recipe.setup) {
        let step = match step {
            Step::Command(command) => json!({ "command": command }),
            // What looks like a variable is text.
            Step::File(path, text) => {
                json!({ "files": { path.as_str(): text.replace("${", "$${") } })
            }
        };
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}

#[cfg(test)]
mod tests;
