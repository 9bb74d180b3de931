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
    let mut found = Vec::new();
    for command in case.commands() {
        for written in script_paths_named(command.line) {
            let parts = written.components().filter(|part| part.as_str() != ".");
            let path: Utf8PathBuf = parts.collect();
            let name = path.file_name().unwrap_or(path.as_str());
            // The agent may be asked to write it, or to change it.
            let is_asked_for = command.is_of_test && case.prompt.contains(name);
            let is_built = case.variant.command.is_some() || !case.all_actions().is_empty();
            let script = Script {
                case,
                command,
                path: &path,
                surroundings,
            };
            found.extend(match script.in_suite() {
                Some((file, is_hidden)) if is_hidden || !(is_asked_for || is_built) => {
                    script.not_executable(&file)
                }
                None if !is_asked_for => script.misplaced(written),
                _ => None,
            });
        }
    }
    found
}

/// A script that a command calls.
struct Script<'a> {
    case: &'a Case,
    command: CommandLine<'a>,
    path: &'a Utf8Path,
    surroundings: &'a dyn Surroundings,
}

impl Script<'_> {
    fn is_file(&self, path: &Utf8Path) -> bool {
        self.surroundings.kind(path) == PathKind::File
    }

    /// Returns the file of the suite that the command finds in the workspace, and whether it is a hidden one of the tests.
    fn in_suite(&self) -> Option<(Utf8PathBuf, bool)> {
        let hidden = self.case.eval.tests_layer.as_deref();
        let hidden = hidden.filter(|_| self.command.is_of_test);
        let layers = Layer::directories(&self.case.layers).into_iter().rev();
        let layers = layers.map(|dir| (dir, false));
        let mut all = hidden.map(|dir| (dir, true)).into_iter().chain(layers);
        all.find_map(|(dir, is_hidden)| {
            let file = dir.join(self.path);
            self.is_file(&file).then_some((file, is_hidden))
        })
    }

    /// Warns of a script that a test calls as a program and that is not executable. It would fail the agent.
    fn not_executable(&self, file: &Utf8Path) -> Option<Diagnostic> {
        let Script {
            case,
            command,
            path,
            ..
        } = self;
        let is_said = command.is_of_test && !command.line.contains("chmod");
        if !is_said || self.surroundings.is_executable(file) {
            return None;
        }
        let shown = file.strip_prefix(&case.suite.root).unwrap_or(file);
        let message = format!("`./{path}` cannot be started: {shown} is not executable");
        Some(
            Diagnostic::warning(Code::NotExecutable, message)
                .at(command.place, "this test would fail every agent")
                .help(format!("`chmod +x {shown}`, or call it as `sh {path}`")),
        )
    }

    /// Reports a script that is only beside the YAML file.
    fn misplaced(&self, written: &Utf8Path) -> Option<Diagnostic> {
        let beside = self.command.dir.join(self.path);
        if !self.is_file(&beside) || self.may_be_brought() {
            return None;
        }
        let message = format!(
            "Terca looks for `{written}` in the workspace, but it is only beside the YAML file"
        );
        let in_suite = match beside.strip_prefix(&self.case.suite.root) {
            Ok(inside) => format!("\"$TERCA_SUITE_DIR/{inside}\""),
            Err(_) => beside.to_string(),
        };
        Some(
            Diagnostic::error(Code::MissingFile, message)
                .at(self.command.place, format!("this is about {beside}"))
                .help(format!(
                    "call it as `{in_suite}`, or copy it into the workspace with `copy`"
                )),
        )
    }

    /// Tells whether an action brings the file into the workspace, or may do so in a command that names it.
    fn may_be_brought(&self) -> bool {
        let path = self.path;
        let name = path.file_name().unwrap_or(path.as_str());
        self.case
            .all_actions()
            .into_iter()
            .any(|action| match action {
                Action::Copy {
                    source,
                    destination,
                } => match path.strip_prefix(destination) {
                    Ok(rest) if rest.as_str().is_empty() => true,
                    Ok(rest) => self.is_file(&source.join(rest)),
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
}
