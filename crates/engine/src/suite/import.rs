//! Finds tasks in the formats of others and writes the evals that they become.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::imported::{Imported, Suite, Task};
use terca_core::new_suite::{exercism, harbor, promptfoo, terminal_bench, vally};

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
    let made = with_task(dir, |task| match format {
        Format::Harbor => harbor::import(task),
        Format::Exercism => exercism::import(task),
        Format::TerminalBench => terminal_bench::import(task),
    })?;
    Ok(made.and_then(|made| made))
}

/// A format in which a file has many cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuiteFormat {
    /// promptfoo.
    Promptfoo,
    /// vally.
    Vally,
}

impl SuiteFormat {
    /// Returns its name, and the files by which it is known.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            SuiteFormat::Promptfoo => ("promptfoo", "`promptfooconfig.yaml`"),
            SuiteFormat::Vally => ("vally", "`eval.yaml` with `stimuli`"),
        }
    }
}

/// What the files of suites in a directory became, or why they became nothing.
pub type Suites = Vec<(Utf8PathBuf, Result<Suite, String>)>;

/// Makes evals of the suites in a directory, or of one that is named. Files have paths below the directory.
pub fn read_suites(
    format: SuiteFormat,
    dir: &Utf8Path,
    only: Option<&Utf8Path>,
) -> io::Result<Result<Suites, String>> {
    with_task(dir, |task| {
        let is_suite = |file: &&Utf8PathBuf| match (only, format) {
            (Some(only), _) => *file == only,
            (None, SuiteFormat::Promptfoo) => promptfoo::is_suite(file),
            (None, SuiteFormat::Vally) => vally::is_suite(file, task.text),
        };
        let files = task.files.iter().filter(is_suite);
        files
            .map(|file| {
                let suite = match format {
                    SuiteFormat::Promptfoo => promptfoo::import(task, file),
                    SuiteFormat::Vally => vally::import(task, file),
                };
                (file.clone(), suite)
            })
            .collect()
    })
}

/// Gives a reader the files of a directory; the inner error is the reason why it cannot have them.
fn with_task<R>(
    dir: &Utf8Path,
    reader: impl FnOnce(&Task<'_>) -> R,
) -> io::Result<Result<R, String>> {
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
    let dir = dir.canonicalize_utf8()?;
    let text = |path: &Utf8Path| {
        let is_here = files.binary_search_by(|file| file.as_path().cmp(path));
        is_here
            .ok()
            .and_then(|_| std::fs::read_to_string(dir.join(path)).ok())
    };
    Ok(Ok(reader(&Task {
        name: dir.file_name().unwrap_or("task"),
        files: &files,
        links: &links,
        text: &text,
    })))
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
