//! `terca import harbor`: evals from tasks that were written for Harbor or Terminal-Bench 2.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::harbor::Imported;
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_engine::suite::{discover, harbor};

use super::refusal::{Outcome, Refusal};
use crate::args::{Common, ImportArgs, ImportFrom};
use crate::screen;

/// Some tasks could not become evals.
const INCOMPLETE: u8 = 1;

pub(super) fn import(args: &ImportArgs, common: &Common) -> Outcome {
    let ImportFrom::Harbor(args) = &args.from;
    let tasks = discover::canonical(&args.tasks)?;
    let to = match &args.to {
        Some(to) => to.clone(),
        None => discover::canonical(&common.dir)?,
    };
    let unread = |error: io::Error| Refusal::trouble(Code::UnreadableFile, error);
    let found = harbor::find(&tasks).map_err(unread)?;
    let old = found.old.iter().map(|task| {
        format!(
            "{task} is in the format before Harbor's (task.yaml)\n\
             help: `harbor tasks migrate` makes a task in the new format of it"
        )
    });
    let mut complaints: Vec<String> = old.collect();
    let mut evals = Vec::new();
    for task in &found.tasks {
        match harbor::read(task).map_err(unread)? {
            Ok(eval) => evals.push((task, eval)),
            Err(reason) => complaints.push(format!("{task} cannot become an eval: {reason}")),
        }
    }
    for complaint in &complaints {
        screen::complain(Code::NotATask, complaint, common.color);
    }
    if found.tasks.is_empty() {
        let refusal = Refusal::misuse(
            Code::NotATask,
            format!("there is no task in {}", args.tasks),
        );
        return Err(refusal.help("a task is a directory with a task.toml"));
    }
    if let Some(reason) = in_the_way(&evals, &to) {
        let refusal = Refusal::misuse(Code::AlreadyThere, reason);
        return Err(refusal.help("nothing was written; choose another place with `--to`"));
    }
    write(&evals, &to).map_err(|error| Refusal::trouble(Code::CannotWrite, error))?;
    if complaints.is_empty() {
        return Ok(0);
    }
    screen::say_more_about(&[Code::NotATask], common.color);
    Ok(INCOMPLETE)
}

fn write(evals: &[(&Utf8PathBuf, Imported)], to: &Utf8Path) -> io::Result<()> {
    for (task, eval) in evals {
        harbor::write(eval, task, to)?;
        tell(eval, to);
    }
    screen::say(&format!("{} imported", prose::count(evals.len(), "eval")));
    if !evals.is_empty() {
        screen::remark("`terca validate` shows which of them work here");
    }
    Ok(())
}

/// Nothing is overwritten, and no two tasks become one.
fn in_the_way(evals: &[(&Utf8PathBuf, Imported)], to: &Utf8Path) -> Option<String> {
    let mut folders: BTreeMap<&str, &Utf8Path> = BTreeMap::new();
    for (task, eval) in evals {
        let folder = to.join(&eval.folder);
        if folder.symlink_metadata().is_ok() {
            return Some(format!("{folder} is there already"));
        }
        if let Some(other) = folders.insert(&eval.folder, task) {
            return Some(format!("{other} and {task} would both become {folder}"));
        }
    }
    None
}

fn tell(eval: &Imported, to: &Utf8Path) {
    screen::say(screen::short(&to.join(&eval.folder)).as_str());
    for note in &eval.notes {
        let line: String = note
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        screen::say(&format!("  not as it was: {line}"));
    }
}
