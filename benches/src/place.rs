//! Where everything happens: a temporary directory, and the programs beside this one.

use std::io;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

#[derive(Debug)]
pub struct Place {
    guard: TempDir,
    programs: Utf8PathBuf,
    /// Smaller sizes.
    pub quick: bool,
}

impl Place {
    pub fn new(quick: bool, within: &Utf8Path) -> io::Result<Self> {
        build()?;
        let own = Utf8PathBuf::from_path_buf(std::env::current_exe()?);
        let programs = own
            .ok()
            .and_then(|path| path.parent().map(Utf8Path::to_owned));
        let programs =
            programs.ok_or_else(|| io::Error::other("this program's path is not UTF-8"))?;
        // Beside Terca's own work directories: the same file system, so that moving is moving for both.
        let guard = tempfile::Builder::new()
            .prefix("terca-benches-")
            .tempdir_in(within)?;
        let place = Place {
            guard,
            programs,
            quick,
        };
        for dir in ["home", "work"] {
            fs_err::create_dir(place.root()?.join(dir))?;
        }
        Ok(place)
    }

    fn root(&self) -> io::Result<&Utf8Path> {
        Utf8Path::from_path(self.guard.path())
            .ok_or_else(|| io::Error::other("a path that is not UTF-8"))
    }

    /// A directory of this name that is new and empty.
    pub fn dir(&self, name: &str) -> io::Result<Utf8PathBuf> {
        let dir = self.root()?.join(name);
        self.clear(&dir)?;
        fs_err::create_dir_all(&dir)?;
        Ok(dir)
    }

    pub fn clear(&self, dir: &Utf8Path) -> io::Result<()> {
        if dir.exists() {
            fs_err::remove_dir_all(dir)
        } else {
            Ok(())
        }
    }

    pub fn program(&self, name: &str) -> Utf8PathBuf {
        self.programs.join(name)
    }

    /// Terca in a suite's directory, with nothing of this machine's settings and all its words thrown away.
    pub fn terca(&self, suite: &Utf8Path, args: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(self.program("terca"));
        command
            .args(args)
            .current_dir(suite)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root()?.join("home"))
            .env("TERCA_WORK_DIR", self.root()?.join("work"))
            // What a sandbox costs is a measurement of its own.
            .env("TERCA_SANDBOX", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(command)
    }

    pub fn repeats(&self, usual: usize) -> usize {
        if self.quick { usual.div_ceil(3) } else { usual }
    }
}

/// `cargo run -p terca-benches` builds this program alone; what it measures must be as new.
fn build() -> io::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([
        "build", "--quiet", "--release", "--bins", "-p", "terca", "-p", "terca-benches",
    ]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("terca could not be built"))
    }
}
