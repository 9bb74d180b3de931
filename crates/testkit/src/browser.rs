//! A real browser without a window: Debian's Chromium, driven by Playwright's core package.
//!
//! Playwright is installed by `npm` from a lockfile; Chromium has to be on `PATH` (`scripts/test --install` sees to it).

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::Package as Source;

use crate::install::{self, Package};

const CHROMIUM: &str = "chromium";

/// Drives the browser.
pub(crate) const PLAYWRIGHT: Package = Package {
    name: "playwright-core",
    program: "playwright-core",
    version: "1.65.0",
    version_args: &["--version"],
    source: Source::Npm("playwright-core"),
};

#[derive(Debug)]
pub struct Browser {
    chromium: Utf8PathBuf,
    playwright: Utf8PathBuf,
}

/// Returns the browser.
///
/// # Panics
/// Where there is none, or Playwright cannot be installed: a test that was not run has not passed.
pub fn require() -> Browser {
    let (bin, _) = install::require(&PLAYWRIGHT);
    let modules = bin.parent().expect("node_modules");
    Browser {
        chromium: find_chromium()
            .expect("`chromium` on PATH: on Debian, `apt-get install chromium` has it"),
        playwright: modules.join("playwright-core/index.mjs"),
    }
}

fn find_chromium() -> Option<Utf8PathBuf> {
    let path = std::env::var("PATH").ok()?;
    path.split(':')
        .map(|dir| Utf8Path::new(dir).join(CHROMIUM))
        .find(|file| file.is_file())
}

impl Browser {
    /// Plays a scenario (a module for `node` in `agents/browser`) to its end, with these variables.
    ///
    /// # Panics
    /// When the scenario fails, with everything it said.
    #[track_caller]
    pub fn drive(&self, scenario: &str, variables: &[(&str, &str)]) {
        let file = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("agents/browser")
            .join(scenario);
        let home = tempfile::tempdir().expect("a temporary directory");
        let output = Command::new("node")
            .arg(file)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("PLAYWRIGHT", &self.playwright)
            .env("CHROMIUM", &self.chromium)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("node starts");
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "{scenario}: {}\n{stdout}{stderr}",
            output.status
        );
        assert!(
            stdout.contains("all is well"),
            "{scenario} did not come to its end\n{stdout}{stderr}"
        );
    }
}
