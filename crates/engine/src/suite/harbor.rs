//! Finds tasks in Harbor's format and writes the evals that they become.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::harbor::{Imported, Task, import};

use crate::workspace::tree;

const TASK_FILE: &str = "task.toml";
/// The file of a task in the format before Harbor's.
const OLD_TASK_FILE: &str = "task.yaml";

/// The tasks below a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Directories of tasks.
    pub tasks: Vec<Utf8PathBuf>,
    /// Tasks in the older format, which only Harbor's own tools can read.
    pub old: Vec<Utf8PathBuf>,
}

/// Finds tasks: the directory itself when it is one, else all below it, in order.
pub fn find(dir: &Utf8Path) -> io::Result<Found> {
    let mut found = Found::default();
    find_below(dir, &mut found)?;
    Ok(found)
}

fn find_below(dir: &Utf8Path, found: &mut Found) -> io::Result<()> {
    if dir.join(TASK_FILE).is_file() {
        found.tasks.push(dir.to_owned());
        return Ok(());
    }
    if dir.join(OLD_TASK_FILE).is_file() {
        found.old.push(dir.to_owned());
        return Ok(());
    }
    let entries = dir
        .read_dir_utf8()
        .map_err(|error| io::Error::new(error.kind(), format!("{dir}: {error}")))?;
    let mut below: Vec<Utf8PathBuf> = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && !entry.file_name().starts_with('.') {
            below.push(entry.path().to_owned());
        }
    }
    below.sort();
    below.iter().try_for_each(|dir| find_below(dir, found))
}

/// Makes an eval of a task; the inner error is the reason why it cannot become one.
pub fn read(dir: &Utf8Path) -> io::Result<Result<Imported, String>> {
    let (mut files, mut links) = (Vec::new(), Vec::new());
    for (path, meta) in tree::walk(dir)? {
        let Ok(path) = Utf8PathBuf::from_path_buf(path) else {
            return Ok(Err("it has a file whose name is not UTF-8".into()));
        };
        if path.starts_with(".git") {
            continue;
        }
        if meta.is_file() {
            files.push(path);
        } else {
            links.push(path);
        }
    }
    files.sort();
    links.sort();
    // Canonical: the name of `.` is that of the directory.
    let name = dir
        .canonicalize_utf8()?
        .file_name()
        .unwrap_or("task")
        .to_owned();
    let text = |path: &Utf8Path| {
        let is_here = files.iter().any(|file| file == path);
        is_here
            .then(|| std::fs::read_to_string(dir.join(path)).ok())
            .flatten()
    };
    Ok(import(&Task {
        name: &name,
        files: &files,
        links: &links,
        text: &text,
    }))
}

/// Writes an eval. The directory must not exist, and is there only when it is whole.
pub fn write(eval: &Imported, task: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    fs_err::create_dir_all(to)?;
    // Hidden, so that nobody takes what is not finished for an eval.
    // Short, since the name of a task may be as long as a name can be.
    let unfinished = to.join(format!(".importing-{:016x}", fastrand::u64(..)));
    fs_err::create_dir(&unfinished)?;
    let written = fill(eval, task, &unfinished)
        .and_then(|()| fs_err::rename(&unfinished, to.join(&eval.folder)));
    if written.is_err() {
        let _ = tree::remove(&unfinished);
    }
    written
}

fn fill(eval: &Imported, task: &Utf8Path, dir: &Utf8Path) -> io::Result<()> {
    let make_room = |path: &Utf8Path| fs_err::create_dir_all(path.parent().unwrap_or(dir));
    for (from, to) in &eval.copied {
        let to = dir.join(to);
        make_room(&to)?;
        fs_err::copy(task.join(from), to)?;
    }
    for (path, text) in &eval.written {
        let path = dir.join(path);
        make_room(&path)?;
        fs_err::write(path, text)?;
    }
    Ok(())
}
