//! Each test starts from the truth: the work as the agent left it, the hidden files as the suite has them, a home and
//! a temporary directory as they were before the first test.

use serde_json::Value;
use terca_testkit::Project;

use crate::common::{project, work_command};

/// A suite of one eval with these tests, and an agent.
fn suite(agent: &str, tests: &str) -> Project {
    let eval =
        format!("prompt: do it\nbefore: [{{command: 'echo made > ~/made'}}]\ntests:\n{tests}");
    // What is mounted needs a layer.
    let project = project().file("_base/README", "").agent(agent);
    project.file("task/eval.terca.yaml", eval)
}

#[track_caller]
fn judged(project: &Project, status: &str) -> Value {
    project.terca(&["--retries", "0"]);
    project.assert_nothing_left();
    let trial = project.only_trial();
    assert_eq!(trial["status"], status, "{trial:#}");
    trial
}

/// Returns the notes of a trial, a line for each.
fn notes(trial: &Value) -> String {
    let notes = trial["notes"].as_array().into_iter().flatten();
    let lines: Vec<&str> = notes.filter_map(Value::as_str).collect();
    lines.join("\n")
}

/// Two tests: the first runs the work, and the second finds out whether that has changed anything.
fn then(second: &str) -> String {
    format!("  - {{name: first, commandSuccess: sh main.sh}}\n  - name: second\n    {second}\n")
}

const WAYS: [&str; 2] = ["copy", "overlay"];

#[test]
fn the_work_in_one_test_changes_nothing_for_the_next() {
    for (work, second) in [
        ("touch made", "fileExists: made"),
        (
            "echo 'exit 0' > ~/.profile", "commandSuccess: bash -lc 'exit 1'",
        ),
        ("touch $TMPDIR/pass", "commandSuccess: test -e $TMPDIR/pass"),
        ("rm ~/made; mkdir ~/made", "commandSuccess: test -d ~/made"),
        ("rm kept.txt", "commandSuccess: test ! -e kept.txt"),
        (
            "echo other > kept.txt", "commandSuccess: grep other kept.txt",
        ),
        ("chmod +x kept.txt", "commandSuccess: test -x kept.txt"),
        (
            "mkdir d; mv kept.txt d; ln -s d/kept.txt kept.txt",
            "commandSuccess: test -h kept.txt",
        ),
        ("rm link; echo file > link", "commandSuccess: test -f link"),
        ("rm -r dir; touch dir", "commandSuccess: test -f dir"),
        ("touch dir/deep/new", "commandSuccess: test -e dir/deep/new"),
        (
            "rm -rf * .??*; rmdir $PWD", "commandSuccess: test ! -e kept.txt",
        ),
        (
            "rm dir/deep/file; chmod 0 dir/deep dir .",
            "commandSuccess: test ! -e dir/deep/file",
        ),
    ] {
        let work = format!("{work} >/dev/null 2>&1; true");
        let agent = format!(
            "umask 022; echo kept > kept.txt; ln -s nowhere link; mkdir -p dir/deep; touch dir/deep/file\n\
             cat > main.sh <<'E'\n{work}\nE"
        );
        for way in WAYS {
            let project = suite(&agent, &then(second)).env("TERCA_WORKSPACES", way);
            let trial = judged(&project, "partial");
            assert_eq!(
                trial["tests"]["first"]["score"], 1.0,
                "{way} {work}: {trial:#}"
            );
            assert_eq!(
                trial["tests"]["second"]["score"], 0.0,
                "{way} {work}: {trial:#}"
            );
        }
    }
}

#[test]
fn a_hidden_test_that_the_work_rewrites_is_as_the_suite_has_it_and_the_change_is_told() {
    for (work, word) in [
        ("echo exit 0 > hidden/check.sh", "changed"),
        ("chmod 777 hidden/check.sh", "changed"),
        ("rm hidden/check.sh", "removed"),
        ("rm -r hidden; mkdir -p hidden/check.sh", "changed"),
        (
            "mv hidden away; mkdir hidden; echo exit 0 > hidden/check.sh",
            "changed",
        ),
    ] {
        for way in WAYS {
            let project = suite(
                &format!("echo '{work}' > main.sh"),
                &then("commandSuccess: sh hidden/check.sh"),
            )
            .env("TERCA_WORKSPACES", way)
            .file("task/_tests/hidden/check.sh", "exit 1\n");
            let trial = judged(&project, "failed");
            let touched = &trial["tests"]["first"]["testsTouched"];
            assert_eq!(
                *touched,
                serde_json::json!(["hidden/check.sh"]),
                "{trial:#}"
            );
            let message = trial["tests"]["first"]["message"].as_str().unwrap();
            assert!(message.contains(word), "{message}");
            assert!(notes(&trial).contains("`first`"), "{trial:#}");
            assert!(trial["tests"]["second"].get("testsTouched").is_none());
        }
    }
}

#[test]
fn work_that_leaves_hidden_tests_alone_passes() {
    for way in WAYS {
        let project = suite(
            "printf 'mkdir hidden/more; touch hidden/new made' > main.sh",
            &then("commandSuccess: sh hidden/check.sh"),
        )
        .env("TERCA_WORKSPACES", way)
        .file(
            "task/_tests/hidden/check.sh",
            "test -e ~/made && test ! -e made && test ! -e hidden/new\n",
        );
        let trial = judged(&project, "passed");
        assert_eq!(notes(&trial), "");
    }
}

#[test]
fn what_would_take_the_place_of_a_hidden_file_is_removed_and_told() {
    for (shadow, told) in [
        (
            "mkdir -p t/__pycache__; touch t/__pycache__/test_calc.cpython-311.pyc t/__pycache__/other.cpython-311.pyc",
            "t/__pycache__/test_calc.cpython-311.pyc",
        ),
        (
            "mkdir -p t/test_calc; touch t/test_calc/__init__.py",
            "t/test_calc",
        ),
        ("mkdir -p t; touch t/test_calc.pyc", "t/test_calc.pyc"),
        (
            "mkdir -p t; touch t/test_calc.cpython-311-x86_64-linux-gnu.so",
            "t/test_calc.cpython-311-x86_64-linux-gnu.so",
        ),
    ] {
        for way in WAYS {
            let project = suite(
                &format!("{shadow}; mkdir -p test_calc t/data; touch test_calc/__init__.py t/test_calculator.py t/test_calc.txt"),
                &format!("  - {{name: gone, commandSuccess: test ! -e {told}}}\n  - {{name: still, commandSuccess: test ! -e {told}}}\n  - fileExists: test_calc/__init__.py\n  - fileExists: t/test_calc.txt\n  - fileExists: t/test_calculator.py\n"),
            )
            .env("TERCA_WORKSPACES", way)
            .file("task/_tests/t/test_calc.py", "");
            let trial = judged(&project, "passed");
            let notes = notes(&trial);
            assert!(
                notes.contains(&format!("`{told}`")) && !notes.contains("other"),
                "{notes}"
            );
            assert_eq!(notes.lines().count(), 1, "{notes}");
        }
    }
}

#[test]
fn work_that_looks_an_answer_up_in_a_hidden_test_fails() {
    work_command::looking_it_up_gains_nothing("none");
}

#[test]
fn a_command_of_the_work_is_as_if_it_were_started_by_itself() {
    work_command::it_is_the_command_itself("none");
}

#[test]
fn a_command_of_the_work_reaches_nothing_hidden() {
    work_command::it_reaches_nothing_hidden("none");
}

#[test]
fn directories_that_the_agent_closed_are_the_same_for_each_test() {
    let project = suite(
        "echo x > main.sh; for d in r/a w/b x/c; do mkdir -p $d; echo kept > $d/f; done; chmod 300 r; chmod 500 w/b; chmod 0 x",
        &then("commandSuccess: 'test ! -e made && chmod 700 r x && grep -q kept r/a/f && grep -q kept w/b/f && grep -q kept x/c/f'"),
    )
    .file("task/_tests/main.sh", "touch made; chmod -R 700 r w x; rm -r r w; echo other > x/c/f");
    let ran = project.command_without_privileges(&[]).output().unwrap();
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed", "{ran:?} {trial:#}");
}
