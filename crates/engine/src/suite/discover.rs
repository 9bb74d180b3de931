//! Finds a suite on disk and reads its configuration files.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::{self, ConfigFiles, PathKind, Suite, Surroundings};
use terca_core::text::diagnostic::{Diagnostic, Diagnostics};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_core::text::source::{FileId, Place, Sources};
use thiserror::Error;

pub const SUITE_FILE: &str = "terca.yaml";
pub const EVAL_FILE: &str = "eval.terca.yaml";

#[derive(Debug, Error)]
pub enum DiscoverError {
    #[error("{dir} cannot be opened: {source}\nhelp: {help}")]
    Open {
        dir: Utf8PathBuf,
        source: io::Error,
        help: String,
    },
    #[error("{dir} is not UTF-8; Terca needs paths that are")]
    NotUtf8 { dir: String },
    #[error("{path} is a file, not a directory\nhelp: name the directory it is in")]
    File { path: Utf8PathBuf },
    #[error("no suite here: {dir} has no {SUITE_FILE} and no {EVAL_FILE} below it\nhelp: {help}")]
    NoSuite { dir: Utf8PathBuf, help: String },
}

/// Everything that was read, with the suite when there was no error in it.
#[derive(Debug)]
pub struct Loaded {
    pub suite: Option<Suite>,
    pub sources: Sources,
    pub problems: Diagnostics,
}

/// Loads the suite in a directory.
pub fn load(dir: &Utf8Path) -> Result<Loaded, DiscoverError> {
    let root = canonical(dir)?;
    let mut sources = Sources::default();
    let mut problems = Diagnostics::default();
    let suite_path = root.join(SUITE_FILE);
    let has_suite_file = suite_path.is_file();
    let mut eval_paths = Vec::new();
    find_evals(&root, &mut eval_paths, &mut problems);
    if !has_suite_file && eval_paths.is_empty() {
        return Err(DiscoverError::NoSuite {
            help: where_else(&root),
            dir: root,
        });
    }
    eval_paths.sort();
    if let Some(above) = root
        .ancestors()
        .filter(|_| !has_suite_file)
        .find(|dir| dir.join(SUITE_FILE).is_file())
    {
        problems.push(part_of_a_suite(above));
    }
    let suite = if has_suite_file {
        read(&suite_path, &root, &mut sources, &mut problems)
    } else {
        None
    };
    let evals = eval_paths
        .iter()
        .filter_map(|path| read(path, &root, &mut sources, &mut problems))
        .collect();
    let files = ConfigFiles { root, suite, evals };
    let suite = config::load(&files, &sources, &Disk, &mut problems);
    Ok(Loaded {
        suite,
        sources,
        problems,
    })
}

/// The directory without symbolic links and `..`.
pub fn canonical(dir: &Utf8Path) -> Result<Utf8PathBuf, DiscoverError> {
    let real = std::fs::canonicalize(dir).map_err(|source| DiscoverError::Open {
        help: near(dir),
        dir: dir.to_owned(),
        source,
    })?;
    let real = Utf8PathBuf::from_path_buf(real).map_err(|path| DiscoverError::NotUtf8 {
        dir: path.display().to_string(),
    })?;
    if real.is_file() {
        Err(DiscoverError::File { path: real })
    } else {
        Ok(real)
    }
}

/// Settings that are not used, though somebody who stands in an eval's directory may think so.
fn part_of_a_suite(above: &Utf8Path) -> Diagnostic {
    let message = format!("no {SUITE_FILE} here, and the one above, in {above}, is not used");
    Diagnostic::warning(Code::NoSuite, message).help(format!(
        "`-C {above}` takes the whole suite, and `-t NAME` one eval of it"
    ))
}

/// The directory that was probably meant.
fn near(dir: &Utf8Path) -> String {
    let around = dir
        .parent()
        .filter(|parent| !parent.as_str().is_empty())
        .unwrap_or(Utf8Path::new("."));
    let entries = around.read_dir_utf8().into_iter().flatten().flatten();
    let names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_owned())
        .collect();
    match prose::did_you_mean(
        dir.file_name().unwrap_or_default(),
        names.iter().map(String::as_str),
    ) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "a relative path begins at the directory that Terca is started in".into(),
    }
}

/// What somebody who finds no suite has most probably overlooked.
fn where_else(dir: &Utf8Path) -> String {
    const OTHER_NAMES: [&str; 4] = [
        "terca.yml",
        "Terca.yaml",
        "terca.yaml.txt",
        "eval.terca.yml",
    ];
    if let Some(name) = OTHER_NAMES.iter().find(|name| dir.join(name).is_file()) {
        let right = if name.starts_with("eval") {
            EVAL_FILE
        } else {
            SUITE_FILE
        };
        return format!("{name} is not looked for: rename it to {right}");
    }
    match dir
        .ancestors()
        .find(|above| above.join(SUITE_FILE).is_file())
    {
        Some(above) => format!("the suite is above, in {above}: go there, or say `-C {above}`"),
        None => "`terca create` makes a suite; `-C DIR` names another directory".into(),
    }
}

/// Every `eval.terca.yaml` below a directory. Hidden directories, `node_modules` and names with `_` hold none.
fn find_evals(dir: &Utf8Path, found: &mut Vec<Utf8PathBuf>, problems: &mut Diagnostics) {
    let entries = match dir.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(
                Diagnostic::error(
                    Code::UnreadableFile,
                    format!("the directory cannot be read: {error}"),
                )
                .in_file(dir.as_str())
                .help("evals are looked for in it; make it readable, or begin its name with `_`"),
            );
            return;
        }
    };
    // An entry whose name is not UTF-8 cannot be an eval of this suite.
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name == EVAL_FILE {
            found.push(entry.path().to_owned());
        } else if kind.is_dir() && !name.starts_with(['.', '_']) && name != "node_modules" {
            find_evals(entry.path(), found, problems);
        }
    }
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
            problems.push(
                Diagnostic::error(Code::UnreadableFile, "the file is not UTF-8 text")
                    .at(place, "the first byte that is not")
                    .help("save it as UTF-8; `iconv -f latin1 -t utf-8` turns Latin-1 into it"),
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
                .help("Terca reads with the rights of whoever starts it; `ls -l` shows the file's"),
            );
            None
        }
    }
}

/// The real file system.
struct Disk;

impl Surroundings for Disk {
    fn kind(&self, path: &Utf8Path) -> PathKind {
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => PathKind::Directory,
            Ok(_) => PathKind::File,
            Err(_) => PathKind::Missing,
        }
    }

    fn link_target(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        path.read_link_utf8().ok()
    }

    fn read_text(&self, path: &Utf8Path) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}
