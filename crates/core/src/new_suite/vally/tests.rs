use super::*;
use crate::new_suite::imported::made;

const SUITE: &str = r#"
name: greeting
description: Evaluates greetings
config: { timeout: 2m, runs: 3, model: m }
tags: { area: words }
environment: { files: [{ src: ../shared/names, dest: names }] }
scoring: { weights: { output-matches: 2 }, threshold: 0.5 }
stimuli:
  - name: "Greet: everybody!"
    prompt: Write out.txt.
    environment:
      files: [{ src: fixtures/in.txt, dest: data/in.txt }]
      commands: [git init -q]
    tags: { tier: smoke, systemPrompt: "a text that is much too long to be a tag of anything at all" }
    rubric: [It is friendly., "It is short. "]
    constraints: { max_turns: 7, max_duration: 90s }
    graders:
      - type: exit-success
      - { type: output-contains, config: { substring: done } }
      - { type: output-matches, config: { pattern: "(?i)hello" } }
      - { type: output-matches, config: { pattern: error, negate: true } }
      - { type: output-not-contains, config: { substring: "a+b" } }
      - { type: file-exists, config: { path: "**/out.txt" } }
      - { type: file-not-exists, config: { path: "**/a/*.log" } }
      - { type: file-contains, config: { path: ./out.txt, value: Ada } }
      - { type: file-matches, config: { path: "src/**/*.txt", pattern: "^Ada" } }
      - { type: file-not-contains, config: { path: out.txt, value: "it's" } }
      - { type: run-command, config: { command: go, args: [vet, ./...], expected_exit_code: 2, stdout_contains: x, timeout: 500ms } }
      - { type: wall-time, config: { max: 1h } }
      - { type: tool-call-count, config: { max: 30 } }
      - { type: prompt, config: { prompt: Is it good?, threshold: 0.6 } }
  - { name: again, turns: [a, b] }
"#;

fn imported(suite: &str) -> Suite {
    let files = [
        ("a/greeting/eval.yaml", suite),
        ("a/greeting/fixtures/in.txt", ""),
        ("a/shared/names/one", ""),
        ("a/shared/names/two/link", ""),
    ];
    made::read("a", &files, |task| {
        import(task, "a/greeting/eval.yaml".into()).unwrap()
    })
}

#[test]
fn a_stimulus_becomes_an_eval() {
    let suite = imported(SUITE);
    let complaint = "1 of 2 stimuli cannot become evals, because an eval has one prompt: again";
    assert_eq!(suite.complaints, [complaint]);
    let [eval] = suite.evals.as_slice() else {
        panic!("{suite:#?}")
    };
    assert_eq!(eval.folder, "a/greeting/greet-everybody");
    assert_eq!(
        eval.lost(),
        ["../shared/names: missing, a symbolic link, or not below the imported directory"]
    );
    assert_eq!(
        eval.copies(),
        [
            ("a/shared/names/one", "_base/names/one"),
            ("a/greeting/fixtures/in.txt", "_base/data/in.txt"),
        ]
    );
    assert_eq!(eval.text_of("prompt.md"), "Write out.txt.");
    insta::assert_snapshot!("vally", eval.text_of("eval.terca.yaml"));
}

#[test]
fn what_no_test_asks_for_is_told_once() {
    let suite = r#"
environment: { skills: [../skill], mcpServers: { files: {} } }
stimuli:
  - name: a
    prompt: b
    expect_activation: false
    constraints: { expect_tools: [bash] }
    environment: { files: [{ src: ../../../x, dest: x }] }
    graders:
      - { type: skill-invocation, config: { required: [a] } }
      - { type: skill-invocation, config: { required: [b] } }
      - { type: output-matches, config: { pattern: "(?=a)b" } }
      - { type: run-command, config: { command: ls, cwd: x } }
      - { type: file-matches, config: { path: "*.{a,b}", pattern: x } }
  - { name: a, prompt: c, graders: [{ type: completed }] }
"#;
    let suite = imported(suite);
    let folders: Vec<&str> = suite
        .evals
        .iter()
        .map(|eval| eval.folder.as_str())
        .collect();
    assert_eq!(folders, ["a/greeting/a", "a/greeting/a-2"]);
    let losses = suite.evals[0].notes.iter().filter_map(|note| note.loss);
    let losses: Vec<Loss> = losses.collect();
    assert_eq!(
        losses,
        [Loss::Services, Loss::Files, Loss::Files, Loss::Tests]
    );
    let lost = suite.evals[0].lost();
    assert_eq!(
        lost[2],
        "../../../x: missing, a symbolic link, or not below the imported directory"
    );
    let kinds = "constraints.expect_tools, expect_activation, file-matches, output-matches, run-command and skill-invocation";
    assert_eq!(lost[3], format!("{kinds}: no test of Terca asks for that"));
    let lost = suite.evals[1].lost();
    assert_eq!(lost[2], "nothing verifies the work: the eval has no tests");
}

#[test]
fn suites_are_known_by_their_stimuli() {
    let text = |text: &'static str| move |_: &Utf8Path| Some(text.to_owned());
    for (file, content, is_one) in [
        ("eval.yaml", "name: a\nstimuli:\n", true),
        ("a/deploy.eval.yml", "stimuli: []\n", true),
        ("eval.yaml", "name: a\ntasks:\n", false),
        ("other.yaml", "stimuli:\n", false),
    ] {
        assert_eq!(is_suite(file.into(), &text(content)), is_one, "{file}");
    }
    let error = made::read("a", &[("eval.yaml", "tasks: []\n")], |task| {
        import(task, "eval.yaml".into()).unwrap_err()
    });
    assert_eq!(error, "it has no `stimuli`, so it is no suite of vally");
}

#[test]
fn durations() {
    for (text, wanted) in [
        (json!("2m"), Some(120.0)),
        (json!("1500ms"), Some(1.5)),
        (json!("90s"), Some(90.0)),
        (json!(30), Some(30.0)),
        (json!("soon"), None),
        (json!("-1s"), None),
    ] {
        assert_eq!(seconds(&text), wanted);
    }
}
