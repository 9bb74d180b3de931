//! `terca import`: evals from tasks that were written for other tools.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use terca_core::new_suite::imported::{Imported, Note, summary};
use terca_core::new_suite::swe_bench::{self, Instance};
use terca_core::text::{Code, prose};
use terca_engine::host::environment::Host;
use terca_engine::mine::LocalClone;
use terca_engine::suite::discover;
use terca_engine::suite::import::{self, Format, SuiteFormat};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome, TROUBLE};
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    from: ImportFrom,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ImportFrom {
    /// Import tasks in the format of Harbor and Terminal-Bench 2 (task.toml, instruction.md, tests/test.sh)
    Harbor(TasksArgs),
    /// Import tasks of Terminal-Bench 1 (task.yaml, Dockerfile, run-tests.sh)
    TerminalBench(TasksArgs),
    /// Import exercises of Exercism's tracks and of Aider's polyglot benchmark (.meta/config.json, .docs/instructions.md)
    Exercism(TasksArgs),
    /// Import instances of SWE-bench (JSON or JSONL), with the trees of a local clone
    SweBench(SweBenchArgs),
    /// Import suites of promptfoo whose providers are coding agents (promptfooconfig.yaml)
    Promptfoo(SuitesArgs),
    /// Import suites of vally (eval.yaml with stimuli and graders)
    Vally(SuitesArgs),
}

#[derive(Debug, Clone, Args)]
pub struct TasksArgs {
    /// The directory of a task, or of several tasks
    #[arg(value_name = "TASKS")]
    tasks: Utf8PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Args)]
pub struct SuitesArgs {
    /// The file of a suite, or a directory with suites. Files that a suite names have to be below the directory
    #[arg(value_name = "SUITES")]
    suites: Utf8PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Args)]
pub struct SweBenchArgs {
    /// The file of the instances
    #[arg(value_name = "FILE")]
    file: Utf8PathBuf,
    /// A clone of their repository. Instances of other repositories are left out
    #[arg(long, value_name = "CLONE")]
    repository: Utf8PathBuf,
    /// Set up the project with this command (default: by its lock file or manifest)
    #[arg(long, value_name = "COMMAND")]
    setup: Option<String>,
    /// Run the tests with this command; `{files}` are their files (default: pytest, which is asked for each listed test)
    #[arg(long, value_name = "COMMAND")]
    test_command: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// Write the evals here, each into its own directory (default: the suite's directory)
    #[arg(long, value_name = "DIR")]
    to: Option<Utf8PathBuf>,
    /// Also show the changes that take nothing from a task
    #[arg(short = 'v', long)]
    verbose: bool,
}

/// Some tasks could not become evals, or not whole ones.
const INCOMPLETE: u8 = 1;

pub(super) fn import(args: &ImportArgs, common: &Common) -> Outcome {
    match &args.from {
        ImportFrom::Harbor(args) => tasks(Format::Harbor, args, common),
        ImportFrom::TerminalBench(args) => tasks(Format::TerminalBench, args, common),
        ImportFrom::Exercism(args) => tasks(Format::Exercism, args, common),
        ImportFrom::SweBench(args) => swe_bench(args, common),
        ImportFrom::Promptfoo(args) => suites(SuiteFormat::Promptfoo, args, common),
        ImportFrom::Vally(args) => suites(SuiteFormat::Vally, args, common),
    }
}

/// What a source holds.
#[derive(Default)]
struct Batch {
    /// Evals, with the tasks that they come from.
    evals: Vec<(Utf8PathBuf, Imported)>,
    /// What cannot become an eval, and why.
    complaints: Vec<String>,
}

impl Batch {
    /// Adds the eval that a task became, or the reason why it cannot be one.
    fn add(&mut self, task: Utf8PathBuf, eval: Result<Imported, String>) {
        match eval {
            Ok(eval) => self.evals.push((task, eval)),
            Err(reason) => {
                let complaint = format!("{task} cannot become an eval: {reason}");
                self.complaints.push(complaint);
            }
        }
    }
}

fn unread(error: io::Error) -> CliError {
    CliError::trouble(Code::UnreadableFile, error)
}

/// Imports tasks that are directories.
fn tasks(format: Format, args: &TasksArgs, common: &Common) -> Outcome {
    let found = import::find(&discover::canonical(&args.tasks)?).map_err(unread)?;
    let (found, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(own, _)| *own == format);
    if found.is_empty() {
        let (file, title) = (format.file(), format.title());
        let nothing = format!(
            "there is no task of {title} in {}: no directory has a `{file}`",
            args.tasks
        );
        let error = CliError::misuse(Code::NotATask, nothing);
        return Err(match others_help(&others) {
            Some(help) => error.help(help),
            None => error.help("`terca import --help` lists the formats"),
        });
    }
    let mut batch = Batch {
        evals: Vec::new(),
        complaints: others_help(&others).into_iter().collect(),
    };
    for (_, task) in found {
        let eval = import::read(format, &task).map_err(unread)?;
        batch.add(task, eval);
    }
    finish(&batch, &args.output, common, import::write)
}

/// Imports suites, each of which is a file with many cases.
fn suites(format: SuiteFormat, args: &SuitesArgs, common: &Common) -> Outcome {
    let only = args.suites.file_name().filter(|_| args.suites.is_file());
    let dir = match (only, args.suites.parent()) {
        (Some(_), Some(dir)) => Utf8Path::new(".").join(dir),
        _ => args.suites.clone(),
    };
    let dir = &discover::canonical(&dir)?;
    let (title, files) = format.names();
    let found = import::read_suites(format, dir, only.map(Utf8Path::new)).map_err(unread)?;
    let found = found.map_err(|reason| {
        CliError::misuse(
            Code::NotATask,
            format!("{} cannot be imported: {reason}", args.suites),
        )
    })?;
    if found.is_empty() {
        let nothing = format!(
            "there is no suite of {title} in {}: no {files}",
            args.suites
        );
        let error = CliError::misuse(Code::NotATask, nothing);
        return Err(error.help("`terca import --help` lists the formats"));
    }
    let mut batch = Batch::default();
    let mut refused: BTreeMap<String, Vec<Utf8PathBuf>> = BTreeMap::new();
    for (file, suite) in found {
        let file = screen::short(&dir.join(file)).to_owned();
        match suite {
            Ok(suite) => {
                let complaints = suite.complaints.into_iter();
                let complaints = complaints.map(|text| format!("{file}: {text}"));
                batch.complaints.extend(complaints);
                let evals = suite.evals.into_iter();
                batch.evals.extend(evals.map(|eval| (file.clone(), eval)));
            }
            Err(reason) => refused.entry(reason).or_default().push(file),
        }
    }
    for (reason, files) in refused {
        let files = match files.as_slice() {
            [file] => file.to_string(),
            files => format!("{} suites, such as {},", files.len(), files[0]),
        };
        let complaint = format!("{files} cannot become evals: {reason}");
        batch.complaints.push(complaint);
    }
    finish(&batch, &args.output, common, |eval, _, to| {
        import::write(eval, dir, to)
    })
}

/// Imports instances whose base commits a clone has.
fn swe_bench(args: &SweBenchArgs, common: &Common) -> Outcome {
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| unread(io::Error::other(format!("{}: {error}", args.file))))?;
    let rows = swe_bench::instances(&text).map_err(|reason| {
        let error = CliError::misuse(Code::NotATask, format!("{}: {reason}", args.file));
        error.help("an instance has `instance_id`, `base_commit`, `patch` and `test_patch`")
    })?;
    let clone = LocalClone::open(
        &discover::canonical(&args.repository)?,
        &Host::of_this_process(),
    )
    .map_err(|error| CliError::misuse(Code::NoRepository, error))?;
    let wishes = swe_bench::Wishes {
        setup: args.setup.clone(),
        test_command: args.test_command.clone(),
    };
    let mut batch = Batch::default();
    let mut instances = Vec::new();
    for row in rows {
        match row {
            Ok(instance) => instances.push(instance),
            Err(reason) => batch.complaints.push(reason),
        }
    }
    let (here, others): (Vec<Instance>, Vec<Instance>) =
        (instances.into_iter()).partition(|instance| clone.has(&instance.base_commit));
    let Some(repo) = here.first().map(|instance| instance.repo.as_str()) else {
        let nothing = format!("{} has no base commit of {}", args.repository, args.file);
        let repos: BTreeSet<&str> = others.iter().map(|other| other.repo.as_str()).collect();
        let error = CliError::misuse(Code::NotATask, nothing);
        let repos = prose::few(repos, 5);
        return Err(error.help(format!("its instances are of: {repos}")));
    };
    let gone = others.iter().filter(|other| other.repo == repo);
    let gone = prose::few(gone.map(|other| &other.id), 3);
    if !gone.is_empty() {
        batch.complaints.push(format!(
            "{gone}: the base commit is not in {}",
            args.repository
        ));
    }
    for instance in &here {
        batch.add(instance.id.as_str().into(), clone.import(instance, &wishes));
    }
    finish(&batch, &args.output, common, |eval, name, to| {
        let instance = here.iter().find(|instance| *name == instance.id);
        let commit = instance.map_or("", |instance| &instance.base_commit);
        clone.write(eval, commit, to)
    })
}

/// Returns one sentence about all tasks in other formats.
fn others_help(others: &[(Format, Utf8PathBuf)]) -> Option<String> {
    let (format, first) = others.first()?;
    let number = others.iter().filter(|(own, _)| own == format).count();
    let (title, file, command) = (format.title(), format.file(), format.command());
    let first = screen::short(first);
    let (tasks, them) = match number {
        1 => (format!("{first} is a task"), "it"),
        _ => (format!("{number} tasks, such as {first}, are"), "them"),
    };
    Some(format!(
        "{tasks} of {title} ({file}): `terca import {command}` takes {them}"
    ))
}

/// Writes the evals, tells what became of them, and returns the exit status.
fn finish(
    batch: &Batch,
    output: &OutputArgs,
    common: &Common,
    write: impl FnMut(&Imported, &Utf8Path, &Utf8Path) -> io::Result<()>,
) -> Outcome {
    let to = match &output.to {
        Some(to) => to.clone(),
        None => discover::canonical(&common.dir)?,
    };
    for complaint in &batch.complaints {
        screen::error(Code::NotATask, complaint, common.color);
    }
    if let Some(reason) = in_the_way(&batch.evals, &to) {
        let error = CliError::misuse(Code::AlreadyThere, reason);
        return Err(error.help("nothing was written; choose another directory with `--to`"));
    }
    let unwritten = write_all(&batch.evals, &to, output.verbose, common, write);
    let are_whole = batch.evals.iter().all(|(_, eval)| is_whole(&eval.notes));
    let mut codes = Vec::new();
    if !batch.complaints.is_empty() {
        codes.push(Code::NotATask);
    }
    if unwritten > 0 {
        codes.push(Code::CannotWrite);
    }
    if !are_whole {
        codes.push(Code::IncompleteEval);
    }
    if codes.is_empty() {
        return Ok(0);
    }
    screen::err_where_explained(&codes, common.color);
    Ok(if unwritten == batch.evals.len() && unwritten > 0 {
        TROUBLE
    } else {
        INCOMPLETE
    })
}

fn is_whole(notes: &[Note]) -> bool {
    notes.iter().all(|note| note.loss.is_none())
}

/// Writes evals. One that cannot be written does not keep the others from it. Returns how many could not.
fn write_all(
    evals: &[(Utf8PathBuf, Imported)],
    to: &Utf8Path,
    verbose: bool,
    common: &Common,
    mut write: impl FnMut(&Imported, &Utf8Path, &Utf8Path) -> io::Result<()>,
) -> usize {
    let mut written: Vec<&[Note]> = Vec::new();
    let mut images = 0;
    let mut told = BTreeSet::new();
    for (task, eval) in evals {
        match write(eval, task, to) {
            Ok(()) => {
                screen::out(screen::short(&to.join(&eval.folder)).as_str());
                // What is the same for several evals of a file is told once.
                let notes = eval.notes.iter();
                let new = notes.filter(|note| told.insert((task, &note.text)));
                let new: Vec<&Note> = new.collect();
                tell(&new, verbose);
                images += usize::from(eval.has_image);
                written.push(&eval.notes);
            }
            Err(error) => {
                let text = format!("{task} could not be written as an eval: {error}");
                screen::error(Code::CannotWrite, &text, common.color);
            }
        }
    }
    screen::out(&summary(&written));
    if images > 0 {
        let have = if images == 1 { "has" } else { "have" };
        screen::err(&format!(
            "{} {have} an image to build, which needs Docker or Podman; `-t '!tag:container'` leaves them out",
            prose::count(images, "eval")
        ));
    }
    if written.iter().any(|notes| is_whole(notes)) {
        screen::err("`terca validate` shows which of them work here");
    }
    evals.len() - written.len()
}

/// Nothing is overwritten, and no two tasks become one.
fn in_the_way(evals: &[(Utf8PathBuf, Imported)], to: &Utf8Path) -> Option<String> {
    let mut folders: BTreeMap<&str, &Utf8Path> = BTreeMap::new();
    for (task, eval) in evals {
        let folder = to.join(&eval.folder);
        if folder.symlink_metadata().is_ok() {
            return Some(format!("{folder} exists already"));
        }
        if let Some(other) = folders.insert(&eval.folder, task) {
            return Some(format!("{other} and {task} would both become {folder}"));
        }
    }
    None
}

fn tell(notes: &[&Note], verbose: bool) {
    for note in notes {
        let line: String = note
            .text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        match note.loss {
            Some(_) => screen::out(&format!("  lost: {line}")),
            None if verbose => screen::out(&format!("  changed: {line}")),
            None => {}
        }
    }
}
