//! Finds scripts that a command calls and cannot start: they are not executable, or not in the workspace.
//!
//! `./setup.sh` in an action or a test is a file of the workspace, as `./gradlew` is. The same words in `agent.command`
//! mean the file beside the YAML file, so people write them for both. Where nothing that the suite says brings the file
//! into the workspace, the command could only fail in every trial.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::suite::Action;
use crate::grade::{may_bring_files, script_paths_named};
use crate::plan::{Case, CommandLine, Layer};
use crate::reader::{PathKind, Surroundings};
use crate::text::{Code, Diagnostic};

/// Reports each such script of a case.
pub(super) fn check(case: &Case, surroundings: &dyn Surroundings) -> Vec<Diagnostic> {
    let is_file = |path: &Utf8Path| surroundings.kind(path) == PathKind::File;
    let layers = Layer::directories(&case.layers);
    let is_built = case.variant.command.is_some() || !case.all_actions().is_empty();
    let mut found = Vec::new();
    for command in case.commands() {
        for written in script_paths_named(command.line) {
            let parts = written.components().filter(|part| part.as_str() != ".");
            let path: Utf8PathBuf = parts.collect();
            let name = path.file_name().unwrap_or(path.as_str());
            // The agent may be asked to write it, or to change it.
            let is_asked_for = command.is_of_test && case.prompt.contains(name);
            let in_dir = |dir: &Utf8Path| Some(dir.join(&path)).filter(|file| is_file(file));
            let hidden = case.eval.tests_layer.as_deref();
            let hidden = hidden.filter(|_| command.is_of_test).and_then(in_dir);
            let shown = layers.iter().rev().find_map(|dir| in_dir(dir));
            let beside = command.dir.join(&path);
            if hidden.is_none() && shown.is_none() {
                let is_missing = !is_asked_for && !may_be_brought(case, &path, &is_file);
                if is_missing && is_file(&beside) {
                    found.push(misplaced(case, command, written, &beside));
                }
                continue;
            }
            let is_final = !is_asked_for && !is_built;
            let file = hidden.or(shown.filter(|_| is_final));
            if let Some(file) = file.filter(|file| !surroundings.is_executable(file))
                && command.is_of_test
                && !command.line.contains("chmod")
            {
                found.push(not_executable(case, command, &path, &file));
            }
        }
    }
    found
}

/// Warns of a script that a test calls as a program and that is not executable. It would fail the agent.
fn not_executable(
    case: &Case,
    command: CommandLine<'_>,
    path: &Utf8Path,
    file: &Utf8Path,
) -> Diagnostic {
    let shown = file.strip_prefix(&case.suite.root).unwrap_or(file);
    let message = format!("`./{path}` cannot be started: {shown} is not executable");
    Diagnostic::warning(Code::NotExecutable, message)
        .at(command.place, "this test would fail every agent")
        .help(format!("`chmod +x {shown}`, or call it as `sh {path}`"))
}

/// Reports a script that is only beside the YAML file.
fn misplaced(
    case: &Case,
    command: CommandLine<'_>,
    written: &Utf8Path,
    beside: &Utf8Path,
) -> Diagnostic {
    let message = format!(
        "Terca looks for `{written}` in the workspace, but it is only beside the YAML file"
    );
    let in_suite = match beside.strip_prefix(&case.suite.root) {
        Ok(inside) => format!("\"$TERCA_SUITE_DIR/{inside}\""),
        Err(_) => beside.to_string(),
    };
    Diagnostic::error(Code::MissingFile, message)
        .at(command.place, format!("this is about {beside}"))
        .help(format!(
            "call it as `{in_suite}`, or copy it into the workspace with `copy`"
        ))
}

/// Tells whether an action brings a file into the workspace, or may do so in a command that names it.
fn may_be_brought(case: &Case, path: &Utf8Path, is_file: &dyn Fn(&Utf8Path) -> bool) -> bool {
    let name = path.file_name().unwrap_or(path.as_str());
    let mut actions = case.all_actions().into_iter();
    actions.any(|action| match action {
        Action::Copy {
            source,
            destination,
        } => match path.strip_prefix(destination) {
            Ok(rest) => rest.as_str().is_empty() || is_file(&source.join(rest)),
            Err(_) => false,
        },
        Action::Write { destination, .. } => destination == path,
        Action::Run(command) => {
            let line = &command.command;
            let mut called = script_paths_named(line).into_iter();
            let is_called = called.any(|other| other.file_name() == Some(name));
            !is_called && (line.contains(name) || may_bring_files(line))
        }
    })
}
