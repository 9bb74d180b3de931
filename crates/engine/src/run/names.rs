//! The names of runs: the local date, and a number that begins with 001 each day.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::run::files::{EVENTS, RUN, end_of, open_run, runs_dir};
use crate::tree::Dir;

/// The folders of a suite's runs, and what is beside them.
#[derive(Debug, Default)]
pub struct Folders {
    /// The runs, by the time they were started.
    pub runs: Vec<String>,
    /// Folders, links and files that are no runs.
    pub others: Vec<String>,
}

/// Lists the folders of a suite's runs. A link is no run: it could lead anywhere.
pub fn folders(suite_dir: &Utf8Path) -> io::Result<Folders> {
    let entries = match runs_dir(suite_dir).read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Folders::default()),
        Err(error) => return Err(error),
    };
    let mut runs = Vec::new();
    let mut others = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_owned();
        if name.starts_with('.') {
            continue;
        }
        match started(entry.path(), &name) {
            Some(started) => runs.push((started, day(&name), number(&name), name)),
            None => others.push(name),
        }
    }
    // By number, so that `-1000` comes after `-999`.
    runs.sort();
    others.sort();
    Ok(Folders {
        runs: runs.into_iter().map(|(.., name)| name).collect(),
        others,
    })
}

/// Returns the time at which a run was made: that of `run.json`, which a merged run has too. One that cannot be read has
/// that of its file, but none after the day in its name: a copy has younger files than its run. None means that the folder
/// is no run.
fn started(dir: &Utf8Path, name: &str) -> Option<Timestamp> {
    let dir = open_run(dir).ok()?;
    let meta_at = |file| dir.meta_at(file).ok().flatten();
    let written = meta_at(RUN).or_else(|| meta_at(EVENTS))?.modified.0;
    let by_file = Timestamp::from_second(written).unwrap_or(Timestamp::MIN);
    let day_is_over = day_is_over(name).unwrap_or(Timestamp::MAX);
    Some(created_at(&dir).unwrap_or(by_file.min(day_is_over)))
}

/// Returns the day in a run's name.
pub(super) fn day(name: &str) -> Option<jiff::civil::Date> {
    name.rsplit_once('-')?.0.parse().ok()
}

/// Returns the time at which the day in a run's name is over everywhere on earth.
fn day_is_over(name: &str) -> Option<Timestamp> {
    let noon_of_the_next = day(name)?.tomorrow().ok()?.at(12, 0, 0, 0);
    let utc = noon_of_the_next.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp())
}

/// Returns the time in `run.json`, reading no more than its end.
fn created_at(dir: &Dir) -> Option<Timestamp> {
    let text = end_of(dir.open_file(RUN).ok()?, 256).ok()?;
    let time = text.split_once("\"createdAt\": \"")?.1.split_once('"')?.0;
    time.parse().ok()
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
    let mut latest = 0;
    for entry in fs_err::read_dir(runs)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let taken = number(&name).filter(|_| day(&name) == Some(today));
        latest = latest.max(taken.unwrap_or(0));
    }
    let runs = runs.to_owned();
    Ok((latest.saturating_add(1)..=u32::MAX)
        .map(move |number| runs.join(format!("{today}-{number:03}"))))
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

    /// Makes a run whose plan has this time.
    fn run(suite: &Utf8Path, name: &str, at: &str) {
        let dir = runs_dir(suite).join(name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(RUN), format!("{{\"createdAt\": \"{at}\"}}\n")).unwrap();
    }

    #[test]
    fn a_run_that_tells_no_time_is_not_younger_than_its_name() {
        let guard = tempfile::tempdir().unwrap();
        let suite = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        run(&suite, "2026-11-14-001", "2026-11-14T10:00:00Z");
        // Its file is from today, long after the other run.
        run(&suite, "2001-01-01-001", "no time");
        let expected = ["2001-01-01-001", "2026-11-14-001"];
        assert_eq!(folders(&suite).unwrap().runs, expected);
    }

    #[test]
    fn runs_are_ordered_by_their_start_then_by_day_and_number() {
        let guard = tempfile::tempdir().unwrap();
        let suite = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        assert!(folders(&suite).unwrap().runs.is_empty());
        for name in ["2026-11-14-1000", "2026-11-14-999", "2026-11-13-1001"] {
            run(&suite, name, "2026-11-14T10:00:00Z");
        }
        // Further west the day before is still going on.
        run(&suite, "2026-11-12-001", "2026-11-14T11:00:00Z");
        run(&suite, ".hidden", "2026-11-14T11:00:00Z");
        std::fs::create_dir(runs_dir(&suite).join("notes")).unwrap();
        std::fs::write(runs_dir(&suite).join("file"), "").unwrap();
        std::os::unix::fs::symlink("2026-11-12-001", runs_dir(&suite).join("2099-01-01-001"))
            .unwrap();
        let found = folders(&suite).unwrap();
        assert_eq!(
            found.runs,
            [
                "2026-11-13-1001", "2026-11-14-999", "2026-11-14-1000", "2026-11-12-001"
            ]
        );
        assert_eq!(found.others, ["2099-01-01-001", "file", "notes"]);
    }
}
