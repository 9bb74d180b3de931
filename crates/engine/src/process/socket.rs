//! Sockets at paths of any length: the kernel's own limit is about a hundred bytes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;

use camino::Utf8Path;

/// Makes a socket and listens to it.
pub(crate) fn listen(path: &Utf8Path) -> io::Result<UnixListener> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if !cfg!(target_os = "linux") {
        return UnixListener::bind(path);
    }
    let dir = File::open(parent)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", dir.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_no_obstacle() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temp.path())
            .unwrap()
            .join("d".repeat(150));
        std::fs::create_dir(&dir).unwrap();
        listen(&dir.join("socket")).unwrap();
        assert!(dir.join("socket").exists());
    }
}
