//! Clears a trial's folder before an attempt: earlier attempts are kept in `attempts/`, anything else is removed.
//!
//! The files in the folder when attempt N starts come from attempt N - 1, and go into `attempts/`, or from an attempt N
//! that was not seen to end, and are removed.

use std::io;
use std::path::Path;

use camino::Utf8Path;

use crate::tree::{Dir, Options};

const ATTEMPTS: &str = "attempts";
/// A trial's folder has about ten entries.
const MOST_ENTRIES: u64 = 100_000;

/// Clears the folder of a trial, beneath the run's directory, for an attempt. No link is followed: the run may have come
/// from somebody else.
pub fn clear(run: &Dir, folder: &Utf8Path, attempt: u32) -> io::Result<()> {
    if run.meta_at(folder)?.is_none() {
        return Ok(());
    }
    if attempt <= 1 {
        return remove(run, folder.as_std_path());
    }
    let dir = run.open_dir(folder)?;
    let attempts = Path::new(ATTEMPTS);
    let kept = attempts.join(format!("{:02}", attempt - 1));
    if dir.meta_at(&kept)?.is_some() {
        return each_other_entry(&dir, |entry| remove(&dir, entry));
    }
    // Filled under another name first: if Terca dies meanwhile, the next start moves the rest.
    let unfinished = attempts.join(format!(".{:02}", attempt - 1));
    dir.create_dir_all(&unfinished, 0o777)?;
    each_other_entry(&dir, |entry| Ok(dir.rename(entry, unfinished.join(entry))?))?;
    Ok(dir.rename(unfinished, kept)?)
}

fn remove(dir: &Dir, path: &Path) -> io::Result<()> {
    let _removed = dir.remove_tree(path, &Options::default())?;
    match dir.meta_at(path)? {
        None => Ok(()),
        Some(_) => Err(io::Error::other(format!(
            "{} could not be removed",
            dir.path().join(path).display()
        ))),
    }
}

fn each_other_entry(dir: &Dir, act: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    for name in dir.names(MOST_ENTRIES)? {
        if name != ATTEMPTS {
            act(Path::new(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dir: &Utf8Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![dir.to_owned()];
        while let Some(next) = open.pop() {
            for entry in next.read_dir_utf8().unwrap() {
                let path = entry.unwrap().into_path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let shown = path.strip_prefix(dir).unwrap();
                    found.push(format!(
                        "{shown}: {}",
                        fs_err::read_to_string(&path).unwrap()
                    ));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn earlier_attempts_are_kept_and_unseen_ones_start_again() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temporary.path()).unwrap().join("trial");
        let run = Dir::open(temporary.path()).unwrap();
        let clear = |attempt| clear(&run, Utf8Path::new("trial"), attempt);
        let leave = |text: &str| {
            fs_err::create_dir_all(dir.join("artifacts")).unwrap();
            fs_err::write(dir.join("run.log"), text).unwrap();
            fs_err::write(dir.join("artifacts/stdout.log"), text).unwrap();
        };
        clear(1).unwrap();
        leave("killed");
        clear(1).unwrap();
        assert!(!dir.exists());
        leave("one");
        clear(2).unwrap();
        assert_eq!(
            found(&dir),
            [
                "attempts/01/artifacts/stdout.log: one", "attempts/01/run.log: one"
            ]
        );
        leave("killed");
        clear(2).unwrap();
        leave("two");
        // Died while putting it aside.
        fs_err::create_dir_all(dir.join("attempts/.02")).unwrap();
        fs_err::rename(dir.join("artifacts"), dir.join("attempts/.02/artifacts")).unwrap();
        clear(3).unwrap();
        assert_eq!(
            found(&dir),
            [
                "attempts/01/artifacts/stdout.log: one", "attempts/01/run.log: one",
                "attempts/02/artifacts/stdout.log: two", "attempts/02/run.log: two"
            ]
        );
        assert!(!dir.join("attempts/.02").exists());
    }

    #[test]
    fn no_link_is_followed() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temporary.path()).unwrap();
        fs_err::create_dir_all(dir.join("run")).unwrap();
        fs_err::create_dir_all(dir.join("victim/attempts")).unwrap();
        fs_err::write(dir.join("victim/keep"), "kept").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, dir.join(at)).unwrap();
        let run = Dir::open(dir.join("run")).unwrap();
        // A link in the place of the folder is removed or refused, and what it leads to stays.
        link("../victim", "run/trial");
        assert!(clear(&run, Utf8Path::new("trial"), 2).is_err());
        clear(&run, Utf8Path::new("trial"), 1).unwrap();
        assert!(dir.join("run/trial").symlink_metadata().is_err());
        // The same for one above it, and for `attempts` in it.
        link("../victim", "run/eval");
        assert!(clear(&run, Utf8Path::new("eval/keep"), 1).is_err());
        fs_err::create_dir_all(dir.join("run/trial")).unwrap();
        fs_err::write(dir.join("run/trial/run.log"), "one").unwrap();
        link("../../victim/attempts", "run/trial/attempts");
        assert!(clear(&run, Utf8Path::new("trial"), 2).is_err());
        assert_eq!(
            found(&dir.join("victim")),
            ["keep: kept"],
            "nothing was moved or removed"
        );
    }
}
