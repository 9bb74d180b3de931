//! `terca check` as a linter: warnings that can be denied and allowed, and what each variant gives its agent.

use serde_json::Value;
use terca_testkit::Project;

use crate::common::project;

const SUITE: &str = "environments: [{name: default, agent: nop}]\n";
const EVAL: &str = "prompt: go\ntests: [fileExists: a]\n";

/// A suite with three warnings: one of the suite, two of an eval.
fn doubtful() -> Project {
    project()
        .file("terca.yaml", SUITE)
        .file(
            "fib/eval.terca.yaml",
            "prompt: task.md\ntests: [fileExists: a]\n",
        )
        .file("fib/task.md", "Write fib.\n")
        .file("fib/tests/a", "")
        .file("_later/eval.terca.yaml", EVAL)
}

/// Returns the codes of the problems that `check` finds, sorted.
fn codes(project: &Project) -> Vec<String> {
    let outcome = project.terca(&["check", "--format", "json"]);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let problems = answer["problems"].as_array().unwrap().iter();
    let mut codes: Vec<String> = problems
        .map(|problem| problem["code"].as_str().unwrap().to_owned())
        .collect();
    codes.sort();
    codes
}

#[test]
fn warnings_can_be_denied() {
    let project = doubtful();
    project.terca(&["check"]).expect_status(0);
    let denied = project
        .terca(&["check", "--deny-warnings"])
        .expect_status(2);
    let said = "3 warnings, which `--deny-warnings` treats as errors";
    assert!(denied.stderr.contains(said), "{}", denied.stderr);
    let right = project.file("terca.yaml", "environments: [{name: default, agent: nop}]\nallowWarnings: [prompt-is-a-file, misspelt-directory, skipped-eval]\n");
    let outcome = right.terca(&["check", "--deny-warnings"]).expect_status(0);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn warnings_are_allowed_by_the_suite_and_by_evals() {
    let all = ["misspelt-directory", "prompt-is-a-file", "skipped-eval"];
    assert_eq!(codes(&doubtful()), all);
    let suite = format!("{SUITE}allowWarnings: skipped-eval\n");
    assert_eq!(codes(&doubtful().file("terca.yaml", suite)), all[..2]);
    let eval = "prompt: task.md\ntests: [fileExists: a]\nallowWarnings: [prompt-is-a-file, misspelt-directory]\n";
    assert_eq!(
        codes(&doubtful().file("fib/eval.terca.yaml", eval)),
        all[2..]
    );
    // An eval speaks for itself alone.
    let other = "prompt: task.md\ntests: [fileExists: a]\n";
    let project = doubtful()
        .file("fib/eval.terca.yaml", eval)
        .file("sort/eval.terca.yaml", other)
        .file("sort/task.md", "x");
    assert_eq!(codes(&project), all[1..]);
    // An eval of terca.yaml has no file for itself.
    let inline =
        "evals: [{name: a, prompt: go, allowWarnings: [no-tests]}, {name: b, prompt: go}]\n";
    let project = project.file("terca.yaml", format!("{SUITE}{inline}"));
    let outcome = project.terca(&["check"]).expect_status(0);
    assert!(
        !outcome.stderr.contains("the eval `a` has no tests"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("the eval `b` has no tests"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_unknown_code_is_an_error_with_its_place() {
    for (word, said) in [
        ("no-test", "did you mean `no-tests`?"),
        ("unknown-key", "expected `no-tests`, "),
        ("whatever", "expected `no-tests`, "),
    ] {
        let suite = format!("{SUITE}allowWarnings: [{word}]\n");
        let project = doubtful().file("terca.yaml", suite);
        let outcome = project.terca(&["check"]).expect_status(2);
        assert!(
            outcome.stderr.contains("terca.yaml:2:17"),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains(said), "{word}: {}", outcome.stderr);
    }
}

#[test]
fn an_agent_that_an_experiment_switches_does_not_get_the_others_settings() {
    let environment = "environments: [{name: e, agent: {name: codex, program: ./agent}, model: gpt-5, config: {a: 1}}]\n";
    let with = |experiment: &str| {
        let suite = format!(
            "{environment}experiments:\n- name: control\n- {{name: other, agent: nop{experiment}}}\nallowWarnings: agent-not-ready\n"
        );
        let project = project()
            .executable("agent", "#!/bin/sh\n")
            .file("terca.yaml", suite)
            .file("fib/eval.terca.yaml", EVAL);
        project.terca(&["check"]).stderr
    };
    let said = with("");
    assert!(said.contains("warning[settings-of-another]"), "{said}");
    assert!(
        said.contains("does not get the environment's `model` and `config`"),
        "{said}"
    );
    let said = with(", config: null");
    assert!(
        said.contains("does not get the environment's `model`\n"),
        "{said}"
    );
    let said = with(", model: null, config: null");
    assert!(!said.contains("settings-of-another"), "{said}");
}

#[test]
fn directories_that_are_used_or_hold_evals_are_no_mistake() {
    let project = project()
        .file("terca.yaml", SUITE)
        // Copied by an action.
        .file("a/eval.terca.yaml", "prompt: go\nbefore: [{copy: {tests: data/}}]\ntests: [fileExists: a]\n")
        .file("a/tests/x", "")
        // Called by a command.
        .file("b/eval.terca.yaml", "prompt: go\ntests: [{commandSuccess: 'sh \"$TERCA_SUITE_DIR/b/tests/x\"'}]\n")
        .file("b/tests/x", "")
        // The right one is there.
        .file("c/eval.terca.yaml", EVAL)
        .file("c/_tests/x", "")
        .file("c/tests/x", "")
        // A directory of evals, and names that are like nothing.
        .file("base/d/eval.terca.yaml", EVAL)
        .file("base/d/notes/x", "")
        .file("base/d/testing/x", "")
        // No eval by its content, and one beside the right file.
        .file("base/d/eval.yaml", "prompt: x\n")
        .file("base/config/eval.yaml", "model: x\n")
        // Scripts that are executable, written by the agent or called by a program.
        .file("e/eval.terca.yaml", "prompt: write run.sh\ntests:\n- commandSuccess: ./check.sh\n- commandSuccess: sh ./other.sh\n- commandSuccess: ./run.sh\n- commandSuccess: chmod +x late.sh && ./late.sh\n")
        .executable("e/_tests/check.sh", "#!/bin/sh\n")
        .file("e/_tests/other.sh", "")
        .file("e/_tests/late.sh", "")
        .file("e/_base/run.sh", "");
    let outcome = project.terca(&["check"]).expect_status(0);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_variant_is_shown_as_its_agent_gets_it() {
    let suite = "preamble: Work carefully.\nenv: {TOKEN: '${KEY}'}\n\
        environments: [{name: e, agent: {name: codex, program: ./agent}, model: gpt-5, config: {model_reasoning_effort: high}}]\n\
        experiments:\n- name: control\n- name: all\n  rules: rules/AGENTS.md\n  mcpServers: {docs: {command: npx, args: [docs-server, '${KEY}']}}\n  \
        before: [{command: npm ci}, {files: {a.txt: x}}]\n  limits: {memory: 2GB}\n  timeoutSeconds: 90\n";
    let project = project()
        .env("KEY", "sekrit-value-of-the-key")
        .executable("agent", "#!/bin/sh\n")
        .file("rules/AGENTS.md", "Be kind.\n")
        .file("terca.yaml", suite)
        .file("fib/eval.terca.yaml", EVAL)
        .file("fib/_base/x", "");
    let shown = project.terca(&["check", "-v"]).expect_status(0).stdout;
    let (_, all) = shown.split_once("e.all\n").unwrap();
    let words: Vec<&str> = all.split_whitespace().collect();
    let all = words.join(" ");
    for words in [
        "model gpt-5",
        "rules rules/AGENTS.md",
        "servers docs: npx docs-server",
        "settings {\"model_reasoning_effort\":\"high\"}",
        "prompt Work carefully. go",
        "files fib/_base",
        "actions run npm ci write a.txt",
        "variables TOKEN",
        "limits 1m 30s, disk 20 GB, memory 2.0 GB",
        "tests fileExists-1",
    ] {
        assert!(all.contains(words), "{words}: {all}");
    }
    assert!(!shown.contains("sekrit"), "{shown}");
    let outcome = project
        .terca(&["check", "--format", "json"])
        .expect_status(0);
    assert!(!outcome.stdout.contains("sekrit"), "{}", outcome.stdout);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["trials"], 2);
    assert_eq!(answer["suiteDir"], project.dir().as_str());
    assert_eq!(answer["cases"][1]["prompt"], "Work carefully.\n\ngo");
    assert_eq!(answer["cases"][1]["variant"]["model"], "gpt-5");
    assert_eq!(answer["cases"][1]["timeoutSeconds"], 90.0);
}

#[test]
fn problems_are_told_to_programs_with_their_places() {
    let project = doubtful().file("fib/eval.terca.yaml", "prompt: task.md\nnonsense: 1\n");
    let outcome = project
        .terca(&["check", "--format", "json"])
        .expect_status(2);
    assert_eq!(outcome.stderr, "");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["errors"], 1);
    assert_eq!(answer["warnings"], 2);
    assert_eq!(answer["cases"], Value::Array(Vec::new()));
    let problems = answer["problems"].as_array().unwrap();
    let error = problems
        .iter()
        .find(|one| one["severity"] == "error")
        .unwrap();
    assert_eq!(error["code"], "unknown-key");
    assert_eq!(error["file"], "fib/eval.terca.yaml");
    assert_eq!((&error["line"], &error["column"]), (&2.into(), &1.into()));
    let help = error["help"][0].as_str().unwrap();
    assert!(help.contains("prompt"), "{help}");
}

#[test]
fn the_doctor_knows_the_agents_of_the_suite() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: e, agent: {name: opencode, program: ./agent}}]\n",
        )
        .executable("agent", "#!/bin/sh\necho 9.9.9\n")
        .file("fib/eval.terca.yaml", EVAL)
        .env("OPENROUTER_API_KEY", "not-a-real-key-of-anybody");
    let shown = project.terca(&["doctor"]).expect_status(0).stdout;
    let (own, others) = shown.split_once("other agents:\n").unwrap();
    assert!(own.starts_with("agents of this suite:\n"), "{shown}");
    assert!(own.contains("opencode: 9.9.9"), "{shown}");
    assert!(
        others.contains("codex") && !others.contains(" opencode"),
        "{shown}"
    );
    let outcome = project
        .terca(&["doctor", "--format", "json"])
        .expect_status(0);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let own: Vec<&Value> = answer["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|agent| agent["ofSuite"] == true)
        .collect();
    let ready = own
        .iter()
        .find(|agent| agent["version"] == "9.9.9")
        .unwrap();
    assert_eq!(ready["agent"], "opencode");
    assert_eq!(answer["agents"][0]["ofSuite"], true);
    assert!(
        !outcome.stdout.contains("not-a-real-key"),
        "{}",
        outcome.stdout
    );
    assert!(answer["sandboxes"][0]["works"].is_boolean());
    assert!(answer["workDir"].is_string());
    // Where there is no suite, there is nothing to put first.
    let elsewhere = crate::common::project().terca(&["doctor"]).expect_status(0);
    assert!(
        !elsewhere.stdout.contains("of this suite"),
        "{}",
        elsewhere.stdout
    );
}

/// A library with its suite in `evals/`, whose `prepare` and whose eval's `prepare` are given.
fn beside_a_library(of_suite: &str, of_eval: &str, more: &str) -> Project {
    project()
        .file(".git/HEAD", "")
        .file("src/index.js", "one\n")
        .file("evals/terca.yaml", format!("{SUITE}{of_suite}{more}"))
        .file("evals/fib/eval.terca.yaml", format!("{EVAL}{of_eval}"))
}

#[test]
fn a_prepared_step_that_reads_the_library_names_its_inputs() {
    let reads = "prepare: [{command: 'cp -r \"$TERCA_SUITE_DIR/../src\" .'}]\n";
    let check = |project: &Project| project.terca(&["-C", "evals", "check"]).expect_status(0);
    for (project, place, inputs) in [
        (
            beside_a_library(reads, "", ""),
            "terca.yaml:2:",
            "`inputs: [../src]`",
        ),
        (
            beside_a_library("", reads, ""),
            "eval.terca.yaml:3:",
            "`inputs: [../../src]`",
        ),
    ] {
        let said = check(&project).stderr;
        for part in ["warning[missing-inputs]", place, inputs] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(said.matches("warning[").count(), 1, "{said}");
    }
    let told = reads.replace("}]", ", inputs: [../src]}]");
    let allowed = "allowWarnings: missing-inputs\n";
    let inside = "prepare: [{command: 'cp -r \"$TERCA_SUITE_DIR/fib\" . && ls ..'}]\n";
    for project in [
        beside_a_library(&told, "", ""),
        beside_a_library(reads, "", allowed),
        beside_a_library("", &format!("{reads}{allowed}"), ""),
        beside_a_library(inside, "", ""),
    ] {
        assert_eq!(check(&project).stderr, "");
    }
}

/// A library in a directory, with a suite in it whose commands name files around it.
fn outside_of_git() -> Project {
    let suite = "environments: [{name: default, agent: nop}]\n\
                 before:\n  - command: cp \"$TERCA_SUITE_DIR/../data.csv\" .\n\
                 prepare:\n  - command: cp \"$TERCA_SUITE_DIR/../lib.sh\" .\n    inputs: [../lib.sh]\n";
    let eval = "prompt: go\ntests: [{commandSuccess: 'cmp a \"$TERCA_SUITE_DIR\"/../want'}]\n";
    project()
        .file("lib/data.csv", "1\n")
        .file("lib/lib.sh", "")
        .file("lib/want", "")
        .file("lib/evals/terca.yaml", suite)
        .file("lib/evals/fib/eval.terca.yaml", eval)
}

#[test]
fn a_path_that_a_sandbox_hides_is_told_before_the_run() {
    let project = outside_of_git();
    let check = |project: &Project| {
        project
            .terca(&["check", "-C", "lib/evals"])
            .expect_status(0)
    };
    let said = check(&project).stderr;
    assert_eq!(said.matches("warning[hidden-path]").count(), 2, "{said}");
    for words in [
        "a command of the setup names `",
        "/lib/data.csv`, which is not there in a sandbox",
        "a test names `",
        "because it is in no git repository",
        "run `git init` in the directory of the project",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // An input is there.
    assert!(!said.contains("lib.sh"), "{said}");
    let in_git = outside_of_git().file("lib/.git/HEAD", "");
    assert_eq!(check(&in_git).stderr, "");
    let suite = project.read("lib/evals/terca.yaml") + "sandbox: none\n";
    let not_contained = project.file("lib/evals/terca.yaml", suite);
    assert_eq!(check(&not_contained).stderr, "");
}

#[test]
fn a_workspace_with_the_suite_in_it_is_an_error() {
    let with = |line: &str| {
        let project = project()
            .symlink("up", ".")
            .symlink("above", "..")
            .file("fib/_tests/check.sh", "true")
            .file("start/x", "")
            .file("fib/eval.terca.yaml", EVAL);
        let suite = "environments: [{name: e, agent: {name: command, command: 'true'}}]\n";
        let text = format!("{suite}{line}\n");
        project.file("terca.yaml", text)
    };
    for (line, words) in [
        ("workspaceDir: .", "`workspaceDir` has `fib/_tests` in it"),
        ("workspaceDir: ..", "`workspaceDir` has `fib/_tests` in it"),
        ("workspaceDir: up", "`workspaceDir` has `fib/_tests` in it"),
        (
            "workspaceDir: above", "`workspaceDir` has `fib/_tests` in it",
        ),
        ("workspaceDir: fib", "`workspaceDir` has `fib/_tests` in it"),
    ] {
        let project = with(line);
        for command in ["check", "run"] {
            let said = project.terca(&[command]).expect_status(2).stderr;
            assert!(said.contains("error[shown-tests]"), "{line}: {said}");
            assert!(said.contains(words), "{line}: {said}");
            assert!(said.contains(":2:"), "{line}: {said}");
            assert!(said.contains("help: name a directory"), "{line}: {said}");
            assert!(!project.has_run());
        }
    }
    // Without hidden files the commands of tests are there to be read.
    let project = with("workspaceDir: ..");
    std::fs::remove_dir_all(project.path("fib/_tests")).unwrap();
    let said = project.terca(&["check"]).expect_status(2).stderr;
    assert!(said.contains("has the suite in it"), "{said}");
    let project = with("").symlink("_base", "..");
    let said = project.terca(&["check"]).expect_status(2).stderr;
    assert!(said.contains("`_base` has `fib/_tests` in it"), "{said}");
    for line in [
        "workspaceDir: start",
        "before: [{copy: {fib/_tests: .}}]",
        "before: [{copy: {fib/_tests/check.sh: check.sh}}]",
    ] {
        with(line).terca(&["check"]).expect_status(0);
    }
}
