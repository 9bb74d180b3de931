//! The place where a page's commands run: a directory, a home and a `PATH` of their own, with stand-ins for agents and
//! no network.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

#[derive(Debug)]
pub struct Room {
    guard: TempDir,
    repository: Utf8PathBuf,
}

/// What commands printed, on both streams as it came, and how they ended.
#[derive(Debug)]
pub struct Said {
    pub output: String,
    pub status: i32,
}

impl Room {
    pub fn new(repository: &Utf8Path) -> Room {
        let guard = tempfile::Builder::new()
            .prefix("terca-docs-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let room = Room {
            guard,
            repository: repository.to_owned(),
        };
        for dir in ["page", "home", "work", "bin", "state"] {
            std::fs::create_dir(room.root().join(dir)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_terca"), room.root().join("bin/terca")).unwrap();
        for name in ["gemini", "claude", "cargo"] {
            let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/it/documentation/programs")
                .join(name);
            std::fs::copy(from, room.root().join("bin").join(name)).unwrap();
        }
        std::fs::write(room.root().join("state/cwd"), room.page_dir().as_str()).unwrap();
        std::fs::write(room.root().join("state/env"), "").unwrap();
        room
    }

    pub fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.guard.path()).unwrap()
    }

    /// Puts the examples of the repository where the page begins, as they are in a fresh clone.
    pub fn clone_examples(&self) {
        let script = "cp -a \"$REPOSITORY/examples\" . && rm -rf examples/*/.terca";
        let said = self.run("sh", script);
        assert_eq!(said.status, 0, "{}", said.output);
    }

    /// Where a page begins.
    pub fn page_dir(&self) -> Utf8PathBuf {
        self.root().join("page")
    }

    /// Where its commands have gone since.
    pub fn current_dir(&self) -> Utf8PathBuf {
        std::fs::read_to_string(self.root().join("state/cwd"))
            .unwrap()
            .trim_end()
            .into()
    }

    /// Runs lines of shell where the last ones ended, with the variables that they exported.
    pub fn run(&self, shell: &str, script: &str) -> Said {
        let state = self.root().join("state");
        let text = format!(
            ". {state}/env\ncd \"$(cat {state}/cwd)\"\n\
             trap 'status=$?; pwd > {state}/cwd; [ -n \"${{BASH:-}}\" ] || export -p > {state}/env; exit $status' EXIT\n\
             set -e\n{script}\n"
        );
        let script_file = state.join("script");
        std::fs::write(&script_file, text).unwrap();
        let output_file = std::fs::File::create(state.join("output")).unwrap();
        let status = self
            .environment(Command::new("timeout"))
            .args(["300", shell, script_file.as_str()])
            .stdin(Stdio::null())
            .stdout(output_file.try_clone().unwrap())
            .stderr(output_file)
            .status()
            .unwrap();
        let output = std::fs::read(state.join("output")).unwrap();
        Said {
            output: String::from_utf8_lossy(&output).into_owned(),
            status: status.code().unwrap_or(128),
        }
    }

    /// Nothing of whoever runs the tests. A proxy that is not there keeps everybody at home.
    fn environment(&self, mut command: Command) -> Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root().join("bin"));
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root().join("home"))
            .env("TZ", "UTC")
            .env("TERCA_WORK_DIR", self.root().join("work"))
            // The pages are the same on machines with and without sandboxes.
            .env("TERCA_SANDBOX", "none")
            .env("STAND_INS", self.root().join("bin"))
            .env("REPOSITORY", &self.repository);
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command
    }

    /// Makes a file in the place where the page is, as an editor does: a script cannot be started yet.
    pub fn write(&self, path: &str, text: &str) -> Utf8PathBuf {
        let path = self.current_dir().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}
