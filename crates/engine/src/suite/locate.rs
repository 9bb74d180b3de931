//! Finds the suite that a command is about: the nearest directory, upwards, that has a `terca.yaml`.

use std::collections::VecDeque;

use camino::{Utf8Path, Utf8PathBuf};

use crate::suite::discover::{DiscoverError, Guess, SUITE_FILE, canonical};
use crate::suite::find_evals::holds_no_evals;

/// Names that people give to a `terca.yaml` by mistake.
const OTHER_NAMES: [&str; 5] = [
    "terca.yml", "Terca.yaml", "Terca.yml", "terca.yaml.txt", ".terca.yaml",
];

/// The levels below a directory that are searched for suites.
const DEEPEST: usize = 3;
/// The directories that are searched for suites at most: somebody may be in `/`.
const MOST_DIRECTORIES: usize = 2_000;

/// Returns the directory of the suite around a directory, or the directory itself where none has a `terca.yaml`: it
/// may have evals all the same.
pub fn locate(dir: &Utf8Path) -> Result<Utf8PathBuf, DiscoverError> {
    let start = canonical(dir)?;
    for above in start.ancestors() {
        if above.join(SUITE_FILE).is_file() {
            return Ok(above.to_owned());
        }
        if let Some(guess) = misnamed(above) {
            return Err(DiscoverError::NoSuite {
                dir: start,
                guess: Some(guess),
            });
        }
    }
    Ok(start)
}

/// Returns a file of a directory whose name is almost that of a suite's configuration.
fn misnamed(dir: &Utf8Path) -> Option<Guess> {
    let mut names = OTHER_NAMES.iter().map(|name| dir.join(name));
    let path = names.find(|path| path.is_file())?;
    Some(Guess::Misnamed {
        path,
        right: SUITE_FILE,
    })
}

/// Returns the suites that are a few levels below a directory, sorted. Suites in suites are not looked for.
pub fn suites_below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut unseen = VecDeque::from([(dir.to_owned(), 0)]);
    let mut seen = 0;
    while let Some((dir, level)) = unseen.pop_front() {
        seen += 1;
        if level > 0 && dir.join(SUITE_FILE).is_file() {
            found.push(dir);
            continue;
        }
        if level == DEEPEST || seen > MOST_DIRECTORIES {
            continue;
        }
        let entries = dir.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && !holds_no_evals(entry.file_name()) {
                unseen.push_back((entry.path().to_owned(), level + 1));
            }
        }
    }
    found.sort();
    found
}
