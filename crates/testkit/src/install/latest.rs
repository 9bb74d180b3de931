//! The latest version of a program instead of the pinned one, for `scripts/test --latest`.
//!
//! Of the versions that a registry lists, not all can be installed everywhere: a mirror lacks a dependency, or the
//! program wants another Node. So the newest ones are tried in turn, and the first that starts is taken. A note in
//! the cache says which it is; the script removes the notes, so that each of its runs asks the registry anew.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{Package, Source, bin_of_npm, installed, npm, output, python};

/// The variable that asks for it.
const LATEST: &str = "TERCA_TEST_LATEST_AGENTS";
/// How many versions are tried.
const TRIES: usize = 6;

pub(super) fn is_wanted() -> bool {
    std::env::var_os(LATEST).is_some_and(|value| value != "0")
}

/// A program that was installed.
pub(super) struct Installed {
    pub(super) version: String,
    /// The directory for `PATH`.
    pub(super) bin: Utf8PathBuf,
}

/// Returns the latest program, installed now if there is no note of it. The caller holds the lock of this program.
pub(super) fn program(package: &Package, cache: &Utf8Path) -> Result<Installed, String> {
    let note = cache.join(format!("{}.latest", package.name));
    let known = fs::read_to_string(&note).unwrap_or_default();
    if let Some((version, bin)) = known.trim().split_once(' ') {
        return Ok(Installed {
            version: version.to_owned(),
            bin: bin.into(),
        });
    }
    let found = match package.source {
        Source::Npm(_) => from_npm(package, cache)?,
        Source::PyPi(name, _) => from_pypi(package, name, cache)?,
    };
    let Installed { version, bin } = &found;
    fs::write(&note, format!("{version} {bin}\n")).map_err(|error| format!("{note}: {error}"))?;
    Ok(found)
}

fn from_npm(package: &Package, cache: &Utf8Path) -> Result<Installed, String> {
    let (name, _) = package.npm_dependency()?;
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let listed = output(npm(cache, home.path())?.args(["view", &name, "versions", "--json"]))?;
    let mut troubles = Vec::new();
    for version in newest(&listed)? {
        let dir = cache.join(format!("{}-{version}", package.name));
        match install_from_npm(package, &name, &version, &dir) {
            Ok(bin) => return Ok(Installed { version, bin }),
            Err(trouble) => {
                troubles.push(format!("{version}: {trouble}"));
                let _ = fs::remove_dir_all(&dir);
            }
        }
    }
    Err(format!(
        "{name}: none of the latest versions can be installed\n{}",
        troubles.join("\n")
    ))
}

/// The newest versions first, without those that are only tried out.
fn newest(listed: &str) -> Result<Vec<String>, String> {
    let versions: Value =
        serde_json::from_str(listed).map_err(|error| format!("{listed}: {error}"))?;
    // One alone is no list.
    let versions = match versions {
        Value::Array(versions) => versions,
        one => vec![one],
    };
    let released = versions.iter().filter_map(Value::as_str);
    let released = released.filter(|version| !version.contains('-'));
    Ok(released.rev().take(TRIES).map(str::to_owned).collect())
}

fn install_from_npm(
    package: &Package,
    name: &str,
    version: &str,
    dir: &Utf8Path,
) -> Result<Utf8PathBuf, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bin = bin_of_npm(dir, name);
    if !dir.is_dir() {
        let manifest = dir.join("package.json");
        fs::create_dir_all(dir)
            .and_then(|()| fs::write(&manifest, "{\"private\": true}\n"))
            .map_err(|error| format!("{manifest}: {error}"))?;
        let mut npm = npm(dir, home.path())?;
        npm.args(["install", "--no-package-lock"]);
        npm.arg(format!("{name}@{version}"));
        for (other, pinned) in package.npm_dependencies()? {
            if other != name {
                npm.arg(format!("{other}@{pinned}"));
            }
        }
        output(&mut npm)?;
        super::make_executable(dir);
    }
    package.expect_version(version, &mut installed(package, &bin, home.path()))?;
    Ok(bin)
}

fn from_pypi(package: &Package, name: &str, cache: &Utf8Path) -> Result<Installed, String> {
    let place = cache.join(format!("{}-latest.venv", package.name));
    let wanted = ["--only-binary", ":all:", "--upgrade", name];
    let version = python::install_into(package, &place, &wanted)?;
    Ok(Installed {
        version,
        bin: place.join("bin"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_versions_are_tried_first_and_none_that_is_not_released() {
        let listed = r#"["1.0.0", "1.9.0", "1.10.0-nightly.3", "1.10.0", "2.0.0-rc.1"]"#;
        assert_eq!(newest(listed).unwrap(), ["1.10.0", "1.9.0", "1.0.0"]);
        assert_eq!(newest(r#""3.0.0""#).unwrap(), ["3.0.0"]);
    }
}
