//! Finds commands that name a file which they do not see in a sandbox.

use camino::{Utf8Path, Utf8PathBuf};

use super::path_in_suite;
use crate::config::sandbox::Sandbox;
use crate::config::suite::Action;
use crate::grade::absolute_programs_named;
use crate::plan::fingerprint::{suite_variable_unquoted, words};
use crate::plan::project_dir::ProjectDir;
use crate::plan::{Case, CommandLine};
use crate::reader::paths::beside;
use crate::reader::{PathKind, Surroundings};
use crate::text::{Code, Diagnostic, Place, prose};

/// Directories whose files are there in a sandbox.
const SYSTEM: [&str; 13] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/dev", "/proc", "/sys", "/run",
    "/nix", "/gnu",
];
/// Directories that a command has for itself. A name there is one of its own files.
const OWN: [&str; 2] = ["/tmp/", "/var/tmp/"];

/// The search in one plan.
pub(super) struct HiddenPaths {
    project: ProjectDir,
    /// The commands that were looked at. One of the suite is in many cases.
    known: Vec<Place>,
}

impl HiddenPaths {
    /// Begins a search.
    pub(super) fn around(root: &Utf8Path, surroundings: &dyn Surroundings) -> Self {
        HiddenPaths {
            project: ProjectDir::of(root, surroundings),
            known: Vec::new(),
        }
    }

    /// Warns of each such command of a case. A test whose program is not there could only fail.
    pub(super) fn check(
        &mut self,
        case: &Case,
        surroundings: &dyn Surroundings,
    ) -> Vec<Diagnostic> {
        let mut commands: Vec<CommandLine<'_>> = case.commands().collect();
        commands.retain(|command| !self.known.contains(&command.place));
        if case.variant.sandbox == Some(Sandbox::None) || commands.is_empty() {
            return Vec::new();
        }
        self.known
            .extend(commands.iter().map(|command| command.place));
        warnings(case, commands, &self.project, surroundings)
    }
}

fn warnings(
    case: &Case,
    commands: Vec<CommandLine<'_>>,
    project: &ProjectDir,
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    let root = &case.suite.root;
    let programs = surroundings.variable("PATH").unwrap_or_default();
    let inputs = case
        .all_actions()
        .into_iter()
        .flat_map(|action| match action {
            Action::Run(command) => command.inputs.as_slice(),
            Action::Copy { .. } | Action::Write { .. } => &[],
        });
    let inputs: Vec<&Utf8Path> = inputs.map(|input| &*input.path).collect();
    let mut shown = inputs.clone();
    shown.extend(project.path().into_iter().chain([&**root]));
    shown.extend(SYSTEM.map(Utf8Path::new));
    shown.extend(
        programs
            .split(':')
            .filter(|dir| !dir.is_empty())
            .map(Utf8Path::new),
    );
    let is_hidden = |path: &Utf8PathBuf| {
        // A directory is there as far as inputs are in it.
        let is_shown = shown.iter().any(|dir| path.starts_with(dir))
            || inputs.iter().any(|input| input.starts_with(path));
        !is_shown && surroundings.kind(path) != PathKind::Missing
    };
    let warning = |command: CommandLine<'_>| {
        let programs = absolute_programs_named(command.line).into_iter();
        let mut programs = programs
            .filter(|_| command.is_of_test)
            .map(Utf8Path::to_owned);
        if let Some(program) = programs.find(|program| is_hidden(program)) {
            let warning = told(command, &[program], project);
            // Without a word about sandboxes there may be none.
            return Some(match case.variant.sandbox {
                Some(_) => warning.as_error(),
                None => warning,
            });
        }
        let line = suite_variable_unquoted(command.line);
        let named = words(&line).filter_map(|word| match path_in_suite(word) {
            Some(path) => Some(beside(root, path)),
            None if OWN.iter().any(|dir| word.starts_with(dir)) => None,
            None => word.starts_with('/').then(|| beside(root, word)),
        });
        let mut hidden: Vec<Utf8PathBuf> = named.filter(is_hidden).collect();
        hidden.dedup();
        (!hidden.is_empty()).then(|| told(command, &hidden, project))
    };
    commands.into_iter().filter_map(warning).collect()
}

fn told(command: CommandLine<'_>, hidden: &[Utf8PathBuf], project: &ProjectDir) -> Diagnostic {
    let (whose, fix) = match command.is_of_test {
        true => ("a test", "copy the file into the suite"),
        false => (
            "a command of the setup",
            "copy the file into the suite, or use it in `prepare` and name it in `inputs`",
        ),
    };
    let message = format!(
        "{whose} names {}, which is not there in a sandbox",
        prose::quoted_list(hidden, "and")
    );
    let warning = Diagnostic::warning(Code::HiddenPath, message).at(
        command.place,
        project.words().unwrap_or(
            "setup and tests see the suite's git repository, and no other files of yours",
        ),
    );
    let warning = match project {
        ProjectDir::Suite(_) => warning.help(
            "run `git init` in the directory of the project: setup and tests see all of it then",
        ),
        _ => warning,
    };
    warning.help(fix)
}
