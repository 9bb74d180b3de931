//! Clears a trial's folder before an attempt: earlier attempts are kept in `attempts/`, anything else is removed.
//!
//! The files in the folder when attempt N starts come from attempt N - 1, and go into `attempts/`, or from an attempt N
//! that was not seen to end, and are removed.

use std::io;

use camino::Utf8Path;

use crate::tree::{Options, remove};

const ATTEMPTS: &str = "attempts";

/// Clears the folder for an attempt.
pub(super) fn clear(dir: &Utf8Path, attempt: u32) -> io::Result<()> {
    if dir.symlink_metadata().is_err() {
        return Ok(());
    }
    if attempt <= 1 {
        return remove_whole(dir);
    }
    let kept = dir.join(ATTEMPTS).join(format!("{:02}", attempt - 1));
    if kept.exists() {
        return each_other_entry(dir, remove_whole);
    }
    // Filled under another name first: if Terca dies meanwhile, the next start moves the rest.
    let unfinished = dir.join(ATTEMPTS).join(format!(".{:02}", attempt - 1));
    fs_err::create_dir_all(&unfinished)?;
    each_other_entry(dir, |entry| match entry.file_name() {
        Some(name) => fs_err::rename(entry, unfinished.join(name)),
        None => Ok(()),
    })?;
    fs_err::rename(unfinished, kept)
}

/// Removes a file or a tree. A part that is left is an error.
fn remove_whole(path: &Utf8Path) -> io::Result<()> {
    let removed = remove(path, &Options::default())?;
    Ok(removed.left.into_result(path.as_std_path())?)
}

fn each_other_entry(dir: &Utf8Path, act: impl Fn(&Utf8Path) -> io::Result<()>) -> io::Result<()> {
    for entry in dir.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_name() != ATTEMPTS {
            act(entry.path())?;
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
        let leave = |text: &str| {
            fs_err::create_dir_all(dir.join("artifacts")).unwrap();
            fs_err::write(dir.join("run.log"), text).unwrap();
            fs_err::write(dir.join("artifacts/stdout.log"), text).unwrap();
        };
        clear(&dir, 1).unwrap();
        leave("killed");
        clear(&dir, 1).unwrap();
        assert!(!dir.exists());
        leave("one");
        clear(&dir, 2).unwrap();
        assert_eq!(
            found(&dir),
            [
                "attempts/01/artifacts/stdout.log: one",
                "attempts/01/run.log: one"
            ]
        );
        leave("killed");
        clear(&dir, 2).unwrap();
        leave("two");
        // Died while putting it aside.
        fs_err::create_dir_all(dir.join("attempts/.02")).unwrap();
        fs_err::rename(dir.join("artifacts"), dir.join("attempts/.02/artifacts")).unwrap();
        clear(&dir, 3).unwrap();
        assert_eq!(
            found(&dir),
            [
                "attempts/01/artifacts/stdout.log: one",
                "attempts/01/run.log: one",
                "attempts/02/artifacts/stdout.log: two",
                "attempts/02/run.log: two"
            ]
        );
        assert!(!dir.join("attempts/.02").exists());
    }
}
