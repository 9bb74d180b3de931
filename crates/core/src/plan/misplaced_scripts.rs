//! Finds scripts that are beside a YAML file while the command that calls them looks in the workspace.
//!
//! `./setup.sh` in an action or a test is a file of the workspace, as `./gradlew` is. The same words in `agent.command`
//! mean the file beside the YAML file, so people write them for both. Where nothing that the suite says brings the file
//! into the workspace, the command could only fail in every trial.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Case, Layer, Plan};
use crate::config::suite::{Action, ShellCommand};
use crate::grade::{Question, may_bring_files, script_paths_named};
use crate::reader::{PathKind, Surroundings};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::Place;

/// Reports every such script of a plan.
pub fn report_misplaced_scripts(
    plan: &Plan,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) {
    let mut reported = BTreeSet::new();
    let mut last: Option<&Arc<Case>> = None;
    for trial in &plan.trials {
        if last.is_some_and(|last| Arc::ptr_eq(last, &trial.case)) {
            continue;
        }
        last = Some(&trial.case);
        let mut looking = Looking {
            case: &trial.case,
            surroundings,
            directories: Vec::new(),
            actions: Vec::new(),
            reported: &mut reported,
            problems: &mut *problems,
        };
        looking.look();
    }
}

/// A look at one case, from its first layer to its tests.
struct Looking<'a, 'p> {
    case: &'a Case,
    surroundings: &'p dyn Surroundings,
    /// The directories that the workspace has been made from so far.
    directories: Vec<&'a Utf8Path>,
    /// The actions so far.
    actions: Vec<&'a Action>,
    reported: &'p mut BTreeSet<(Utf8PathBuf, String)>,
    problems: &'p mut Diagnostics,
}

impl<'a> Looking<'a, '_> {
    fn look(&mut self) {
        let case = self.case;
        self.look_at_layers(&case.layers);
        self.look_at_actions(&case.actions);
        if let Some(command) = &case.variant.command {
            self.look_at_command(command);
        }
        self.directories.extend(case.eval.tests_layer.as_deref());
        for test in &case.eval.tests {
            if let Question::Command { command, .. } = test.question() {
                for path in script_paths_named(command) {
                    // The agent may be asked to write it.
                    let name = path.file_name().unwrap_or(path.as_str());
                    if !case.prompt.contains(name) {
                        self.look_for(path, command, &test.dir, test.place);
                    }
                }
            }
        }
    }

    fn look_at_layers(&mut self, layers: &'a [Layer]) {
        for layer in layers {
            match layer {
                Layer::Directory(directory) => self.directories.push(directory),
                Layer::Prepared(prepared) => {
                    self.look_at_layers(&prepared.below);
                    self.look_at_actions(&prepared.actions);
                }
            }
        }
    }

    fn look_at_actions(&mut self, actions: &'a [Action]) {
        for action in actions {
            if let Action::Run(command) = action {
                self.look_at_command(command);
            }
            self.actions.push(action);
        }
    }

    fn look_at_command(&mut self, command: &ShellCommand) {
        for path in script_paths_named(&command.command) {
            self.look_for(path, &command.command, &command.dir, command.place);
        }
    }

    fn look_for(&mut self, path: &Utf8Path, command: &str, dir: &Utf8Path, place: Place) {
        let clean: Utf8PathBuf = path
            .components()
            .filter(|part| part.as_str() != ".")
            .collect();
        let beside = dir.join(&clean);
        if self.surroundings.kind(&beside) != PathKind::File || self.may_be_there(&clean) {
            return;
        }
        if !self.reported.insert((dir.to_owned(), command.to_owned())) {
            return;
        }
        let message = format!(
            "Terca looks for `{path}` in the workspace, but it is only beside the YAML file"
        );
        let in_suite = match beside.strip_prefix(&self.case.suite.root) {
            Ok(inside) => format!("\"$TERCA_SUITE_DIR/{inside}\""),
            Err(_) => beside.to_string(),
        };
        let diagnostic = Diagnostic::error(Code::MissingFile, message);
        let diagnostic = diagnostic.at(place, format!("this is about {beside}"));
        self.problems.push(diagnostic.help(format!(
            "call it as `{in_suite}`, or copy it into the workspace with `copy`"
        )));
    }

    /// Returns whether the suite brings a file into the workspace, or may do so in a command that names it.
    fn may_be_there(&self, path: &Utf8Path) -> bool {
        let is_file = |path: Utf8PathBuf| self.surroundings.kind(&path) == PathKind::File;
        let name = path.file_name().unwrap_or(path.as_str());
        self.directories
            .iter()
            .any(|directory| is_file(directory.join(path)))
            || self.actions.iter().any(|action| match action {
                Action::Copy {
                    source,
                    destination,
                } => match path.strip_prefix(destination) {
                    Ok(rest) if rest.as_str().is_empty() => true,
                    Ok(rest) => is_file(source.join(rest)),
                    Err(_) => false,
                },
                Action::Write { destination, .. } => destination == path,
                Action::Run(command) => {
                    command.command.contains(name) || may_bring_files(&command.command)
                }
            })
    }
}
