//! Finds a suite on disk and reads its configuration files.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::{self, ConfigFiles, PathKind, Suite, Surroundings};
use terca_core::new_suite::scaffold::library::{self, Found, Language, Workspace};
use terca_core::text::Code;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics};
use terca_core::text::prose;
use terca_core::text::source::{FileId, Place, Sources};
use thiserror::Error;

use crate::suite::find_evals::{self, FoundEvals};
pub use crate::suite::find_evals::{EVAL_FILE, SUITE_FILE};

/// The workers of a suite, beside its configuration.
pub const WORKERS_FILE: &str = "workers.yaml";

/// A directory that is not that of a suite.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// The machine refused to open it.
    #[error("{dir} cannot be opened: {source}")]
    Open {
        /// The directory.
        dir: Utf8PathBuf,
        /// The machine's reason.
        source: io::Error,
        /// The directory that was probably meant.
        meant: Option<String>,
    },
    /// It is a file.
    #[error("{path} is a file, not a directory")]
    File {
        /// The file.
        path: Utf8PathBuf,
    },
    /// It has no configuration file.
    #[error("no suite here: {dir} has no {SUITE_FILE} and no {EVAL_FILE} below it")]
    NoSuite {
        /// The directory.
        dir: Utf8PathBuf,
        /// The suite that was probably meant.
        guess: Option<Guess>,
    },
}

/// A suite that was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guess {
    /// A file whose name is almost that of a configuration file.
    Misnamed {
        /// The file.
        path: Utf8PathBuf,
        /// The name that it should have.
        right: &'static str,
    },
    /// Directories below that have suites; at least one.
    Below(Vec<Utf8PathBuf>),
}

/// Everything that was read, with the suite when there was no error in it.
#[derive(Debug)]
pub struct Loaded {
    /// The suite; `None` where a problem keeps it from being one.
    pub suite: Option<Suite>,
    /// The files.
    pub sources: Sources,
    /// Everything that is wrong or suspicious.
    pub problems: Diagnostics,
}

/// How much of a suite is in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The files that the trials of a worker use.
    Part,
}

/// Loads the suite in a directory. `variable` looks up the variables that its paths name.
pub fn load(
    dir: &Utf8Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, DiscoverError> {
    load_extent(dir, Extent::Whole, variable)
}

/// Loads as much of a suite as is in a directory.
pub fn load_extent(
    dir: &Utf8Path,
    extent: Extent,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, DiscoverError> {
    let root = canonical(dir)?;
    let mut sources = Sources::default();
    let mut problems = Diagnostics::default();
    let suite_path = root.join(SUITE_FILE);
    let has_suite_file = suite_path.is_file();
    let FoundEvals {
        evals: eval_paths,
        suites,
    } = find_evals::find(&root, &mut problems);
    if !has_suite_file {
        no_suite(&root, &eval_paths, suites, &problems)?;
    }
    let mut read_if_there = |path: &Utf8Path| match path.is_file() {
        true => read(path, &root, &mut sources, &mut problems),
        false => None,
    };
    let suite = read_if_there(&suite_path);
    let workers = read_if_there(&root.join(WORKERS_FILE));
    let evals = eval_paths
        .iter()
        .filter_map(|path| read(path, &root, &mut sources, &mut problems))
        .collect();
    let files = ConfigFiles {
        root,
        suite,
        workers,
        evals,
    };
    let machine = Machine { extent, variable };
    let suite = config::load(&files, &sources, &machine, &mut problems);
    Ok(Loaded {
        suite,
        sources,
        problems,
    })
}

/// Returns the path of a directory without symbolic links and `..`.
pub fn canonical(dir: &Utf8Path) -> Result<Utf8PathBuf, DiscoverError> {
    let real = dir.canonicalize_utf8();
    let real = real.map_err(|source| DiscoverError::Open {
        meant: near(dir),
        dir: dir.to_owned(),
        source,
    })?;
    if real.is_file() {
        Err(DiscoverError::File { path: real })
    } else {
        Ok(real)
    }
}

/// Refuses a directory without a `terca.yaml` that has no evals either, or whose evals are those of suites below.
fn no_suite(
    dir: &Utf8Path,
    evals: &[Utf8PathBuf],
    suites: Vec<Utf8PathBuf>,
    problems: &Diagnostics,
) -> Result<(), DiscoverError> {
    let has_own_eval = evals.contains(&dir.join(EVAL_FILE));
    let guess = if suites.is_empty() || has_own_eval {
        if !evals.is_empty() {
            return Ok(());
        }
        let mut skipped = problems.iter().filter_map(|problem| problem.path.as_ref());
        let path = skipped.next().map(|path| dir.join(path));
        path.filter(|path| path.is_file())
            .map(|path| Guess::Misnamed {
                path,
                right: EVAL_FILE,
            })
    } else {
        Some(Guess::Below(suites))
    };
    Err(DiscoverError::NoSuite {
        dir: dir.to_owned(),
        guess,
    })
}

/// Returns the directory that was probably meant.
fn near(dir: &Utf8Path) -> Option<String> {
    let around = dir
        .parent()
        .filter(|parent| !parent.as_str().is_empty())
        .unwrap_or(Utf8Path::new("."));
    let entries = around.read_dir_utf8().into_iter().flatten().flatten();
    let names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_owned())
        .collect();
    let name = dir.file_name().unwrap_or_default();
    prose::did_you_mean(name, names.iter().map(String::as_str)).map(str::to_owned)
}

fn read(
    path: &Utf8Path,
    root: &Utf8Path,
    sources: &mut Sources,
    problems: &mut Diagnostics,
) -> Option<FileId> {
    let label = path.strip_prefix(root).unwrap_or(path).to_string();
    match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Some(sources.add(path, label, text)),
        Ok(Err(error)) => {
            // The text before the first bad byte is as it was, so that its place can be shown.
            let start = error.utf8_error().valid_up_to();
            let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let file = sources.add(path, label, shown);
            let place = Place {
                file,
                start,
                end: start,
            };
            let is_utf_16 = matches!(error.as_bytes(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
            let (message, from) = match is_utf_16 {
                true => ("the file is UTF-16 text, not UTF-8", "utf-16"),
                false => ("the file is not UTF-8 text", "latin1"),
            };
            problems.push(
                Diagnostic::error(Code::UnreadableFile, message)
                    .at(place, "the first byte that is not")
                    .help(format!(
                        "save it as UTF-8 in your editor, or convert it: `iconv -f {from} -t utf-8 OLD > NEW`"
                    )),
            );
            None
        }
        Err(error) => {
            problems.push(
                Diagnostic::error(
                    Code::UnreadableFile,
                    format!("the file cannot be read: {error}"),
                )
                .in_file(label)
                .help("Terca reads files with your permissions; `ls -l` shows those of the file"),
            );
            None
        }
    }
}

/// The real file system, and an environment.
pub(crate) struct Machine<'a> {
    pub extent: Extent,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Returns the library around a suite, or the workspace whose root is there. The suite need not exist yet.
pub fn library_around(
    suite: &Utf8Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<Found> {
    let machine = Machine {
        extent: Extent::Whole,
        variable,
    };
    let mut found = library::find(suite, &machine)?;
    if let Found::Library(library) = &mut found
        && library.language == Language::Go
    {
        library.compiler = go_version();
    }
    Some(found)
}

/// Returns the packages of the workspace around a directory.
pub fn packages_around(dir: &Utf8Path) -> Option<Workspace> {
    let machine = Machine {
        extent: Extent::Whole,
        variable: &|_| None,
    };
    library::members(dir, &machine)
}

/// Returns the version of Go on this machine as `go.mod` has it: `1.21`.
fn go_version() -> Option<String> {
    let asked = Command::new("go")
        .args(["env", "GOVERSION"])
        .output()
        .ok()?;
    let said = String::from_utf8(asked.stdout).ok()?;
    let version: Vec<&str> = said.trim().strip_prefix("go")?.split('.').take(2).collect();
    (version.len() == 2).then(|| version.join("."))
}

/// Directories that are never looked into: a suite does not mean them, and they are large.
const NOT_SEARCHED: [&str; 3] = [".git", ".terca", "node_modules"];
/// No library has more; a suite in `/` must not read the whole disk.
const MOST_FILES: usize = 100_000;

impl Surroundings for Machine<'_> {
    fn kind(&self, path: &Utf8Path) -> PathKind {
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => PathKind::Directory,
            Ok(_) => PathKind::File,
            Err(_) => PathKind::Missing,
        }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let real = path.canonicalize_utf8();
        real.unwrap_or_else(|_| path.to_owned())
    }

    fn read_text(&self, path: &Utf8Path) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    fn files_below(&self, dir: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mut found = Vec::new();
        let mut unseen = vec![dir.to_owned()];
        while let Some(dir) = unseen.pop() {
            for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
                if found.len() + unseen.len() >= MOST_FILES {
                    break;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !NOT_SEARCHED.contains(&entry.file_name()) => {
                        unseen.push(entry.into_path());
                    }
                    Ok(kind) if kind.is_file() => found.push(entry.into_path()),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    fn names_in(&self, dir: &Utf8Path) -> Vec<String> {
        let entries = dir.read_dir_utf8().into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
        names.sort();
        names
    }

    fn is_executable(&self, path: &Utf8Path) -> bool {
        // The superuser may start what anybody may start.
        std::fs::metadata(path).map_or(true, |meta| meta.permissions().mode() & 0o111 != 0)
    }

    fn first_line(&self, path: &Utf8Path) -> Option<String> {
        /// No line that names an interpreter is longer.
        const LONGEST: u64 = 4096;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(LONGEST).read_to_end(&mut bytes).ok()?;
        let first = bytes.split(|byte| *byte == b'\n').next()?;
        String::from_utf8(first.to_vec()).ok()
    }

    fn is_partial(&self) -> bool {
        self.extent == Extent::Part
    }
}
