//! Programs that serve a test, and end with it.

use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

/// A program in the foreground. The kernel ends it when the thread that started it ends, also by `kill -9`.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    log: Utf8PathBuf,
}

impl Daemon {
    /// Starts a program whose words go to a file.
    pub(crate) fn start(command: &[&str], log: &Utf8Path) -> Self {
        let file = File::create(log).expect("a file");
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(command)
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a file"))
            .stderr(file)
            .spawn()
            .expect("setpriv starts");
        Daemon {
            child,
            log: log.to_owned(),
        }
    }

    pub(crate) fn id(&self) -> i32 {
        self.child.id() as i32
    }

    /// What it has said so far.
    pub(crate) fn words(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ports of loopback that nobody listens at. All are held until the last is known, so that they differ.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    let listen = |_| TcpListener::bind("127.0.0.1:0").expect("a port");
    let held: Vec<TcpListener> = (0..count).map(listen).collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    held.iter().map(port).collect()
}
