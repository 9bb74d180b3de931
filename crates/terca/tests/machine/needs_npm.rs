//! The packages for npm: packed, installed into an empty place as a user would, and run.

pub(crate) mod release;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Outcome, Project, Session, misbehaving_agent};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The one that this machine would be given.
pub(crate) const PLATFORM: &str = match (cfg!(target_os = "macos"), cfg!(target_arch = "aarch64")) {
    (false, false) => "linux-x64",
    (false, true) => "linux-arm64",
    (true, false) => "darwin-x64",
    (true, true) => "darwin-arm64",
};

pub(crate) fn repository() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize_utf8()
        .unwrap()
}

/// A place for packages and for what is installed, with a home that nobody lives in.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Place(
            tempfile::Builder::new()
                .prefix("terca-npm-")
                .tempdir_in("/var/tmp")
                .unwrap(),
        );
        fs::create_dir(place.path("home")).unwrap();
        place
    }

    pub(crate) fn path(&self, path: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.0.path()).unwrap().join(path)
    }

    /// A program that sees neither this machine's npm settings nor a network.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .env_clear();
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"));
        command
            .env("npm_config_offline", "true")
            .env("npm_config_update_notifier", "false");
        // What cargo needs to be found where this machine has it.
        let cargo = ["CARGO_HOME", "RUSTUP_HOME"].map(|name| (name, std::env::var_os(name)));
        command.envs(
            cargo
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command
    }

    /// Packs a program for a platform: the tarballs, launcher first.
    fn pack(&self, platform: &str, binary: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mut pack = self.command(repository().join("scripts/npm-pack").as_str());
        pack.args(["--platform", platform, "--binary", binary.as_str()]);
        // With the home of whoever builds, since cargo may be found through it.
        pack.env("HOME", std::env::var_os("HOME").unwrap_or_default());
        pack.env("npm_config_userconfig", self.path("npmrc"))
            .env("npm_config_cache", self.path("cache"));
        let said = expect_success(pack.args(["--out", self.path("packed").as_str()]));
        said.lines().map(Utf8PathBuf::from).collect()
    }

    /// `npm install -g` of these tarballs into an empty prefix; returns the `terca` that a user finds on `PATH`.
    pub(crate) fn install(&self, prefix: &str, tarballs: &[Utf8PathBuf]) -> Utf8PathBuf {
        let mut npm = self.command("npm");
        npm.args([
            "install",
            "--global",
            "--no-audit",
            "--no-fund",
            "--prefix",
            self.path(prefix).as_str(),
        ]);
        expect_success(npm.args(tarballs));
        self.path(prefix).join("bin/terca")
    }
}

pub(crate) fn expect_success(command: &mut Command) -> String {
    let outcome = Outcome::from(
        command
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}")),
    );
    assert_eq!(
        outcome.status, 0,
        "{command:?}\n{}{}",
        outcome.stdout, outcome.stderr
    );
    outcome.stdout
}

/// The program under test without its symbols, which are most of it and take npm seconds to pack.
fn small_program(place: &Place) -> Utf8PathBuf {
    let program = Utf8PathBuf::from(env!("CARGO_BIN_EXE_terca"));
    let small = place.path("small");
    let stripped = Command::new("strip")
        .args(["-o", small.as_str(), program.as_str()])
        .status();
    if stripped.is_ok_and(|status| status.success()) {
        small
    } else {
        program
    }
}

/// What is in a tarball: permissions and names.
fn contents(place: &Place, tarball: &Utf8Path) -> String {
    let said = expect_success(place.command("tar").args(["-tvzf", tarball.as_str()]));
    let files = said.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("{} {}\n", words[0], words[words.len() - 1])
    });
    let mut files: Vec<String> = files.collect();
    files.sort();
    files.concat()
}

fn packed(place: &Place, tarball: &Utf8Path, file: &str) -> String {
    expect_success(place.command("tar").args([
        "-xOzf",
        tarball.as_str(),
        &format!("package/{file}"),
    ]))
}

#[test]
#[ignore = "needs Node and npm"]
fn the_packages_install_and_become_terca() {
    let place = Place::new();
    let tarballs = place.pack(PLATFORM, &small_program(&place));
    let named = format!("terca-{VERSION}.tgz terca-{PLATFORM}-{VERSION}.tgz");
    let names: Vec<&str> = tarballs
        .iter()
        .filter_map(|path| path.file_name())
        .collect();
    assert_eq!(names.join(" "), named, "versions are those of Cargo.toml");

    let terca = place.install("prefix", &tarballs);
    assert!(is_executable(&terca) && fs::symlink_metadata(&terca).unwrap().is_symlink());
    it_runs(&terca);
    exit_statuses_are_its_own(&terca);
    it_is_the_process_that_was_started(&terca);
    signals_are_its_own(&terca);

    let alone = place.install("alone", &tarballs[..1]);
    it_says_what_is_missing(&place, &alone);
    it_is_found_below_the_launcher(&place, &terca);
    it_says_that_it_may_not_run(&place, &terca);
}

fn is_executable(path: &Utf8Path) -> bool {
    fs::metadata(path).unwrap().permissions().mode() & 0o111 == 0o111
}

fn it_runs(terca: &Utf8Path) {
    let outcome = Project::new(terca).terca(&["-v"]).expect_status(0);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        (&*format!("{VERSION}\n"), "")
    );
    let example = repository().join("examples/quickstart");
    let outcome = Project::new(terca)
        .terca(&["check", "-C", example.as_str()])
        .expect_status(0);
    assert!(outcome.stdout.contains("farewell"), "{}", outcome.stdout);
    // Every argument arrives as it was.
    let outcome = Project::new(terca)
        .terca(&["check", "-C", "a  b\n'c'\"$HOME\"*"])
        .expect_status(2);
    assert!(outcome.stderr.contains("a  b"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("$HOME\"*"), "{}", outcome.stderr);
}

fn exit_statuses_are_its_own(terca: &Utf8Path) {
    for (test, status) in [("'true'", 0), ("'false'", 1)] {
        let suite = format!(
            "environments: [{{name: e, agent: nop}}]\n\
             evals: [{{name: task, prompt: x, tests: [{{commandSuccess: {test}}}]}}]\n"
        );
        Project::new(terca)
            .file("terca.yaml", suite)
            .terca(&["--format", "plain"])
            .expect_status(status);
    }
    Project::new(terca)
        .terca(&["--no-such-flag"])
        .expect_status(2);
}

/// Not a child of a launcher: whatever is done to the process that was started, is done to Terca. So it is with
/// SIGKILL, with `nohup` and with a terminal's Ctrl+Z, none of which could be passed on.
fn it_is_the_process_that_was_started(terca: &Utf8Path) {
    let project = sleeping(terca);
    let session = at_work(&project);
    let program = fs::read_link(format!("/proc/{}/exe", session.id())).unwrap();
    assert!(
        program.ends_with(Path::new(&format!("@terca/{PLATFORM}/bin/terca"))),
        "{}",
        program.display()
    );
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    project.assert_nothing_left();
}

fn signals_are_its_own(terca: &Utf8Path) {
    for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
        let project = sleeping(terca);
        let session = at_work(&project);
        session.signal(signal);
        let (status, told) = if signal == Signal::KILL {
            (137, "running")
        } else {
            (130, "interrupted")
        };
        assert_eq!(session.finish().status, status, "{signal:?}");
        assert_eq!(project.results()["status"], told, "{signal:?}");
        project.wait_until_nothing_runs();
    }
}

fn sleeping(terca: &Utf8Path) -> Project {
    let agent = misbehaving_agent();
    let suite = format!(
        "environments: [{{name: e, agent: {{name: command, command: '{agent} sleeps-in-tool'}}}}]\n\
         evals: [{{name: task, prompt: x, allowWarnings: no-tests}}]\n"
    );
    Project::new(terca).file("terca.yaml", suite)
}

fn at_work(project: &Project) -> Session {
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the agent is at work", || {
        project.has_run()
            && project
                .run_dir()
                .join("task/e.default.01/workspace/ready")
                .exists()
    });
    session
}

/// As npm leaves it with `--omit=optional`, or when a lockfile comes from another platform.
fn it_says_what_is_missing(place: &Place, terca: &Utf8Path) {
    let outcome = Project::new(terca).terca(&["-v"]).expect_status(2);
    assert_eq!(outcome.stdout, "");
    let told = outcome
        .stderr
        .replace(PLATFORM, "[platform]")
        .replace(place.path("").as_str(), "[place]/");
    insta::assert_snapshot!("npm_package_missing", told);
}

/// Where npm puts it when it comes from a registry, as a dependency.
fn it_is_found_below_the_launcher(place: &Place, terca: &Utf8Path) {
    let modules = place.path("prefix/lib/node_modules");
    fs::create_dir(modules.join("terca/node_modules")).unwrap();
    fs::rename(
        modules.join("@terca"),
        modules.join("terca/node_modules/@terca"),
    )
    .unwrap();
    Project::new(terca).terca(&["-v"]).expect_status(0);
}

fn it_says_that_it_may_not_run(place: &Place, terca: &Utf8Path) {
    let modules = place.path("prefix/lib/node_modules/terca/node_modules");
    let program = modules.join("@terca").join(PLATFORM).join("bin/terca");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    let outcome = Project::new(terca).terca(&["-v"]).expect_status(2);
    assert!(
        outcome.stderr.contains(&format!("chmod +x '{program}'")),
        "{}",
        outcome.stderr
    );
}

#[test]
#[ignore = "needs Node and npm"]
fn the_launcher_and_the_install_script_are_plain_shell() {
    let launcher = repository().join("npm/terca/bin/terca.bin");
    assert!(
        is_executable(&launcher),
        "npm keeps the permission that the file has"
    );
    let script = repository().join("packaging/install.sh");
    // Not what bash understands: `sh` is another program on most machines.
    for shell in ["sh", "dash", "bash"] {
        let files = [&launcher, &script];
        for status in files.map(|file| Command::new(shell).arg("-n").arg(file).status()) {
            match status {
                Ok(status) => assert!(status.success(), "{shell}"),
                Err(error) => assert!(shell != "sh", "{error}"),
            }
        }
    }
}

/// The platforms stand in two places: what is packed, and what the launcher looks for.
#[test]
#[ignore = "needs Node and npm"]
fn the_launcher_knows_every_platform() {
    let launcher = fs::read_to_string(repository().join("npm/terca/bin/terca.bin")).unwrap();
    let platforms = fs::read_to_string(repository().join("npm/platforms.json")).unwrap();
    let platforms: Value = serde_json::from_str(&platforms).unwrap();
    let mut known: Vec<&str> = launcher
        .split("platform=")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next())
        .collect();
    let mut packed: Vec<&str> = platforms
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    known.sort_unstable();
    packed.sort_unstable();
    assert_eq!(known, packed);

    // The install script knows their targets.
    let script = fs::read_to_string(repository().join("packaging/install.sh")).unwrap();
    for target in platforms.as_object().unwrap().values() {
        let target = format!("echo {} ;;", target.as_str().unwrap());
        assert_eq!(script.matches(&target).count(), 1, "{target}");
    }
}

/// A release has one version, that of `Cargo.toml`.
#[test]
#[ignore = "needs Node and npm"]
fn no_version_is_written_down_twice() {
    let manifest = fs::read_to_string(repository().join("npm/terca/package.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    for field in ["version", "license", "description", "optionalDependencies"] {
        assert!(
            manifest.get(field).is_none(),
            "{field} is filled in by scripts/npm-pack"
        );
    }
}

#[test]
#[ignore = "needs Node and npm"]
fn a_package_holds_what_it_must_and_nothing_else() {
    let place = Place::new();
    // Of another platform, so that nobody asks what it is: neither its version nor its C library.
    let other = place.path("other");
    fs::write(&other, "not a program at all").unwrap();
    let tarballs = place.pack("darwin-arm64", &other);
    let mut told = String::new();
    for tarball in &tarballs {
        let manifest: Value =
            serde_json::from_str(&packed(&place, tarball, "package.json")).unwrap();
        assert!(
            manifest.get("scripts").is_none(),
            "nothing runs while npm installs"
        );
        assert!(manifest.get("dependencies").is_none());
        let manifest = serde_json::to_string_pretty(&manifest)
            .unwrap()
            .replace(VERSION, "[version]");
        told += &format!("{}{manifest}\n\n", contents(&place, tarball));
    }
    insta::assert_snapshot!("npm_packages", told);

    let licences = packed(&place, &tarballs[1], "THIRD-PARTY-LICENSES.txt");
    assert!(
        licences.contains("\nserde_json 1."),
        "a crate that is linked"
    );
    assert!(
        licences.contains("Permission is hereby granted"),
        "and what its licence says"
    );
    assert!(
        !licences.contains("\nproptest 1."),
        "not one that only tests need"
    );
}
