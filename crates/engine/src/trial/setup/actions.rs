//! Executes the actions that build a workspace, in a trial and in a layer alike.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::suite::{Action, ShellCommand};
use terca_core::grade::with_failure_line;
use terca_core::plan::PreparedLayer;
use terca_core::text::mask::Masked;
use terca_core::text::prose;
use terca_core::transcript::Usage;

use crate::host::environment::Variables;
use crate::host::registries;
use crate::process::output_file::{Output, read_text};
use crate::tree::{Dir, Kind, TreeError, copy_file};
use crate::trial::command::Shell;
use crate::trial::containment::Side;
use crate::trial::output::Logged;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::base_layers::copy_visible;
use crate::workspace::trial_dirs::TrialDirs;

/// The part of the set-up that an action belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// `before` of the suite, the eval or the variant.
    Before,
    /// The variant's `command`.
    Command,
    /// `prepare`, whose result all trials share.
    Prepare(&'a PreparedLayer),
}

impl Part<'_> {
    fn as_str(self) -> &'static str {
        match self {
            Part::Before => "before",
            Part::Command => "command",
            Part::Prepare(_) => "prepare",
        }
    }

    /// Returns the variables of a command whose YAML file is in the directory `beside`.
    fn environment(self, run: &TrialRun<'_>, beside: &Utf8Path) -> Variables {
        match self {
            Part::Before | Part::Command => run.command_environment(run.dirs.for_setup(), beside),
            Part::Prepare(layer) => {
                let given = run.registry_variables().into_iter();
                let given = given.chain(layer.env.iter().cloned());
                let facts = [("TERCA_SUITE_DIR", run.context.suite_dir.to_string())];
                let beside = run.context.sealed.dir(beside);
                let dirs = run.dirs.for_layer();
                let mut variables = run.host().for_suite(dirs, given, &beside, facts);
                // All variants share the result, and all evals where it is the suite's.
                let eval = layer.eval.iter();
                variables.extend(eval.map(|eval| ("TERCA_EVAL".to_owned(), eval.clone())));
                variables
            }
        }
    }
}

/// Executes one action in the trial's workspace.
pub(super) fn execute(
    run: &mut TrialRun<'_>,
    part: Part<'_>,
    action: &Action,
) -> Result<(), StageError> {
    match action {
        Action::Copy {
            source,
            destination,
        } => {
            run.log
                .section(&format!("copy: {source} → {destination}"))?;
            copy(run, source, destination)
        }
        Action::Write {
            destination,
            content,
        } => {
            run.log.section(&format!("file: {destination}"))?;
            write(&run.dirs, destination, content)
                .map_err(|error| StageError::setup(&format!("file {destination}"), &error))
        }
        Action::Run(command) => run_command(run, part, command),
    }
}

fn copy(run: &TrialRun<'_>, source: &Utf8Path, destination: &Utf8Path) -> Result<(), StageError> {
    let sealed = run.context.sealed.open(source)?;
    copy_from(run, &format!("copy {source}"), &sealed, destination)
}

/// Copies a file or a directory of the layers below into the workspace, each layer over the one below it.
pub(super) fn copy_from_layers(
    run: &TrialRun<'_>,
    below: &[Utf8PathBuf],
    file: &Utf8Path,
) -> Result<(), StageError> {
    let step = format!("onlyFiles {file}");
    let sources = below.iter().map(|dir| dir.join(file));
    let mut sources = sources.filter(|source| source.exists()).peekable();
    if sources.peek().is_none() {
        let reason =
            "no `_base` directory of the suite or the eval has it; remove it from `onlyFiles`";
        return Err(StageError::setup(&step, &reason));
    }
    sources.try_for_each(|source| copy_from(run, &step, &source, file))
}

fn copy_from(
    run: &TrialRun<'_>,
    step: &str,
    source: &Utf8Path,
    destination: &Utf8Path,
) -> Result<(), StageError> {
    let refused = |error: io::Error| StageError::setup(step, &error);
    let target = open_target(&run.dirs, destination).map_err(refused)?;
    let meta = fs_err::metadata(source).map_err(refused)?;
    // A link to a directory leads to one, as for a shell.
    if let Ok(there) = target.metadata()
        && there.is_dir() != meta.is_dir()
    {
        let clash = clash(there.is_dir(), destination);
        return Err(StageError::setup(step, &clash));
    }
    if meta.is_dir() {
        fs_err::create_dir_all(&target).map_err(refused)?;
    }
    let copied = if meta.is_dir() {
        copy_dir(run, source, &target)
    } else if meta.is_file() {
        copy_one(run, source, &target)
    } else {
        Err(TreeError::NotAFile {
            path: source.into(),
        })
    };
    copied.map_err(|error| match error {
        TreeError::OtherKind { path, is_dir } => StageError::setup(
            &format!("{step}/{}", path.display()),
            &clash(is_dir, &destination.join(path.to_string_lossy().as_ref())),
        ),
        error => StageError::setup_tree(step, error),
    })
}

/// Says that a file would take the place of a directory, or the reverse. Either would remove what the user has there.
fn clash(there_is_dir: bool, destination: &Utf8Path) -> String {
    if there_is_dir {
        format!(
            "it is a file, and `{destination}` in the workspace is a directory; \
             to copy into the directory, write `{destination}/`"
        )
    } else {
        format!(
            "it is a directory, and `{destination}` in the workspace is a file; \
             choose another destination, or remove the file in a command before"
        )
    }
}

fn copy_dir(run: &TrialRun<'_>, source: &Utf8Path, target: &Utf8Path) -> Result<(), TreeError> {
    let options = run.context.suite_tree();
    let from = Dir::open(source)?;
    let to = Dir::open(target)?;
    copy_visible(
        &from,
        &to,
        &options,
        &mut |entry| match to.meta_at(entry.path) {
            Ok(Some(there)) if !there.is_link() && there.is_dir() != (entry.kind == Kind::Dir) => {
                Err(TreeError::OtherKind {
                    path: entry.path.to_owned(),
                    is_dir: there.is_dir(),
                })
            }
            _ => Ok(()),
        },
    )
    .map(|_| ())
}

fn copy_one(run: &TrialRun<'_>, source: &Utf8Path, target: &Utf8Path) -> Result<(), TreeError> {
    let file = fs_err::File::open(source).map_err(|error| TreeError::Io {
        path: source.into(),
        source: error,
    })?;
    let parent = Dir::open(target.parent().unwrap_or(target))?;
    let name = target.file_name().unwrap_or_default().as_ref();
    copy_file(file.file(), &parent, name, &run.context.suite_tree()).map(|_| ())
}

fn write(dirs: &TrialDirs, destination: &Utf8Path, content: &str) -> io::Result<()> {
    let target = open_target(dirs, destination)?;
    // Always a new file: the old one may be read-only, or a link to another place in the workspace.
    match target.symlink_metadata() {
        Ok(meta) if meta.is_dir() => {
            return Err(io::Error::other(
                "a directory of this name is in the workspace",
            ));
        }
        Ok(_) => fs_err::remove_file(&target)?,
        Err(_) => {}
    }
    fs_err::write(&target, content)
}

/// Returns a path in the workspace, and makes the directories above it. A command may have made links meanwhile.
fn open_target(dirs: &TrialDirs, destination: &Utf8Path) -> io::Result<Utf8PathBuf> {
    if !dirs.paths().stays_inside(destination) {
        return Err(io::Error::other(format!(
            "`{destination}` leaves the workspace through a symbolic link"
        )));
    }
    let target = dirs.here().join(destination);
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    Ok(target)
}

/// Runs a command of the set-up, which must succeed.
pub(super) fn run_command(
    run: &mut TrialRun<'_>,
    part: Part<'_>,
    command: &ShellCommand,
) -> Result<(), StageError> {
    let text = &command.command;
    run.log
        .section(&format!("{}: {}", part.as_str(), text.trim_end()))?;
    run.doing(&format!("$ {}", text.trim_start()), Usage::default());
    let shell = Shell {
        command: text,
        timeout: command.timeout,
        env: part.environment(run, &command.dir),
        // A program that it leaves running is there for the agent and ends with it. The tests have `services`.
        sweep: false,
        side: match part {
            Part::Before | Part::Command => Side::Setup,
            Part::Prepare(_) => Side::Layer,
        },
        inputs: &command.inputs,
    };
    let (ended, output, _) = run.shell(shell, Logged::Ends, false)?;
    if ended.stopped {
        return Err(StageError::Interrupted);
    }
    if ended.timed_out {
        let limit = prose::duration(command.timeout.as_secs_f64());
        run.log
            .line(&format!("still running after {limit}: ended"))?;
        let reason = format!("still running after {limit}");
        return Err(failed(run, text, &reason, &output));
    }
    let end = ended.exit.describe();
    run.log
        .line(&format!("{end} after {}", prose::duration(ended.seconds)))?;
    if ended.exit.code() != Some(0) {
        return Err(failed(run, text, &end, &output));
    }
    if !run.dirs.here().is_dir() {
        return Err(StageError::setup(
            &brief(&run.context.mask.masked(text)),
            &"it removed the workspace",
        ));
    }
    Ok(())
}

/// Makes the error of a command that failed, with the line of its output that tells why.
fn failed(run: &TrialRun<'_>, command: &str, reason: &str, output: &Output) -> StageError {
    let mask = &run.context.mask;
    let said = output.rewound().and_then(read_text).unwrap_or_default();
    let mut why = with_failure_line(reason, &mask.masked(&said));
    if said.to_lowercase().contains("address already in use") {
        why.push_str("; a program named in `services` has a port of its own in each trial");
    }
    let mut unseen = registries::names(&run.context.host);
    unseen.retain(|name| registries::may_be_needed_by(command, name));
    if !unseen.is_empty() && !run.spec.case.suite.pass_registries {
        let unseen = prose::list(&unseen, "and");
        why.push_str(&format!(
            "; it did not get {unseen} (`passRegistries: true` in terca.yaml passes them)"
        ));
    }
    StageError::setup(&brief(&mask.masked(command)), &why)
}

/// Returns a command for a message: the beginning of its first line.
fn brief(command: &Masked) -> String {
    const LONGEST: usize = 60;
    let command = command.as_str();
    let line = command.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < command.trim().len() {
        format!("`{short}…`")
    } else {
        format!("`{short}`")
    }
}
