//! Sockets at paths of any length: the kernel's own limit is about a hundred bytes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};

use camino::{Utf8Path, Utf8PathBuf};

/// Makes a socket and listens to it.
pub(crate) fn listen(path: &Utf8Path) -> io::Result<UnixListener> {
    let (_dir, path) = shortened(path)?;
    UnixListener::bind(path)
}

/// Connects to a socket.
pub(crate) fn connect(path: &Utf8Path) -> io::Result<UnixStream> {
    let (_dir, path) = shortened(path)?;
    UnixStream::connect(path)
}

/// Returns a short path, which is good as long as the directory is open.
fn shortened(path: &Utf8Path) -> io::Result<(Option<File>, Utf8PathBuf)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if !cfg!(target_os = "linux") {
        return Ok((None, path.to_owned()));
    }
    let dir = File::open(parent)?;
    let short = format!("/proc/self/fd/{}/{name}", dir.as_raw_fd());
    Ok((Some(dir), short.into()))
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
        let listener = listen(&dir.join("socket")).unwrap();
        connect(&dir.join("socket")).unwrap();
        listener.accept().unwrap();
    }
}
