//! Making and removing directories of Terca's own.

use std::io;
use std::os::unix::fs::DirBuilderExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{Options, remove};

/// The permissions of a directory that no other user can look into.
pub(crate) const PRIVATE: u32 = 0o700;

/// The directory of a suite with its runs, and with what they share.
pub(crate) const OWN: &str = ".terca";

/// Makes a directory with these permissions, less those of the user's mask.
pub(crate) fn make_dir(path: &Utf8Path, mode: u32) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(mode).create(path)
}

/// Makes the directory of a suite with its runs and what they share, which no commit is to have. Returns its path.
pub(crate) fn make_own_dir(suite_dir: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let own = suite_dir.join(OWN);
    fs_err::create_dir_all(&own)?;
    let ignore = own.join(".gitignore");
    if !ignore.exists() {
        fs_err::write(ignore, "*\n")?;
    }
    Ok(own)
}

/// Makes a private directory under a name that nobody can foresee.
pub(crate) fn secret_dir(parent: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let path = parent.join(secret_name()?);
    make_dir(&path, PRIVATE)?;
    Ok(path)
}

/// The characters of a name: no two of them look alike, and none is special to a shell.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Thirteen characters of five bits: more than anybody can try, and short enough for the path of a socket.
const LENGTH: usize = 13;

/// Returns a name that cannot be derived from earlier ones, as those of a generator with a seed can.
pub(crate) fn secret_name() -> io::Result<String> {
    let mut bytes = [0; LENGTH];
    getrandom::getrandom(&mut bytes)?;
    let characters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    Ok(characters.iter().collect())
}

/// Removes a directory. Returns a line for each of the first things that could not be removed, such as a mount, which
/// is never emptied.
pub(crate) fn remove_and_tell(path: &Utf8Path) -> Vec<String> {
    match remove(path, &Options::default()) {
        Ok(removed) => removed.lines(path.as_std_path()).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_alike() {
        let names: std::collections::BTreeSet<String> =
            (0..1000).map(|_| secret_name().unwrap()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == LENGTH));
    }
}
