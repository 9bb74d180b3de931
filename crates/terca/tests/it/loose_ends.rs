//! Variations of what may mislead: each was judged as something else than what was written, or said in the wrong place.

use serde_json::{Value, json};
use terca_testkit::Project;

use crate::common::project;

fn run_file(project: &Project) -> Value {
    let text = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns a stand-in for Gemini CLI that says which file it is.
fn with_program(project: Project, path: &str) -> Project {
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 9.9.9; exit; }}\necho {path} \"$@\" > out.txt\nexit 1\n"
    );
    project.executable(path, &script)
}

/// `--agent` says which agent, and not which of its versions.
#[test]
fn an_agent_of_the_command_line_keeps_the_program_that_the_suite_has_for_it() {
    let suite = "environments:\n  - name: e\n    agent: {name: gemini-cli, program: './${VERSION:-old}/gemini'}\n\
                 experiments:\n  - name: default\n  - {name: other, agent: claude-code}\n  \
                 - {name: new, agent: {name: gemini-cli, program: ./new/gemini}}\n\
                 evals:\n  - {name: task, prompt: Do it., tests: [fileExists: out.txt]}\n";
    let project =
        with_program(with_program(project(), "old/gemini"), "new/gemini").file("terca.yaml", suite);
    project.terca(&["--agent", "gemini-cli", "--format", "plain"]);
    let used = |experiment: &str| {
        let place = format!("task/e.{experiment}.01/workspace/out.txt");
        std::fs::read_to_string(project.run_dir().join(place)).unwrap()
    };
    for (experiment, program) in [
        ("default", "old/gemini"),
        ("other", "old/gemini"),
        ("new", "new/gemini"),
    ] {
        let used = used(experiment);
        assert!(used.starts_with(program), "{experiment}: {used}");
    }
    let plan = project.terca(&["check"]).stdout;
    for program in ["old/gemini`", "new/gemini`"] {
        let is_told = plan
            .lines()
            .any(|line| line.contains("its program is `/") && line.ends_with(program));
        assert!(is_told, "{plan}");
    }
}

/// Another model or another setting of a judge is another test, and a key in them is a key.
#[test]
fn variables_reach_the_model_and_the_settings_of_a_judge() {
    let key = "judge-key-of-tests";
    let literal = "written-key-of-tests";
    let judge = r#"#!/bin/sh
cat "$TERCA_CONFIG"; echo "model: $TERCA_MODEL"; echo '{"score": 1}'
"#;
    let suite = format!(
        "environments:\n  - {{name: e, agent: {{name: command, command: 'true'}}}}\nevals:\n  - name: task\n    prompt: Do it.\n    \
         tests:\n      - name: taste\n        judge:\n          rubric: Good.\n          \
         agent: {{name: command, command: ./judge.sh}}\n          model: 'm-${{SIZE:-small}}'\n          \
         config: {{providers: [{{note: 'a ${{JUDGE_KEY}} b', apiKey: {literal}}}], plain: '$${{X}}'}}\n"
    );
    let project = project()
        .executable("judge.sh", judge)
        .file("terca.yaml", suite)
        .env("JUDGE_KEY", key);
    project.terca(&["--format", "plain"]);
    let first = run_file(&project);
    let said = project.trial_file("artifacts/judge-taste/stdout.log");
    assert!(said.contains("model: m-small"), "{said}");
    assert!(said.contains("a *** b") && said.contains("${X}"), "{said}");
    let test = &first["cases"][0]["tests"][0]["judge"];
    assert_eq!(test["model"], "m-small");
    assert_eq!(
        test["config"],
        json!({"providers": [{"note": "a *** b", "apiKey": "***"}], "plain": "${X}"})
    );
    for secret in [key, literal] {
        assert!(!first.to_string().contains(secret), "{secret}");
        assert!(!said.contains(secret), "{secret}");
    }

    let project = project.env("JUDGE_KEY", "another-key-of-tests");
    project.terca(&["--format", "plain"]);
    let tests = |run: &Value| run["fingerprints"][0]["fingerprint"]["tests"].clone();
    assert_eq!(
        tests(&run_file(&project)),
        tests(&first),
        "a key is no part of what is tested"
    );
    let project = project.env("SIZE", "large");
    project.terca(&["--format", "plain"]);
    assert_ne!(tests(&run_file(&project)), tests(&first));
}

#[test]
fn a_variable_of_a_judge_that_is_not_set_is_an_error_with_its_place() {
    let suite = "environments:\n  - {name: e, agent: {name: command, command: 'true'}}\nevals:\n  - name: task\n    prompt: Do it.\n    \
                 tests:\n      - judge:\n          rubric: Good.\n          agent: {name: command, command: 'true'}\n          \
                 model: '${NO_MODEL}'\n          config:\n            a: ['${NO_SETTING}']\n";
    let outcome = project().file("terca.yaml", suite).terca(&["check"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    for (name, place) in [
        ("NO_MODEL", "terca.yaml:10:18"),
        ("NO_SETTING", "terca.yaml:12:17"),
    ] {
        assert!(
            outcome.stderr.contains(name) && outcome.stderr.contains(place),
            "{place}: {}",
            outcome.stderr
        );
    }
}
