//! What an agent's work is worth: tests, scores, endings, exit statuses.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::Project;

/// One eval with these tests, and an agent that runs this script.
fn graded(agent: &str, tests: &str) -> Project {
    project().agent(agent).file(
        "fib/eval.terca.yaml",
        format!("prompt: go\ntests:\n{tests}"),
    )
}

/// Score and message of a test of the one trial.
fn verdict(trial: &Value, test: &str) -> (f64, String) {
    let grade = &trial["tests"][test];
    let score = grade["score"].as_f64().unwrap_or(f64::NAN);
    (
        score,
        grade["message"]
            .as_str()
            .unwrap_or("(no such test)")
            .to_owned(),
    )
}

#[test]
fn each_kind_passes_and_fails_for_a_reason() {
    let agent = "mkdir -p src/deep; echo 'hello world' > a.txt; echo x > src/deep/b.js; ln -s nowhere dangling; \
                 printf 'one\\ntwo\\n' > lines.txt; mkdir folder";
    let rows = [
        ("commandSuccess: test -f a.txt", 1.0, "exit status 0"),
        (
            "commandSuccess: echo oops >&2; exit 3", 0.0, "exit status 3: oops",
        ),
        (
            "commandSuccess: ./no-such-program-xyz", 0.0, "exit status 127",
        ),
        ("commandSuccess: kill -9 $$", 0.0, "killed by SIGKILL"),
        ("commandSuccess: kill -SEGV $$", 0.0, "killed by SIGSEGV"),
        (
            "commandSuccess: {command: cat a.txt, outputContains: hello}",
            1.0,
            "exit status 0",
        ),
        (
            "commandSuccess: {command: cat a.txt, outputContains: goodbye}",
            0.0,
            "does not contain \"goodbye\": hello world",
        ),
        (
            "commandSuccess: {command: echo hello >&2, outputContains: hello}",
            1.0,
            "exit status 0",
        ),
        (
            "commandSuccess: {command: echo hello; exit 1, outputContains: hello}",
            0.0,
            "exit status 1: hello",
        ),
        (
            "commandSuccess: {command: cat a.txt, outputMatches: '(?m)wor.d$'}",
            1.0,
            "exit status 0",
        ),
        (
            "commandSuccess: {command: cat a.txt >&2, outputMatches: '^w'}",
            0.0,
            "does not match /^w/",
        ),
        (
            "commandSuccess: {command: cat a.txt, outputContains: hello, outputMatches: '^w'}",
            0.0,
            "does not match",
        ),
        ("fileExists: a.txt", 1.0, "a.txt exists"),
        ("fileExists: missing.txt", 0.0, "missing.txt does not exist"),
        (
            "fileExists: [a.txt, lines.txt]", 1.0, "a.txt and lines.txt exist",
        ),
        (
            "fileExists: [a.txt, x.txt, y.txt]", 0.0, "x.txt and y.txt do not exist",
        ),
        ("fileExists: folder", 1.0, "folder exists"),
        ("fileExists: dangling", 0.0, "dangling does not exist"),
        ("fileExists: 'src/**/*.js'", 1.0, "src/**/*.js"),
        ("fileExists: '*.txt'", 1.0, "*.txt"),
        ("fileExists: '*.js'", 0.0, "*.js"),
        ("fileExists: 'src/**/*.ts'", 0.0, "src/**/*.ts"),
        ("fileContains: {path: a.txt, text: hello}", 1.0, "a.txt"),
        (
            "fileContains: {path: a.txt, text: goodbye}",
            0.0,
            "a.txt does not contain \"goodbye\"",
        ),
        (
            "fileContains: {path: a.txt, matches: '^hello \\w+$'}",
            1.0,
            "a.txt matches",
        ),
        (
            "fileContains: {path: a.txt, matches: '^hello$'}",
            0.0,
            "a.txt does not match",
        ),
        (
            "fileContains: {path: lines.txt, matches: '(?m)^two$'}",
            1.0,
            "lines.txt",
        ),
        (
            "fileContains: {path: missing.txt, text: x}",
            0.0,
            "missing.txt does not exist",
        ),
        (
            "fileContains: {path: folder, text: x}", 0.0, "folder cannot be read",
        ),
    ];
    let tests: String = rows
        .iter()
        .enumerate()
        .map(|(row, (test, ..))| format!("  - name: row-{row}\n    {test}\n"))
        .collect();
    let project = graded(agent, &tests);
    project.terca(&[]).expect_status(1);
    let trial = project.only_trial();
    for (row, (test, score, words)) in rows.iter().enumerate() {
        let (given, message) = verdict(&trial, &format!("row-{row}"));
        assert_eq!(given, *score, "{test}: {message}");
        assert!(message.contains(words), "{test}: {message}");
    }
    assert_eq!(trial["status"], "partial");
}

#[test]
fn the_score_is_the_weighted_mean() {
    for (tests, score, status, exit) in [
        ("  - fileExists: a\n  - fileExists: b\n", 1.0, "passed", 0),
        (
            "  - fileExists: a\n  - fileExists: missing\n",
            0.5,
            "partial",
            1,
        ),
        (
            "  - fileExists: a\n    weight: 3\n  - fileExists: missing\n",
            0.75,
            "partial",
            1,
        ),
        (
            "  - {fileExists: a, weight: 0.1}\n  - {fileExists: b, weight: 0.2}\n  - {fileExists: a, weight: 0.7}\n",
            1.0,
            "passed",
            0,
        ),
        ("  - fileExists: missing\n", 0.0, "failed", 1),
    ] {
        let project = graded("touch a b", tests);
        project.terca(&[]).expect_status(exit);
        let trial = project.only_trial();
        assert_eq!(
            (&trial["score"], &trial["status"]),
            (&json!(score), &json!(status)),
            "{tests}"
        );
        // Whoever reads the results can check it.
        let grades: Vec<(f64, f64)> = trial["tests"]
            .as_object()
            .unwrap()
            .values()
            .map(|grade| {
                ["weight", "score"]
                    .map(|key| grade[key].as_f64().unwrap())
                    .into()
            })
            .collect();
        assert_eq!(terca_core::grade::score(&grades), Some(score), "{tests}");
    }
}

#[test]
fn tests_without_a_name_are_called_by_kind_and_position() {
    let project = graded(
        "true",
        "  - commandSuccess: 'true'\n  - fileExists: x\n  - {name: own, fileExists: y}\n",
    );
    project.terca(&[]).expect_status(1);
    let trial = project.only_trial();
    let names: Vec<&String> = trial["tests"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["commandSuccess-1", "fileExists-2", "own"]);
}

#[test]
fn a_test_has_a_time_limit() {
    let project = graded(
        "true",
        "  - {name: slow, commandSuccess: echo begun; sleep 60, timeoutSeconds: 0.3}\n\
         \x20 - {name: quick, commandSuccess: 'true'}\n",
    );
    project.terca(&[]).expect_status(1);
    let trial = project.only_trial();
    for (test, score, words) in [
        ("slow", 0.0, "still running after"),
        ("quick", 1.0, "exit status 0"),
    ] {
        let (given, message) = verdict(&trial, test);
        assert_eq!(given, score, "{test}: {message}");
        assert!(message.contains(words), "{test}: {message}");
    }
    assert_eq!(trial["timedOut"], false, "that is about the agent");
    project.assert_nothing_left();
}

#[test]
fn a_background_process_of_a_test_does_not_hold_it_up() {
    let project = graded("true", "  - commandSuccess: sleep 300 & echo done\n");
    project.terca(&[]).expect_status(0);
    project.assert_nothing_left();
}

#[test]
fn tests_run_on_a_copy() {
    let project = graded(
        "echo agent > a.txt; mkdir dir; echo kept > dir/b.txt",
        "  - commandSuccess: echo test > a.txt; rm -r dir; touch new.txt\n\
         \x20 - {name: sees nothing of the first, commandSuccess: test ! -e new.txt && test -e dir && grep -q agent a.txt}\n\
         \x20 - {name: and so do files, fileExists: [a.txt, dir/b.txt]}\n",
    );
    project.terca(&[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/a.txt"), "agent\n");
    assert_eq!(project.trial_file("workspace/dir/b.txt"), "kept\n");
    assert!(!project.trial_path("workspace/new.txt").exists());
    assert!(!project.trial_file("changes.diff").contains("new.txt"));
}

#[test]
fn hidden_tests_are_laid_over_for_the_tests_alone() {
    let project = graded(
        "ls -R . > seen.txt; ls -a .. >> seen.txt; echo fake > verify.sh; chmod +x verify.sh; echo mine > data.txt",
        "  - commandSuccess: ./verify.sh\n  - fileContains: {path: data.txt, text: hidden}\n",
    )
    .executable("fib/_tests/verify.sh", "#!/bin/sh\ntest -f seen.txt\n")
    .file("fib/_tests/data.txt", "hidden")
    .file("fib/_tests/deep/secret-answer.txt", "42");
    project.terca(&[]).expect_status(0);
    let seen = project.trial_file("workspace/seen.txt");
    assert!(
        !seen.contains("secret-answer") && !seen.contains("_tests") && !seen.contains("graded"),
        "{seen}"
    );
    assert_eq!(
        project.trial_file("workspace/verify.sh"),
        "fake\n",
        "the workspace is as the agent left it"
    );
    assert_eq!(project.trial_file("workspace/data.txt"), "mine\n");
    assert!(!project.trial_path("workspace/deep").exists());
    assert!(!project.trial_file("changes.diff").contains("secret-answer"));
}

#[test]
fn without_tests_nothing_is_verified() {
    for (agent, exit, status, words) in [
        ("exit 0", 0, "unverified", "completed, nothing verified"),
        (
            "echo x > a; exit 1", 0, "unverified", "exit status 1, nothing verified",
        ),
        ("exit 1", 3, "error", "agent: "),
    ] {
        let project = project()
            .agent(agent)
            .file("fib/eval.terca.yaml", "prompt: go\n");
        let outcome = project.terca(&["--format", "plain"]).expect_status(exit);
        let warning =
            "the eval `fib` has no tests: its trials run, and nothing verifies their work";
        assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        let trial = project.only_trial();
        assert_eq!(
            (&trial["status"], &trial["score"]),
            (&json!(status), &json!(null)),
            "{agent}"
        );
    }
}

/// One eval with tests, and one without, whose trials would turn the verdict.
#[test]
fn trials_without_tests_are_in_no_rate_and_no_verdict() {
    let project = project()
        .agent("test \"$ARM\" = b && echo > done.txt; echo '{\"costUsd\": 0.5}' > \"$TERCA_STATS_FILE\"; exit 0")
        .file("terca.yaml", "environments: [{name: e, agent: {name: command, command: ./agent.sh}}]\nexperiments: [{name: control}, {name: rules, env: {ARM: b}}]\nrepetitions: 4\n")
        .file("judged/eval.terca.yaml", "prompt: go\ntests: [{fileExists: done.txt}]\n")
        .file("open/eval.terca.yaml", "prompt: go\n");
    project
        .terca(&["--junit", "junit.xml", "--fail-under", "0.5"])
        .expect_status(0);
    let summary = &project.results()["summary"];
    assert_eq!(
        (&summary["passed"], &summary["unverified"]),
        (&json!(4), &json!(8)),
        "{summary}"
    );
    assert_eq!(summary["comparisons"][0]["verdict"], "better", "{summary}");
    assert_eq!(
        summary["comparisons"][0]["passRate"]["value"], 1.0,
        "{summary}"
    );
    let open = &summary["cells"][2];
    assert_eq!(
        (&open["eval"], &open["judged"], &open["passRate"]),
        (&json!("open"), &json!(0), &json!(null)),
        "{open}"
    );
    assert_eq!(open["meanCostUsd"], 0.5, "{open}");
    let junit = project.read("junit.xml");
    assert_eq!(
        junit
            .matches("<skipped message=\"completed, nothing verified\"")
            .count(),
        2,
        "{junit}"
    );

    // Tests that are written later judge the work that is there.
    let project = project.file(
        "open/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done.txt}]\n",
    );
    project.terca(&["regrade"]);
    let summary = &project.results()["summary"];
    assert_eq!(
        (&summary["passed"], &summary["unverified"]),
        (&json!(8), &Value::Null),
        "{summary}"
    );
}

#[test]
fn how_an_agent_ends() {
    let work = "echo work > done.txt; ";
    for (agent, status, kind, exit_code, words) in [
        ("exit 0".to_owned(), "failed", None, Some(0), ""),
        (format!("{work}exit 0"), "passed", None, Some(0), ""),
        (
            format!("{work}echo trouble >&2; exit 7"),
            "passed",
            None,
            Some(7),
            "the agent ended with exit status 7: trouble",
        ),
        (
            format!("{work}kill -SEGV $$"),
            "passed",
            None,
            None,
            "SIGSEGV",
        ),
        (
            "echo no key >&2; exit 7".into(),
            "error",
            Some("agent"),
            Some(7),
            "exit status 7: no key",
        ),
        ("kill -9 $$".into(), "error", Some("agent"), None, "SIGKILL"),
        (
            "no-such-program-xyz".into(),
            "error",
            Some("agentMissing"),
            Some(127),
            "no-such-program-xyz",
        ),
    ] {
        let project = graded(&agent, "  - fileExists: done.txt\n");
        let outcome = project.terca(&[]);
        let trial = project.only_trial();
        assert_eq!(trial["status"], status, "{agent}: {trial}");
        assert_eq!(trial["error"]["kind"].as_str(), kind, "{agent}: {trial}");
        // Of a signal the shell between Terca and the script may make 128 and its number, or nothing.
        if let Some(exit_code) = exit_code {
            assert_eq!(trial["exitCode"], exit_code, "{agent}: {trial}");
        }
        assert_eq!(trial["timedOut"], false, "{agent}");
        let said = format!("{} {}", trial["notes"], trial["error"]["message"]);
        assert!(said.contains(words), "{agent}: {said}");
        let expected = match status {
            "passed" => 0,
            "failed" => 1,
            _ => 3,
        };
        assert_eq!(outcome.status, expected, "{agent}");
    }
}

#[test]
fn a_program_that_is_not_there_is_an_agent_that_is_missing() {
    for (agent, words) in [
        (
            "{name: command, command: no-such-program-xyz --flag}",
            "no-such-program-xyz",
        ),
        ("gemini-cli", "npm install"),
        ("gemini", "`gemini` is not installed"),
    ] {
        let project = project()
            .file("terca.yaml", format!("environments: [{{name: default, agent: {agent}}}]\n"))
            .file(
                "fib/eval.terca.yaml",
                "prompt: go\nbefore: [{command: touch set-up}]\ntests: [{commandSuccess: 'true'}]\n",
            )
            .env("PATH", "/usr/bin:/bin");
        project.terca(&[]).expect_status(3);
        let trial = project.only_trial();
        assert_eq!(trial["error"]["kind"], "agentMissing", "{agent}: {trial}");
        let message = trial["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{agent}: {message}");
        assert_eq!(trial["tests"], json!({}), "{agent}: nothing was graded");
    }
}

#[test]
fn an_agent_out_of_time_is_graded() {
    let agent = "echo '{\"inputTokens\": 12}' > $TERCA_STATS_FILE; echo half > half.txt; echo working; sleep 60; echo never > whole.txt";
    let project = graded(
        agent,
        "  - fileExists: half.txt\n  - fileExists: whole.txt\n",
    );
    project.terca(&["--timeout", "0.5"]).expect_status(1);
    let trial = project.only_trial();
    assert_eq!(
        (&trial["status"], &trial["score"]),
        (&json!("partial"), &json!(0.5)),
        "{trial}"
    );
    assert_eq!(trial["timedOut"], true);
    assert_eq!(trial["stats"]["inputTokens"], 12, "its figures so far");
    assert!(trial["error"].is_null(), "{trial}");
    assert!(project.trial_file("run.log").contains("out of time"));
    assert!(project.trial_file("transcript.jsonl").contains("working"));
    project.assert_nothing_left();
}

#[test]
fn the_nearest_time_limit_counts() {
    // The agent is out of time only where the limit that counts is the short one.
    let short = "timeoutSeconds: 0.3\n";
    for (suite, environment, eval, args, out_of_time) in [
        (short, "", "", &[][..], true),
        (
            "timeoutSeconds: 60\n",
            ", timeoutSeconds: 0.3",
            "",
            &[],
            true,
        ),
        (
            "timeoutSeconds: 60\n",
            ", timeoutSeconds: 60",
            short,
            &[],
            true,
        ),
        (
            short,
            ", timeoutSeconds: 0.3",
            "timeoutSeconds: 60\n",
            &[],
            false,
        ),
        (
            "timeoutSeconds: 60\n",
            "",
            "timeoutSeconds: 60\n",
            &["--timeout", "0.3"],
            true,
        ),
    ] {
        let wait = if out_of_time { "sleep 60" } else { "sleep 0.5" };
        let project = project()
            .file(
                "terca.yaml",
                format!("{suite}environments: [{{name: default, agent: {{name: command, command: {wait}}}{environment}}}]\n"),
            )
            .file("fib/eval.terca.yaml", format!("prompt: go\nallowWarnings: no-tests\n{eval}"));
        project.terca(args);
        assert_eq!(
            project.only_trial()["timedOut"],
            out_of_time,
            "{suite}{environment}{eval}{args:?}"
        );
    }
}

#[test]
fn the_oracle_passes_with_a_solution_and_says_what_is_missing_without() {
    let tests =
        "  - commandSuccess: ./solve.sh\n  - fileContains: {path: base.txt, text: solved}\n";
    let project = graded("false", tests).file("_base/base.txt", "unsolved");
    let solved = |project: Project| {
        project
            .executable("fib/_solution/solve.sh", "#!/bin/sh\nexit 0\n")
            .file("fib/_solution/base.txt", "solved")
    };
    project.terca(&["--agent", "oracle"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error");
    assert!(
        trial["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .contains("_solution"),
        "{trial}"
    );

    let project = solved(project);
    project.terca(&["--agent", "oracle"]).expect_status(0);
    assert_eq!(project.trial_file("workspace/base.txt"), "solved");
    assert!(project.trial_file("changes.diff").contains("solve.sh"));
    project.terca(&["--agent", "nop"]).expect_status(1);
    assert_eq!(
        project.trial_file("workspace/base.txt"),
        "unsolved",
        "an agent does not see the solution"
    );
    assert!(!project.trial_path("workspace/solve.sh").exists());
}

/// Evals that pass, fail, are partial, or end in an error.
fn mixed(evals: &[&str]) -> Project {
    let project = project().agent("case $(cat) in *error*) exit 1;; esac; touch done");
    evals
        .iter()
        .enumerate()
        .fold(project, |project, (number, kind)| {
            let tests = match *kind {
                "pass" => "[{fileExists: done}]",
                "partial" => "[{fileExists: done}, {fileExists: missing}]",
                "fail" => "[{fileExists: missing}]",
                _ => "[]",
            };
            project.file(
                &format!("{number}-{kind}/eval.terca.yaml"),
                format!("prompt: {kind}\nallowWarnings: no-tests\ntests: {tests}\n"),
            )
        })
}

#[test]
fn exit_statuses() {
    for (evals, args, status) in [
        (&["pass", "pass"][..], &[][..], 0),
        (&["pass", "fail"], &[], 1),
        (&["pass", "partial"], &[], 1),
        (&["fail", "fail"], &[], 1),
        (&["pass", "error"], &[], 3),
        (&["fail", "error"], &[], 3),
        (&["pass", "fail"], &["--fail-under", "0.5"], 0),
        (&["pass", "partial"], &["--fail-under", "0.5"], 0),
        (&["pass", "fail"], &["--fail-under", "0.51"], 1),
        (&["fail", "fail"], &["--fail-under", "0"], 0),
        (&["pass", "error"], &["--fail-under", "0"], 3),
    ] {
        let outcome = mixed(evals).terca(args);
        assert_eq!(
            outcome.status, status,
            "{evals:?} {args:?}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
}

#[test]
fn fail_fast_starts_nothing_after_the_first_that_does_not_pass() {
    for evals in [
        &["fail", "fail", "fail"][..],
        &["partial", "partial", "partial"],
        &["error", "error", "error"],
    ] {
        let project = mixed(evals);
        let outcome = project.terca(&["--fail-fast", "-c", "1"]);
        assert_eq!(
            outcome.status,
            if evals[0] == "error" { 3 } else { 1 },
            "{evals:?}"
        );
        let results = project.results();
        let trials = results["trials"].as_array().unwrap();
        let count = |status: &str| {
            trials
                .iter()
                .filter(|trial| trial["status"] == status)
                .count()
        };
        assert_eq!(count("pending"), 2, "{evals:?}: {results}");
        assert_eq!(trials.len(), 3, "trials that did not run are there too");
    }
    mixed(&["pass", "pass", "pass"])
        .terca(&["--fail-fast", "-c", "1"])
        .expect_status(0);
}

#[test]
fn workspaces_are_kept_as_asked() {
    for (keep, expected) in [
        (&[][..], [true, true, true]),
        (&["--keep", "all"], [true, true, true]),
        (&["--keep", "failed"], [false, true, true]),
        (&["--keep", "none"], [false, false, false]),
    ] {
        let project = mixed(&["pass", "partial", "error"]);
        project.terca(keep).expect_status(3);
        let kept = ["0-pass", "1-partial", "2-error"].map(|eval| {
            let dir = project.run_dir().join(eval).join("default.default.01");
            assert!(
                dir.join("run.log").is_file(),
                "{keep:?}: the log always stays"
            );
            project
                .workspace_of(&dir)
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_dir())
        });
        assert_eq!(kept, expected, "{keep:?}");
        project.assert_nothing_left();
    }
}

#[test]
fn tests_do_not_reach_the_saved_workspace_through_a_link() {
    let project = project()
        .agent("echo agent > t.txt; ln -s \"$PWD/t.txt\" link.txt")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{commandSuccess: echo test > link.txt}]\n",
        );
    project.terca(&[]);
    assert_eq!(project.trial_file("workspace/t.txt"), "agent\n");
}

#[test]
fn a_line_end_at_the_end_does_not_count_for_a_pattern() {
    let project = project().agent("echo 55 > n.txt").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests:\n  - commandSuccess: {command: echo 55, outputMatches: '^55$'}\n  - fileContains: {path: n.txt, matches: '^55$'}\n",
    );
    project.terca(&[]).expect_status(0);
}

#[test]
fn a_file_name_that_is_not_utf_8_does_not_spoil_the_trial() {
    let project = project()
        .agent("echo x > \"$(printf 'bad\\377')\"; touch done")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: done}]\n",
        );
    project.terca(&[]).expect_status(0);
}

#[test]
fn a_run_that_failed_fast_was_not_interrupted() {
    let project = project().agent("true").file(
        "fib/eval.terca.yaml", "prompt: go\ntests: [{fileExists: x}]\n",
    );
    let outcome = project
        .terca(&["-n", "3", "-c", "1", "--fail-fast"])
        .expect_status(1);
    assert!(
        !outcome.stdout.contains("interrupted") && !outcome.stdout.contains("resume"),
        "{}",
        outcome.stdout
    );
}
