//! Imports instances of SWE-bench, and of the benchmarks that have its fields, as evals.
//!
//! ```text
//! problem_statement      prompt.md
//! base_commit            _base/       its tree, from a local clone
//! patch             ─►   _solution/   the files after it; `_solution.sh` removes what it removes
//! test_patch             _tests/      the files after it, and what is beside them
//! FAIL_TO_PASS,          _tests/.swe-bench/tests.json: `check.sh` asks for each of them
//! PASS_TO_PASS
//! ```

mod instance;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use serde_json::json;

use super::imported::{self, EvalFile, Imported, Loss, Note};
use super::mine::choice::{Language, Role, role_of};
use super::mine::recipe::{Project, Step, recipes};
use crate::text::prose;
use crate::text::shell::{joined, quoted, removal};
pub use instance::{Instance, instances};

/// The directory of the hidden check in the workspace.
const CHECK: &str = ".swe-bench";
/// The limit of the tests, in seconds.
const TESTS_SECONDS: u64 = 600;
/// Files beside the tests that are put back with them, at most.
const MOST_BESIDE: usize = 300;
const RUNNER: &str = include_str!("run_listed.py");

/// The wishes for all instances.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wishes {
    /// The setup command, instead of those that are known for the project.
    pub setup: Option<String>,
    /// The command that runs tests, instead of pytest. `{files}` are the files of the tests.
    pub test_command: Option<String>,
}

/// Turns an instance into an eval without its `_base`, or says why that is impossible. The project is that of the base commit;
/// `solution` and `tests` are what the instance's patches make of it.
pub fn import(
    instance: &Instance,
    project: &Project<'_>,
    solution: &Changed,
    tests: &Changed,
    wishes: &Wishes,
) -> Result<Imported, String> {
    let mut notes = Vec::new();
    let mut written = vec![("prompt.md".into(), instance.problem.clone())];
    if !solution.binary.is_empty() {
        let files = prose::few(&solution.binary, 5);
        notes.push(Note::change(format!(
            "patch: {files} is not text, so the solution lacks it"
        )));
    }
    written.extend(solution.files("_solution"));
    let removal = removal(&solution.removed);
    if !removal.is_empty() {
        written.push((
            "_solution.sh".into(),
            format!("# Removes what the patch removes.\n{removal}"),
        ));
    }
    if tests.texts.is_empty() {
        return Err("its test_patch changes no text file".into());
    }
    if !tests.binary.is_empty() {
        let files = prose::few(&tests.binary, 5);
        notes.push(Note::lost(
            Loss::Files,
            format!("test_patch: {files} is not text, and the patch does not have it"),
        ));
    }
    let check = Check::of(instance, project, wishes, tests, &mut notes);
    written.extend(tests.files("_tests"));
    written.extend(check.files);
    let (repo, commit) = (&instance.repo, &instance.base_commit);
    let file = EvalFile {
        origin: format!("the instance {} ({repo} at {commit})", instance.id),
        tags: vec!["swe-bench", repo.rsplit('/').next().unwrap_or_default()],
        setup: &check.setup,
        tests: vec![imported::hidden_tests(CHECK, None, TESTS_SECONDS)],
        ..EvalFile::default()
    };
    let folder = imported::folder(&instance.id);
    Ok(file.eval(folder, written, Vec::new(), notes))
}

/// What a diff makes of the files of a commit.
#[derive(Debug, Default)]
pub struct Changed {
    /// The texts of files that are new or changed.
    pub texts: BTreeMap<Utf8PathBuf, String>,
    /// The files that are gone.
    pub removed: BTreeSet<Utf8PathBuf>,
    /// The files that are not text.
    pub binary: Vec<String>,
}

/// Returns the part of a diff that is about texts, and the names of the other files: a diff need not have their content.
pub fn text_part(diff: &str) -> (String, Vec<String>) {
    const BEGIN: &str = "diff --git ";
    let (mut text, mut others) = (String::new(), Vec::new());
    for part in format!("\n{diff}").split(&format!("\n{BEGIN}")).skip(1) {
        let mut lines = part.lines();
        let name = lines.next().and_then(|names| names.split(" b/").nth(1));
        match lines.any(|line| line.starts_with("Binary files ") || line == "GIT binary patch") {
            true => others.extend(name.map(str::to_owned)),
            false => text += &format!("{BEGIN}{}\n", part.trim_end_matches('\n')),
        }
    }
    (text, others)
}

impl Changed {
    fn files(&self, below: &str) -> Vec<(Utf8PathBuf, String)> {
        let files = self.texts.iter();
        files
            .map(|(path, text)| (Utf8Path::new(below).join(path), text.clone()))
            .collect()
    }
}

/// How the tests of an instance are set up and run.
#[derive(Debug, Default)]
struct Check {
    setup: Vec<Step>,
    files: Vec<(Utf8PathBuf, String)>,
}

impl Check {
    fn of(
        instance: &Instance,
        project: &Project<'_>,
        wishes: &Wishes,
        tests: &Changed,
        notes: &mut Vec<Note>,
    ) -> Self {
        let run = run(instance, project, tests);
        let mut known = project.files.clone();
        known.extend(tests.texts.keys().cloned());
        let text = |path: &Utf8Path| {
            tests
                .texts
                .get(path)
                .cloned()
                .or_else(|| (project.text)(path))
        };
        let after = Project {
            files: &known,
            text: &text,
        };
        let recipes = recipes(&run, &after);
        let mut check = Check::default();
        check.setup(
            instance,
            &after,
            wishes,
            recipes.iter().flat_map(|recipe| &recipe.setup),
        );
        let settings = recipes.iter().flat_map(|recipe| &recipe.settings);
        let settings: BTreeSet<&Utf8PathBuf> = settings.collect();
        let absent = settings
            .iter()
            .copied()
            .filter(|path| !known.contains(*path));
        let mut script = format!(
            "# Runs the tests of {}. Written by `terca import swe-bench`.\nset -e\n{}",
            instance.id,
            removal(tests.removed.iter().chain(absent))
        );
        let words = joined(run.iter().map(|(_, path)| path));
        match &wishes.test_command {
            Some(command) => script += &format!("{}\n", command.replace("{files}", &words)),
            None => {
                let names = [instance.fail_to_pass.as_slice(), &instance.pass_to_pass].concat();
                notes.extend(untestable(&run, &instance.fail_to_pass));
                script += &format!(
                    "python=python3\n[ ! -x .venv/bin/python ] || python=.venv/bin/python\nrm -f \"$TMPDIR/ran\"\n\
                     $python -I {CHECK}/run_listed.py \"$TMPDIR/ran\" {CHECK}/tests.json {words}\ntest -s \"$TMPDIR/ran\"\n"
                );
                check.file("run_listed.py", RUNNER.to_owned());
                check.file("tests.json", format!("{:#}\n", json!(names)));
            }
        }
        check.file("check.sh", script);
        let beside = beside(&run, project, &settings);
        let beside = beside
            .into_iter()
            .filter(|path| !tests.texts.contains_key(path) && !tests.removed.contains(path));
        for path in beside {
            if let Some(text) = (project.text)(&path) {
                check.files.push((Utf8Path::new("_tests").join(path), text));
            }
        }
        check
    }

    fn file(&mut self, name: &str, text: String) {
        self.files
            .push((Utf8Path::new("_tests").join(CHECK).join(name), text));
    }

    /// Takes over the commands of the recipes, or the wished one.
    fn setup<'a>(
        &mut self,
        instance: &Instance,
        project: &Project<'_>,
        wishes: &Wishes,
        known: impl Iterator<Item = &'a Step>,
    ) {
        if let Some(setup) = &wishes.setup {
            self.setup.push(Step::new(setup));
            return;
        }
        for step in known {
            if !self.setup.contains(step) {
                self.setup.push(step.clone());
            }
        }
        if self.setup.is_empty() && wishes.test_command.is_none() {
            let commands = [
                "python3 -m venv .venv",
                ".venv/bin/python -m pip install -q pytest",
            ];
            self.setup.extend(commands.map(Step::new));
        }
        // Without a history, this tool does not know the version.
        let asks = |name: &&str| {
            let text = (project.text)(Utf8Path::new(name)).unwrap_or_default();
            text.contains("setuptools_scm") || text.contains("setuptools-scm")
        };
        if ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(asks) {
            let version = quoted(instance.version.as_deref().unwrap_or("0"));
            for Step { command, .. } in &mut self.setup {
                *command = format!("export SETUPTOOLS_SCM_PRETEND_VERSION={version}; {command}");
            }
        }
    }
}

/// Returns the files of tests to run: those of the patch, and those that the names of tests begin with.
fn run(
    instance: &Instance,
    project: &Project<'_>,
    tests: &Changed,
) -> Vec<(Language, Utf8PathBuf)> {
    let names = instance.fail_to_pass.iter().chain(&instance.pass_to_pass);
    let named: BTreeSet<&Utf8Path> = names
        .filter_map(|name| Some(Utf8Path::new(name.split_once("::")?.0)))
        .collect();
    let changed = tests.texts.keys().map(Utf8PathBuf::as_path);
    let there = named.iter().copied();
    let there = there.filter(|path| project.files.contains(*path));
    let paths: BTreeSet<&Utf8Path> = there.chain(changed).collect();
    let language = |path: &Utf8Path| match role_of(path) {
        Role::Test(language) => Some(language),
        // Tests of some projects are named after what they test.
        _ if path.extension() == Some("py") && named.contains(path) => Some(Language::Python),
        _ => None,
    };
    let run = paths.into_iter();
    run.filter_map(|path| Some((language(path)?, path.to_owned())))
        .collect()
}

/// Returns what keeps pytest from running the tests.
fn untestable(run: &[(Language, Utf8PathBuf)], names: &[String]) -> Option<Note> {
    let is_python = |(language, _): &(Language, Utf8PathBuf)| *language == Language::Python;
    let plain = Regex::new(r"^(?:[^\s:]+::.*|\w+(?:\[.*)?)$").ok()?;
    let reason = if run.is_empty() || !run.iter().all(is_python) {
        "the tests are not those of Python".to_owned()
    } else if names.is_empty() {
        "FAIL_TO_PASS names no test".to_owned()
    } else {
        let odd = names.iter().find(|name| !plain.is_match(name))?;
        format!("FAIL_TO_PASS has {odd}, which is no name of pytest's")
    };
    let text = format!("{reason}; `--test-command` runs them with another runner");
    Some(Note::lost(Loss::Tests, text))
}

/// Returns files of the base commit that decide how tests run, or are beside them.
fn beside(
    run: &[(Language, Utf8PathBuf)],
    project: &Project<'_>,
    settings: &BTreeSet<&Utf8PathBuf>,
) -> BTreeSet<Utf8PathBuf> {
    let dirs: BTreeSet<&Utf8Path> = run.iter().filter_map(|(_, test)| test.parent()).collect();
    let is_beside = |path: &&Utf8PathBuf| {
        matches!(role_of(path), Role::Test(_) | Role::OfTests)
            && dirs.iter().any(|dir| path.parent() == Some(dir))
    };
    let mut all: BTreeSet<Utf8PathBuf> = project
        .files
        .iter()
        .filter(is_beside)
        .take(MOST_BESIDE)
        .cloned()
        .collect();
    let settings = settings
        .iter()
        .filter(|path| project.files.contains(**path));
    all.extend(settings.map(|path| (*path).clone()));
    all
}

#[cfg(test)]
mod tests;
