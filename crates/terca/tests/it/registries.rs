//! `passRegistries`: private registries reach the commands of the suite, and not the agent.

use crate::common::project;
use terca_testkit::Project;

const NPM: &str = "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const PIP: &str = "pip-secret-0123456789";
const NETRC: &str = "netrc-secret-9876543210";

/// Prints all that a command can know of registries.
const LOOK: &str = "echo registry=$NPM_CONFIG_REGISTRY prefix=$npm_config_prefix token=$NPM_TOKEN; \
    for file in .npmrc .netrc .config/pip/pip.conf; do if [ -e $HOME/$file ]; then echo $file; cat $HOME/$file; fi; done";

fn registries(suite: &str) -> Project {
    let project = project()
        .agent(&format!("{{ {LOOK}; }} > seen-by-agent; env >> seen-by-agent; grep -rs secret- $HOME $PWD/.. >> seen-by-agent; true"))
        .env("NPM_CONFIG_REGISTRY", "https://npm.acme.test/")
        .env("npm_config_prefix", "/somewhere")
        .env("NPM_TOKEN", NPM);
    let home = project.home();
    std::fs::create_dir_all(home.join(".config/pip")).unwrap();
    for (name, text) in [
        (
            ".npmrc",
            "//npm.acme.test/:_authToken=${NPM_TOKEN}\n".to_owned(),
        ),
        (
            ".config/pip/pip.conf",
            format!("index-url = https://me:{PIP}@pypi.acme.test/simple\n"),
        ),
        (
            ".netrc",
            format!("machine acme.test login me password {NETRC}\n"),
        ),
    ] {
        std::fs::write(home.join(name), text).unwrap();
    }
    let suite = format!(
        "{suite}prepare: [{{command: '{LOOK}; echo npm > prepared'}}]\n\
         before: [{{command: '{LOOK}; stat -c %a $HOME/.netrc || true'}}]\n{}",
        project.read("terca.yaml")
    );
    project.file("terca.yaml", suite).file(
        "fib/eval.terca.yaml",
        format!("prompt: go\ntests: [{{name: look, commandSuccess: '{LOOK}'}}]\n"),
    )
}

/// Asserts that no token is in a file of the run.
fn assert_masked(project: &Project) {
    let mut open = vec![project.run_dir()];
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                for token in [NPM, PIP, NETRC] {
                    assert!(!text.contains(&token[..14]), "{path}: {text}");
                }
            }
        }
    }
}

#[test]
fn registries_reach_the_suites_commands_and_not_the_agent() {
    let project = registries("passRegistries: true\n");
    project.terca(&[]).expect_status(0);
    let log = project.trial_file("run.log");
    for line in [
        "registry=https://npm.acme.test/ prefix= token=***\n",
        ".npmrc\n//npm.acme.test/:_authToken=${NPM_TOKEN}\n",
        ".netrc\nmachine acme.test login me password ***\n",
        "index-url = https://me:***@pypi.acme.test/simple\n",
    ] {
        assert_eq!(log.matches(line).count(), 3, "{line}: {log}");
    }
    assert!(log.contains("\n600\n"), "{log}");
    let seen = project.trial_file("workspace/seen-by-agent");
    assert!(seen.starts_with("registry= prefix= token=\n"), "{seen}");
    for part in ["npmrc", "netrc", "acme", "secret", "npm_AbC"] {
        assert!(!seen.contains(part), "{part}: {seen}");
    }
    assert_masked(&project);
    project.assert_nothing_left();
    // Graded again, the tests have them again.
    project.terca(&["regrade"]).expect_status(0);
    assert!(project.trial_file("gradings/02.log").contains("token=***"));
}

#[test]
fn without_the_word_of_the_suite_nothing_is_passed_and_check_says_so() {
    let project = registries("");
    project.terca(&[]).expect_status(0);
    let log = project.trial_file("run.log");
    assert_eq!(
        log.matches("registry= prefix= token=\n").count(),
        3,
        "{log}"
    );
    assert!(!log.contains("acme"), "{log}");
    let shown = project.terca(&["check"]).expect_status(0).stderr;
    for name in ["$NPM_CONFIG_REGISTRY", "$NPM_TOKEN", "~/.npmrc", "~/.netrc"] {
        assert!(shown.contains(name), "{shown}");
    }
    assert!(shown.contains("do not get") && shown.contains("passRegistries: true"));
    assert!(!shown.contains("prefix") && !shown.contains(&NPM[..10]));
}

/// It still has what was in it.
#[test]
fn a_file_that_set_up_changes_does_not_reach_the_agent() {
    let project = registries("passRegistries: true\n").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: 'echo more >> $HOME/.npmrc; echo own > $HOME/.own'}]\n\
         tests: [{commandSuccess: 'grep _authToken $HOME/.npmrc && ! grep more $HOME/.npmrc && grep own $HOME/.own'}]\n",
    );
    project.terca(&[]).expect_status(0);
    let seen = project.trial_file("workspace/seen-by-agent");
    assert!(!seen.contains("npmrc") && !seen.contains("more"), "{seen}");
}

/// A package manager that fails without them is the moment to name them, and only its own.
#[test]
fn a_command_that_fails_without_them_names_them() {
    let suite = "environments: [{name: e, agent: nop}]\n\
                 prepare: [{command: 'echo pip: no matching distribution >&2; exit 1'}]\n";
    let project = registries("").file("terca.yaml", suite);
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with(
            "; it did not get ~/.config/pip/pip.conf and ~/.netrc (`passRegistries: true` in terca.yaml passes them)"
        ),
        "{message}"
    );
}
