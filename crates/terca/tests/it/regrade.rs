//! `terca regrade`: the tests as they are now, on what the agents left then.

use crate::common::project;
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::Project;

/// Every trial leaves its own number; `odd` passes for odd ones.
fn numbered(repetitions: u32) -> Project {
    let project = project().executable(
        "agent.sh",
        "#!/bin/sh\necho x >> $STARTS\nn=1; while ! mkdir $NUMBERS/$n 2>/dev/null; do n=$((n + 1)); done\necho $n > \
         number\n",
    );
    let (starts, numbers) = (project.path("starts"), project.path("numbers"));
    project
        .directory("numbers")
        .file(
            "terca.yaml",
            format!(
                "env: {{STARTS: '{starts}', NUMBERS: '{numbers}'}}\nrepetitions: {repetitions}\nconcurrency: 4\n\
                 environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n"
            ),
        )
        .file("task/eval.terca.yaml", tests("test $(($(cat number) % 2)) = 1"))
        .file("other/eval.terca.yaml", tests("true"))
}

fn tests(command: &str) -> String {
    format!("prompt: x\ntests:\n  - name: check\n    commandSuccess: {command}\n")
}

fn scores(results: &Value, eval: &str) -> Vec<(u64, Value)> {
    let trials = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|trial| trial["eval"] == eval);
    trials
        .map(|trial| (trial["id"].as_u64().unwrap(), trial["score"].clone()))
        .collect()
}

/// Everything that lies in the saved workspaces: names, contents, times.
fn saved(project: &Project) -> String {
    let output = project
        .other("sh", &["-c", "find .terca/runs/*/*/*/workspace.changes -printf '%p %y %m %T@ %s\\n' | sort; cat .terca/runs/*/*/*/workspace.changes/*/* | sort"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_trial_gets_exactly_its_new_score_and_no_agent_runs() {
    let project = numbered(24);
    project
        .terca(&["-t", "task", "--format", "plain"])
        .expect_status(1);
    let (before, workspaces) = (project.results(), saved(&project));
    let starts = project.read("starts");
    let project = project.file(
        "task/eval.terca.yaml",
        tests("test $(($(cat number) % 3)) = 0"),
    );
    let outcome = project.terca(&["regrade"]).expect_status(1);
    assert_eq!(project.read("starts"), starts, "no agent was started");
    assert_eq!(saved(&project), workspaces, "what was saved is as it was");
    let results = project.results();
    assert_eq!(
        (&before["grading"], &results["grading"]),
        (&1.into(), &2.into())
    );
    let mut changed = 0;
    for trial in results["trials"].as_array().unwrap() {
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        let number: u32 = std::fs::read_to_string(project.workspace_of(&dir).join("number"))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let expected = if number.is_multiple_of(3) { 1.0 } else { 0.0 };
        assert_eq!(trial["score"], expected, "{number}");
        assert_eq!(trial["grading"], 2);
        assert!(
            std::fs::read_to_string(dir.join("gradings/02.log"))
                .unwrap()
                .contains("test: check")
        );
        changed += u32::from((number % 2 == 1) != number.is_multiple_of(3));
    }
    assert!(
        outcome.stdout.contains(&format!(
            "grading 2: 24 trials, {changed} are judged differently"
        )),
        "{}",
        outcome.stdout
    );
    // The earlier grading stays readable, and the journal tells both.
    let earlier = std::fs::read_to_string(project.run_dir().join("gradings/01.json")).unwrap();
    assert_eq!(
        scores(&serde_json::from_str(&earlier).unwrap(), "task"),
        scores(&before, "task")
    );
    let shown = project.terca(&["show"]).expect_status(0);
    assert!(shown.stdout.contains("8 passed"), "{}", shown.stdout);
    project.assert_nothing_left();
}

#[test]
fn a_selection_leaves_the_others_as_they_were() {
    let project = numbered(2).file("task/eval.terca.yaml", tests("true"));
    project.terca(&[]).expect_status(0);
    let project = project
        .file("task/eval.terca.yaml", tests("false"))
        .file("other/eval.terca.yaml", tests("false"));
    project.terca(&["regrade", "-t", "other"]).expect_status(1);
    let results = project.results();
    assert!(
        scores(&results, "other")
            .iter()
            .all(|(_, score)| *score == 0.0)
    );
    assert!(
        scores(&results, "task")
            .iter()
            .all(|(_, score)| *score == 1.0)
    );
    let task = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .find(|trial| trial["eval"] == "task")
        .unwrap();
    assert!(task.get("grading").is_none(), "the first: {task}");
}

#[test]
fn what_an_agent_did_can_be_tested_long_after() {
    let project = numbered(1);
    project.terca(&["-t", "task"]);
    let test = |more: &str| format!("prompt: x\ntests:\n  - {more}\n");
    for (tests, status) in [
        (test("changedFiles: {only: [number]}"), 0),
        (test("changedFiles: {never: [number]}"), 1),
        (test("budget: {maxSeconds: 1000}"), 0),
        (test("budget: {maxTokens: 1000}"), 3),
        ("prompt: x\nallowWarnings: no-tests\n".to_owned(), 0),
    ] {
        let path = project.path("task/eval.terca.yaml");
        std::fs::write(path, &tests).unwrap();
        let outcome = project.terca(&["regrade"]);
        assert_eq!(
            outcome.status, status,
            "{tests}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
    // A test that could not tell is no end: the work is still there.
    std::fs::write(
        project.path("task/eval.terca.yaml"),
        test("budget: {maxTokens: 1000}"),
    )
    .unwrap();
    project.terca(&["regrade"]).expect_status(3);
    std::fs::write(
        project.path("task/eval.terca.yaml"),
        test("fileExists: number"),
    )
    .unwrap();
    project.terca(&["regrade"]).expect_status(0);
}

#[test]
fn without_a_workspace_there_is_nothing_to_grade() {
    let project = numbered(1);
    project.terca(&["--keep", "none"]);
    let outcome = project.terca(&["regrade"]).expect_status(2);
    assert!(
        outcome.stderr.contains("their grades stay"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("nothing to grade"),
        "{}",
        outcome.stderr
    );
    for (word, said) in [
        ("2001-01-01-001", "no run `2001-01-01-001`"),
        ("no-such-eval", "no eval matches `no-such-eval`"),
    ] {
        let outcome = project.terca(&["regrade", word]).expect_status(2);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn it_is_said_why_there_is_nothing_to_grade() {
    for (keep, note, help) in [
        (
            "none",
            "workspace (the run was started with `--keep none`): their grades",
            "without `--keep`",
        ),
        (
            "all",
            "have no saved workspace: their grades stay",
            "restore the workspaces",
        ),
        (
            "changed",
            "have no saved workspace: their grades stay",
            "restore the workspaces",
        ),
    ] {
        let project = numbered(1);
        project
            .terca(&["-t", "other", "--keep", keep])
            .expect_status(0);
        for saved in ["workspace", "workspace.changes"] {
            let _ = std::fs::remove_dir_all(project.trial_path("run.log").with_file_name(saved));
        }
        let outcome = project.terca(&["regrade"]).expect_status(2);
        for words in [note, help] {
            assert!(
                outcome.stderr.contains(words),
                "{words}: {}",
                outcome.stderr
            );
        }
    }
    let project = numbered(1).file(
        "other/eval.terca.yaml",
        "prompt: x\nbefore: [{command: exit 1}]\nallowWarnings: no-tests\n",
    );
    project.terca(&["-t", "other"]).expect_status(3);
    let outcome = project.terca(&["regrade"]).expect_status(2);
    for words in [
        "no selected trial has finished work of an agent",
        "`terca resume`",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn facts_that_a_test_removes_are_written_again() {
    const FACTS: &str = "artifacts/agent-work.json";
    for remove in [
        "rm -f FILE", "ln -sf /dev/null FILE", "rm -f FILE; mkdir -p FILE/x", "echo x > FILE",
    ] {
        let remove = remove.replace("FILE", &format!("\"$TERCA_TRIAL_DIR\"/{FACTS}"));
        let project = numbered(1).file("other/eval.terca.yaml", tests(&format!("'{remove}'")));
        project.terca(&["-t", "other"]).expect_status(0);
        for _ in 0..2 {
            assert!(
                project.trial_file(FACTS).contains("\"isReference\":false"),
                "{remove}"
            );
            project.terca(&["regrade"]).expect_status(0);
        }
        // Somebody else removes them.
        let before = project.results();
        std::fs::remove_file(project.trial_path(FACTS)).unwrap();
        let outcome = project.terca(&["regrade"]).expect_status(3);
        for words in [FACTS, "is missing", "help: restore the files"] {
            assert!(
                outcome.stderr.contains(words),
                "{words}: {}",
                outcome.stderr
            );
        }
        assert_eq!(project.results(), before);
    }
}

#[test]
fn a_test_that_removes_the_workspace_keeps_no_other_from_being_run() {
    for remove in ["rm -rf \"$PWD\"", "rm -rf \"$PWD\"; ln -s / \"$PWD\""] {
        let two = format!(
            "prompt: x\ntests:\n  - {{name: first, commandSuccess: '{remove}'}}\n  - {{name: second, commandSuccess: \
             test -e number}}\n"
        );
        let project = numbered(1).file("other/eval.terca.yaml", two);
        project.terca(&["-t", "other"]).expect_status(0);
        let trial = project.only_trial();
        let note = trial["notes"][0].as_str().unwrap();
        let is_told = ["removed", "replaced"]
            .iter()
            .any(|verb| note.starts_with(&format!("test `first` {verb} its workspace")));
        assert!(is_told, "{trial}");
        project.terca(&["regrade"]).expect_status(0);
    }
}

#[test]
fn killed_or_interrupted_in_the_middle_the_old_grading_stands() {
    let project = numbered(6);
    project.terca(&["-t", "task"]).expect_status(1);
    let (before, workspaces) = (project.results(), saved(&project));
    let slow = "echo x >> $STARTS.tests; test $(wc -l < $STARTS.tests) -lt 3 || sleep 300";
    let project = project.file("task/eval.terca.yaml", tests(&format!("'{slow}'")));
    for signal in [Signal::KILL, Signal::INT] {
        let _ = std::fs::remove_file(project.path("starts.tests"));
        let mut session = project.start(&["regrade"]);
        session.wait_until("some are graded", || {
            std::fs::read_to_string(project.path("starts.tests"))
                .is_ok_and(|text| text.lines().count() >= 4)
        });
        session.signal(signal);
        session.finish();
        project.wait_until_nothing_runs();
        assert_eq!(project.results(), before, "{signal:?}");
        assert_eq!(saved(&project), workspaces, "{signal:?}");
    }
    let project = project.file("task/eval.terca.yaml", tests("true"));
    project.terca(&["regrade"]).expect_status(0);
    assert_eq!(project.results()["grading"], 2);
    project.assert_nothing_left();
}

/// The tests of two evals look at a file outside: that is not the agent's doing.
#[test]
fn tests_that_grade_the_same_work_differently_are_told() {
    let tests =
        |command: &str| format!("prompt: x\ntests: [{{name: t, commandSuccess: {command}}}]\n");
    let project = project().file(
        "terca.yaml",
        "repetitions: 3\nenvironments: [{name: e, agent: {name: command, command: 'true'}}]\n",
    );
    // A file of the suite that a test names is a part of the test.
    let outside = project.home().join("mood");
    let project = project
        .file(
            "moody/eval.terca.yaml",
            tests(&format!("test -e {outside}")),
        )
        .file(
            "edited/eval.terca.yaml",
            tests(&format!("test -e {outside}/no")),
        )
        .file("steady/eval.terca.yaml", tests("'true'"));
    project
        .terca(&["run", "--fail-under", "0"])
        .expect_status(0);
    assert_eq!(project.results()["summary"]["remarks"], Value::Null);
    std::fs::write(&outside, "").unwrap();
    std::fs::write(project.path("edited/eval.terca.yaml"), tests("'true'")).unwrap();
    project
        .terca(&["regrade", "--fail-under", "0"])
        .expect_status(0);
    assert_eq!(
        project.results()["summary"]["remarks"],
        serde_json::json!([{"eval": "moody", "fact": "gradedDifferently", "trials": 3}])
    );
    let outcome = project.terca(&["show"]).expect_status(0);
    let remark = "remark: the tests of `moody` graded the same work differently in 3 trials";
    assert!(outcome.stdout.contains(remark), "{}", outcome.stdout);
}
