//! `scripts/test` on machines that have more or less: what it asks cargo for, what it installs, and what it leaves out.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::{Outcome, write_program};

/// What every machine has.
const TOOLS: [&str; 14] = [
    "basename", "cut", "dirname", "grep", "ls", "mkdir", "mktemp", "rm", "rmdir", "sed", "sh",
    "tr", "uname", "cat",
];

fn repository() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A machine with programs that do nothing but note what they are asked for.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    /// A machine of a user with this number.
    fn of_user(id: u32) -> Self {
        let machine = Machine {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(machine.path("bin")).unwrap();
        for tool in TOOLS {
            let here = ["/bin", "/usr/bin"].map(|dir| Utf8Path::new(dir).join(tool));
            let here = here.iter().find(|file| file.exists()).unwrap();
            symlink(here, machine.path("bin").join(tool)).unwrap();
        }
        machine
            .with("id", &format!("echo {id}"))
            .with("cargo", "exit 0")
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().join(name)
    }

    /// Adds a program that notes its arguments and then does this.
    fn with(self, program: &str, then: &str) -> Self {
        let file = self.path("bin").join(program);
        let calls = self.path("calls");
        let text = format!("#!/bin/sh\necho \"{program} $*\" >> {calls}\n{then}\n");
        write_program(&file, &text);
        self
    }

    /// Runs `scripts/test`. Returns what it said, and what cargo and apt-get were asked for.
    fn test(&self, args: &[&str]) -> (Outcome, String) {
        let _ = fs::remove_file(self.path("calls"));
        let output = Command::new(repository().join("scripts/test"))
            .args(args)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("TERCA_TEST_CACHE", self.path("agents"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let asked = calls
            .lines()
            .filter(|line| line.starts_with("cargo ") || line.starts_with("apt-get "))
            .map(|line| format!("{line}\n"))
            .collect();
        (output.into(), asked)
    }
}

#[test]
fn a_module_runs_where_its_needs_are_met() {
    let (outcome, asked) = Machine::of_user(1000).with("zsh", "").test(&[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("scripts/test: left out: needs_tmux:: needs tmux\n"),
        "{}",
        outcome.stderr
    );
    assert!(
        asked.starts_with(
            "cargo test --locked --no-fail-fast --workspace -- --include-ignored --skip "
        ) && asked.contains(" --skip needs_tmux::")
            && asked.contains(" --skip needs_root::")
            && asked.contains(" --skip thorough::")
            && !asked.contains("needs_zsh"),
        "{asked}"
    );
    assert_eq!(asked.lines().count(), 1, "{asked}");
}

#[test]
fn agents_that_were_installed_before_run_without_installing() {
    let machine = Machine::of_user(1000).with("node", "").with("npm", "");
    assert!(machine.test(&[]).1.contains("--skip needs_real_agents::"));
    for agent in ["claude-code", "codex", "gemini-cli"] {
        fs::create_dir_all(machine.path("agents").join(format!("{agent}-1"))).unwrap();
    }
    let (_, asked) = machine.test(&[]);
    assert!(
        !asked.contains("needs_real_agents") && asked.contains("--skip needs_more_agents::"),
        "{asked}"
    );
}

#[test]
fn arguments_say_what_runs() {
    let machine = Machine::of_user(1000);
    let begins = |args: &[&str], begin: &str| {
        let (_, asked) = machine.test(args);
        assert!(asked.starts_with(begin), "{args:?}: {asked}");
        asked
    };
    let test = "cargo test --locked --no-fail-fast";
    begins(
        &["-p", "terca-core"],
        &format!("{test} -p terca-core -- --include-ignored --skip "),
    );
    begins(
        &["interrupt", "--", "--nocapture"],
        &format!("{test} interrupt -- --nocapture --include-ignored --skip "),
    );
    let asked = begins(&["--rest"], &format!("{test} -p terca-benches "));
    assert!(
        asked.contains(&format!("{test} --workspace -- --ignored --skip ")),
        "{asked}"
    );
    assert!(!begins(&["--everything"], test).contains("thorough"));
    begins(
        &["--latest", "pi", "kilo"],
        "cargo test -p terca --test machine --no-fail-fast -- --ignored ::pi:: ::kilo::\n",
    );
}

#[test]
fn a_failure_in_any_step_is_a_failure() {
    for step in ["*terca-house*", "*--workspace*"] {
        let fails = format!("case \"$*\" in {step}) exit 101;; esac");
        let machine = Machine::of_user(1000).with("cargo", &fails);
        assert_eq!(machine.test(&["--rest"]).0.status, 101);
    }
}

#[test]
fn nothing_is_installed_unless_root_asks_for_it() {
    for (user, args) in [(0, &[][..]), (0, &["--everything"]), (1000, &["--install"])] {
        let debian = Machine::of_user(user).with("apt-get", "");
        let (_, asked) = debian.test(args);
        assert!(!asked.contains("apt-get"), "{args:?}: {asked}");
    }
}

/// Nothing is linked for macOS here, so a machine with the standard library for it is enough.
#[test]
fn terca_is_checked_for_macos_where_rust_can() {
    let machine = Machine::of_user(1000);
    let (outcome, asked) = machine.test(&["--rest"]);
    assert!(
        outcome
            .stderr
            .contains("cargo check for macOS needs: rustup target add aarch64-apple-darwin\n"),
        "{}",
        outcome.stderr
    );
    assert!(!asked.contains("cargo check"), "{asked}");

    fs::write(machine.path("libstd-1.rlib"), "").unwrap();
    let machine = machine.with("rustc", "echo \"${0%/bin/*}\"");
    let check = "cargo check --locked --target aarch64-apple-darwin\n";
    assert!(machine.test(&["--rest"]).1.contains(check));
    assert!(
        !machine.test(&["needs_zsh"]).1.contains(check),
        "one module"
    );
    let machine = machine.with("cargo", "case $1 in check) exit 101;; esac");
    assert_eq!(machine.test(&["--rest"]).0.status, 101);
}

/// What developers type is what CI runs.
#[test]
fn ci_runs_the_commands_of_the_readme() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    let steps: Vec<&str> = ci.lines().collect();
    for command in [
        "cargo run -- -C examples/quickstart --fail-under 0.5",
        "cargo test --locked",
    ] {
        assert!(readme.contains(&format!("```sh\n{command}\n```")));
        assert!(steps.contains(&command), "{command}");
    }
    assert!(steps.contains(&"cargo fmt --all --check"));
    assert_eq!(steps.last(), Some(&"scripts/test --rest ${CI:+--install}"));
}
