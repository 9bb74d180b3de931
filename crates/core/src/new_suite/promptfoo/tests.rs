use super::*;
use crate::new_suite::imported::made;

const SUITE: &str = r##"
description: Reviews
providers:
  - id: anthropic:claude-agent-sdk
    config: { working_dir: '{{ env.DIR | default("./project") }}', persist_session: false }
  - openai:chat:gpt-5
prompts: ["file://prompts/review.md"]
evaluateOptions: { repeat: 2 }
defaultTest:
  vars: { tone: kind }
  assert: [{ type: cost, threshold: 0.5 }]
tests:
  - description: Finds the bug
    vars: { file: [a.js, b.js], who: { name: Ada } }
    assert:
      - { type: contains, value: "{{file}}" }
      - { type: not-contains, value: panic! }
      - { type: icontains-any, value: [bug, (flaw)] }
      - { type: contains-all, value: [left, right], weight: 3 }
      - { type: equals, value: 42 }
      - { type: starts-with, value: So }
      - { type: regex, value: "line \\d+" }
      - { type: latency, threshold: 1500 }
      - { type: llm-rubric, value: "Is {{tone}}.", threshold: 0.8 }
      - { type: not-trajectory:tool-used, value: [web_*] }
      - { type: assert-set, assert: [{ type: icontains, value: fix }] }
      - { type: javascript, value: output.length, weight: 0 }
  - file://more/*.yaml
"##;

fn imported(suite: &str, more: &[(&str, &str)]) -> Result<Suite, String> {
    let files = [
        ("promptfooconfig.yaml", suite),
        ("project/a.js", ""),
        ("prompts/review.md", "Review {{ file }} for {{who.name}}."),
        (
            "more/one.yaml",
            "- vars: {file: c.js, who: {name: Bob}}\n  assert: [{type: is-json}]\n",
        ),
    ];
    let files = [&files, more].concat();
    made::read("a", &files, |task| {
        import(task, "promptfooconfig.yaml".into())
    })
}

#[test]
fn a_test_becomes_an_eval_for_each_value() {
    let suite = imported(SUITE, &[]).unwrap();
    assert!(suite.complaints.is_empty(), "{suite:#?}");
    let [first, second, third] = suite.evals.as_slice() else {
        panic!("{suite:#?}")
    };
    assert_eq!(
        [&first.folder, &second.folder, &third.folder],
        ["finds-the-bug", "finds-the-bug-2", "test-2"]
    );
    assert_eq!(second.text_of("prompt.md"), "Review b.js for Ada.");
    assert_eq!(first.copies(), [("project/a.js", "_base/a.js")]);
    assert_eq!(first.lost(), [] as [&str; 0]);
    assert_eq!(third.lost(), ["is-json: no test of Terca asks for that"]);
    insta::assert_snapshot!("promptfoo", first.text_of("eval.terca.yaml"));
}

#[test]
fn what_an_agent_needs_more_is_a_loss() {
    let suite = "prompts: [a]\nextensions: [file://hooks.js]\ndefaultTest: {options: {transform: x}}\nproviders:\n\
                 - {id: opencode:sdk, config: {working_dir: project, mcp: {}, output_format: {}}}\n\
                 - {id: openai:codex-sdk, config: {working_dir: other}}\n";
    let suite = imported(suite, &[]).unwrap();
    assert_eq!(
        suite.evals[0].lost(),
        [
            "working_dir: providers have different ones; project is taken",
            "providers: `mcp` of an agent is not carried over",
            "providers: `output_format` of an agent is not carried over",
            "extensions: promptfoo runs code before and after its tests",
            "options.transform: no test of Terca asks for that",
        ]
    );
}

#[test]
fn suites_without_a_coding_agent_or_a_prompt_are_refused() {
    let agent = "providers: [openai:codex-sdk]\n";
    for (suite, reason) in [
        ("providers: [openai:chat:gpt-5]\nprompts: [a]\n", NO_AGENT),
        (
            "providers: ['exec:python chain.py']\nprompts: [a]\n",
            NO_AGENT,
        ),
        ("prompts: [a]\n", NO_AGENT),
        (
            &format!("{agent}redteam: {{}}\n"),
            "promptfoo makes its tests when it runs (`redteam`)",
        ),
        (&format!("{agent}tests: []\n"), "it has no `prompts`"),
        (
            &format!("{agent}prompts: [file://chat.json]\n"),
            "the prompt file://chat.json is not plain text, or is missing",
        ),
        (
            &format!("{agent}prompts: [a]\ntests: tests.csv\n"),
            "tests: tests.csv is not read; Terca reads tests in YAML and JSON",
        ),
        (
            &format!("{agent}prompts: [a]\ntests: file://gone.yaml\n"),
            "tests: file://gone.yaml is missing",
        ),
    ] {
        let more = [("tests.csv", "a,b\n"), ("chat.json", "[]")];
        assert_eq!(imported(suite, &more).unwrap_err(), reason, "{suite}");
    }
    let suite = "targets: [{id: 'exec:claude -p'}]\nprompts: ['{% if a %}b{% endif %}', '{{gone}}', plain]\n";
    let suite = imported(suite, &[]).unwrap();
    assert_eq!(suite.evals.len(), 1);
    let complaint =
        "the prompt of test 1 and test 1 has a template with more than the names of variables";
    assert_eq!(suite.complaints, [complaint]);
}
