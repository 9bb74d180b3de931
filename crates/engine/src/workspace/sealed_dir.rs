//! A directory that is kept from the agent while it works: files from before the agent, which the tests need.
//!
//! It is in a directory with a name that nobody can foresee, beside the directories of trials, where nothing can be
//! listed. The agent runs as the user who owns all of this, so it may find the directory all the same. Therefore the
//! identity of everything in it is noted before the agent starts and compared when it is gone.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{TreeError, identity};
use crate::workspace::own_dirs::secret_dir;

/// A directory that is kept from the agent while it works.
#[derive(Debug)]
pub(crate) struct SealedDir {
    path: Utf8PathBuf,
    /// The identity of everything in it; `None` until it is closed.
    identity: Option<String>,
}

impl SealedDir {
    /// Makes an empty one.
    pub(crate) fn create(parent: &Utf8Path) -> io::Result<Self> {
        Ok(SealedDir {
            path: secret_dir(parent)?,
            identity: None,
        })
    }

    /// Returns the directory.
    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns the place of the home that the tests get.
    pub(crate) fn home(&self) -> Utf8PathBuf {
        self.path.join("home")
    }

    /// Returns the place of the files as they were before the agent started.
    pub(crate) fn before(&self) -> Utf8PathBuf {
        self.path.join("before")
    }

    /// Notes the identity of everything that is in it.
    pub(crate) fn close(&mut self) -> Result<(), TreeError> {
        self.identity = Some(identity(&self.path)?);
        Ok(())
    }

    /// Returns whether everything is as it was when it was closed.
    pub(crate) fn is_untouched(&self) -> bool {
        self.identity.is_some() && self.identity == identity(&self.path).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn closed() -> (tempfile::TempDir, SealedDir) {
        let temporary = tempfile::tempdir().unwrap();
        let mut sealed = SealedDir::create(Utf8Path::from_path(temporary.path()).unwrap()).unwrap();
        fs_err::create_dir_all(sealed.home().join(".config/tool")).unwrap();
        fs_err::write(sealed.home().join(".config/tool/settings"), "a").unwrap();
        fs_err::write(sealed.home().join(".profile"), "a").unwrap();
        fs_err::create_dir(sealed.home().join("closed")).unwrap();
        let nobody = std::fs::Permissions::from_mode(0o000);
        fs_err::set_permissions(sealed.home().join("closed"), nobody).unwrap();
        sealed.close().unwrap();
        (temporary, sealed)
    }

    /// Times of files are as fine as the kernel's clock ticks.
    fn let_the_clock_tick(sealed: &SealedDir) {
        use std::os::unix::fs::MetadataExt;
        let time = |path: &Utf8Path| {
            let meta = fs_err::metadata(path).unwrap();
            (meta.ctime(), meta.ctime_nsec())
        };
        let noted = time(&sealed.home().join("closed"));
        let beside = sealed.path().with_extension("clock");
        while !beside.exists() || time(&beside) <= noted {
            fs_err::write(&beside, "tick").unwrap();
        }
    }

    #[test]
    fn nothing_can_be_changed_unseen() {
        let touches: [fn(&SealedDir); 7] = [
            |sealed| fs_err::write(sealed.home().join(".profile"), "b").unwrap(),
            |sealed| fs_err::write(sealed.home().join(".config/tool/more"), "b").unwrap(),
            |sealed| fs_err::remove_file(sealed.home().join(".config/tool/settings")).unwrap(),
            |sealed| fs_err::write(sealed.path().join("more"), "").unwrap(),
            |sealed| {
                let all = std::fs::Permissions::from_mode(0o777);
                fs_err::set_permissions(sealed.home().join("closed"), all).unwrap();
            },
            |sealed| {
                let copy = sealed.home().join("copy");
                fs_err::copy(sealed.home().join(".profile"), &copy).unwrap();
                fs_err::rename(copy, sealed.home().join(".profile")).unwrap();
            },
            |sealed| {
                fs_err::rename(sealed.path(), format!("{}-away", sealed.path())).unwrap();
            },
        ];
        for (index, touch) in touches.into_iter().enumerate() {
            let (_temporary, sealed) = closed();
            assert!(sealed.is_untouched());
            assert!(sealed.is_untouched(), "looking changes nothing");
            let_the_clock_tick(&sealed);
            touch(&sealed);
            assert!(!sealed.is_untouched(), "touch {index}");
        }
    }

    #[test]
    fn one_that_was_never_closed_is_not_trusted() {
        let temporary = tempfile::tempdir().unwrap();
        let sealed = SealedDir::create(Utf8Path::from_path(temporary.path()).unwrap()).unwrap();
        assert!(!sealed.is_untouched());
    }
}
