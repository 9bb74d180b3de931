//! `_tests/` and `_solution/`: out of the agent's sight, and on top of what it did.

use crate::common::project;
use terca_testkit::Project;

/// An eval whose hidden test wants `answer.txt` to be right, and an agent that runs this script.
fn guarded(agent: &str) -> Project {
    project()
        .agent(agent)
        .file("_base/checks/README", "tests will be here\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n  - {name: check, commandSuccess: checks/deep/check.sh}\n",
        )
        .executable(
            "fib/_tests/checks/deep/check.sh",
            "#!/bin/sh\ncd \"$(dirname \"$0\")\" && grep -q right ../../answer.txt && grep -q true expected.txt\n",
        )
        .file("fib/_tests/checks/deep/expected.txt", "true\n")
        .file("fib/_solution/answer.txt", "right\n")
}

#[test]
fn whatever_the_agent_puts_in_the_place_of_a_test_gains_nothing() {
    let fake = "mkdir -p checks/deep; printf '#!/bin/sh\\nexit 0\\n' > checks/deep/check.sh; chmod +x checks/deep/check.sh";
    for tampering in [
        fake.to_owned(),
        format!("{fake}; chmod 555 checks/deep/check.sh checks/deep checks"),
        format!("{fake}; chmod 000 checks/deep/check.sh; chmod 000 checks/deep; chmod 000 checks"),
        "mkdir -p checks/deep; ln -s /bin/true checks/deep/check.sh".into(),
        "mkdir -p checks/deep/check.sh/inside; touch checks/deep/check.sh/inside/x".into(),
        "mkdir -p checks/deep; mkfifo checks/deep/check.sh".into(),
        format!(
            "mkdir -p away/deep; {fake}; mv checks/deep/check.sh away/deep; rm -r checks; ln -s away checks"
        ),
        "rm -r checks; echo a file > checks".into(),
        "mkdir -p checks; ln -s /nowhere/at/all checks/deep".into(),
        format!("{fake}; ln checks/deep/check.sh checks/deep/expected.txt"),
        "rm -rf checks; chmod 555 .".into(),
    ] {
        let project = guarded(&format!("umask 022\n{tampering}"));
        let outcome = project.terca(&[]);
        let trial = project.only_trial();
        assert_eq!(outcome.status, 1, "{tampering}: {trial}");
        assert_eq!(trial["status"], "failed", "{tampering}: {trial}");
        let message = trial["tests"]["check"]["message"].as_str().unwrap();
        assert!(
            message.contains("exit status 2") || message.contains("exit status 1"),
            "the test itself ran: {message}"
        );
        // The same with the work done: the test is not merely broken by it.
        let project = guarded(&format!("umask 022\necho right > answer.txt\n{tampering}"));
        project.terca(&[]).expect_status(0);
        project.assert_nothing_left();
    }
}

#[test]
fn nothing_outside_is_reached_when_tests_are_laid_over_a_link() {
    let project = guarded("rm -r checks; ln -s \"$OUTSIDE\" checks");
    let outside = project.path("outside");
    let project = project
        .file("outside/deep/check.sh", "untouched")
        .file("terca.yaml", format!("env: {{OUTSIDE: {outside}}}\nenvironments: [{{name: default, agent: {{name: command, command: ./agent.sh}}}}]\n"));
    project.terca(&[]).expect_status(1);
    assert_eq!(project.read("outside/deep/check.sh"), "untouched");
}

#[test]
fn a_process_of_the_agent_that_waits_for_the_tests_does_not_live_to_see_them() {
    let wait = "setsid sh -c 'while :; do for f in checks/deep/check.sh ../*/checks/deep/check.sh; do \
                [ -f $f ] && printf \"#!/bin/sh\\nexit 0\\n\" > $f; done; done' >/dev/null 2>&1 &";
    let project = guarded(wait);
    project.terca(&["-n", "3"]).expect_status(1);
    for trial in project.results()["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "failed", "{trial}");
    }
    project.assert_nothing_left();
}

#[test]
fn an_agent_sees_neither_tests_nor_solution() {
    // Also where an action copies everything that lies beside the eval, and after earlier runs.
    let project = guarded("env > env.txt; pwd -P >> env.txt; find . .. -name 'seen.txt' -prune -o -print > seen.txt 2>/dev/null; grep -rl right . > words.txt; true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore:\n  - copy: {.: beside}\n  - copy: {..: all}\ntests: [{commandSuccess: checks/deep/check.sh}]\n",
        )
        .file("fib/data/_tests/kept.txt", "a directory of the work's own that has this name");
    project.terca(&["--agent", "oracle"]).expect_status(0);
    project.terca(&[]).expect_status(1);
    let seen = project.trial_file("workspace/seen.txt");
    for secret in [
        "check.sh", "_solution", "answer.txt", ".terca/", "expected.txt",
    ] {
        assert!(!seen.contains(secret), "{secret}: {seen}");
    }
    assert!(
        seen.contains("beside/data/_tests/kept.txt") && seen.contains("all/fib/eval.terca.yaml"),
        "{seen}"
    );
    assert_eq!(
        project
            .trial_file("workspace/words.txt")
            .matches("answer")
            .count(),
        0
    );
    let env = project.trial_file("workspace/env.txt");
    assert!(
        !env.contains(project.dir().as_str()),
        "no variable leads to the suite: {env}"
    );
}

#[test]
fn the_oracle_lays_its_solution_over_what_is_there() {
    let project = guarded("true")
        .file("_base/answer.txt/was-a-directory", "x")
        .file(
            "fib/_solution/checks/deep/check.sh", "not what the tests run",
        );
    project.terca(&["--agent", "oracle"]).expect_status(0);
    assert_eq!(project.trial_file("workspace/answer.txt"), "right\n");
    assert_eq!(
        project.trial_file("workspace/checks/deep/check.sh"),
        "not what the tests run"
    );
}
