//! The names of runs: the local date, and a number that begins with 001 each day.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::run::files::runs_dir;

/// Returns the names of a suite's runs, oldest first.
pub fn names(suite_dir: &Utf8Path) -> io::Result<Vec<String>> {
    let entries = match runs_dir(suite_dir).read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_by_key(|name| by_age(name));
    Ok(names)
}

/// The sort key of a name: by day, then by number, so that `-1000` comes after `-999`.
fn by_age(name: &str) -> (String, u32, String) {
    let day = name.rsplit_once('-').map_or(name, |(day, _)| day);
    (day.to_owned(), number(name).unwrap_or(0), name.to_owned())
}

/// Returns the number at the end of a name.
pub(super) fn number(name: &str) -> Option<u32> {
    name.rsplit_once('-')?.1.parse().ok()
}

/// Returns the directories that a new run of this day may get, the first free one first. Runs that start at the same
/// time may find the first ones taken.
pub(super) fn free_dirs(
    runs: &Utf8Path,
    today: jiff::civil::Date,
) -> io::Result<impl Iterator<Item = Utf8PathBuf>> {
    let prefix = format!("{today}-");
    let mut latest = 0;
    for entry in fs_err::read_dir(runs)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let taken = name
            .strip_prefix(&prefix)
            .and_then(|rest| rest.parse::<u32>().ok());
        latest = latest.max(taken.unwrap_or(0));
    }
    let runs = runs.to_owned();
    Ok((latest.saturating_add(1)..=u32::MAX)
        .map(move |number| runs.join(format!("{prefix}{number:03}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_after_a_gap_and_past_999() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        std::fs::create_dir_all(dir.join("2026-11-14-999")).unwrap();
        std::fs::create_dir_all(dir.join("2026-11-13-004")).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        let free: Vec<Utf8PathBuf> = free_dirs(&dir, today).unwrap().take(2).collect();
        assert_eq!(
            free,
            [dir.join("2026-11-14-1000"), dir.join("2026-11-14-1001")]
        );
    }

    #[test]
    fn runs_are_ordered_by_day_and_number() {
        let guard = tempfile::tempdir().unwrap();
        let suite = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        assert!(names(&suite).unwrap().is_empty());
        for name in [
            "2026-11-14-1000",
            "2026-11-14-999",
            "2026-11-13-1001",
            ".hidden",
        ] {
            std::fs::create_dir_all(runs_dir(&suite).join(name)).unwrap();
        }
        assert_eq!(
            names(&suite).unwrap(),
            ["2026-11-13-1001", "2026-11-14-999", "2026-11-14-1000"]
        );
    }
}
