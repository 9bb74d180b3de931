//! `terca import harbor`: evals from tasks that were written for Harbor or Terminal-Bench 2.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use terca_core::new_suite::harbor::{Imported, Note, summary};
use terca_core::text::{Code, prose};
use terca_engine::suite::{discover, harbor};

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
    Harbor(HarborArgs),
}

#[derive(Debug, Clone, Args)]
pub struct HarborArgs {
    /// The directory of a task, or of several tasks
    #[arg(value_name = "TASKS")]
    tasks: Utf8PathBuf,
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
    let ImportFrom::Harbor(args) = &args.from;
    let tasks = discover::canonical(&args.tasks)?;
    let to = match &args.to {
        Some(to) => to.clone(),
        None => discover::canonical(&common.dir)?,
    };
    let unread = |error: io::Error| CliError::trouble(Code::UnreadableFile, error);
    let found = harbor::find(&tasks).map_err(unread)?;
    let mut complaints: Vec<String> = old_tasks(&found.old).into_iter().collect();
    let mut evals = Vec::new();
    for task in &found.tasks {
        match harbor::read(task).map_err(unread)? {
            Ok(eval) => evals.push((task, eval)),
            Err(reason) => complaints.push(format!("{task} cannot become an eval: {reason}")),
        }
    }
    for complaint in &complaints {
        screen::error(Code::NotATask, complaint, common.color);
    }
    if found.tasks.is_empty() {
        let error = CliError::misuse(
            Code::NotATask,
            format!("there is no task in {}", args.tasks),
        );
        return Err(error.help("a task is a directory with a `task.toml`"));
    }
    if let Some(reason) = in_the_way(&evals, &to) {
        let error = CliError::misuse(Code::AlreadyThere, reason);
        return Err(error.help("nothing was written; choose another directory with `--to`"));
    }
    let unwritten = write(&evals, &to, args.verbose, common);
    let are_whole = evals.iter().all(|(_, eval)| is_whole(&eval.notes));
    let mut codes = Vec::new();
    if !complaints.is_empty() {
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
    Ok(if unwritten == evals.len() && unwritten > 0 {
        TROUBLE
    } else {
        INCOMPLETE
    })
}

fn is_whole(notes: &[Note]) -> bool {
    notes.iter().all(|note| note.loss.is_none())
}

/// Returns one complaint about all tasks in the older format.
fn old_tasks(old: &[Utf8PathBuf]) -> Option<String> {
    let (tasks, them) = match old {
        [] => return None,
        [task] => (format!("{task} is"), "it"),
        [first, ..] => (format!("{} tasks, such as {first}, are", old.len()), "them"),
    };
    Some(format!(
        "{tasks} in the format before Harbor's (task.yaml)\nhelp: `harbor tasks migrate` converts {them}"
    ))
}

/// Writes evals. One that cannot be written does not keep the others from it. Returns how many could not.
fn write(
    evals: &[(&Utf8PathBuf, Imported)],
    to: &Utf8Path,
    verbose: bool,
    common: &Common,
) -> usize {
    let mut written: Vec<&[Note]> = Vec::new();
    let mut images = 0;
    for (task, eval) in evals {
        match harbor::write(eval, task, to) {
            Ok(()) => {
                tell(eval, to, verbose);
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
fn in_the_way(evals: &[(&Utf8PathBuf, Imported)], to: &Utf8Path) -> Option<String> {
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

fn tell(eval: &Imported, to: &Utf8Path, verbose: bool) {
    screen::out(screen::short(&to.join(&eval.folder)).as_str());
    for note in &eval.notes {
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
