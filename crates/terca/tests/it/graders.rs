//! The kinds of tests that look at more than a command's end or a file, and tests that cannot tell.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::{Project, recorded_streams, stand_ins};

/// One eval with these tests, each `name: value` of a test on a line of its own.
fn eval(rows: &[(&str, f64, &str)]) -> String {
    let tests = rows
        .iter()
        .enumerate()
        .map(|(row, (test, ..))| format!("  - name: row-{row}\n    {test}\n"));
    format!("prompt: go\ntests:\n{}", tests.collect::<String>())
}

/// Every row must have its score, and a message with its words.
fn check(trial: &Value, rows: &[(&str, f64, &str)]) {
    for (row, (test, score, words)) in rows.iter().enumerate() {
        let grade = &trial["tests"][format!("row-{row}")];
        assert_eq!(
            grade["score"],
            json!(score),
            "{test}: {grade} {}",
            trial["error"]
        );
        assert!(
            grade["message"]
                .as_str()
                .is_some_and(|message| message.contains(words)),
            "{test}: {grade}"
        );
    }
}

#[test]
fn a_command_gives_a_score() {
    let rows = [
        ("commandScore: echo 0.5", 0.5, "scored 0.5"),
        (
            "commandScore: echo checking; echo; echo 1; echo",
            1.0,
            "scored 1",
        ),
        (
            "commandScore: echo 0.25; echo noise >&2",
            0.25,
            "scored 0.25",
        ),
        (
            r#"commandScore: 'echo "{\"score\": 0.75, \"message\": \"3 of 4\"}"'"#,
            0.75,
            "3 of 4",
        ),
        ("commandScore: cat score.txt", 0.0, "scored 0"),
        (
            "{commandScore: echo 1.0; echo begun >&2; sleep 60, timeoutSeconds: 0.3}",
            0.0,
            "still running after 0.3s: begun",
        ),
        (
            "commandScore: echo good",
            0.0,
            "it gave no score, which counts as 0: the last line of its output is \"good\", not a number from 0 to 1",
        ),
        ("commandScore: 'true'", 0.0, "nothing on standard output"),
        (
            "commandScore: echo 0.5 >&2", 0.0, "nothing on standard output",
        ),
        ("commandScore: echo 7", 0.0, "7 is not from 0 to 1"),
        (
            "commandScore: echo 1.0; echo broken >&2; exit 2",
            0.0,
            "it gave no score, which counts as 0: exit status 2: broken",
        ),
        (
            "commandScore: kill -9 $$", 0.0, "which counts as 0: killed by SIGKILL",
        ),
    ];
    let project = project()
        .agent("echo 0 > score.txt")
        .file("fib/eval.terca.yaml", eval_of(&rows));
    project.terca(&[]).expect_status(1);
    check(&project.only_trial(), &rows);
    assert_eq!(project.only_trial()["status"], "partial");
    assert!((project.only_trial()["score"].as_f64().unwrap() - 2.5 / 12.0).abs() < 1e-9);
    let log = project.trial_file("run.log");
    assert!(
        log.contains("checking") && log.contains("noise"),
        "both outputs are in the log: {log}"
    );
    project.assert_nothing_left();
}

/// Like [`eval`], where a row may be a whole flow mapping.
fn eval_of(rows: &[(&str, f64, &str)]) -> String {
    let tests = rows
        .iter()
        .enumerate()
        .map(|(row, (test, ..))| match test.strip_prefix('{') {
            Some(rest) => format!("  - {{name: row-{row}, {rest}\n"),
            None => format!("  - name: row-{row}\n    {test}\n"),
        });
    format!("prompt: go\ntests:\n{}", tests.collect::<String>())
}

#[test]
fn a_test_that_cannot_tell_is_an_error_and_no_zero() {
    for (test, words) in [
        (
            "commandScore: no-such-program-xyz", "`no-such-program-xyz` is not installed",
        ),
        (
            "commandSuccess: no-such-program-xyz --flag",
            "test `t`: `no-such-program-xyz` is not installed",
        ),
        (
            "commandSuccess: cd . && CI=1 no-such-program-xyz",
            "`no-such-program-xyz` is not installed",
        ),
        (
            "budget: {maxTokens: 5}",
            "the agent `command` did not report its tokens",
        ),
        (
            "budget: {maxCostUsd: 5, maxSeconds: 60}",
            "did not report its cost",
        ),
        (
            "transcript: {usedTool: shell}",
            "the agent `command` does not report which tools it uses",
        ),
        (
            "transcript: {notUsedTool: shell}", "does not report which tools it uses",
        ),
        (
            "transcript: {maxToolCalls: 3}", "does not report its tool calls",
        ),
    ] {
        let project = project().agent("touch done").file(
            "fib/eval.terca.yaml",
            format!("prompt: go\ntests:\n  - name: t\n    {test}\n"),
        );
        project.terca(&[]).expect_status(3);
        let trial = project.only_trial();
        assert_eq!(
            (&trial["status"], &trial["score"]),
            (&json!("error"), &json!(null)),
            "{test}"
        );
        assert_eq!(trial["error"]["kind"], "setup", "{test}");
        let message = trial["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{test}: {message}");
        assert!(
            project.trial_path("workspace/done").exists(),
            "{test}: the work is kept"
        );
    }
}

#[test]
fn what_the_agent_did_not_write_is_its_own_fault() {
    let rows = [
        (
            "commandSuccess: ./greet.sh",
            0.0,
            "could not be started, exit status 127 (not found)",
        ),
        (
            "commandSuccess: ./plain.txt",
            0.0,
            "could not be started, exit status 126 (not executable)",
        ),
        ("commandSuccess: kill -SEGV $$", 0.0, "killed by SIGSEGV"),
        ("commandSuccess: exit 1", 0.0, "exit status 1"),
    ];
    let project = project()
        .agent("echo x > plain.txt")
        .file("fib/eval.terca.yaml", eval(&rows));
    project.terca(&[]).expect_status(1);
    check(&project.only_trial(), &rows);
}

#[test]
fn the_log_has_all_that_a_test_printed_and_the_results_a_line() {
    let project = project().agent("true").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests:\n  - name: loud\n    commandSuccess: seq 1 600000; printf '%1000s' x | tr ' ' y; exit 1\n",
    );
    project.terca(&[]).expect_status(1);
    let log = project.trial_file("run.log");
    let missing = log.lines().fold(1, |next: u32, line| {
        next + u32::from(line == next.to_string())
    });
    assert_eq!(missing, 600_001, "the first number that is not there");
    let message = project.only_trial()["tests"]["loud"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.starts_with("exit status 1: yyy") && message.ends_with('…'),
        "{message}"
    );
    assert!(message.chars().count() < 350, "{message}");
}

#[test]
fn changes_stay_within_the_globs() {
    let rows = [
        (
            "changedFiles: {only: ['src/**', new.txt]}",
            0.0,
            "changed files that it must not change: gone.txt and tool.sh",
        ),
        ("changedFiles: {only: ['**']}", 1.0, "4 changed files"),
        (
            "changedFiles: {only: ['src/**', '*.txt', tool.sh]}",
            1.0,
            "4 changed files",
        ),
        (
            "changedFiles: {only: []}",
            0.0,
            "gone.txt, new.txt, src/deep/a.js and tool.sh",
        ),
        (
            "changedFiles: {never: ['src/*.js']}", 1.0, "4 changed files",
        ),
        (
            "changedFiles: {never: ['src/**/*.js']}", 0.0, "src/deep/a.js (never src/**/*.js)",
        ),
        (
            "changedFiles: {never: [kept.txt, same.txt]}",
            1.0,
            "4 changed files",
        ),
        (
            "changedFiles: {only: ['**'], never: [gone.txt]}",
            0.0,
            "gone.txt (never gone.txt)",
        ),
    ];
    let project = project()
        .agent("rm gone.txt; echo n > new.txt; echo b >> src/deep/a.js; chmod +x tool.sh; echo x > same.txt")
        .file("_base/gone.txt", "x\n")
        .file("_base/kept.txt", "x\n")
        .file("_base/same.txt", "x\n")
        .file("_base/tool.sh", "x\n")
        .file("_base/src/deep/a.js", "a\n")
        .file("fib/eval.terca.yaml", eval(&rows))
        .file("fib/_tests/hidden.txt", "not a change of the agent's");
    project.terca(&[]).expect_status(1);
    check(&project.only_trial(), &rows);
}

#[test]
fn a_budget_is_kept_or_not() {
    let rows = [
        ("budget: {maxTokens: 2410}", 1.0, "2410 tokens"),
        (
            "budget: {maxTokens: 2409}", 0.0, "2410 tokens, more than 2409",
        ),
        ("budget: {maxCostUsd: 0.05}", 1.0, "$0.030 cost"),
        (
            "budget: {maxCostUsd: 0.02}", 0.0, "$0.030 cost, more than $0.020",
        ),
        ("budget: {maxRequests: 2}", 0.0, "3 requests, more than 2"),
        (
            "budget: {maxSeconds: 300, maxRequests: 3}",
            1.0,
            "seconds and 3 requests",
        ),
        ("budget: {maxSeconds: 0.001}", 0.0, "seconds, more than 0.0"),
        ("transcript: {maxToolCalls: 2}", 1.0, "2 tool calls"),
        (
            "transcript: {maxToolCalls: 1}", 0.0, "2 tool calls, more than 1",
        ),
        ("transcript: {outputContains: all done}", 1.0, "as required"),
        (
            "transcript: {outputMatches: '(?im)^ALL', outputNotMatches: error}",
            1.0,
            "as required",
        ),
        (
            "transcript: {outputNotMatches: 'd.ne'}", 0.0, "what the agent said matches /d.ne/",
        ),
        (
            "transcript: {outputContains: nonsense}", 0.0, "the agent did not say \"nonsense\"",
        ),
    ];
    let agent = "echo '{\"requests\": 3, \"inputTokens\": 2000, \"outputTokens\": 410, \"toolCalls\": 2, \
                 \"costUsd\": 0.03}' > $TERCA_STATS_FILE; seq 1 3000; echo all done; seq 1 3000; sleep 0.1";
    let project = project()
        .agent(agent)
        .file("fib/eval.terca.yaml", eval(&rows));
    project.terca(&[]).expect_status(1);
    check(&project.only_trial(), &rows);
}

/// The stand-in for Gemini CLI plays a recorded session.
fn played(stream: &str, rows: &[(&str, f64, &str)]) -> Project {
    let streams = recorded_streams();
    project()
        .env("PATH", &format!("{}:{}", stand_ins(), std::env::var("PATH").unwrap_or_default()))
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .file(
            "terca.yaml",
            format!("env: {{TERCA_TEST_STREAMS: '{streams}'}}\nenvironments: [{{name: g, agent: gemini}}]\n"),
        )
        .file("fib/eval.terca.yaml", eval(rows).replacen("prompt: go", &format!("prompt: play {stream}"), 1))
}

#[test]
fn a_session_is_looked_at() {
    let rows = [
        (
            "transcript: {usedTool: write_file}", 1.0, "`write_file` was used",
        ),
        (
            "transcript: {usedTool: ['write_*', 'run_*']}",
            1.0,
            "were used",
        ),
        (
            "transcript: {usedTool: 'mcp_*'}",
            0.0,
            "no tool that matches `mcp_*` was used; used: `",
        ),
        ("transcript: {notUsedTool: 'web_*'}", 1.0, "as required, in"),
        (
            "transcript: {notUsedTool: ['web_*', '*_file']}",
            0.0,
            "`write_file` was used, but `*_file` is not allowed",
        ),
        (
            "transcript: {maxToolCalls: 1}", 0.0, "tool calls, more than 1",
        ),
        (
            "transcript: {outputContains: zebra}", 0.0, "did not say \"zebra\"",
        ),
        ("budget: {maxTokens: 10}", 0.0, "tokens, more than 10"),
    ];
    let project = played("success", &rows);
    project.terca(&[]).expect_status(1);
    check(&project.only_trial(), &rows);
}

#[test]
fn built_in_agents_use_nothing_and_the_oracle_is_not_looked_at() {
    let eval = "prompt: go\ntests:\n  - {name: tool, transcript: {usedTool: shell}}\n  - {name: budget, budget: \
                {maxTokens: 9, maxCostUsd: 0}}\n";
    for (agent, tool, words) in [
        ("oracle", 1.0, "not checked: oracle has no session"),
        ("nop", 0.0, "used: none at all"),
    ] {
        let project = project()
            .agent("true")
            .file("fib/eval.terca.yaml", eval)
            .file("fib/_solution/x", "");
        project.terca(&["--agent", agent]);
        let tests = &project.only_trial()["tests"];
        assert_eq!(
            (&tests["tool"]["score"], &tests["budget"]["score"]),
            (&json!(tool), &json!(1.0)),
            "{tests}"
        );
        assert!(
            tests["tool"]["message"].as_str().unwrap().contains(words),
            "{tests}"
        );
    }
}

#[test]
fn scores_have_their_colours() {
    for (score, colour) in [("1", "32"), ("0.5", "33"), ("0", "31")] {
        let project = project().agent("true").file(
            "fib/eval.terca.yaml",
            format!("prompt: go\ntests: [{{commandScore: echo {score}}}]\n"),
        );
        let outcome = project.terca(&["--color", "always", "--format", "plain"]);
        let line = outcome
            .stdout
            .lines()
            .chain(outcome.stderr.lines())
            .find(|line| line.contains("[1/1]"));
        let line = line.unwrap_or_else(|| panic!("{}{}", outcome.stdout, outcome.stderr));
        assert!(
            line.contains(&format!("\u{1b}[{colour}m")) || line.contains(&format!(";{colour}m")),
            "{score}: {line:?}"
        );
    }
}
