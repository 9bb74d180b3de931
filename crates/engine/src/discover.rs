//! Finds a suite on disk and reads its configuration files.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::{self, ConfigFiles, PathKind, Suite, Surroundings};
use terca_core::diagnostic::{Diagnostic, Diagnostics};
use terca_core::source::{FileId, Place, Sources};
use thiserror::Error;

pub const SUITE_FILE: &str = "terca.yaml";
pub const EVAL_FILE: &str = "eval.terca.yaml";

#[derive(Debug, Error)]
pub enum DiscoverError {
    #[error("{dir} cannot be opened: {source}")]
    Open { dir: Utf8PathBuf, source: io::Error },
    #[error("{dir} is not UTF-8; Terca needs paths that are")]
    NotUtf8 { dir: String },
    #[error("no suite here: {dir} has no {SUITE_FILE} and no {EVAL_FILE} below it")]
    NoSuite { dir: Utf8PathBuf },
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
        return Err(DiscoverError::NoSuite { dir: root });
    }
    eval_paths.sort();
    let suite = if has_suite_file { read(&suite_path, &root, &mut sources, &mut problems) } else { None };
    let evals = eval_paths.iter().filter_map(|path| read(path, &root, &mut sources, &mut problems)).collect();
    let files = ConfigFiles { root, suite, evals };
    let suite = config::load(&files, &sources, &Disk, &mut problems);
    Ok(Loaded { suite, sources, problems })
}

/// The directory without symbolic links and `..`.
pub fn canonical(dir: &Utf8Path) -> Result<Utf8PathBuf, DiscoverError> {
    let real =
        std::fs::canonicalize(dir).map_err(|source| DiscoverError::Open { dir: dir.to_owned(), source })?;
    Utf8PathBuf::from_path_buf(real)
        .map_err(|path| DiscoverError::NotUtf8 { dir: path.display().to_string() })
}

/// Every `eval.terca.yaml` below a directory. Hidden directories, `node_modules` and names with `_` hold none.
fn find_evals(dir: &Utf8Path, found: &mut Vec<Utf8PathBuf>, problems: &mut Diagnostics) {
    let entries = match dir.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(
                Diagnostic::error(format!("the directory cannot be read: {error}")).in_file(dir.as_str()),
            );
            return;
        }
    };
    // An entry whose name is not UTF-8 cannot be an eval of this suite.
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
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
            let place = Place { file, start, end: start };
            problems.push(
                Diagnostic::error("the file is not UTF-8 text").at(place, "the first byte that is not"),
            );
            None
        }
        Err(error) => {
            problems.push(Diagnostic::error(format!("the file cannot be read: {error}")).in_file(label));
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
