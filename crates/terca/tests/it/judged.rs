//! What was written is what is judged: paths with brackets, copies that would remove something, tests that cannot tell.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::Project;

/// One eval with these tests and an agent that runs this script.
fn judged(agent: &str, eval: &str) -> Project {
    project().agent(agent).file(
        "fib/eval.terca.yaml",
        format!("prompt: go\nallowWarnings: no-tests\n{eval}"),
    )
}

/// The names of the tests that scored 1.
fn passed(trial: &Value) -> Vec<&str> {
    let tests = trial["tests"].as_object().unwrap();
    tests
        .iter()
        .filter(|(_, grade)| grade["score"] == 1.0)
        .map(|(name, _)| name.as_str())
        .collect()
}

const ROUTES: &str = "tests:
  - {name: route, fileExists: 'app/[id]/page.tsx'}
  - {name: rest, fileExists: 'app/[...slug]/page.tsx'}
  - {name: optional, fileExists: 'app/[[...all]]/page.tsx'}
  - {name: template, fileExists: 'tpl/{name}.txt'}
  - {name: below, fileExists: 'app/[id]/*.tsx'}
  - {name: beside, fileExists: 'app/[id].*'}
  - {name: anywhere, fileExists: '**/[id]/page.tsx'}
";

#[test]
fn brackets_in_the_names_of_routes_are_names() {
    let project = judged(
        "mkdir -p 'app/[id]' 'app/[...slug]' 'app/[[...all]]' tpl\n\
         touch 'app/[id]/page.tsx' 'app/[...slug]/page.tsx' 'app/[[...all]]/page.tsx' 'tpl/{name}.txt' 'app/[id].css'",
        &format!(
            "{ROUTES}  - {{name: changes, changedFiles: {{only: ['app/[[]*/**', 'app/[id]/**', 'app/[...slug]/*', \
             'app/[[...all]]/page.tsx', 'tpl/{{name}}.txt', 'app/[id].css']}}}}\n"
        ),
    );
    project.terca(&[]).expect_status(0);
    assert_eq!(
        project.only_trial()["score"],
        1.0,
        "{}",
        project.only_trial()
    );
}

#[test]
fn a_file_that_only_a_class_would_match_is_another_file() {
    let project = judged(
        "mkdir -p app/i app/s tpl; touch app/i/page.tsx app/s/page.tsx tpl/name.txt",
        &format!(
            "{ROUTES}  - {{name: changes, changedFiles: {{only: ['app/[is]/**', 'tpl/{{name}}.txt']}}}}\n"
        ),
    );
    project.terca(&[]).expect_status(1);
    let trial = project.only_trial();
    assert_eq!(passed(&trial), [""; 0], "{trial}");
    assert_eq!(
        trial["tests"]["route"]["message"],
        "app/[id]/page.tsx does not exist"
    );
}

#[test]
fn wildcards_are_still_wildcards() {
    let project = judged(
        "mkdir -p src/deep '[0-9]'; touch src/deep/a.ts log7.txt b.md '[0-9]/x.txt' 'a[1].txt'",
        "tests:
  - {name: star, fileExists: 'src/**/*.[jt]s'}
  - {name: range, fileExists: 'log[0-9].txt'}
  - {name: alternatives, fileExists: '{a,b}.md'}
  - {name: escaped, fileExists: 'a[[]1].*'}
  - {name: literal, fileExists: '[0-9]/x.txt'}
  - {name: mixed, fileExists: '[0-9]/*.txt'}
",
    );
    project.terca(&[]).expect_status(0);
}

/// Runs an eval whose set-up cannot be done. Returns the error.
fn refused(project: &Project) -> String {
    project.terca(&["--keep", "all"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    trial["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_copy_removes_neither_a_directory_nor_a_file() {
    for (copy, both) in [
        ("{seed.sql: data}", ["seed.sql", "`data`"]),
        ("{tree: taken}", ["tree", "`taken`"]),
        ("{tree: .}", ["tree/data", "data`"]),
        ("{other: .}", ["other/taken", "taken`"]),
    ] {
        let project = judged("true", &format!("before: [{{copy: {copy}}}]\n"))
            .file("_base/data/important.txt", "kept")
            .file("_base/taken", "kept")
            .file("fib/seed.sql", "x")
            .file(
                "fib/tree/data",
                "a file where the workspace has a directory",
            )
            .file("fib/other/taken/file", "a directory where it has a file");
        let message = refused(&project);
        for path in both {
            assert!(message.contains(path), "{copy}: {message}");
        }
        assert_eq!(
            (
                project.trial_file("workspace/data/important.txt").as_str(),
                project.trial_file("workspace/taken").as_str()
            ),
            ("kept", "kept"),
            "{copy}"
        );
    }
}

#[test]
fn a_copy_joins_directories_and_replaces_files() {
    let project = judged(
        "true",
        "before: [{copy: {tree: ., seed.sql: data/, 'tree/data/old': plain}}]
tests: [{fileContains: {path: data/old, text: new}}, {fileExists: [data/important.txt, data/seed.sql]},
  {fileContains: {path: plain, text: new}}]
",
    )
    .file("_base/data/important.txt", "kept")
    .file("_base/data/old", "old")
    .file("_base/plain", "old")
    .file("fib/seed.sql", "x")
    .file("fib/tree/data/old", "new");
    project.terca(&[]).expect_status(0);
    assert_eq!(project.only_trial()["score"], json!(1.0));
}

#[test]
fn a_test_that_cannot_tell_keeps_the_results_of_the_others() {
    let project = judged(
        "echo x > a.txt",
        "tests:
  - {name: before, fileExists: a.txt}
  - {name: unknown, commandSuccess: no-such-program-xyz}
  - {name: missing, fileExists: b.txt}
  - {name: tokens, budget: {maxTokens: 5}}
  - {name: after, commandSuccess: 'true'}
",
    );
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error", "{trial}");
    assert_eq!(trial["score"], Value::Null);
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("test `unknown`: "), "{message}");
    let tests = trial["tests"].as_object().unwrap();
    let mut names: Vec<&str> = tests.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["after", "before", "missing"]);
    assert_eq!(passed(&trial).len(), 2);
    let log = project.trial_file("run.log");
    assert!(log.contains("no result: test `tokens`"), "{log}");
    // The same when it is graded again, and nothing of it counts.
    project.terca(&["regrade"]).expect_status(3);
    assert_eq!(project.only_trial()["tests"].as_object().unwrap().len(), 3);
    assert_eq!(
        project.results()["summary"]["variants"][0]["judged"],
        json!(0),
        "{}",
        project.results()["summary"]
    );
}

#[test]
fn a_judge_without_a_verdict_is_asked_once_more() {
    let eval = "tests: [{name: taste, judge: {rubric: It is short., agent: {name: command, command: ../judge.sh}}}]\n";
    // The judge sees nothing of the suite but its own directory.
    let judge = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n\
        echo '{\"costUsd\": 0.5}' > $TERCA_STATS_FILE\n\
        if [ -e \"$ASKED\" ]; then echo '{\"score\": 1}'; else touch \"$ASKED\"; echo 'I am a teapot.'; fi\n";
    let project = judged("true", eval).executable("judge.sh", judge);
    let asked = project.path("asked");
    let suite = format!("env: {{ASKED: '{asked}'}}\n{}", project.read("terca.yaml"));
    let project = project.file("terca.yaml", suite);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["score"], 1.0);
    assert_eq!(trial["spent"]["costUsd"], 1.0, "both are paid for: {trial}");
    assert_eq!(trial["paidJudges"].as_array().unwrap().len(), 1);
    assert!(
        project
            .trial_file("run.log")
            .contains("asking the judge again")
    );
}

#[test]
fn run_json_has_what_each_test_checks_and_what_files_have() {
    let long = "x".repeat(20_000);
    let eval = format!(
        "before: [{{files: {{short.txt: 'one line', secret.txt: sk-0123456789-abcdefghij, long.txt: {long}}}}}]\n\
         tests: [{{name: t, commandSuccess: {{command: make, outputContains: ok}}, timeoutSeconds: 7}}, {{fileExists: [a, b]}}]\n"
    );
    let project = judged("true", &eval);
    let suite = format!("env: {{K: '${{K}}'}}\n{}", project.read("terca.yaml"));
    let project = project
        .file("terca.yaml", suite)
        .env("K", "sk-0123456789-abcdefghij");
    project.terca(&[]);
    let run: Value =
        serde_json::from_str(&std::fs::read_to_string(project.run_dir().join("run.json")).unwrap())
            .unwrap();
    let case = &run["cases"][0];
    assert_eq!(
        case["tests"],
        json!([
            {"name": "t", "weight": 1.0, "timeoutSeconds": 7.0,
             "commandSuccess": {"command": "make", "outputContains": "ok"}},
            {"name": "fileExists-2", "weight": 1.0, "timeoutSeconds": 120.0, "fileExists": ["a", "b"]},
        ])
    );
    let files = case["before"].as_array().unwrap();
    assert!(files.contains(&json!({"file": "short.txt", "content": "one line"})));
    assert!(files.contains(&json!({"file": "secret.txt", "content": "***"})));
    let of_long = files
        .iter()
        .find(|file| file["file"] == "long.txt")
        .unwrap();
    assert_eq!(of_long["content"], long);
}

/// The error output of `check` for a suite with a script beside each YAML file.
fn checked(project: Project) -> (i32, String) {
    let outcome = project
        .executable("ctx.sh", "#!/bin/sh\necho suite > ctx.txt\n")
        .executable("fib/scripts/test.sh", "#!/bin/sh\ntest -e ctx.txt\n")
        .terca(&["check"]);
    (outcome.status, outcome.stderr)
}

#[test]
fn a_script_beside_the_yaml_file_that_the_workspace_lacks_is_told() {
    for (suite, eval, words) in [
        (
            "before: [{command: ./ctx.sh}]",
            "",
            ["./ctx.sh", "suite/ctx.sh", "$TERCA_SUITE_DIR/ctx.sh"],
        ),
        (
            "prepare: [{command: 'CI=1 ./ctx.sh now'}]",
            "",
            ["./ctx.sh", "suite/ctx.sh", "$TERCA_SUITE_DIR/ctx.sh"],
        ),
        (
            "",
            "tests: [{commandSuccess: scripts/test.sh}]",
            [
                "scripts/test.sh", "fib/scripts/test.sh", "$TERCA_SUITE_DIR/fib/scripts/test.sh",
            ],
        ),
    ] {
        let project = judged("true", eval);
        let suite = format!("{suite}\n{}", project.read("terca.yaml"));
        let (status, shown) = checked(project.file("terca.yaml", suite));
        assert_eq!(status, 2, "{shown}");
        for word in words {
            assert!(shown.contains(word), "{word}: {shown}");
        }
        assert_eq!(shown.matches("error[").count(), 1, "{shown}");
    }
}

#[test]
fn a_script_that_may_be_in_the_workspace_is_not_told() {
    for eval in [
        // The layers have it.
        "before: [{command: ./gradlew}]",
        // An action brings it.
        "before: [{copy: {../ctx.sh: .}}, {command: ./ctx.sh}]",
        "before: [{copy: {scripts: scripts}}]\ntests: [{commandSuccess: scripts/test.sh}]",
        "before: [{command: 'cp \"$TERCA_SUITE_DIR/ctx.sh\" .'}, {command: ./ctx.sh}]",
        // It is found by its name, or by its whole path, or in another directory.
        "before: [{command: '\"$TERCA_SUITE_DIR\"/ctx.sh'}]",
        "before: [{command: 'cd sub && ./ctx.sh'}]",
        // Nothing of that name is beside the file: the agent is to write it.
        "tests: [{commandSuccess: ./run.sh}]",
    ] {
        let project = judged("true", eval).executable("_base/gradlew", "#!/bin/sh\n");
        let (status, shown) = checked(project.executable("fib/gradlew", "#!/bin/sh\n"));
        assert_eq!(status, 0, "{eval}: {shown}");
    }
}

#[test]
fn a_key_that_the_agent_writes_into_its_workspace_is_noted() {
    let key = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";
    let project = judged(
        "mkdir -p conf; echo \"KEY=$KEY\" > conf/.env; echo word > harmless.txt; \
         { head -c 300000 /dev/zero | tr '\\0' x; printf %s \"$KEY\" | base64; } > long.txt; rm given.txt",
        "before: [{files: {given.txt: sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq, kept.txt: \
         sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq}}]\n",
    );
    let suite = format!(
        "env: {{KEY: '${{THE_KEY}}', WORD: '${{WORD}}'}}\n{}",
        project.read("terca.yaml")
    );
    let project = project
        .file("terca.yaml", suite)
        .env("THE_KEY", key)
        .env("WORD", "word of honour");
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    let notes = trial["notes"].to_string();
    assert!(notes.contains("`conf/.env` and `long.txt`"), "{notes}");
    for other in ["harmless", "given.txt", "kept.txt", &key[..12]] {
        assert!(!notes.contains(other), "{other}: {notes}");
    }
    // What the agent made stays as it is.
    assert!(project.trial_file("workspace/conf/.env").contains(key));
}
