//! The files of an eval that a commit becomes.
//!
//! ```text
//! parse-empty-lines-3f2a1b9c0/
//!   eval.terca.yaml    setup, hidden check, where it comes from
//!   prompt.md          the commit's message, or the text of an agent, to be edited
//!   _base/             the tree of the commit's parent, without its history
//!   _tests/            the commit's tests and what is beside them; `.mined/check.sh` runs them, `.mined/check-2.sh` those
//!                      of a second runner
//!   _solution/         the rest of the commit; `_solution.sh` removes what it removes
//! ```

mod injected;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::choice::{Chosen, Role, role_of};
use super::code::inline::ADDED;
use super::commit::{Change, Entry, Kind, Object};
use super::describe::Writer;
use super::issues::Issues;
use super::lists::Lists;
use super::prompt::{prompt, without_pointers};
use super::recipe::{Recipe, Step};
use super::{Reason, Refusal};
use crate::new_suite::scaffold::{EVAL_SCHEMA, editor_line};
use crate::text::json::yaml_line;
use crate::text::shell::{joined, quoted, removal};
pub use injected::{injected, shared_keys};

/// The directory of the hidden check in the workspace.
const CHECK: &str = ".mined";
/// The files of an eval that say what it is.
const PROMPT: &str = "prompt.md";
const EVAL: &str = "eval.terca.yaml";
/// The tags of an eval whose prompt nobody has read, and of a bug.
const EDIT_ME: &str = "edit-me";
const INJECTED: &str = "injected";
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
    /// Issues and pull requests, whose texts become prompts.
    pub issues: Issues,
}

/// A file that is an object of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The directory of the eval that it is in.
    pub below: &'static str,
    /// Its path there and in the project.
    pub path: Utf8PathBuf,
    /// The object.
    pub object: Object,
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
    /// The programs that it needs.
    pub tools: Vec<&'static str>,
    /// Its hidden tests.
    pub checks: Vec<Check>,
    /// The keys of its file, without the tests.
    keys: String,
}

/// A hidden test of a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The script, in the directory of the check.
    script: String,
    /// The report that the runner writes; `None` where the user's command takes its place.
    report: Option<String>,
    /// The tests that must pass, once they are known.
    lists: Lists,
    seconds: f64,
}

impl Check {
    fn new(number: usize, seconds: f64, is_reported: bool) -> Self {
        let end = match number {
            0 => String::new(),
            number => format!("-{}", number + 1),
        };
        Check {
            name: format!("tests of the commit{}", end.replace('-', " ")),
            script: format!("check{end}.sh"),
            report: is_reported.then(|| format!("report{end}")),
            lists: Lists::default(),
            seconds,
        }
    }

    fn lines(&self) -> String {
        let command = format!("sh {CHECK}/{}", self.script);
        let asked = match &self.report {
            None => format!(" {command}\n"),
            Some(report) => {
                let lines = self.lists.lines();
                let must_pass = match lines.is_empty() {
                    true => lines,
                    false => format!("      mustPass:\n{lines}"),
                };
                format!("\n      command: {command}\n      report: {CHECK}/{report}\n{must_pass}")
            }
        };
        format!(
            "  - name: {}\n    commandSuccess:{asked}    timeoutSeconds: {}\n",
            self.name, self.seconds
        )
    }
}

impl Draft {
    /// Tells whether runners report each test.
    pub fn is_reported(&self) -> bool {
        self.checks.iter().all(|check| check.report.is_some())
    }

    /// Demands that these tests pass, a list for each check. Returns the file that differs.
    pub fn demand(&mut self, lists: Vec<Lists>) -> (&'static str, String) {
        for (check, lists) in self.checks.iter_mut().zip(lists) {
            check.lists = lists;
        }
        self.checks.retain(|check| !check.lists.is_empty());
        (EVAL, self.eval_file(None))
    }

    /// Returns the files that differ when an agent wrote the prompt.
    pub fn described(&self, prompt: String, by: &Writer) -> [(&'static str, String); 2] {
        [(PROMPT, prompt), (EVAL, self.eval_file(Some(by)))]
    }

    fn eval_file(&self, by: Option<&Writer>) -> String {
        let tests: String = self.checks.iter().map(Check::lines).collect();
        let keys = format!("{}tests:\n{tests}", self.keys);
        eval_file(&self.chosen, &self.folder, &keys, by)
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
    let prompt = prompt(&chosen, &wishes.issues)?;
    let mut after: Tree<'_> = tree
        .iter()
        .map(|entry| (entry.path.as_path(), &entry.object))
        .collect();
    let mut placed = Vec::new();
    let mut place = |below, path: &Utf8Path, object: &Object| {
        placed.push(Placed {
            below,
            path: path.to_owned(),
            object: object.clone(),
        });
    };
    for (path, object) in &after {
        place("_base", path, object);
    }
    for Change { path, new, .. } in chosen.tests.iter().chain(&chosen.solution) {
        match new {
            Some(object) => after.insert(path, object),
            None => after.remove(path.as_path()),
        };
    }
    let (kept, removed) = hidden(&chosen, &after, recipes);
    for path in &kept {
        if let Some(object) = after.get(path.as_path()) {
            place("_tests", path, object);
        }
    }
    let (mut gone, mut written) = (Vec::new(), Vec::new());
    for Change { path, new, .. } in &chosen.solution {
        match new {
            Some(object) => place("_solution", path, object),
            None => gone.push(path),
        }
    }
    if !gone.is_empty() {
        let script = format!("# Removes what the commit removes.\n{}", removal(gone));
        written.push(("_solution.sh".into(), script));
    }
    written.push((PROMPT.into(), prompt));
    let checks = checks(&chosen, recipes, &removed, wishes, &mut written);
    let mut draft = Draft {
        folder: folder(&chosen),
        chosen,
        written,
        placed,
        tools: tools(recipes, wishes),
        checks,
        keys: keys(recipes, wishes),
    };
    draft.written.push((EVAL.into(), draft.eval_file(None)));
    Ok(draft)
}

type Tree<'a> = BTreeMap<&'a Utf8Path, &'a Object>;
type Paths = BTreeSet<Utf8PathBuf>;

/// Returns the files that tests find as the commit has them, and files that they do not find.
///
/// An agent may change every file that it sees. The tests, files beside them and the settings of the runner are those of
/// the commit.
fn hidden(chosen: &Chosen, after: &Tree<'_>, recipes: &[Recipe]) -> (Paths, Paths) {
    let changed = chosen.tests.iter().map(|change| &change.path);
    let settings = recipes.iter().flat_map(|recipe| &recipe.settings);
    let (mut kept, removed): (Paths, Paths) = changed
        .chain(settings)
        .cloned()
        .partition(|path| after.contains_key(path.as_path()));
    let dirs: BTreeSet<&Utf8Path> = chosen
        .run
        .iter()
        .filter_map(|(_, test)| test.parent())
        .collect();
    let beside = after.iter().filter(|(path, object)| {
        matches!(role_of(path), Role::Test(_) | Role::OfTests)
            && matches!(object.kind, Kind::File(_))
            && dirs.iter().any(|dir| path.starts_with(dir))
    });
    kept.extend(beside.map(|(path, _)| (*path).to_owned()).take(MOST_BESIDE));
    (kept, removed)
}

/// Returns the checks, and adds their files.
fn checks(
    chosen: &Chosen,
    recipes: &[Recipe],
    removed: &Paths,
    wishes: &Wishes,
    written: &mut Vec<(Utf8PathBuf, String)>,
) -> Vec<Check> {
    let dir = Utf8Path::new("_tests").join(CHECK);
    let scripts: BTreeSet<_> = recipes.iter().filter_map(|recipe| recipe.script).collect();
    for (name, text) in scripts {
        written.push((dir.join(name), text.to_owned()));
    }
    for (path, text) in &chosen.inline {
        written.push((dir.join(path), text.clone()));
    }
    let lines = check_lines(chosen, recipes, wishes);
    let numbered = lines.iter().enumerate();
    let checks = numbered.map(|(number, lines)| {
        let check = Check::new(number, wishes.test_seconds, wishes.test_command.is_none());
        let script = check_script(&check, lines, removed, &chosen.inline);
        written.push((dir.join(&check.script), script));
        check
    });
    checks.collect()
}

/// Returns the lines of each check: the user's command, or those of a recipe.
fn check_lines(chosen: &Chosen, recipes: &[Recipe], wishes: &Wishes) -> Vec<String> {
    let Some(command) = &wishes.test_command else {
        return recipes.iter().map(|recipe| recipe.check.clone()).collect();
    };
    let files = joined(chosen.run.iter().map(|(_, test)| test));
    vec![command.replace("{files}", &files) + "\n"]
}

fn check_script(
    check: &Check,
    lines: &str,
    removed: &Paths,
    inline: &[(Utf8PathBuf, String)],
) -> String {
    let mut script = format!("# Runs the tests of the commit.\nmined=\"$PWD/{CHECK}\"\n");
    if let Some(report) = &check.report {
        script += &format!("report=\"$mined/{report}\"\n");
    }
    if !removed.is_empty() {
        script += "# The commit has none of these, and they decide what is run.\n";
        script += &removal(removed);
    }
    for (path, _) in inline {
        let path = quoted(path.as_str());
        // Another check may have done it.
        script += &format!("grep -qs {ADDED} {path} || cat \"$mined\"/{path} >> {path}\n");
    }
    script + lines
}

/// Returns the programs that recipes need, as far as commands of the user do not take their place.
pub fn tools(recipes: &[Recipe], wishes: &Wishes) -> Vec<&'static str> {
    let is_needed = |recipe: &&Recipe| {
        let is_used = wishes.test_command.is_none() || !recipe.setup.is_empty();
        wishes.setup.is_none() && is_used && !recipe.tool.is_empty()
    };
    let needed = recipes.iter().filter(is_needed);
    needed.map(|recipe| recipe.tool).collect()
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

/// Returns the keys of the eval, without the tests and those that say where it comes from.
fn keys(recipes: &[Recipe], wishes: &Wishes) -> String {
    let mut tags: Vec<&str> = recipes.iter().map(|recipe| recipe.tag).collect();
    tags.dedup();
    tags.extend(["mined", EDIT_ME]);
    let mut setup: Vec<Step> = Vec::new();
    let known = recipes.iter().flat_map(|recipe| recipe.setup.clone());
    let known = known.filter(|_| wishes.setup.is_none());
    for step in wishes.setup.iter().map(Step::new).chain(known) {
        if !step.command.trim().is_empty() && !setup.contains(&step) {
            setup.push(step);
        }
    }
    let mut text = format!("promptFile: {PROMPT}\ntags: {}\n", yaml_line(&json!(tags)));
    if !setup.is_empty() {
        text += &format!("prepare: {}\n", yaml_line(&json!(setup)));
    }
    let env = recipes.iter().flat_map(|recipe| recipe.env.clone());
    let env: BTreeMap<&str, &str> = env.filter(|_| wishes.setup.is_none()).collect();
    if !env.is_empty() {
        text += &format!("env: {}\n", yaml_line(&json!(env)));
    }
    text
}

fn eval_file(chosen: &Chosen, folder: &str, keys: &str, by: Option<&Writer>) -> String {
    let commit = &chosen.commit;
    let editor = editor_line(&Utf8Path::new(folder).join(EVAL), EVAL_SCHEMA);
    let edit = match by {
        // No commit has a message about it.
        None if keys.contains(INJECTED) => String::new(),
        None => "# EDIT ME: prompt.md is the commit's message. Say what is wanted and how it is used, with every name that the\n\
                 # hidden tests need. Then remove the tag `edit-me`.\n"
            .to_owned(),
        Some(by) => format!(
            "# EDIT ME: {} wrote prompt.md from the commit. Read it beside the hidden tests, then remove the tag `edit-me`.\n",
            by.words().replace(char::is_control, " ")
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

#[cfg(test)]
mod tests;
