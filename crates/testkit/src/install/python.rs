//! Agents that are programs of Python.

use std::fs;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Package, Source, clean, output};

/// What the pinned packages are for. The newest Python is too new for some of them.
const VERSIONS: [&str; 2] = ["3.11", "3.12"];

/// Makes an environment in this place, with the packages of `requirements.txt` and nothing that is not named there.
pub(super) fn install(
    package: &Package,
    recipe: &Utf8Path,
    place: &Utf8Path,
) -> Result<(), String> {
    let requirements = recipe.join("requirements.txt");
    let wanted = [
        "--require-hashes",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--requirement",
        requirements.as_str(),
    ];
    let version = install_into(package, place, &wanted)?;
    if version != package.version {
        return Err(format!(
            "{} is not {} but {version}",
            package.name, package.version
        ));
    }
    Ok(())
}

/// Makes an environment in this place with what these arguments of pip ask for, and returns the program's version.
pub(super) fn install_into(
    package: &Package,
    place: &Utf8Path,
    wanted: &[&str],
) -> Result<String, String> {
    let python = find()?;
    if place.exists() {
        // An installation that was broken off, or an older one.
        fs::remove_dir_all(place).map_err(|error| format!("{place}: {error}"))?;
    }
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let clean = |program: &str| clean(program, Utf8Path::new("/"), home.path());
    output(clean(python.as_str()).args(["-m", "venv", place.as_str()]))
        .map_err(|error| format!("{error}\n(on Debian, `venv` is the package python3-venv)"))?;
    let own_python = place.join("bin/python");
    let mut pip = clean(own_python.as_str());
    pip.args(["-m", "pip", "install"]);
    pip.args(["--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(wanted);
    for (setting, variable) in [("index-url", "PIP_INDEX_URL"), ("cert", "PIP_CERT")] {
        if let Some(value) = setting_of_pip(&python, setting) {
            pip.env(variable, value);
        }
    }
    output(&mut pip)
        .map_err(|error| format!("{} could not be installed: {error}", package.name))?;
    let Source::PyPi(name, _) = package.source else {
        return Err(format!("{} is no package of Python", package.name));
    };
    let ask = format!("import importlib.metadata as m; print(m.version('{name}'))");
    let version = output(clean(own_python.as_str()).args(["-c", &ask]))?;
    let version = version.trim().to_owned();
    let installed = place.join("bin").join(package.program);
    package.expect_version(&version, &mut clean(installed.as_str()))?;
    Ok(version)
}

/// A Python of a version that will do. What is on `PATH` may be a shim that needs the home of its user.
fn find() -> Result<Utf8PathBuf, String> {
    const ASK: &str = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)";
    for name in ["python3", "python3.12", "python3.11"] {
        let said = output(
            Command::new(name)
                .args(["-c", ASK])
                .current_dir("/")
                .stdin(Stdio::null()),
        );
        let said = said.unwrap_or_default();
        if let Some((version, program)) = said.trim().split_once(' ')
            && VERSIONS.contains(&version)
        {
            return Ok(program.into());
        }
    }
    Err(format!(
        "no Python {} was found on PATH: this agent is a program of Python",
        VERSIONS.join(" or ")
    ))
}

/// How pip is set up on this machine, asked for one by one.
fn setting_of_pip(python: &Utf8Path, name: &str) -> Option<String> {
    [
        format!("global.{name}"),
        format!("install.{name}"),
        format!(":env:.{name}"),
    ]
    .iter()
    .find_map(|key| {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "config", "get", key])
            .current_dir("/")
            .stdin(Stdio::null());
        output(&mut pip).ok().map(|said| said.trim().to_owned())
    })
}

/// Every package at one version, known by its content, from no registry in particular.
#[cfg(test)]
pub(super) fn assert_pinned(requirements: &str, name: &str, version: &str) {
    assert!(!requirements.contains("://"), "a registry is named");
    let joined = requirements.replace("\\\n", " ");
    let packages: Vec<&str> = joined
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(
        packages
            .iter()
            .any(|package| package.starts_with(&format!("{name}=={version} "))),
        "{name} {version}"
    );
    for package in packages {
        assert!(
            package.contains("==") && package.contains(" --hash=sha256:"),
            "{package}"
        );
    }
}
