//! Finds scripts that a command calls and cannot start: they are not executable, not in the workspace, or not there at all,
//! or they have line ends that no shell understands.
//!
//! `./setup.sh` in an action or a test is a file of the workspace, as `./gradlew` is. The same words in `agent.command`
//! mean the file beside the YAML file, so people write them for both. Where nothing that the suite says brings the file
//! into the workspace, the command could only fail in every trial.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::sandbox::Sandbox;
use crate::config::suite::Action;
use crate::grade::{bare_scripts_named, may_bring_files, script_paths_named};
use crate::plan::{Case, CommandLine, Layer};
use crate::reader::{PathKind, Surroundings, Unstartable, unstartable};
use crate::text::{Code, Diagnostic};

/// Reports each such script of a case.
pub(super) fn check(case: &Case, surroundings: &dyn Surroundings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for command in case.commands() {
        for written in script_paths_named(command.line) {
            found.extend(path(case, command, written, surroundings));
        }
        for name in bare_scripts_named(command.line) {
            found.extend(bare(case, command, name, surroundings));
        }
        found.extend(read_by_shells(case, command, surroundings));
    }
    found
}

/// Looks at a path that a command calls.
fn path(
    case: &Case,
    command: CommandLine<'_>,
    written: &Utf8Path,
    surroundings: &dyn Surroundings,
) -> Option<Diagnostic> {
    let is_file = |path: &Utf8Path| surroundings.kind(path) == PathKind::File;
    let is_built = case.variant.command.is_some() || !case.all_actions().is_empty();
    let parts = written.components().filter(|part| part.as_str() != ".");
    let path: Utf8PathBuf = parts.collect();
    let name = path.file_name().unwrap_or(path.as_str());
    // The agent may be asked to write it, or to change it.
    let is_asked_for = command.is_of_test && case.prompt.contains(name);
    let in_dir = |dir: &Utf8Path| Some(dir.join(&path)).filter(|file| is_file(file));
    let hidden = case.eval.tests_layer.as_deref();
    let hidden = hidden.filter(|_| command.is_of_test).and_then(in_dir);
    let layers = Layer::directories(&case.layers);
    let shown = layers.iter().rev().find_map(|dir| in_dir(dir));
    let beside = command.dir.join(&path);
    if hidden.is_none() && shown.is_none() {
        let is_missing = !is_asked_for && !may_be_brought(case, &path, &is_file);
        return (is_missing && is_file(&beside))
            .then(|| misplaced(case, command, written, &beside));
    }
    let is_final = !is_asked_for && !is_built;
    let file = hidden.or(shown.filter(|_| is_final))?;
    let is_mended = !command.is_of_test || command.line.contains("chmod");
    let problem = (!is_mended).then(|| unstartable(&file, false, surroundings))??;
    Some(cannot_start(
        case,
        command,
        &format!("./{path}"),
        &file,
        &problem,
    ))
}

/// Looks at a bare name, such as `setup.sh`. It is found beside the YAML file and in the workspace, which are at the end of
/// `PATH`.
fn bare(
    case: &Case,
    command: CommandLine<'_>,
    name: &str,
    surroundings: &dyn Surroundings,
) -> Option<Diagnostic> {
    let is_file = |path: &Utf8Path| surroundings.kind(path) == PathKind::File;
    let layers = Layer::directories(&case.layers);
    let mut dirs = layers.into_iter().chain(case.eval.tests_layer.as_deref());
    let in_workspace = dirs.any(|dir| is_file(&dir.join(name)))
        || case.prompt.contains(name)
        || may_be_brought(case, Utf8Path::new(name), &is_file);
    let file = command.dir.join(name);
    if !in_workspace && is_file(&file) {
        let problem = unstartable(&file, false, surroundings)?;
        return Some(cannot_start(case, command, name, &file, &problem));
    }
    let programs = surroundings.variable("PATH").unwrap_or_default();
    let mut dirs = programs.split(':').filter(|dir| !dir.is_empty());
    let is_there = in_workspace || dirs.any(|dir| is_file(&Utf8Path::new(dir).join(name)));
    // An image has programs of its own, and a worker has some of the files alone.
    let is_own = matches!(
        case.variant.sandbox,
        Some(Sandbox::Docker(_) | Sandbox::Podman(_) | Sandbox::Build(_))
    );
    if is_there || is_own || surroundings.is_partial() || command.line.contains("PATH=") {
        return None;
    }
    let shown = file.strip_prefix(&case.suite.root).unwrap_or(&file);
    let error = Diagnostic::error(
        Code::MissingFile,
        format!("the program `{name}` is not there"),
    )
    .at(
        command.place,
        format!("Terca looks for {shown}, and for a program of that name"),
    );
    Some(error.help(format!(
        "make {shown}, or call a file of the workspace as `./{name}`"
    )))
}

/// Looks at the hidden scripts that a test has a shell read, as in `sh check.sh`.
fn read_by_shells(
    case: &Case,
    command: CommandLine<'_>,
    surroundings: &dyn Surroundings,
) -> Option<Diagnostic> {
    let hidden = case.eval.tests_layer.as_deref();
    let hidden = hidden.filter(|_| command.is_of_test)?;
    let words: Vec<&str> = command.line.split_whitespace().collect();
    let mut pairs = words.windows(2);
    pairs.find_map(|pair| {
        let file = hidden.join(pair[1]);
        let is_read = matches!(pair[0], "sh" | "bash" | "dash" | ".");
        let is_read = is_read && surroundings.kind(&file) == PathKind::File;
        let problem = is_read.then(|| unstartable(&file, true, surroundings))??;
        Some(cannot_start(case, command, pair[1], &file, &problem))
    })
}

/// Reports a script that could not be started in any trial.
fn cannot_start(
    case: &Case,
    command: CommandLine<'_>,
    written: &str,
    file: &Utf8Path,
    problem: &Unstartable,
) -> Diagnostic {
    let shown = file.strip_prefix(&case.suite.root).unwrap_or(file);
    let message = format!("`{written}` cannot be started: {shown} {}", problem.why);
    let label = match command.is_of_test {
        true => "this test would fail every agent",
        false => "every trial would end in an error here",
    };
    let mut help = format!("`{} {shown}`", problem.fix);
    if problem.fix.starts_with("chmod") && command.is_of_test {
        help += &format!(", or call it as `sh {}`", written.trim_start_matches("./"));
    }
    Diagnostic::error(Code::NotExecutable, message)
        .at(command.place, label)
        .help(help)
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
            let is_called = called.any(|other| other.file_name() == Some(name))
                || bare_scripts_named(line).contains(&name);
            !is_called && (line.contains(name) || may_bring_files(line))
        }
    })
}
