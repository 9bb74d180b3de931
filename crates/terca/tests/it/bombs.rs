//! Inputs that are small and ask for much: each is refused with its reason, and nothing else suffers.

use std::io::Write;
use std::net::TcpStream;

use crate::common::project;
use crate::common::viewer::View;
use terca_testkit::Project;

fn suite(tests: &str) -> Project {
    project().agent("true").file(
        "fib/eval.terca.yaml",
        format!("prompt: go\ntests:\n  - {tests}\n"),
    )
}

#[test]
fn a_glob_that_is_nested_too_deep_is_a_diagnostic_of_check() {
    for depth in [11, 200, 5000] {
        let bomb = format!("{}a{}", "{a,".repeat(depth), "}".repeat(depth));
        for test in [
            format!("fileExists: '{bomb}'"),
            format!("changedFiles: {{never: ['{bomb}']}}"),
            format!("transcript: {{usedTool: '{bomb}'}}"),
        ] {
            let outcome = suite(&test).terca(&["check"]).expect_status(2);
            assert!(
                outcome
                    .stderr
                    .contains("error[invalid-pattern]: invalid glob `{a,{a,")
                    && !outcome.stderr.contains("a bug in Terca"),
                "{}",
                outcome.stderr
            );
            assert!(
                outcome.stderr.contains("fib/eval.terca.yaml:3"),
                "{}",
                outcome.stderr
            );
        }
        let outcome = suite("fileExists: a")
            .terca(&["check", "-t", &bomb])
            .expect_status(2);
        assert!(
            outcome.stderr.contains("error[no-match]"),
            "{}",
            outcome.stderr
        );
    }
    suite("fileExists: '{a,{b,{c,d}}}.js'")
        .terca(&["check"])
        .expect_status(0);
}

#[test]
fn a_plan_that_no_machine_can_hold_is_refused_before_it_is_made() {
    let evals: String = (0..1000)
        .map(|n| format!("  - {{name: e{n}, prompt: x, allowWarnings: no-tests}}\n"))
        .collect();
    let project = project().file(
        "terca.yaml",
        format!(
            "repetitions: 1000000\nenvironments:\n  - {{name: e, agent: {{name: command, command: 'true'}}}}\nevals:\n{evals}"
        ),
    );
    for args in [
        &["check"][..],
        &[],
        &["plan"],
        &["run", "--dry-run", "-n", "500000"],
    ] {
        let outcome = project.terca(args).expect_status(2);
        let expected = if args.contains(&"-n") {
            "1000 evals × 1 variant with their repetitions are 500000000 trials, and a run has at most 100000"
        } else {
            "1000 evals × 1 variant with their repetitions are 1000000000 trials, and a run has at most 100000"
        };
        assert!(
            outcome.stderr.contains(expected),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
    project
        .terca(&["run", "--dry-run", "-n", "100"])
        .expect_status(0);
    project
        .terca(&["run", "--dry-run", "-n", "101"])
        .expect_status(2);
}

#[test]
fn a_task_with_a_long_name_is_imported_with_the_others() {
    let task = |project: Project, name: &str| {
        project
            .file(&format!("tasks/{name}/task.toml"), "version = \"1.0\"\n")
            .file(&format!("tasks/{name}/instruction.md"), "Do it.\n")
            .file(
                &format!("tasks/{name}/environment/Dockerfile"),
                "FROM alpine\nWORKDIR /app\n",
            )
            .file(
                &format!("tasks/{name}/tests/test.sh"),
                "echo 1 > /logs/verifier/reward.txt\n",
            )
    };
    let long = "n".repeat(250);
    // An eval's folder cannot begin with `_`, and with `task-` before it this name is too long for a folder.
    let too_long = format!("_{}", "m".repeat(254));
    let mut project = project();
    for name in ["a", &long, &too_long, "z"] {
        project = task(project, name);
    }
    let outcome = project
        .terca(&["import", "harbor", "tasks", "--to", "imported"])
        .expect_status(1);
    assert!(
        outcome.stdout.contains("3 evals imported"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("error[cannot-write]")
            && outcome.stderr.contains("could not be written as an eval"),
        "{}",
        outcome.stderr
    );
    for name in ["a", &long, "z"] {
        assert!(
            project
                .path(&format!("imported/{name}/eval.terca.yaml"))
                .exists(),
            "{name}"
        );
    }
    let mut left: Vec<String> = project
        .path("imported")
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["a", &long, "z"], "nothing unfinished is left");
}

#[test]
fn clients_that_drip_shut_nobody_out_of_the_view() {
    let project = suite("fileExists: a");
    project.terca(&[]);
    let view = View::open(&project, &[]);
    let mut drips = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(view.host()).unwrap();
        // The head of a request that never ends.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
        drips.push(stream);
        if drips.len() % 50 == 0 {
            let page = view.get("");
            assert!(
                page.starts_with("HTTP/1.1 200 "),
                "after {}: {page:.200}",
                drips.len()
            );
        }
    }
}
