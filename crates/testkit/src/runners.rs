//! Test runners at pinned versions, to see what they really print.

use camino::Utf8PathBuf;
use terca_core::agent::Package as Source;

use crate::install::{self, Package};

pub(crate) const VITEST: Package = Package {
    name: "vitest",
    program: "vitest",
    version: "3.2.7",
    version_args: &["--version"],
    source: Source::Npm("vitest"),
};

pub(crate) const PYTEST: Package = Package {
    name: "pytest",
    program: "pytest",
    version: "9.2.0",
    version_args: &["--version"],
    source: Source::PyPi("pytest", &[]),
};

/// Checks the types of the script of the pages.
pub(crate) const TYPESCRIPT: Package = Package {
    name: "typescript",
    program: "tsc",
    version: "5.9.3",
    version_args: &["--version"],
    source: Source::Npm("typescript"),
};

/// Returns the program of TypeScript.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub fn typescript() -> Utf8PathBuf {
    install::require(&TYPESCRIPT).0.join("tsc")
}

/// Returns `node_modules` with vitest in it.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub fn vitest_modules() -> Utf8PathBuf {
    let (bin, _) = install::require(&VITEST);
    bin.parent().expect("node_modules").to_owned()
}

/// Returns a Python that has pytest.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub fn python_with_pytest() -> Utf8PathBuf {
    let (bin, _) = install::require(&PYTEST);
    bin.join("python")
}
