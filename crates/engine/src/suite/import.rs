//! Finds tasks in the formats of others and writes the evals that they become.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::imported::{Imported, Task};
use terca_core::new_suite::{exercism, harbor, terminal_bench};

use crate::suite::create::{new_file, whole_dir};
use crate::tree::{Dir, Options, Visit, copy_file, list, walk};

/// A format in which a task is a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Harbor, and Terminal-Bench 2.
    Harbor,
    /// Terminal-Bench 1.
    TerminalBench,
    /// Exercism's tracks, and Aider's polyglot benchmark.
    Exercism,
}

impl Format {
    const ALL: [Format; 3] = [Format::Harbor, Format::TerminalBench, Format::Exercism];

    /// Returns the file by which a task is known.
    pub fn file(self) -> &'static str {
        match self {
            Format::Harbor => "task.toml",
            Format::TerminalBench => "task.yaml",
            Format::Exercism => ".meta/config.json",
        }
    }

    /// Returns its name.
    pub fn title(self) -> &'static str {
        match self {
            Format::Harbor => "Harbor",
            Format::TerminalBench => "Terminal-Bench 1",
            Format::Exercism => "Exercism",
        }
    }

    /// Returns the word of the command that imports it.
    pub fn command(self) -> &'static str {
        match self {
            Format::Harbor => "harbor",
            Format::TerminalBench => "terminal-bench",
            Format::Exercism => "exercism",
        }
    }

    /// Returns the format of the task that a directory is.
    fn of(dir: &Utf8Path) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| dir.join(format.file()).is_file())
    }
}

/// Finds tasks: the directory itself when it is one, else all below it, in order.
pub fn find(dir: &Utf8Path) -> io::Result<Vec<(Format, Utf8PathBuf)>> {
    if let Some(format) = Format::of(dir) {
        return Ok(vec![(format, dir.to_owned())]);
    }
    let mut found = Vec::new();
    let options = Options::reading();
    let root = Dir::open(dir)?;
    walk(&root, &options, &mut |entry, meta| {
        let Some(path) = Utf8Path::from_path(entry.path).filter(|_| meta.is_dir()) else {
            return Ok(Visit::Skip);
        };
        if path.file_name().is_some_and(|name| name.starts_with('.')) {
            return Ok(Visit::Skip);
        }
        let path = dir.join(path);
        let Some(format) = Format::of(&path) else {
            return Ok(Visit::Continue);
        };
        found.push((format, path));
        Ok(Visit::Skip)
    })?;
    Ok(found)
}

/// Makes an eval of a task; the inner error is the reason why it cannot become one.
pub fn read(format: Format, dir: &Utf8Path) -> io::Result<Result<Imported, String>> {
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
    let task = Task {
        name: &name,
        files: &files,
        links: &links,
        text: &text,
    };
    Ok(match format {
        Format::Harbor => harbor::import(&task),
        Format::Exercism => exercism::import(&task),
        Format::TerminalBench => terminal_bench::import(&task),
    })
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
