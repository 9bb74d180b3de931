//! A real browser without a window: Debian's Chromium, driven by Playwright's core package.
//!
//! Both are installed where they are missing: Chromium by `apt-get`, if this is root on Debian, Playwright by `npm`
//! from a lockfile.

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::real;

/// Leaves the tests with a browser out.
const SKIP: &str = "TERCA_SKIP_BROWSER";
const CHROMIUM: &str = "chromium";

#[derive(Debug)]
pub struct Browser {
    chromium: Utf8PathBuf,
    playwright: Utf8PathBuf,
}

/// The browser, or `None`, said aloud, where such tests are left out.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub fn require() -> Option<Browser> {
    if std::env::var_os(SKIP).is_some_and(|value| !value.is_empty() && value != "0") {
        #[allow(clippy::print_stderr, reason = "a test that is left out says so")]
        {
            eprintln!("skipped: {SKIP} is set, so nothing was tested in a browser");
        }
        return None;
    }
    match install() {
        Ok(browser) => Some(browser),
        Err(reason) => panic!("{reason}\n({SKIP}=1 leaves the tests with a browser out)"),
    }
}

fn install() -> Result<Browser, String> {
    let bin = real::program("playwright-core")?;
    let modules = bin.parent().ok_or("no node_modules")?;
    let cache = real::cache_dir()?;
    // Tests in other processes wait here for the one that installs.
    let lock =
        std::fs::File::create(cache.join("chromium.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let chromium = match find_chromium() {
        Some(path) => path,
        None => {
            install_chromium()?;
            find_chromium().ok_or("apt-get installed no chromium")?
        }
    };
    Ok(Browser {
        chromium,
        playwright: modules.join("playwright-core/index.mjs"),
    })
}

fn find_chromium() -> Option<Utf8PathBuf> {
    let path = std::env::var("PATH").ok()?;
    path.split(':')
        .map(|dir| Utf8Path::new(dir).join(CHROMIUM))
        .find(|file| file.is_file())
}

fn install_chromium() -> Result<(), String> {
    let advice = "no `chromium` on PATH: install it, on Debian with `apt-get install chromium`";
    if !rustix::process::geteuid().is_root() {
        return Err(advice.to_owned());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null());
        command
            .output()
            .map_err(|error| format!("{advice} (apt-get: {error})"))
    };
    let package = ["install", "-y", "--no-install-recommends", CHROMIUM];
    if apt(&package)?.status.success() {
        return Ok(());
    }
    // The lists of packages may be missing or old.
    apt(&["update"])?;
    let output = apt(&package)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{advice}\n{said}"))
    }
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
