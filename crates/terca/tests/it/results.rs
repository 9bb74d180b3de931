//! What a run leaves on disk.

use std::collections::BTreeSet;

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::state::RunState;
use terca_testkit::Project;

/// Everything below a directory, as paths relative to it; directories end in `/`.
fn tree(root: &Utf8Path) -> BTreeSet<String> {
    fn visit(root: &Utf8Path, dir: &Utf8Path, found: &mut BTreeSet<String>) {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path().strip_prefix(root).unwrap();
            if entry.file_type().unwrap().is_dir() {
                found.insert(format!("{path}/"));
                visit(root, entry.path(), found);
            } else {
                found.insert(path.to_string());
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(root, root, &mut found);
    found
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn json_of(path: &Utf8Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What the journal of a run amounts to.
fn folded(journal: &str) -> Value {
    let events: Vec<Event> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    serde_json::to_value(Results::of(&RunState::fold(&events))).unwrap()
}

fn working() -> Project {
    project()
        .agent("echo said; echo complained >&2; echo work > done.txt; echo '{\"inputTokens\": 5}' > $TERCA_STATS_FILE")
        .file("fib/eval.terca.yaml", "prompt: go\ntests: [{name: check, fileExists: done.txt}]\n")
}

#[test]
fn the_folder_of_a_run() {
    let project = working();
    project.terca(&[]).expect_status(0);
    let expected = [
        "events.jsonl",
        "results.json",
        "run.json",
        "fib/",
        "fib/default.default.01/",
        "fib/default.default.01/artifacts/",
        "fib/default.default.01/artifacts/stderr.log",
        "fib/default.default.01/artifacts/agent-work.json",
        "fib/default.default.01/artifacts/stats.json",
        "fib/default.default.01/artifacts/stdout.log",
        "fib/default.default.01/artifacts/trajectory.json",
        "fib/default.default.01/changes.diff",
        "fib/default.default.01/run.log",
        "fib/default.default.01/transcript.jsonl",
        "fib/default.default.01/workspace.changes/",
        "fib/default.default.01/workspace.changes/changes.json",
        "fib/default.default.01/workspace.changes/tree/",
        "fib/default.default.01/workspace.changes/tree/done.txt",
    ];
    assert_eq!(tree(&project.run_dir()), expected.map(str::to_owned).into());
    assert_eq!(project.read(".terca/.gitignore"), "*\n");
    assert_eq!(project.trial_file("artifacts/stdout.log"), "said\n");
    assert_eq!(project.trial_file("artifacts/stderr.log"), "complained\n");
}

#[test]
fn an_own_gitignore_is_left_alone() {
    let project = working().file(".terca/.gitignore", "runs/\n");
    project.terca(&[]).expect_status(0);
    assert_eq!(project.read(".terca/.gitignore"), "runs/\n");
}

#[test]
fn runs_are_numbered_by_the_day() {
    let project = working();
    let mut names = Vec::new();
    for _ in 0..3 {
        project.terca(&[]).expect_status(0);
        names.push(project.results()["run"].as_str().unwrap().to_owned());
        assert_eq!(
            project.run_dir().file_name(),
            names.last().map(String::as_str)
        );
    }
    let numbers: Vec<&str> = names
        .iter()
        .map(|name| name.rsplit_once('-').unwrap().1)
        .collect();
    assert_eq!(numbers, ["001", "002", "003"]);
    let day = names[0].rsplit_once('-').unwrap().0;
    let started = project.results()["startedAt"].as_str().unwrap().to_owned();
    assert!(
        started.starts_with(day),
        "the local date, here in UTC: {day}, {started}"
    );
}

#[test]
fn results_have_the_keys_they_are_documented_with() {
    let project = working();
    project.terca(&[]).expect_status(0);
    let results = project.results();
    let documented = [
        "schemaVersion", "tercaVersion", "run", "suite", "status", "startedAt", "finishedAt",
        "trials", "summary",
    ];
    for key in documented {
        assert!(!results[key].is_null(), "{key}: {results}");
    }
    assert_eq!(results["schemaVersion"], 1);
    assert_eq!(results["tercaVersion"], env!("CARGO_PKG_VERSION"));
    assert_eq!(results["status"], "complete");
    assert_eq!(results["suite"], "suite");
    let trial = project.only_trial();
    let mut expected = vec![
        "id", "eval", "environment", "experiment", "repetition", "dir", "agent", "agentVersion",
        "model", "status", "score", "tests", "stats", "exitCode", "timedOut", "attempts",
        "containedBy", "delivery", "startedAt", "durationSeconds", "phases", "spent", "error",
        "evidence",
    ];
    expected.sort_unstable();
    assert_eq!(keys(&trial), expected);
    assert_eq!(
        keys(&trial["tests"]["check"]),
        ["durationSeconds", "message", "score", "weight"]
    );
    assert_eq!(
        keys(&trial["stats"]),
        [
            "cachedInputTokens", "costSource", "costUsd", "durationSeconds", "inputTokens",
            "outputTokens", "requests", "toolCalls"
        ]
    );
    assert_eq!(
        keys(&trial["delivery"]),
        [
            "mcpServers", "modelObserved", "modelRequested", "rules", "skills"
        ]
    );
    assert_eq!(keys(&trial["phases"]), ["agent", "setup", "tests"]);
    assert_eq!(trial["attempts"], 1);
    assert_eq!(trial["exitCode"], 0);
    for phase in ["setup", "agent", "tests"] {
        assert!(trial["phases"][phase].is_number(), "{phase}: {trial}");
    }
}

#[test]
fn figures_are_what_the_agent_reported_and_the_rest_is_unknown() {
    let none = json!({});
    for (stats, expected) in [
        ("", &none),
        (r#"{"inputTokens": 12}"#, &json!({"inputTokens": 12})),
        (
            r#"{"requests": 3, "inputTokens": 20110, "cachedInputTokens": 12000, "outputTokens": 410, "toolCalls": 2, "costUsd": 0.031}"#,
            &json!({"requests": 3, "inputTokens": 20110, "cachedInputTokens": 12000, "outputTokens": 410, "toolCalls": 2, "costUsd": 0.031}),
        ),
        (r#"{"outputTokens": 0}"#, &json!({"outputTokens": 0})),
        ("{\n  \"inputTokens\": 12\n}", &json!({"inputTokens": 12})),
        ("not JSON", &none),
    ] {
        let project = project()
            .agent(&format!(
                "test -z '{stats}' || printf '%s\\n' '{stats}' > $TERCA_STATS_FILE"
            ))
            .file(
                "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
            );
        project.terca(&[]).expect_status(0);
        let trial = project.only_trial();
        for key in [
            "requests", "inputTokens", "cachedInputTokens", "outputTokens", "toolCalls", "costUsd",
        ] {
            assert_eq!(trial["stats"][key], expected[key], "{stats}: {key}");
        }
        assert!(
            trial["stats"]["durationSeconds"].is_number(),
            "by Terca's own clock"
        );
        let noted = trial["notes"].to_string().contains("TERCA_STATS_FILE");
        assert_eq!(noted, stats == "not JSON", "{stats}: {trial}");
    }
}

#[test]
fn trials_stand_in_the_order_of_their_ids() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: b, agent: nop}, {name: a, agent: nop}]\nexperiments: [{name: y}, {name: x}]\n",
        )
        .file("two/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
        .file("one/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    project.terca(&["-n", "2", "-c", "4"]).expect_status(0);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let ids: Vec<u64> = trials
        .iter()
        .map(|trial| trial["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (1..=16).collect::<Vec<_>>());
    let dirs: Vec<&str> = trials
        .iter()
        .map(|trial| trial["dir"].as_str().unwrap())
        .collect();
    let expected: Vec<String> = ["one", "two"]
        .iter()
        .flat_map(|eval| {
            ["b.y", "b.x", "a.y", "a.x"]
                .iter()
                .flat_map(move |variant| (1..=2).map(move |n| format!("{eval}/{variant}.{n:02}")))
        })
        .collect();
    assert_eq!(dirs, expected, "evals by path, variants as written");
    for dir in dirs {
        assert!(
            project.run_dir().join(dir).join("run.log").is_file(),
            "{dir}"
        );
    }
}

#[test]
fn two_runs_at_once_get_a_folder_each_and_finish() {
    let project = working();
    let sessions: Vec<_> = (0..4).map(|_| project.start(&["-n", "3"])).collect();
    for session in sessions {
        session.finish().expect_status(0);
    }
    let runs = project.path(".terca/runs");
    let folders: Vec<Utf8PathBuf> = runs
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().path().to_owned())
        .collect();
    assert_eq!(folders.len(), 4, "{folders:?}");
    for folder in folders {
        let results = json_of(&folder.join("results.json"));
        assert_eq!(results["status"], "complete", "{folder}");
        assert_eq!(results["summary"]["passed"], 3, "{folder}");
    }
    project.assert_nothing_left();
}

#[test]
fn the_journal_folds_to_the_results() {
    let project = project()
        .agent("case $(cat) in *crash*) exit 1;; *work*) echo x > done;; esac")
        .file(
            "a/eval.terca.yaml",
            "prompt: work\ntests: [{fileExists: done}]\n",
        )
        .file(
            "b/eval.terca.yaml",
            "prompt: idle\ntests: [{fileExists: done}]\n",
        )
        .file(
            "c/eval.terca.yaml",
            "prompt: crash\ntests: [{fileExists: done}]\n",
        )
        .file(
            "d/eval.terca.yaml",
            "prompt: work\nbefore: [{command: exit 1}]\nallowWarnings: no-tests\n",
        );
    for args in [&["-n", "3"][..], &["-n", "3", "--fail-fast", "-c", "1"]] {
        project.terca(args);
        let journal = project.journal();
        let mut folded = folded(&journal);
        let results = project.results();
        // Of the journal the results have the number of events and the last link of its chain.
        let last: Value = serde_json::from_str(journal.lines().next_back().unwrap()).unwrap();
        folded["journal"] = json!({"events": journal.lines().count(), "chain": last["chain"]});
        assert_eq!(folded, results, "{args:?}");
        let numbers: Vec<u64> = journal
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["seq"]
                    .as_u64()
                    .unwrap()
            })
            .collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] < pair[1]),
            "numbered upwards: {numbers:?}"
        );
    }
}

#[test]
fn errors_are_counted_apart() {
    let project = project()
        .agent("case $(cat) in *crash*) exit 1;; *half*) echo x > half;; *work*) echo x > half; echo x > whole;; esac")
        .file("a/eval.terca.yaml", "prompt: work\ntests: [{fileExists: half}, {fileExists: whole}]\n")
        .file("b/eval.terca.yaml", "prompt: half\ntests: [{fileExists: half}, {fileExists: whole}]\n")
        .file("c/eval.terca.yaml", "prompt: idle\ntests: [{fileExists: half}, {fileExists: whole}]\n")
        .file("d/eval.terca.yaml", "prompt: crash\ntests: [{fileExists: half}, {fileExists: whole}]\n");
    project.terca(&[]).expect_status(3);
    let summary = &project.results()["summary"];
    for (key, number) in [
        ("trials", 4),
        ("passed", 1),
        ("partial", 1),
        ("failed", 1),
        ("errors", 1),
    ] {
        assert_eq!(summary[key], number, "{key}: {summary}");
    }
}

#[test]
fn changes_of_every_kind_are_in_the_diff() {
    let project = project()
        .agent(
            "echo new > added.txt; echo two >> modified.txt; rm deleted.txt; printf 'a\\0b' > binary.bin; \
             chmod +x script.sh; ln -sfn other link; ln -s modified.txt new-link; mkdir -p dir && echo deep > dir/deep.txt; \
             cp same.txt tmp && mv tmp same.txt; printf 'no line end' > open.txt; mv before.txt after.txt",
        )
        .file("_base/modified.txt", "one\n")
        .file("_base/deleted.txt", "gone\n")
        .file("_base/binary.bin", b"\0\x01\x02")
        .file("_base/script.sh", "#!/bin/sh\n")
        .file("_base/same.txt", "same\n")
        .file("_base/untouched.txt", "untouched\n")
        .file("_base/before.txt", "moved\n")
        .symlink("_base/link", "target")
        .file("fib/eval.terca.yaml", "prompt: go\nbefore: [{files: {from-before.txt: x}}]\nallowWarnings: no-tests\n");
    project.terca(&[]).expect_status(0);
    let diff = project.trial_file("changes.diff");
    for part in [
        "diff --git a/added.txt b/added.txt\nnew file mode 100644\n--- /dev/null\n+++ b/added.txt\n@@ -0,0 +1 @@\n+new\n",
        "--- a/modified.txt\n+++ b/modified.txt\n@@ -1 +1,2 @@\n one\n+two\n",
        "diff --git a/deleted.txt b/deleted.txt\ndeleted file mode 100644\n--- a/deleted.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
        "Binary files a/binary.bin and b/binary.bin differ\n",
        "diff --git a/script.sh b/script.sh\nold mode 100644\nnew mode 100755\n",
        "diff --git a/dir/deep.txt b/dir/deep.txt\n",
        "--- /dev/null\n+++ b/new-link\n@@ -0,0 +1 @@\n+modified.txt\n",
        "-target\n",
        "+other\n",
        "+no line end\n\\ No newline at end of file\n",
        "diff --git a/before.txt b/after.txt\nsimilarity index 100%\nrename from before.txt\nrename to after.txt\n",
    ] {
        assert!(diff.contains(part), "{part}\nin\n{diff}");
    }
    for unchanged in ["same.txt", "untouched.txt", "from-before.txt"] {
        assert!(!diff.contains(unchanged), "{unchanged}: {diff}");
    }
}

#[test]
fn the_diff_can_be_applied() {
    let project = project()
        .agent("echo new > added.txt; echo two >> modified.txt; rm deleted.txt; chmod +x script.sh; mkdir d; echo x > d/e; printf open > open.txt")
        .file("_base/modified.txt", "one\n")
        .file("_base/deleted.txt", "gone\n")
        .file("_base/script.sh", "#!/bin/sh\n")
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    project.terca(&[]).expect_status(0);
    let output = std::process::Command::new("git")
        .args([
            "apply",
            "--verbose",
            project.trial_path("changes.diff").as_str(),
        ])
        .current_dir(project.path("_base"))
        .env("GIT_CEILING_DIRECTORIES", project.dir())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        tree(&project.path("_base")),
        tree(&project.trial_path("workspace"))
    );
    for file in ["added.txt", "modified.txt", "d/e", "open.txt"] {
        assert_eq!(
            project.read(&format!("_base/{file}")),
            project.trial_file(&format!("workspace/{file}"))
        );
    }
}

#[test]
fn the_transcript_is_what_the_agent_said() {
    let project = project()
        .agent("echo first; echo; printf 'last, unfinished'")
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    project.terca(&[]).expect_status(0);
    let transcript = project.trial_file("transcript.jsonl");
    let lines: Vec<Value> = transcript
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty());
    let times: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["atMs"].as_u64())
        .collect();
    assert_eq!(times.len(), lines.len(), "{transcript}");
    assert!(times.is_sorted(), "{transcript}");
    let first = lines
        .iter()
        .position(|line| line.to_string().contains("first"));
    let last = lines
        .iter()
        .position(|line| line.to_string().contains("last, unfinished"));
    assert!(first.is_some() && first < last, "{transcript}");
}

#[test]
fn the_log_tells_the_trial_in_order() {
    let project = project()
        .agent("echo agent speaking; echo done > done.txt")
        .file("rules.md", "Be kind.\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore:\n  - command: echo before speaking\n  - files: {a.txt: a}\n\
             tests:\n  - {name: first, commandSuccess: echo test speaking}\n  - {name: second, fileExists: missing}\n",
        );
    project.terca(&[]).expect_status(1);
    let log = project.trial_file("run.log");
    let mut rest = log.as_str();
    for part in [
        "before: echo before speaking", "before speaking\n", "a.txt", "agent", "agent speaking\n",
        "exit status 0", "test: first", "test speaking\n", "test: second",
        "missing does not exist", "partial: score 0.50",
    ] {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("{part:?} is not where it should be: {log}")
        };
        rest = after;
    }
}

#[test]
fn the_plan_is_kept() {
    let project = working().file("rules.md", "Be kind.\n").file(
        "terca.yaml",
        "name: kept\ndescription: why\nenvironments: [{name: node, agent: {name: command, command: ./agent.sh}, model: m-1}]\n\
         experiments: [{name: with-rules, rules: rules.md, timeoutSeconds: 42}]\n",
    );
    project
        .terca(&["--seed", "7", "-c", "2", "-n", "2"])
        .expect_status(0);
    let plan = json_of(&project.run_dir().join("run.json"));
    for (pointer, expected) in [
        ("/suite", json!("kept")),
        ("/description", json!("why")),
        ("/seed", json!(7)),
        ("/concurrency", json!(2)),
        ("/tercaVersion", json!(env!("CARGO_PKG_VERSION"))),
        ("/cases/0/eval", json!("fib")),
        ("/cases/0/repetitions", json!(2)),
        ("/cases/0/timeoutSeconds", json!(42.0)),
        ("/cases/0/variant/environment", json!("node")),
        ("/cases/0/variant/experiment", json!("with-rules")),
        ("/cases/0/variant/agent/name", json!("command")),
        ("/cases/0/variant/model", json!("m-1")),
        ("/trials/1/dir", json!("fib/node.with-rules.02")),
    ] {
        assert_eq!(plan.pointer(pointer), Some(&expected), "{pointer}: {plan}");
    }
    assert!(
        plan["cases"][0]["prompt"]
            .as_str()
            .unwrap()
            .starts_with("go")
    );
    assert_eq!(
        project.results()["trials"][0]["delivery"]["modelRequested"],
        "m-1"
    );
}

#[test]
fn secrets_are_masked_in_everything_that_terca_writes() {
    const SECRET: &str = "sk-live-\"quoted\"\\0123456789";
    let print = "printf '<%s>\\n' \"$TOKEN\"";
    let project = project()
        .agent(&format!("{print}; {print} >&2; {print} > leaked.txt; exit 3"))
        .file(
            "fib/eval.terca.yaml",
            format!(
                "prompt: go\nbefore:\n  - command: |\n      {print}\n\
                 tests:\n  - name: out\n    commandSuccess: |\n      {print}; exit 1\n  - name: err\n    commandSuccess: |\n      {print} >&2; exit 1\n"
            ),
        )
        .env("MY_TOKEN", SECRET);
    let suite = project.read("terca.yaml");
    let project = project.file(
        "terca.yaml",
        format!("env: {{TOKEN: '${{MY_TOKEN}}'}}\n{suite}"),
    );
    let outcome = project.terca(&[]).expect_status(1);
    assert_eq!(
        project.trial_file("workspace/leaked.txt"),
        format!("<{SECRET}>\n"),
        "the agent did have it"
    );

    for file in [
        "run.log", "transcript.jsonl", "artifacts/stdout.log", "artifacts/stderr.log",
        "changes.diff",
    ] {
        assert!(
            project.trial_file(file).contains("<***>"),
            "{file} tells of it: {}",
            project.trial_file(file)
        );
    }
    assert!(project.only_trial().to_string().contains("<***>"));
    let pieces = ["sk-live", "0123456789"];
    for path in tree(&project.run_dir())
        .iter()
        .filter(|path| !path.ends_with('/') && !path.contains("/workspace.changes/"))
    {
        let text = std::fs::read(project.run_dir().join(path)).unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(
            pieces.iter().all(|piece| !text.contains(piece)),
            "{path} has the secret: {text}"
        );
    }
    for text in [outcome.stdout, outcome.stderr] {
        assert!(
            pieces.iter().all(|piece| !text.contains(piece)),
            "shown on the screen: {text}"
        );
    }
}

#[test]
fn secrets_of_several_lines_are_masked_line_by_line() {
    let print = "printf '%s\\n' \"$TOKEN\"";
    let project = project()
        .agent(&format!("{print}; {print} > key.pem"))
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .env(
            "MY_KEY",
            "-----BEGIN KEY-----\nAAAAsecretBBBB\nCCCCsecretDDDD\n-----END KEY-----",
        );
    let suite = project.read("terca.yaml");
    let project = project.file(
        "terca.yaml",
        format!("env: {{TOKEN: '${{MY_KEY}}'}}\n{suite}"),
    );
    project.terca(&[]).expect_status(0);
    for file in [
        "run.log", "transcript.jsonl", "artifacts/stdout.log", "changes.diff",
    ] {
        assert!(
            !project.trial_file(file).contains("secret"),
            "{file}: {}",
            project.trial_file(file)
        );
    }
}

#[test]
fn a_secret_at_the_cut_of_a_long_log_is_masked() {
    let project = project()
        .agent("head -c 1048570 /dev/zero | tr '\\0' x; printf %s \"$TOKEN\"; head -c 3000000 /dev/zero | tr '\\0' y")
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
        .env("MY_KEY", "topsecret123");
    let suite = project.read("terca.yaml");
    let project = project.file(
        "terca.yaml",
        format!("env: {{TOKEN: '${{MY_KEY}}'}}\n{suite}"),
    );
    project.terca(&[]).expect_status(0);
    assert!(!project.trial_file("run.log").contains("topsec"));
}

#[test]
fn a_transcript_there_always_is() {
    let project = project().agent("true").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{commandSuccess: test -f \"$TERCA_TRANSCRIPT\"}]\n",
    );
    project.terca(&["--agent", "nop"]).expect_status(0);
    assert!(project.trial_path("transcript.jsonl").exists());
}
