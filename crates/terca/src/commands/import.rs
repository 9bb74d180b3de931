//! `terca import harbor`: evals from tasks that were written for Harbor or Terminal-Bench 2.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::harbor::Imported;
use terca_core::prose;
use terca_engine::{discover, harbor};

use super::{MISUSE, TROUBLE};
use crate::args::{Common, HarborArgs, ImportArgs, ImportFrom};
use crate::screen;

/// Some tasks could not become evals.
const INCOMPLETE: u8 = 1;

pub(super) fn import(args: &ImportArgs, common: &Common) -> u8 {
    let ImportFrom::Harbor(args) = &args.from;
    let found = discover::canonical(&args.tasks).map_err(|error| error.to_string());
    let to = match &args.to {
        Some(to) => Ok(to.clone()),
        None => discover::canonical(&common.dir).map_err(|error| error.to_string()),
    };
    match found.and_then(|tasks| Ok((tasks, to?))) {
        Ok((tasks, to)) => match from_harbor(args, &tasks, &to) {
            Ok(status) => status,
            Err(error) => {
                screen::complain(&error.to_string());
                TROUBLE
            }
        },
        Err(error) => misuse(&error),
    }
}

fn misuse(text: &str) -> u8 {
    screen::complain(text);
    MISUSE
}

fn from_harbor(args: &HarborArgs, tasks: &Utf8Path, to: &Utf8Path) -> io::Result<u8> {
    let found = harbor::find(tasks)?;
    for old in &found.old {
        screen::complain(&format!(
            "{old} is in the format before Harbor's (task.yaml)\n\
             help: `harbor tasks migrate` makes a task in the new format of it"
        ));
    }
    if found.tasks.is_empty() {
        let text = format!("there is no task in {}", args.tasks);
        return Ok(misuse(&format!("{text}\nhelp: a task is a directory with a task.toml")));
    }
    let mut evals = Vec::new();
    let mut refused = found.old.len();
    for task in &found.tasks {
        match harbor::read(task)? {
            Ok(eval) => evals.push((task, eval)),
            Err(reason) => {
                refused += 1;
                screen::complain(&format!("{task} cannot become an eval: {reason}"));
            }
        }
    }
    if let Some(reason) = in_the_way(&evals, to) {
        return Ok(misuse(&format!("{reason}\nhelp: nothing was written; choose another place with `--to`")));
    }
    for (task, eval) in &evals {
        harbor::write(eval, task, to)?;
        tell(eval, to);
    }
    screen::say(&format!("{} imported", prose::count(evals.len(), "eval")));
    if !evals.is_empty() {
        screen::remark("`terca validate` shows which of them work here");
    }
    Ok(if refused > 0 { INCOMPLETE } else { 0 })
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
        let line: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        screen::say(&format!("  not as it was: {line}"));
    }
}
