//! Sandboxes on a machine that cannot make any: nothing is run, and the message says what to do.

use std::os::unix::fs::PermissionsExt;

use crate::common::project;
use terca_testkit::Project;

fn suite() -> Project {
    project()
        .agent("echo x > made.txt")
        .file("fib/eval.terca.yaml", "prompt: go\n")
}

#[test]
fn without_bubblewrap_nothing_is_run() {
    for sandbox in ["auto", "bwrap"] {
        let project = suite().env("PATH", "/var/empty");
        let outcome = project
            .terca(&["run", "--sandbox", sandbox])
            .expect_status(2);
        for words in [
            "bubblewrap (`bwrap`) is not installed",
            "no-sandbox",
            "apt-get install bubblewrap",
            "--sandbox none",
        ] {
            assert!(
                outcome.stderr.contains(words),
                "{words}: {}",
                outcome.stderr
            );
        }
        assert!(!project.has_run());
        let doctor = project.terca(&["doctor"]);
        assert!(
            doctor
                .stdout
                .contains("! sandbox: bubblewrap (`bwrap`) is not installed"),
            "{}",
            doctor.stdout
        );
    }
}

/// A machine whose kernel forbids namespaces.
fn without_namespaces(project: Project) -> Project {
    let bin = project.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("bwrap");
    let script = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{bin}:/usr/bin:/bin");
    project.env("PATH", &path)
}

#[test]
fn where_nobody_says_agents_run_without_a_sandbox_after_one_warning() {
    // An empty variable is as good as none.
    let project = without_namespaces(suite()).env("TERCA_SANDBOX", "");
    let outcome = project.terca(&["run"]).expect_status(0);
    let warnings: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.contains("contained"))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", outcome.stderr);
    for words in [
        "warning: agents are not contained: ",
        "bwrap: No permissions to create new namespace",
        "They run as you",
        "terca explain no-sandbox",
    ] {
        assert!(warnings[0].contains(words), "{words}: {}", warnings[0]);
    }
    assert_eq!(project.only_trial()["containedBy"], "none");
    // Who says it is not warned. Where Terca plays the agent, nobody is to be contained.
    for args in [&["run", "--sandbox", "none"][..], &["validate"]] {
        let outcome = project.terca(args);
        assert!(!outcome.stderr.contains("contained"), "{}", outcome.stderr);
    }
    let doctor = project.terca(&["doctor"]).expect_status(0);
    assert!(
        doctor.stdout.contains("agents are not contained"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_network_that_is_asked_for_needs_a_sandbox_that_works() {
    let project = without_namespaces(suite());
    let own = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("network: model\n{own}"));
    for default in ["", "none"] {
        let project = project.terca_with(&[("TERCA_SANDBOX", default)], &["run"]);
        let outcome = project.expect_status(2);
        assert!(outcome.stderr.contains("no-sandbox"), "{}", outcome.stderr);
    }
    assert!(!project.has_run());
}

#[test]
fn the_machines_default_is_one_of_the_words() {
    let project = without_namespaces(suite());
    let nonsense = project.terca_with(&[("TERCA_SANDBOX", "bubblewrap")], &["run"]);
    let nonsense = nonsense.expect_status(2);
    assert!(
        nonsense
            .stderr
            .contains("TERCA_SANDBOX=bubblewrap names no sandbox"),
        "{}",
        nonsense.stderr
    );
    // Asked for by the machine's owner, it is as good as asked for by the suite.
    let auto = project.terca_with(&[("TERCA_SANDBOX", "auto")], &["run"]);
    auto.expect_status(2);
    assert!(!project.has_run());
}

#[test]
fn a_bubblewrap_that_may_not_make_namespaces_is_quoted() {
    let project = without_namespaces(suite());
    let outcome = project
        .terca(&["run", "--sandbox", "auto"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("cannot make a sandbox here: bwrap: No permissions to create new namespace"),
        "{}",
        outcome.stderr
    );
    assert!(!project.has_run());
}

#[test]
fn who_asks_for_none_needs_nothing_and_it_is_recorded() {
    let project = suite();
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(
        !outcome.stderr.contains("contained"),
        "nobody asked: {}",
        outcome.stderr
    );
    assert_eq!(project.only_trial()["containedBy"], "none");
    // What is asked for on the command line takes the place of what the suite says.
    let project = project.file(
        "terca.yaml",
        "sandbox: bwrap\nenvironments: [{name: default, agent: {name: command, command: ./agent.sh}, sandbox: auto}]\n",
    );
    project
        .env("PATH", "/usr/bin:/bin")
        .terca(&["run", "--sandbox", "none"])
        .expect_status(0);
}

#[test]
fn a_network_that_only_a_sandbox_can_make_is_refused_without_one() {
    for (yaml, args, words) in [
        (
            "sandbox: none\nnetwork: model\n",
            &["check"][..],
            "model only",
        ),
        ("sandbox: none\nnetwork: \"off\"\n", &["check"], "off"),
        (
            "network: [example.com]\n",
            &["run", "--sandbox", "none"],
            "example.com only",
        ),
        (
            "sandbox: none\n",
            &["run", "--network", "a.example,b.example"],
            "a.example and b.example only",
        ),
        (
            "sandbox: bwrap\nnetwork: model\n",
            &["run", "--sandbox", "none"],
            "model only",
        ),
    ] {
        let project = suite();
        let own = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("{yaml}{own}"));
        let outcome = project.terca(args).expect_status(2);
        let message = format!("`network`: {words} needs a sandbox");
        assert!(outcome.stderr.contains(&message), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("sandbox: auto"),
            "{}",
            outcome.stderr
        );
        assert!(!project.has_run());
    }
    let project = suite();
    let own = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("network: open\n{own}"));
    project.terca(&["run"]).expect_status(0);
    assert_eq!(project.only_trial()["network"], serde_json::Value::Null);
    let outcome = project
        .terca(&["run", "--network", "modle"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("expected off, model, open, or hosts"),
        "{}",
        outcome.stderr
    );
}
