//! Finds tasks in Harbor's format and writes the evals that they become.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::harbor::{Imported, Task, import};

use crate::suite::create::{new_file, whole_dir};
use crate::tree::{Dir, Options, Visit, copy_file, list, walk};

const TASK_FILE: &str = "task.toml";
/// The file of a task in the format before Harbor's.
const OLD_TASK_FILE: &str = "task.yaml";

/// The tasks below a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundTasks {
    /// Directories of tasks.
    pub tasks: Vec<Utf8PathBuf>,
    /// Tasks in the older format, which only Harbor's own tools can read.
    pub old: Vec<Utf8PathBuf>,
}

/// Finds tasks: the directory itself when it is one, else all below it, in order.
pub fn find(dir: &Utf8Path) -> io::Result<FoundTasks> {
    let mut found = FoundTasks::default();
    if found.add(dir) {
        return Ok(found);
    }
    let options = Options::reading();
    let root = Dir::open(dir)?;
    walk(&root, &options, &mut |entry, meta| {
        let Some(path) = Utf8Path::from_path(entry.path).filter(|_| meta.is_dir()) else {
            return Ok(Visit::Skip);
        };
        let is_hidden = path.file_name().is_some_and(|name| name.starts_with('.'));
        if is_hidden || found.add(&dir.join(path)) {
            return Ok(Visit::Skip);
        }
        Ok(Visit::Continue)
    })?;
    Ok(found)
}

impl FoundTasks {
    /// Adds a directory that is a task. Returns whether it is one.
    fn add(&mut self, dir: &Utf8Path) -> bool {
        if dir.join(TASK_FILE).is_file() {
            self.tasks.push(dir.to_owned());
            return true;
        }
        if dir.join(OLD_TASK_FILE).is_file() {
            self.old.push(dir.to_owned());
            return true;
        }
        false
    }
}

/// Makes an eval of a task; the inner error is the reason why it cannot become one.
pub fn read(dir: &Utf8Path) -> io::Result<Result<Imported, String>> {
    let (mut files, mut links) = (Vec::new(), Vec::new());
    for (path, meta) in list(&Dir::open(dir)?, &Options::default())? {
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
    let task = Dir::open(task)?;
    whole_dir(to, &eval.folder, |dir| {
        for (from, to) in &eval.copied {
            let to = dir.join(to);
            let name = to.file_name().unwrap_or_default();
            let parent = to.parent().unwrap_or(dir);
            fs_err::create_dir_all(parent)?;
            let file = task.open_file(from)?;
            let parent = Dir::open(parent)?;
            copy_file(&file, &parent, name.as_ref(), &Options::default())?;
        }
        for (path, text) in &eval.written {
            new_file(&dir.join(path), text.as_bytes(), 0o666)?;
        }
        Ok(())
    })
}
