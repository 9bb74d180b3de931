//! Real agent programs, at the versions that the tests know: installed once, kept, found for `PATH`.

mod python;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

/// Where they are kept, instead of the build directory.
const CACHE: &str = "TERCA_TEST_CACHE";

/// What npm and pip need of this environment to reach their registries; nothing else is passed on to them.
const NETWORK: [&str; 12] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "TMPDIR",
];

struct Known {
    agent: &'static str,
    program: &'static str,
    version: &'static str,
    /// Where the program lies once installed.
    bin: &'static str,
}

const BIN: &str = "node_modules/.bin";
/// Programs of Python, each with an environment of its own.
const VENV: &str = "venv/bin";

const AGENTS: &[Known] = &[
    Known {
        agent: "gemini-cli",
        program: "gemini",
        version: "0.61.0",
        bin: BIN,
    },
    Known {
        agent: "qwen-code",
        program: "qwen",
        version: "0.24.4",
        bin: BIN,
    },
    Known {
        agent: "claude-code",
        program: "claude",
        version: "2.1.197",
        bin: BIN,
    },
    Known {
        agent: "codex",
        program: "codex",
        version: "0.166.0",
        bin: BIN,
    },
    Known {
        agent: "opencode",
        program: "opencode",
        version: "1.18.33",
        bin: BIN,
    },
    Known {
        agent: "goose",
        program: "goose",
        version: "1.52.0",
        bin: "node_modules/@aaif/goose-binary-linux-x64/bin",
    },
    Known {
        agent: "copilot",
        program: "copilot",
        version: "1.0.102",
        bin: BIN,
    },
    Known {
        agent: "cline",
        program: "cline",
        version: "3.0.65",
        bin: BIN,
    },
    Known {
        agent: "droid",
        program: "droid",
        version: "0.225.2",
        bin: "node_modules/@factory/cli-linux-x64/bin",
    },
    Known {
        agent: "kilo",
        program: "kilo",
        version: "7.7.7",
        bin: "node_modules/@kilocode/cli-linux-x64/bin",
    },
    Known {
        agent: "pi",
        program: "pi",
        version: "0.73.1",
        bin: BIN,
    },
    Known {
        agent: "aider",
        program: "aider",
        version: "0.86.2",
        bin: VENV,
    },
    Known {
        agent: "mini-swe-agent",
        program: "mini",
        version: "2.4.6",
        bin: VENV,
    },
    // Not an agent: it drives the browser of `crate::browser`.
    Known {
        agent: "playwright-core",
        program: "playwright-core",
        version: "1.65.0",
        bin: BIN,
    },
    Known {
        agent: "continue",
        program: "cn",
        version: "1.5.47",
        bin: BIN,
    },
];

impl Known {
    fn is_python(&self) -> bool {
        self.bin == VENV
    }

    /// Where it is said what is to be installed.
    fn recipe(&self) -> Utf8PathBuf {
        let registry = if self.is_python() {
            "agents/pypi"
        } else {
            "agents/npm"
        };
        Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(registry)
            .join(self.agent)
    }

    /// The files that say it, the one with all versions first.
    fn files(&self) -> &'static [&'static str] {
        if self.is_python() {
            &["requirements.txt"]
        } else {
            &["package-lock.json", "package.json"]
        }
    }
}

/// Returns a directory for `PATH` with the real program of an agent.
///
/// # Panics
/// Where it cannot be installed: a test that was not run has not passed.
pub fn require(agent: &str) -> Utf8PathBuf {
    program(agent).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Returns a directory for `PATH` with the real program of an agent, installed now if it has not been.
pub(crate) fn program(agent: &str) -> Result<Utf8PathBuf, String> {
    let known = AGENTS
        .iter()
        .find(|known| known.agent == agent)
        .ok_or(format!("no such agent: {agent}"))?;
    let recipe = known.recipe();
    let lockfile =
        fs::read(recipe.join(known.files()[0])).map_err(|error| format!("{recipe}: {error}"))?;
    let cache = cache_dir()?;
    let home = cache.join(format!("{agent}-{:016x}", fingerprint(&lockfile)));
    let failed = |error: std::io::Error| format!("{home}: {error}");
    fs::create_dir_all(&cache).map_err(failed)?;
    // Tests in other processes wait here for the one that installs.
    let lock = File::create(cache.join(format!("{agent}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if !home.is_dir() {
        let unfinished = tempfile::tempdir_in(&cache).map_err(failed)?;
        let dir = Utf8Path::from_path(unfinished.path()).ok_or("a path that is not UTF-8")?;
        if known.is_python() {
            python::install(known, &recipe, &Utf8PathBuf::from(format!("{home}.venv")))?;
            // An environment cannot be moved, so that this is where it stands in any case.
            std::os::unix::fs::symlink(format!("{home}.venv"), dir.join("venv")).map_err(failed)?;
        } else {
            install(known, &recipe, dir)?;
        }
        fs::rename(dir, &home).map_err(failed)?;
    }
    Ok(home.join(known.bin))
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

fn install(known: &Known, recipe: &Utf8Path, dir: &Utf8Path) -> Result<(), String> {
    for file in known.files() {
        fs::copy(recipe.join(file), dir.join(file))
            .map_err(|error| format!("{recipe}/{file}: {error}"))?;
    }
    let registry = npm_setting("registry")?;
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let clean = |program: &str| clean(program, dir, home.path());
    let mut npm = clean("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--no-update-notifier"]);
    npm.env("npm_config_registry", registry);
    if let Some(file) = npm_setting("cafile")
        .ok()
        .filter(|file| Utf8Path::new(file).is_file())
    {
        npm.env("npm_config_cafile", file);
    }
    output(&mut npm).map_err(|error| format!("{} could not be installed: {error}", known.agent))?;
    make_executable(dir);
    // An installation without its binary "succeeds", too.
    expect_version(
        known,
        clean(dir.join(known.bin).join(known.program).as_str()).arg("--version"),
    )
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

fn expect_version(known: &Known, command: &mut Command) -> Result<(), String> {
    let said = output(command)?;
    if said.contains(known.version) {
        Ok(())
    } else {
        Err(format!(
            "{} is not {} but says `{}`",
            known.program,
            known.version,
            said.trim()
        ))
    }
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

    #[test]
    fn versions_are_pinned_and_no_registry_is_named() {
        for known in AGENTS {
            let dir = known.recipe();
            let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
            if known.is_python() {
                python::assert_pinned(&read("requirements.txt"), known.version);
                continue;
            }
            let manifest: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
            let versions: Vec<_> = manifest["dependencies"]
                .as_object()
                .unwrap()
                .values()
                .collect();
            assert_eq!(versions, [known.version], "{}", known.agent);
            assert!(
                !read("package-lock.json").contains("\"resolved\""),
                "{}",
                known.agent
            );
        }
    }
}
