//! `terca import terminal-bench`: tasks of Terminal-Bench 1 become evals that prove themselves.

use super::verdict;
use crate::common::project;
use crate::common::proof::SOUND;
use terca_testkit::Project;

fn greet(project: Project) -> Project {
    project
        .file(
            "old/greet/task.yaml",
            "instruction: |-\n  Greet the name in /app/name.txt in /app/out.txt.\ndifficulty: easy\ntags: [text]\n\
             parser_name: pytest\nmax_agent_timeout_sec: 45\nmax_test_timeout_sec: 30\n",
        )
        .file("old/greet/Dockerfile", "FROM debian\nWORKDIR /app\nCOPY data/name.txt ./\n")
        .file("old/greet/data/name.txt", "Ada\n")
        .file(
            "old/greet/docker-compose.yaml",
            "services:\n  client:\n    build: {dockerfile: Dockerfile}\n    environment: [\"TEST_DIR=${T_BENCH_TEST_DIR}\"]\n",
        )
        .file("old/greet/run-tests.sh", "#!/bin/bash\nset -e\nsh $TEST_DIR/outputs.sh\necho '== 1 passed in 0.1s =='\n")
        .file("old/greet/tests/outputs.sh", "grep -q 'Hello, Ada' /app/out.txt\n")
        .file("old/greet/solution.sh", "#!/bin/bash\necho \"Hello, $(cat /app/name.txt)\" > /app/out.txt\n")
}

#[test]
fn a_task_is_proven() {
    let project = greet(project());
    let outcome = project
        .terca(&["import", "terminal-bench", "old", "--to", "evals"])
        .expect_status(0);
    assert_eq!(outcome.stdout, "evals/greet\n1 eval imported\n");
    assert_eq!(project.read("evals/greet/_base/name.txt"), "Ada\n");
    let outcome = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    assert!(
        verdict(&outcome.stdout, "greet").ends_with(SOUND),
        "{}",
        outcome.stdout
    );
    project.assert_nothing_left();
}

#[test]
fn tests_that_were_mounted_are_found() {
    let project = greet(project())
        .file(
            "old/greet/docker-compose.yaml",
            "services:\n  agent:\n    build: .\n    volumes: [\"./tests:/app/tests:ro\"]\n",
        )
        .file(
            "old/greet/run-tests.sh",
            "#!/bin/bash\nset -e\nsh tests/outputs.sh\necho PASSED outputs\n",
        );
    project
        .terca(&["import", "terminal-bench", "old", "--to", "evals"])
        .expect_status(0);
    let outcome = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    assert!(
        verdict(&outcome.stdout, "greet").ends_with(SOUND),
        "{}",
        outcome.stdout
    );
}

#[test]
fn an_end_without_a_test_that_passed_is_none() {
    for (script, score) in [
        ("echo '1 passed'\n", 1.0),
        ("exit 0\n", 0.0),
        (
            "echo 'short test summary info'; echo 'PASSED a'; echo 'FAILED b'\n",
            0.0,
        ),
        ("echo '1 passed'; exit 1\n", 0.0),
    ] {
        let project = greet(project()).file("old/greet/run-tests.sh", script);
        project
            .terca(&["import", "terminal-bench", "old"])
            .expect_status(0);
        let status = i32::from(score < 1.0);
        project.terca(&["--agent", "nop"]).expect_status(status);
        assert_eq!(project.only_trial()["score"], score, "{script}");
    }
}

#[test]
fn what_tests_print_is_kept_when_their_time_is_over() {
    let project = greet(project()).file("old/greet/run-tests.sh", "echo so far; sleep 1000\n");
    let task = project.read("old/greet/task.yaml");
    let task = task.replace("max_test_timeout_sec: 30", "max_test_timeout_sec: 1");
    let project = project.file("old/greet/task.yaml", task);
    project
        .terca(&["import", "terminal-bench", "old"])
        .expect_status(0);
    project.terca(&["--agent", "nop"]).expect_status(1);
    let log = project.trial_file("run.log");
    assert!(log.contains("so far"), "{log}");
}

#[test]
fn tests_that_cannot_run_here_give_0_and_no_solution_passes_them() {
    let project = greet(project()).file("old/greet/run-tests.sh", "no-such-runner /app\n");
    project
        .terca(&["import", "terminal-bench", "old"])
        .expect_status(0);
    project.terca(&["--agent", "oracle"]).expect_status(1);
    assert_eq!(project.only_trial()["score"], 0.0);
    assert!(project.trial_file("run.log").contains("no-such-runner"));
}

#[test]
fn losses_are_told_in_the_words_of_the_task() {
    let project = greet(project()).file(
        "old/greet/Dockerfile",
        "FROM debian\nWORKDIR /app\nRUN apt-get install -y jq\nCOPY gone.txt ./\n",
    );
    let outcome = project
        .terca(&["import", "terminal-bench", "old"])
        .expect_status(1);
    for part in [
        "  lost: Dockerfile, line 4: COPY gone.txt ./: there is no such file in the task",
        "\n1 eval imported: 1 lost files; 1 is incomplete",
    ] {
        assert!(outcome.stdout.contains(part), "{}", outcome.stdout);
    }
}
