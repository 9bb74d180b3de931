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
        let folder = project.run_dir().join(format!("task/e.{experiment}.01"));
        std::fs::read_to_string(project.workspace_of(&folder).join("out.txt")).unwrap()
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

/// Returns what `terca check` says about one eval with these actions before it, in a suite that has `build.sh` itself.
fn checked_with(actions: &str) -> String {
    let suite = format!(
        "environments:\n  - {{name: e, agent: nop}}\nevals:\n  - name: task\n    prompt: Do it.\n    before:\n{actions}\n    \
         tests: [fileExists: x]\n"
    );
    let project = project()
        .executable("build.sh", "#!/bin/sh\n")
        .file("terca.yaml", suite);
    project.terca(&["check"]).stderr
}

#[test]
fn a_misplaced_script_is_told_at_its_line_of_the_suite() {
    let said = checked_with("      - command: echo\n      - command: ./build.sh --all");
    assert!(said.contains("--> terca.yaml:8:18"), "{said}");
    assert!(said.contains("build.sh` in the workspace"), "{said}");
}

/// A suite may be in the repository that it tests, and bring the script along.
#[test]
fn a_script_that_a_command_may_bring_along_is_not_refused() {
    for actions in [
        "      - command: git clone --depth 1 /repo .\n      - command: ./build.sh",
        "      - command: git clone --depth 1 /repo . && ./build.sh",
        "      - command: tar xf /x.tar; ./build.sh",
        "      - command: cp \"$TERCA_SUITE_DIR\"/*.sh .\n      - command: ./build.sh",
    ] {
        let said = checked_with(actions);
        assert!(!said.contains("build.sh"), "{actions}: {said}");
    }
}

#[test]
fn servers_that_an_agent_finds_in_its_workspace_are_told() {
    let servers = r#"{"mcpServers": {"docs": {"command": "x"}}}"#;
    let suite = "environments:\n  - {name: g, agent: gemini-cli}\n  - {name: c, agent: claude-code}\n  - {name: x, agent: codex}\n\
                 prepare: [command: 'true']\n\
                 evals:\n  - {name: one, prompt: Do it., tests: [fileExists: x]}\n  - {name: two, prompt: Do it., tests: [fileExists: x]}\n";
    let project = project()
        .file("terca.yaml", suite)
        .file("_base/.gemini/settings.json", servers)
        .file("_base/.mcp.json", servers);
    let plan = project.terca(&["check"]).stdout;
    let told = |words: &str| plan.lines().filter(|line| line.contains(words)).count();
    assert_eq!(
        told("`.gemini/settings.json` in the workspace names MCP servers"),
        1,
        "{plan}"
    );
    assert_eq!(
        told("`.mcp.json` in the workspace names MCP servers that the agent does not get"),
        1,
        "{plan}"
    );
}

#[test]
fn the_doctor_looks_at_the_programs_that_a_suite_names() {
    let suite = "environments:\n  - name: e\n    agent: {name: gemini-cli, program: ./old/gemini}\n\
                 evals:\n  - {name: task, prompt: Do it., tests: [fileExists: x]}\n";
    let project = with_program(project(), "old/gemini").file("terca.yaml", suite);
    let said = project.terca(&["doctor"]).stdout;
    let lines: Vec<&str> = said.lines().collect();
    let at = lines.iter().position(|line| line.ends_with("old/gemini"));
    let at = at.unwrap_or_else(|| panic!("{said}"));
    assert!(
        lines[at - 1].contains("gemini-cli") && lines[at - 1].contains("9.9.9"),
        "{said}"
    );
    // A suite that cannot be read is no trouble of the machine.
    let project = project.file("terca.yaml", "environments: 5\n");
    assert_eq!(project.terca(&["doctor"]).status, 0);
}

/// A layer that was made without access may lack what comes from a private registry.
#[test]
fn a_layer_made_without_registries_is_not_used_with_them() {
    let suite = |passed: bool| {
        format!(
            "passRegistries: {passed}\nenvironments:\n  - {{name: e, agent: {{name: command, command: 'true'}}}}\n\
             prepare: [command: 'echo \"[$PIP_INDEX_URL]\" > index']\n\
             evals:\n  - {{name: task, prompt: Do it., tests: [fileExists: index]}}\n"
        )
    };
    let project = project()
        .env("PIP_INDEX_URL", "https://pip.example/simple")
        .file("terca.yaml", suite(false));
    for (passed, index) in [
        (false, "[]"),
        (true, "[https://pip.example/simple]"),
        (false, "[]"),
    ] {
        let project = &project;
        std::fs::write(project.dir().join("terca.yaml"), suite(passed)).unwrap();
        project.terca(&["--format", "plain"]);
        let made = project.trial_file("workspace/index");
        assert_eq!(made.trim(), index, "passRegistries: {passed}");
    }
}

/// Files that are not kept are told, shortly; the rest is kept.
#[test]
fn artifacts_that_cannot_be_kept_are_told_and_keep_no_other_from_it() {
    let deep = "i=0; while [ $i -lt 60 ]; do d=$(printf 'd%.0s' $(seq 1 120)); mkdir $d; cd $d; i=$((i+1)); done; echo x > deep";
    for (script, kept, told) in [
        (
            "truncate -s 10G big; echo ok > small".to_owned(),
            Some("small"),
            Some("at most 1000 files and 64 MiB"),
        ),
        (
            "ln -s /etc/hostname link; mkfifo pipe; echo ok > small".to_owned(),
            Some("small"),
            Some("links, pipes and the like are not (2)"),
        ),
        (
            format!("echo ok > a; {deep}"),
            Some("a"),
            Some("more than 4095 bytes in one path"),
        ),
        (
            "cd ..; rm -r \"$TERCA_ARTIFACTS_DIR\"; ln -s /etc \"$TERCA_ARTIFACTS_DIR\"".to_owned(),
            None,
            Some("not a directory any more"),
        ),
        ("echo ok > small".to_owned(), Some("small"), None),
    ] {
        let project = project()
            .agent(&format!(
                "touch out.txt; cd \"$TERCA_ARTIFACTS_DIR\"; {script}"
            ))
            .file(
                "task/eval.terca.yaml",
                "prompt: Do it.\ntests: [fileExists: out.txt]\n",
            );
        project.terca(&["--format", "plain"]);
        let trial = project.only_trial();
        assert_eq!(trial["status"], "passed", "{script}: {trial}");
        if let Some(name) = kept {
            assert_eq!(
                project
                    .trial_file(&format!("artifacts/agent/{name}"))
                    .trim(),
                "ok",
                "{script}"
            );
        }
        let notes = trial["notes"].as_array().cloned().unwrap_or_default();
        let notes: Vec<&str> = notes.iter().filter_map(Value::as_str).collect();
        match told {
            Some(words) => assert!(
                notes
                    .iter()
                    .any(|note| note.contains(words) && note.len() < 300),
                "{script}: {notes:?}"
            ),
            None => assert_eq!(notes, Vec::<&str>::new(), "{script}"),
        }
    }
}

/// An empty name of a model is none: an agent would be started with `--model ''`.
#[test]
fn an_empty_variable_names_no_model_and_no_program() {
    let suite = "environments:\n  - name: e\n    agent: {name: gemini-cli, program: '${OLD:-}'}\n    model: '${SIZE:-}'\n\
                 evals:\n  - {name: task, prompt: Do it., tests: [fileExists: x]}\n";
    let project = project().file("terca.yaml", suite).env("SIZE", "");
    let plan = project.terca(&["check"]);
    assert!(
        plan.stdout.contains("gemini-cli  the agent's own model"),
        "{}",
        plan.stdout
    );
    assert!(!plan.stdout.contains("its program"), "{}", plan.stdout);
    let outcome = project.terca(&["check", "--model", ""]);
    assert_eq!(outcome.status, 2, "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("--model: the name is empty"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_model_of_the_command_line_needs_no_variable_of_the_suites() {
    let suite = "environments:\n  - {name: e, agent: gemini-cli, model: '${NOT_SET}'}\n\
                 evals:\n  - {name: task, prompt: Do it., tests: [fileExists: x]}\n";
    let project = project().file("terca.yaml", suite);
    assert_eq!(project.terca(&["check"]).status, 2);
    let outcome = project.terca(&["check", "--model", "mine"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("gemini-cli  mine"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_trial_is_found_by_its_id_and_a_plan_is_a_document() {
    let project = crate::common::project().file(
        "terca.yaml",
        "environments: [{name: e, agent: nop}]\nrepetitions: 2\nevals:\n  - {name: one, prompt: x, tests: [{fileExists: terca}]}\n  \
         - {name: two, prompt: x, tests: [{fileExists: terca}]}\n",
    );
    let outcome = project.terca(&["--dry-run", "--format", "json", "--seed", "3"]);
    let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(plan["seed"], 3);
    let trials = plan["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    project.terca(&[]).expect_status(1);
    for trial in trials {
        let id = trial["id"].to_string();
        let run = project.run_dir().file_name().unwrap().to_owned();
        let shown = project.terca(&["show", &run, &id]).expect_status(0);
        let dir = trial["dir"].as_str().unwrap();
        assert!(shown.stdout.contains(dir), "{dir}: {}", shown.stdout);
    }
}
