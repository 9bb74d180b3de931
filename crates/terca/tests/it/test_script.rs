//! `scripts/test` on machines that have more or less: which tests it asks cargo for, and what it says of the others.
//! `scripts/test-latest-agents`: the table that it makes of what nextest says.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Outcome;

/// What every machine has.
const TOOLS: [&str; 12] = [
    "sh", "awk", "cat", "chmod", "cut", "dirname", "grep", "mkdir", "rm", "sed", "sort", "tr",
];

/// Every module of tests that needs more. `needs_root` is in the engine and in `it`, the others are in `machine`.
const MODULES: [&str; 23] = [
    "needs_browser", "needs_bwrap", "needs_cgroups", "needs_contained_agents", "needs_docker",
    "needs_go", "needs_landlock", "needs_more_agents", "needs_node", "needs_npm", "needs_overlay",
    "needs_packages", "needs_podman", "needs_python_agents", "needs_real_agents", "needs_root",
    "needs_slurm", "needs_ssh", "needs_test_runners", "needs_tmux", "needs_xfs", "needs_xmllint",
    "needs_zsh",
];

/// What stays ignored where every program is: it takes long, or wants root or a kernel.
const NOT_FOR_DEVELOPERS: [&str; 11] = [
    "needs_cgroups", "needs_docker", "needs_landlock", "needs_more_agents", "needs_overlay",
    "needs_podman", "needs_python_agents", "needs_root", "needs_slurm", "needs_ssh", "needs_xfs",
];

/// A machine with programs that do nothing but note what they are asked for.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Machine {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(machine.path("bin")).unwrap();
        for tool in TOOLS {
            let here = ["/bin", "/usr/bin"].map(|dir| Utf8Path::new(dir).join(tool));
            let here = here.iter().find(|file| file.exists()).unwrap();
            symlink(here, machine.path("bin").join(tool)).unwrap();
        }
        machine.with(
            "cargo",
            "if [ \"$1 $2\" = 'nextest --version' ]; then exit 1; fi",
        )
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().join(name)
    }

    /// Adds a program that notes its arguments and then does this.
    fn with(self, program: &str, then: &str) -> Self {
        let file = self.path("bin").join(program);
        let calls = self.path("calls");
        let text = format!("#!/bin/sh\necho \"{program} $*\" >> {calls}\n{then}\n");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn with_nextest(self) -> Self {
        self.with("cargo", "")
    }

    fn with_everything(self) -> Self {
        [
            "node", "npm", "chromium", "xmllint", "zsh", "tmux", "python3", "bwrap", "setpriv",
            "go",
        ]
        .into_iter()
        .fold(self, |machine, program| machine.with(program, ""))
    }

    /// Runs `scripts/test`: what it said, and what cargo and apt-get were asked for.
    fn test(&self, args: &[&str], env: &[(&str, &str)]) -> (Outcome, String) {
        self.script("test", args, env)
    }

    fn script(&self, name: &str, args: &[&str], env: &[(&str, &str)]) -> (Outcome, String) {
        let _ = fs::remove_file(self.path("calls"));
        let scripts = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
        let script = scripts.join(name);
        let output = Command::new(script)
            .args(args)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("TERCA_TEST_CACHE", self.path("agents"))
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let asked = calls
            .lines()
            .filter(|line| line.starts_with("cargo ") || line.starts_with("apt-get "))
            .filter(|line| !line.ends_with("nextest --version"))
            .map(|line| format!("{line}\n"))
            .collect();
        (output.into(), asked)
    }
}

/// The modules that are said to be left out.
fn ignored(outcome: &Outcome) -> Vec<&str> {
    let mut modules: Vec<&str> = outcome
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("scripts/test: ignored: "))
        .filter_map(|line| line.split("::").next())
        .collect();
    modules.sort_unstable();
    modules.dedup();
    modules
}

#[test]
fn every_test_that_needs_more_is_ignored_by_plain_cargo() {
    let dir = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine");
    let main = fs::read_to_string(dir.join("main.rs")).unwrap();
    let mut modules: Vec<&str> = main
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .filter(|module| module.starts_with("needs_"))
        .collect();
    modules.sort_unstable();
    modules.push("needs_root");
    modules.sort_unstable();
    assert_eq!(modules, MODULES);
    let mut tests = 0;
    let engine = dir.join("../../../engine/src/tree/tests/needs_root.rs");
    for file in files_below(&dir).into_iter().chain([engine]) {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[test]") {
            assert!(pair[1].starts_with("#[ignore = "), "{file}: {}", pair[1]);
            tests += 1;
        }
    }
    assert!(tests >= MODULES.len(), "{tests}");
}

fn files_below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = dir.read_dir_utf8().unwrap().map(Result::unwrap);
    let (dirs, files): (Vec<_>, Vec<_>) = entries
        .map(camino::Utf8DirEntry::into_path)
        .partition(|path| path.is_dir());
    let sources = files
        .into_iter()
        .filter(|path| path.extension() == Some("rs"));
    sources
        .chain(dirs.iter().flat_map(|dir| files_below(dir)))
        .collect()
}

#[test]
fn with_nothing_but_rust_what_cannot_run_is_ignored_aloud() {
    for machine in [Machine::new(), Machine::new().with_nextest()] {
        let (outcome, asked) = machine.test(&[], &[]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(ignored(&outcome), MODULES);
        assert!(
            asked == "cargo test --workspace --no-fail-fast\n"
                || asked
                    == "cargo nextest run --workspace --no-fail-fast --run-ignored all -E (not test(/(^|::)needs_/))\n",
            "{asked}"
        );
    }
}

#[test]
fn what_can_run_is_included() {
    let (outcome, asked) = Machine::new().with("zsh", "").test(&[], &[]);
    assert_eq!(ignored(&outcome).len(), MODULES.len() - 1);
    assert!(!ignored(&outcome).contains(&"needs_zsh"));
    let second = asked.lines().nth(1).unwrap();
    assert!(
        second.starts_with("cargo test -p terca --test machine --no-fail-fast -- --ignored "),
        "{second}"
    );
    assert!(second.contains(" --skip needs_node:: ") && !second.contains("needs_zsh"));

    let machine = Machine::new().with_everything().with_nextest();
    let (outcome, asked) = machine.test(&[], &[]);
    assert_eq!(ignored(&outcome), NOT_FOR_DEVELOPERS);
    assert_eq!(
        asked,
        "cargo nextest run --workspace --no-fail-fast --run-ignored all -E (not test(/(^|::)needs_/) or \
         test(/(^|::)(needs_node|needs_npm|needs_test_runners|needs_xmllint|needs_zsh|needs_tmux|needs_bwrap|needs_go|needs_packages|needs_browser|needs_real_agents|needs_contained_agents)::/))\n"
    );

    let skips = [("TERCA_SKIP_REAL_AGENTS", "1"), ("TERCA_SKIP_BROWSER", "1")];
    let (outcome, asked) = machine.test(&[], &skips);
    assert_eq!(ignored(&outcome).len(), 14, "{}", outcome.stderr);
    assert!(asked.contains(
        "(needs_node|needs_npm|needs_test_runners|needs_xmllint|needs_zsh|needs_tmux|needs_bwrap|needs_go|needs_packages)::"
    ));
}

#[test]
fn real_agents_have_places_beside_the_processors() {
    let told = "echo \"$NEXTEST_PROFILE with $NEXTEST_TEST_THREADS\"";
    let machine = Machine::new().with("nproc", "echo 4").with("cargo", told);
    let (outcome, _) = machine.test(&[], &[]);
    assert!(
        outcome.stdout.contains("places with 9"),
        "{}",
        outcome.stdout
    );
    let asked = [("NEXTEST_PROFILE", "mine"), ("NEXTEST_TEST_THREADS", "1")];
    let (outcome, _) = machine.test(&[], &asked);
    assert!(outcome.stdout.contains("mine with 1"), "{}", outcome.stdout);
}

#[test]
fn an_old_node_and_a_registry_out_of_reach_are_told() {
    let machine = Machine::new().with_everything();
    let old = "case $2 in *18*) exit 0;; *) exit 1;; esac";
    let machine = machine
        .with("node", old)
        .with("apt-get", "")
        .with("id", "echo 0");
    let (outcome, asked) = machine.test(&[], &[]);
    assert!(
        outcome
            .stderr
            .contains("needs_real_agents:: (Node 20 or later is missing"),
        "{}",
        outcome.stderr
    );
    assert_eq!(ignored(&outcome).len(), 14, "{}", outcome.stderr);
    assert!(!asked.contains("nodejs"), "there is no newer one: {asked}");
    let machine = Machine::new().with_everything().with("npm", "exit 1");
    let (outcome, _) = machine.test(&[], &[]);
    assert!(
        outcome
            .stderr
            .contains("needs_browser:: (npm does not reach its registry)"),
        "{}",
        outcome.stderr
    );
    // What was installed before is there.
    fs::create_dir_all(machine.path("agents/claude-code-1/node_modules")).unwrap();
    let (outcome, _) = machine.test(&[], &[]);
    assert_eq!(ignored(&outcome), NOT_FOR_DEVELOPERS);
}

#[test]
fn arguments_are_passed_on_and_narrow_what_runs() {
    let machine = Machine::new().with_everything().with_nextest();
    let (outcome, asked) = machine.test(&["-p", "terca-core", "-E", "test(a) or test(b)"], &[]);
    assert_eq!(ignored(&outcome), Vec::<&str>::new(), "none of its tests");
    assert!(
        asked.starts_with("cargo nextest run --no-fail-fast ")
            && asked.ends_with(") and ((test(a) or test(b))) -p terca-core\n"),
        "{asked}"
    );
    let (outcome, asked) = machine.test(&["--more-agents", "droid"], &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        asked.starts_with("cargo nextest run -pterca ")
            && asked
                .ends_with("-E (test(/(^|::)(needs_more_agents|needs_python_agents)::/)) droid\n"),
        "{asked}"
    );

    let machine = Machine::new().with_everything();
    for args in [
        &["-p", "terca-core"][..],
        &["--lib"],
        &["--package=terca-core"],
    ] {
        let (_, asked) = machine.test(args, &[]);
        assert_eq!(asked.lines().count(), 1, "{asked}");
        assert!(asked.contains(&args.join(" ")), "{asked}");
    }
    let (_, asked) = machine.test(&["interrupt", "--", "--nocapture"], &[]);
    assert!(
        asked.contains(" interrupt -- --nocapture --ignored "),
        "{asked}"
    );
    let (_, asked) = machine.test(&["--more-agents", "droid"], &[]);
    assert_eq!(asked.lines().count(), 1, "{asked}");
    assert!(
        asked.contains("--skip needs_zsh::") && !asked.contains("--skip needs_more_agents::"),
        "{asked}"
    );
    // Root has tests in the library of the engine, and among those of the program.
    let root = ["id", "unshare", "setpriv", "chattr"]
        .into_iter()
        .fold(Machine::new(), |machine, program| {
            machine.with(program, "echo 0")
        });
    let places = ["-p terca-engine --lib", "-p terca --test it"];
    for (args, places) in [
        (&[][..], &places[..]),
        (&["-p", "terca-engine"], &places[..1]),
    ] {
        let (outcome, asked) = root.test(args, &[]);
        assert!(!ignored(&outcome).contains(&"needs_root"));
        let last: Vec<&str> = asked.lines().skip(1).collect();
        assert_eq!(last.len(), places.len(), "{asked}");
        for (line, place) in last.iter().zip(places) {
            assert!(
                line.starts_with(&format!("cargo test {place} --no-fail-fast "))
                    && line.contains(" --ignored ")
                    && line.ends_with(" needs_root::")
                    && !line.contains("--skip needs_root"),
                "{asked}"
            );
        }
    }
    let (outcome, asked) = root.test(&["-p", "terca"], &[]);
    assert!(
        !ignored(&outcome).contains(&"needs_root"),
        "none of its tests"
    );
    assert_eq!(asked.lines().count(), 1, "{asked}");

    let (outcome, _) = Machine::new().test(&["--more-agents"], &[]);
    assert_eq!(outcome.status, 1, "none of them can run");
}

#[test]
fn a_failure_in_any_step_is_a_failure() {
    let fails_at = |pattern: &str| {
        let then = format!("case \"$*\" in *--version) exit 1;; {pattern}) exit 101;; esac");
        let machine = Machine::new().with("zsh", "").with("cargo", &then);
        machine.test(&[], &[]).0.status
    };
    assert_eq!(fails_at("*--workspace*"), 101);
    assert_eq!(fails_at("*--ignored*"), 101);
    assert_eq!(fails_at("nothing"), 0);
}

#[test]
fn only_root_on_debian_installs_and_only_when_asked_for_everything() {
    let debian = |user: &str| {
        Machine::new()
            .with("id", &format!("echo {user}"))
            .with("unshare", "")
            .with("apt-get", "")
    };
    let (outcome, asked) = debian("0").test(&[], &[]);
    assert!(
        asked.contains(
            "apt-get install -y -q --no-install-recommends bubblewrap busybox-static chromium docker.io e2fsprogs golang-go libxml2-utils munge nodejs npm \
             openssh-client openssh-server podman python3-venv runc slurm-client slurmctld slurmd tmux util-linux zsh"
        ),
        "{asked}"
    );
    assert_eq!(ignored(&outcome), MODULES, "nothing came of it");
    for (machine, args, env) in [
        (debian("1000"), &[][..], &[][..]),
        (debian("0"), &[], &[("TERCA_TEST_INSTALL", "0")]),
        (debian("0"), &["-p", "terca-core"], &[]),
        (debian("0"), &["interrupt"], &[]),
    ] {
        let (_, asked) = machine.test(args, env);
        assert!(!asked.contains("apt-get"), "{args:?} {env:?}: {asked}");
    }
    let skips = [("TERCA_SKIP_REAL_AGENTS", "1"), ("TERCA_SKIP_BROWSER", "1")];
    let (_, asked) = debian("0").test(&[], &skips);
    assert!(!asked.contains("chromium"), "{asked}");
}

/// What developers type is what CI runs.
#[test]
fn ci_runs_the_commands_of_the_readme() {
    let read = |path: &str| {
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::read_to_string(root.join(path)).unwrap()
    };
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    assert!(readme.contains("```sh\nscripts/test\n```"));
    let steps: Vec<&str> = ci.lines().collect();
    assert_eq!(steps.last(), Some(&"scripts/test"));
    assert!(readme.contains("\ncargo run -- -C examples/quickstart --fail-under 0.5\n"));
    assert!(steps.contains(&"cargo run --locked -- -C examples/quickstart --fail-under 0.5"));
    assert!(steps.contains(&"cargo fmt --all --check"));
    assert!(!ci.contains("apt-get"), "scripts/test knows what is needed");
}

/// The output of nextest for an agent that passes at the second attempt, and one of whose tests fails.
const LATEST: &str = r#"
if [ "$1 $2" = 'nextest --version' ]; then exit 0; fi
test "$TERCA_TEST_LATEST_AGENTS" = 1 || exit 3
test -e "$TERCA_TEST_CACHE/pi.latest" && exit 4
echo '0.87.1 /somewhere/bin' > "$TERCA_TEST_CACHE/pi.latest"
echo '    Starting 3 tests across 1 binary'
echo '  TRY 1 FAIL [   1.0s] (1/3) terca::machine needs_more_agents::pi::works_in_a_hostile_place'
echo '  TRY 2 PASS [   1.0s] (1/3) terca::machine needs_more_agents::pi::works_in_a_hostile_place'
echo '        PASS [   1.0s] (2/3) terca::machine needs_more_agents::pi::skills_are_offered'
echo '        FAIL [   1.0s] (3/3) terca::machine needs_real_agents::claude::prompts_arrive_as_written'
echo '   FLAKY 2/2 [   1.0s] (1/3) terca::machine needs_more_agents::pi::works_in_a_hostile_place'
exit 100
"#;

#[test]
fn the_latest_agents_are_told_in_a_table() {
    let machine = Machine::new().with("cargo", LATEST);
    fs::create_dir(machine.path("agents")).unwrap();
    fs::write(machine.path("agents/pi.latest"), "0.0.1 /old\n").unwrap();
    let (outcome, asked) = machine.script("test-latest-agents", &["pi", "claude"], &[]);
    assert_eq!(outcome.status, 100, "{}", outcome.stderr);
    assert!(asked.contains("_agents::(pi|claude)::/"), "{asked}");
    let rows: Vec<Vec<&str>> = outcome
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[1], ["pi", "0.87.1", "2", "0"]);
    assert_eq!(
        rows[2].join(" "),
        "claude-code not installed 0 1 prompts_arrive_as_written"
    );

    let (outcome, asked) = machine.script("test-latest-agents", &["pie"], &[]);
    assert_eq!((outcome.status, asked.as_str()), (2, ""));
    assert!(
        outcome.stderr.contains("no agent `pie`"),
        "{}",
        outcome.stderr
    );
    let (outcome, _) = Machine::new().script("test-latest-agents", &[], &[]);
    assert!(outcome.stderr.contains("needs cargo-nextest"));
}
