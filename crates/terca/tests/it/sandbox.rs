//! Sandboxes on a machine that cannot make any: nothing is run, and the message says what to do.

use crate::common::project;
use crate::common::sandboxes::{has_landlock, mend, unfinished, with_program, without_namespaces};
use terca_testkit::Project;

fn suite() -> Project {
    project().agent("echo x > made.txt").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    )
}

#[test]
fn without_bubblewrap_nothing_is_run() {
    let has_landlock = has_landlock();
    for sandbox in ["auto", "bwrap"] {
        if sandbox == "auto" && has_landlock {
            continue;
        }
        let project = suite().env("PATH", "/var/empty");
        let outcome = project
            .terca(&["run", "--sandbox", sandbox])
            .expect_status(2);
        for words in [
            "bubblewrap (`bwrap`) is not installed", "no-sandbox", "apt-get install bubblewrap",
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

#[test]
fn where_nobody_says_agents_run_without_a_sandbox_after_one_warning() {
    // An empty variable is as good as none.
    let project = without_namespaces(suite()).env("TERCA_SANDBOX", "");
    let outcome = project.terca(&["run"]).expect_status(0);
    if has_landlock() {
        assert_eq!(project.only_trial()["containedBy"], "landlock");
        assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
        return;
    }
    let warnings: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.contains("contained"))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", outcome.stderr);
    for words in [
        "warning: agents run without a sandbox: ",
        "bwrap: No permissions to create new namespace",
        "They run with your permissions",
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
        doctor.stdout.contains("agents run without a sandbox"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_network_that_is_asked_for_needs_a_sandbox_that_works() {
    let project = without_namespaces(suite());
    let own = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("network: model\n{own}"));
    let has_landlock = has_landlock();
    for default in ["", "none"] {
        if has_landlock {
            let outcome = project.terca_with(&[("TERCA_SANDBOX", default)], &["run"]);
            outcome.expect_status(0);
            assert_eq!(project.only_trial()["containedBy"], "landlock");
            continue;
        }
        let project = project.terca_with(&[("TERCA_SANDBOX", default)], &["run"]);
        let outcome = project.expect_status(2);
        assert!(outcome.stderr.contains("no-sandbox"), "{}", outcome.stderr);
    }
    assert_eq!(project.has_run(), has_landlock);
}

#[test]
fn the_machines_default_is_one_of_the_words() {
    let project = without_namespaces(suite());
    let nonsense = project.terca_with(&[("TERCA_SANDBOX", "bubblewrap")], &["run"]);
    let nonsense = nonsense.expect_status(2);
    assert!(
        nonsense
            .stderr
            .contains("TERCA_SANDBOX=bubblewrap is not a sandbox"),
        "{}",
        nonsense.stderr
    );
    // Asked for by the machine's owner, it is as good as asked for by the suite.
    let asked = project.terca_with(&[("TERCA_SANDBOX", "bwrap")], &["run"]);
    asked.expect_status(2);
    assert!(!project.has_run());
}

#[test]
fn a_bubblewrap_that_may_not_make_namespaces_is_quoted() {
    let project = without_namespaces(suite());
    let outcome = project
        .terca(&["run", "--sandbox", "bwrap"])
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
fn an_engine_that_is_missing_or_does_not_answer_is_named() {
    for (engine, title) in [("docker", "Docker"), ("podman", "Podman")] {
        let sandbox = format!("{engine}:node:22");
        let project = suite().env("PATH", "/var/empty");
        let outcome = project
            .terca(&["run", "--sandbox", &sandbox])
            .expect_status(2);
        let words = format!("{title} (`{engine}`) is not installed");
        assert!(outcome.stderr.contains(&words), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("no-sandbox"), "{}", outcome.stderr);
        assert!(!project.has_run());
        let doctor = project.terca(&["doctor"]);
        assert!(doctor.stdout.contains(&words), "{}", doctor.stdout);

        let script = "echo 'Cannot connect to the daemon' >&2\nexit 1";
        let project = with_program(suite(), engine, script);
        let outcome = project
            .terca(&["run", "--sandbox", &sandbox])
            .expect_status(2);
        for words in [
            "does not work: Cannot connect to the daemon",
            "start its service",
            &format!("`{engine} info`"),
        ] {
            assert!(
                outcome.stderr.contains(words),
                "{words}: {}",
                outcome.stderr
            );
        }
        assert!(!project.has_run());
    }
}

#[test]
fn a_program_that_is_not_the_engine_is_told_apart_from_one_that_does_not_work() {
    // Podman answers so where it is called `docker`.
    let script = "echo 'Error: template: info:1:2: executing \"info\" at <.ServerVersion>: no field' >&2\nexit 125";
    let project = with_program(suite(), "docker", script);
    let outcome = project
        .terca(&["run", "--sandbox", "docker:node:22"])
        .expect_status(2);
    for words in [
        "gives an unexpected answer: Error: template: info",
        "check the output of `docker version`: if it is Podman, write `sandbox: {podman: IMAGE}`",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    assert!(
        !outcome.stderr.contains("start its service"),
        "{}",
        outcome.stderr
    );
    assert!(!project.has_run());
}

#[test]
fn an_image_without_variables_is_an_image() {
    let script = "case \"$*\" in\n\
                  info*) echo '28.0 []' ;;\n\
                  *Config.Env*) echo 'template: :1:15: map has no entry for key \"Env\"' >&2; exit 1 ;;\n\
                  image*) echo 'sha256:00 {}' ;;\n\
                  *) echo 'no container today' >&2; exit 1 ;;\nesac";
    let project = with_program(suite(), "docker", script);
    let outcome = project
        .terca(&["run", "--sandbox", "docker:node:22"])
        .expect_status(2);
    let words = "cannot make a container of `node:22`: no container today";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn an_image_is_no_option_of_the_program() {
    for sandbox in [
        "docker:-v/:/host", "podman:--privileged", "docker:", "docker",
    ] {
        let outcome = suite()
            .terca(&["run", "--sandbox", sandbox])
            .expect_status(2);
        assert!(outcome.stderr.contains("--sandbox"), "{}", outcome.stderr);
    }
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

#[test]
fn a_run_goes_on_in_the_sandbox_that_it_was_started_in() {
    let project = without_namespaces(unfinished());
    project.terca(&["run"]).expect_status(3);
    mend(&project);
    // bubblewrap does not work here: a new run would not start.
    let in_bwrap = [("TERCA_SANDBOX", "bwrap")];
    project.terca_with(&in_bwrap, &["run"]).expect_status(2);
    let outcome = project.terca_with(&in_bwrap, &["resume", "--errors"]);
    let outcome = outcome.expect_status(0);
    let words = "note: agents of this run have no sandbox, as when it was started";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert_eq!(project.only_trial()["containedBy"], "none");
    let outcome = project.terca_with(&in_bwrap, &["regrade"]);
    outcome.expect_status(0);
    // Who says it is not told again.
    let outcome = project.terca(&["regrade"]).expect_status(0);
    assert!(!outcome.stderr.contains("contained"), "{}", outcome.stderr);
}
