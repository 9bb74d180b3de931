//! Making and removing directories of Terca's own.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{Options, follow, remove};

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

/// Makes a directory, for this user alone, where it is missing. Returns its path without links.
///
/// Refuses one that another user can put something else in the place of: who can do that can run programs as this user.
/// From the root on, each directory and each link belongs to this user or to the superuser, and nobody else can change
/// what is in them, or only add to it as in `/tmp`. So nobody else can change later where the path leads, and it is
/// checked once.
pub(crate) fn trusted_dir(dir: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let dir = camino::absolute_utf8(dir)?;
    let others = Others::of_this_process();
    let check = |path: &Utf8Path| {
        follow(path, |step, found| match others.can_change(found) {
            Some(reason) => Err(io::Error::other(format!("{step} {reason}"))),
            None => Ok(()),
        })
    };
    // Nothing is made where the path of somebody else leads.
    if let Some(there) = dir
        .ancestors()
        .find(|above| above.is_symlink() || above.exists())
    {
        check(there)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(PRIVATE)
        .create(&dir)
        .map_err(|error| io::Error::new(error.kind(), format!("{dir}: {error}")))?;
    check(&dir)
}

/// Returns whether other users can add to a directory, or it is the superuser's.
pub(crate) fn is_shared(dir: &Utf8Path) -> io::Result<bool> {
    let found = fs_err::metadata(dir)?;
    Ok(found.uid() != rustix::process::getuid().as_raw() || found.mode() & 0o022 != 0)
}

/// Returns `BASE/terca-UID`, and makes it if it is missing. Refuses one that others have access to.
pub(crate) fn own_dir(base: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let path = trusted_dir(base)?.join(format!("terca-{user}"));
    match make_dir(&path, PRIVATE) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(io::Error::new(
                error.kind(),
                format!("{path} cannot be made: {error}"),
            ));
        }
        _ => {}
    }
    match open_to_others(&fs_err::symlink_metadata(&path)?, user) {
        Some(reason) => Err(io::Error::other(format!("{path} {reason}"))),
        None => Ok(path),
    }
}

/// The owner of files whose owner is unknown here.
const UNKNOWN_USER: u32 = 65534;

/// The users that this one need not trust.
struct Others {
    user: u32,
    /// This is a user namespace, in which the superuser of the machine is unknown.
    is_inside: bool,
}

impl Others {
    fn of_this_process() -> Self {
        let known = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        Others {
            user: rustix::process::getuid().as_raw(),
            is_inside: known.lines().next().is_some()
                && !known.split_whitespace().eq(["0", "0", "4294967295"]),
        }
    }

    /// Returns why another user can put something else into the place of a link, or of what is in a directory.
    fn can_change(&self, found: &Metadata) -> Option<String> {
        let owner = found.uid();
        let is_of_others = ![self.user, 0].contains(&owner);
        let is_unknown = self.is_inside && owner == UNKNOWN_USER;
        if is_of_others && !is_unknown {
            return Some(match found.is_symlink() {
                true => "is a link of another user, who can change where it leads".to_owned(),
                false => "belongs to another user, who can change what is in it".to_owned(),
            });
        }
        let is_sticky = found.mode() & 0o1000 != 0;
        (found.is_dir() && found.mode() & 0o022 != 0 && !is_sticky)
            .then(|| "lets other users change what is in it (`chmod go-w` ends that)".to_owned())
    }
}

/// Returns why a directory is not of this user alone.
fn open_to_others(found: &Metadata, user: u32) -> Option<String> {
    if found.is_symlink() {
        return Some("is a symbolic link, and must be a directory".to_owned());
    }
    if !found.is_dir() {
        return Some("is not a directory".to_owned());
    }
    if found.uid() != user {
        return Some("belongs to another user".to_owned());
    }
    let mode = found.mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        format!("is open to other users (mode {mode:o}, and 700 is needed; `chmod 700` sets that)")
    })
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
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Returns the reason why a directory is refused that was made by `make`, at this path.
    fn refused(make: impl FnOnce(&Utf8Path)) -> String {
        let base = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(base.path()).unwrap();
        let user = rustix::process::getuid().as_raw();
        make(&base.join(format!("terca-{user}")));
        own_dir(base).unwrap_err().to_string()
    }

    fn set_mode(path: &Utf8Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_of_ones_own_is_made_and_used_again() {
        let base = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(base.path()).unwrap().join("a/b");
        let made = own_dir(&base).unwrap();
        assert_eq!(fs_err::metadata(&made).unwrap().mode() & 0o777, 0o700);
        assert_eq!(own_dir(&base).unwrap(), made);
    }

    #[test]
    fn a_link_another_mode_and_another_kind_are_refused() {
        let link = refused(|path| {
            let target = path.with_extension("target");
            make_dir(&target, PRIVATE).unwrap();
            symlink(target, path).unwrap();
        });
        assert!(link.contains("is a symbolic link"), "{link}");
        for mode in [0o755, 0o770, 0o711] {
            let open = refused(|path| {
                std::fs::create_dir(path).unwrap();
                set_mode(path, mode);
            });
            assert!(open.contains(&format!("(mode {mode:o}")), "{open}");
        }
        let file = refused(|path| std::fs::write(path, "").unwrap());
        assert!(file.contains("is not a directory"), "{file}");
        let shared = refused(|path| set_mode(path.parent().unwrap(), 0o777));
        assert!(shared.contains("lets other users change"), "{shared}");
    }

    #[test]
    fn another_owner_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let dir = own_dir(Utf8Path::from_path(base.path()).unwrap()).unwrap();
        let found = std::fs::symlink_metadata(dir).unwrap();
        let user = found.uid();
        assert_eq!(open_to_others(&found, user), None);
        let others = |user| Others {
            user,
            is_inside: false,
        };
        assert_eq!(others(user).can_change(&found), None);
        let other = open_to_others(&found, user + 1).unwrap();
        assert_eq!(other, "belongs to another user");
        if user != 0 {
            let other = others(user + 1).can_change(&found).unwrap();
            assert!(other.contains("belongs to another user"), "{other}");
        }
    }

    #[test]
    fn no_two_names_are_alike() {
        let names: std::collections::BTreeSet<String> =
            (0..1000).map(|_| secret_name().unwrap()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == LENGTH));
    }
}
