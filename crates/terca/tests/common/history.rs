//! A git repository with a made history.

use std::process::Command;

use camino::Utf8PathBuf;
use terca_testkit::Project;

/// A repository beside the suites of a project.
pub struct History {
    pub dir: Utf8PathBuf,
    commits: u32,
}

impl History {
    /// An empty repository in `repository`.
    pub fn new(project: &Project) -> Self {
        let history = History {
            dir: project.path("repository"),
            commits: 0,
        };
        std::fs::create_dir_all(&history.dir).unwrap();
        history.git(&["init", "-q", "-b", "main"]);
        history
    }

    /// Runs git, which knows nothing of this machine's settings.
    pub fn git(&self, args: &[&str]) -> String {
        let at = format!("2026-01-01T00:00:{:02}Z", self.commits);
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(args)
            .current_dir(&self.dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", &at)
            .env("GIT_COMMITTER_DATE", &at)
            .output()
            .expect("git");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Adds a commit with these files, and returns its hash.
    pub fn commit(&mut self, message: &str, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.commits += 1;
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }
}
