//! The configuration means what was written: nothing of it reaches a trial that it was not written for, and nothing
//! is left out in silence.

use crate::common::project;
use serde_json::{Value, json};
use terca_report::html::unpacked;
use terca_testkit::{Project, recorded_streams, stand_ins};

const EVAL: (&str, &str) = (
    "fib/eval.terca.yaml",
    "prompt: play success\nallowWarnings: no-tests\n",
);

/// A suite with one eval, and the stand-in for Gemini CLI on `PATH`.
fn suite(text: &str) -> Project {
    let path = std::env::var("PATH").unwrap_or_default();
    project()
        .env("PATH", &format!("{}:{path}", stand_ins()))
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .file(
            "terca.yaml",
            format!(
                "env: {{TERCA_TEST_STREAMS: '{}'}}\n{text}",
                recorded_streams()
            ),
        )
        .file(EVAL.0, EVAL.1)
}

/// The document `run.json` of the only run.
fn run_file(project: &Project) -> Value {
    let text = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The plan of `terca check`, with one space between words.
fn checked(project: &Project, args: &[&str]) -> String {
    let outcome = project.terca(&[&["check"], args].concat()).expect_status(0);
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn another_agent_is_not_given_the_model_and_config_of_the_first() {
    let project = suite(
        "environments:\n  - name: first\n    agent: claude-code\n    model: claude-sonnet-4-5\n    \
         config: {permissions: {deny: [WebSearch]}}\n\
         experiments:\n  - name: control\n  - {name: other, agent: gemini-cli}\n  \
         - {name: own, agent: gemini-cli, model: gemini-3-pro, config: {general: {vimMode: true}}}\n  \
         - {name: alias, agent: claude}\n",
    );
    let plan = checked(&project, &[]);
    for said in [
        "first.control claude-code claude-sonnet-4-5 first.other",
        "other gemini-cli the agent's own model without effect: the environment's `model` and `config`, written for \
         claude-code first.own",
        "own gemini-cli gemini-3-pro first.alias",
    ] {
        assert!(plan.contains(said), "{said}\n{plan}");
    }
    assert!(
        plan.ends_with("first.alias claude-code claude-sonnet-4-5"),
        "the same agent under another name: {plan}"
    );
    for (experiment, model, vim) in [
        ("other", None, None),
        ("own", Some("gemini-3-pro"), Some(true)),
    ] {
        project.terca(&["run", "-x", experiment]).expect_status(0);
        let arguments = project.trial_file("workspace/argv.txt");
        assert_eq!(
            arguments
                .lines()
                .skip_while(|line| *line != "--model")
                .nth(1),
            model,
            "{arguments}"
        );
        let settings: Value =
            serde_json::from_str(&project.trial_file("workspace/settings.json")).unwrap();
        assert_eq!(settings["general"]["vimMode"].as_bool(), vim, "{settings}");
        assert_eq!(settings["permissions"], Value::Null);
        let variant = &run_file(&project)["cases"][0]["variant"];
        assert_eq!(variant["model"], json!(model));
        assert_eq!(
            variant["config"],
            vim.map_or(Value::Null, |vim| json!({"general": {"vimMode": vim}}))
        );
    }
}

#[test]
fn an_agent_of_the_command_line_is_not_given_the_settings_of_the_suites() {
    let project = suite(
        "environments:\n  - {name: first, agent: claude-code, model: claude-sonnet-4-5, config: {a: 1}}\n\
         experiments:\n  - name: control\n  - {name: larger, model: claude-opus-4-8}\n",
    );
    let plan = checked(&project, &["--agent", "gemini"]);
    for said in [
        "control gemini-cli the agent's own model without effect: the environment's `model` and `config`, written for \
         claude-code",
        "without effect: the experiment's `model`, written for claude-code",
    ] {
        assert!(plan.contains(said), "{said}\n{plan}");
    }
    let plan = checked(&project, &["--agent", "claude"]);
    assert!(!plan.contains("not used"), "{plan}");
    project
        .terca(&["run", "-x", "larger", "--agent", "gemini"])
        .expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(!arguments.contains("--model"), "{arguments}");
}

#[test]
fn a_model_of_the_command_line_is_that_of_every_variant() {
    let project = suite(
        "environments:\n  - {name: first, agent: claude-code, model: claude-sonnet-4-5}\n\
         experiments:\n  - name: control\n  - {name: larger, model: claude-opus-4-8, preamble: Be brief.}\n",
    );
    let args = ["--agent", "gemini", "--model", "gemini-3-pro"];
    let plan = checked(&project, &args);
    assert_eq!(plan.matches("gemini-cli gemini-3-pro").count(), 2, "{plan}");
    assert!(!plan.contains("not used"), "{plan}");
    project
        .terca(&[&["run", "-x", "larger"], &args[..]].concat())
        .expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(arguments.contains("--model\ngemini-3-pro"), "{arguments}");
    assert_eq!(
        run_file(&project)["command"]["selection"]["model"],
        "gemini-3-pro"
    );
}

#[test]
fn settings_beside_no_agent_are_for_any() {
    let project = suite("environments: [{name: any, model: gemini-3-pro}]\n");
    project
        .terca(&["run", "--agent", "gemini"])
        .expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(arguments.contains("--model\ngemini-3-pro"), "{arguments}");
}

/// A suite whose levels all have something before the agent and around the prompt.
fn levels(environment: &str, experiment: &str, eval: &str) -> Project {
    let adds = |who: &str| {
        format!(
            "before: [{{command: \"echo {who} >> order.txt\"}}]\n    preamble: {who} before\n    postamble: {who} \
             after\n"
        )
    };
    let written = |text: &str, who: &str| match text {
        "" => format!("    {}", adds(who)),
        other => format!("    {other}\n"),
    };
    let eval_before = match eval {
        "" => "before: [{command: \"echo eval >> order.txt\"}]",
        other => other,
    };
    project()
        .file(
            "terca.yaml",
            format!(
                "before: [{{command: \"echo suite >> order.txt\"}}]\npreamble: suite before\npostamble: suite after\n\
                 environments:\n  - name: e\n    agent: nop\n{}experiments:\n  - name: x\n{}",
                written(environment, "environment"),
                written(experiment, "experiment"),
            ),
        )
        .file("fib/eval.terca.yaml", format!("prompt: go\n{eval_before}\nallowWarnings: no-tests\n"))
}

#[test]
fn null_drops_what_the_levels_around_it_add() {
    let all = "before: null, preamble: null, postamble: null";
    let nothing = all.replace(", ", "\n    ");
    for (environment, experiment, eval, order, prompt) in [
        (
            "",
            "",
            "",
            "suite eval environment experiment",
            "suite before|environment before|experiment before|go|experiment after|environment after|suite after",
        ),
        ("", nothing.as_str(), "", "eval", "go"),
        (
            nothing.as_str(),
            "",
            "",
            "eval experiment",
            "experiment before|go|experiment after",
        ),
        ("", nothing.as_str(), "before: null", "", "go"),
        (
            "",
            "",
            "before: null",
            "environment experiment",
            "suite before|environment before|experiment before|go|experiment after|environment after|suite after",
        ),
        (
            "", "preamble: null", "", "suite eval environment", "go|environment after|suite after",
        ),
    ] {
        let project = levels(environment, experiment, eval);
        project.terca(&["run"]).expect_status(0);
        let ran = std::fs::read_to_string(project.trial_path("workspace/order.txt"));
        let ran = ran.unwrap_or_default();
        let ran: Vec<&str> = ran.split_whitespace().collect();
        let title =
            format!("environment {environment:?}, experiment {experiment:?}, eval {eval:?}");
        assert_eq!(ran.join(" "), order, "{title}");
        let asked = run_file(&project)["cases"][0]["prompt"].clone();
        let asked = asked.as_str().unwrap().replace("\n\n", "|");
        assert_eq!(asked, prompt, "{title}");
    }
}

#[test]
fn an_empty_list_or_text_that_adds_nothing_is_pointed_out() {
    let project = levels("", "before: []\n    preamble: ''", "");
    let outcome = project.terca(&["check"]).expect_status(0);
    for said in [
        "warning[doubtful-value]: `before` is empty and changes nothing",
        "warning[doubtful-value]: `preamble` is empty and changes nothing",
        "`before: null` drops the values of the outer levels",
    ] {
        assert!(outcome.stderr.contains(said), "{said}\n{}", outcome.stderr);
    }
}

#[test]
fn variables_reach_models_settings_paths_and_files() {
    let project = suite(
        "environments:\n  - name: g\n    agent: gemini\n    model: '${MODEL:-${OTHER:-gemini-3-pro}}'\n    \
         rules: '${RULES}/rules.md'\n    skills: ${RULES}/skill\n    \
         config: {tools: {discoveryCommand: 'fetch --key ${KEY}', list: ['$${KEY}', '${NOPE:-x}']}}\n    \
         before:\n      - files: {key.txt: 'key=${KEY} text=$${KEY}', n.txt: 5}\n      - copy: {'${RULES}/rules.md': copied.md}\n",
    )
    .env("RULES", "texts")
    .env("OTHER", "gemini-3-flash")
    .env("KEY", "s3cret-key-of-the-caller")
    .file("texts/rules.md", "Be brief.\n")
    .file("texts/skill/SKILL.md", "---\nname: skill\ndescription: x\n---\n");
    project.terca(&["run"]).expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(arguments.contains("--model\ngemini-3-flash"), "{arguments}");
    assert_eq!(project.trial_file("workspace/GEMINI.md"), "Be brief.\n");
    assert_eq!(project.trial_file("workspace/copied.md"), "Be brief.\n");
    assert!(
        project
            .trial_path("workspace/.gemini/skills/skill/SKILL.md")
            .exists()
    );
    assert_eq!(
        project.trial_file("workspace/key.txt"),
        "key=s3cret-key-of-the-caller text=${KEY}"
    );
    let settings: Value =
        serde_json::from_str(&project.trial_file("workspace/settings.json")).unwrap();
    assert_eq!(
        settings["tools"],
        json!({"discoveryCommand": "fetch --key s3cret-key-of-the-caller", "list": ["${KEY}", "x"]})
    );

    let run = project.run_dir();
    let kept = ["run.json", "results.json", "events.jsonl"].map(|name| {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        assert!(!text.contains("s3cret-key"), "{name} has the secret");
        text
    });
    assert!(kept[0].contains("fetch --key ***"), "{}", kept[0]);
    let artifact = project.trial_file("artifacts/settings.json");
    assert!(!artifact.contains("s3cret-key"), "{artifact}");
    assert_eq!(
        project.only_trial()["model"],
        "gemini-3-flash",
        "a model's name is what results are about"
    );
}

#[test]
fn a_secret_that_changes_does_not_change_what_was_tested_and_a_model_does() {
    let written = "environments:\n  - name: g\n    agent: gemini\n    model: '${MODEL}'\n    \
                   config: {key: '${KEY}'}\n    before: [{files: {key.txt: '${KEY}'}}]\n";
    let fingerprint = |key: &str, model: &str| {
        let project = suite(written).env("KEY", key).env("MODEL", model);
        project.terca(&["run"]).expect_status(0);
        run_file(&project)["fingerprints"][0]["fingerprint"].clone()
    };
    let first = fingerprint("the-first-key", "gemini-3-pro");
    let second = fingerprint("another-key-altogether", "gemini-3-flash");
    for (part, is_same) in [("config", true), ("set-up", true), ("model", false)] {
        assert_eq!(first[part] == second[part], is_same, "{part}");
    }
}

#[test]
fn a_variable_that_is_not_set_is_an_error_with_its_place_and_the_escape() {
    for (written, place, name) in [
        ("    model: '${NOPE}'\n", "terca.yaml:5:12", "NOPE"),
        (
            "    config:\n      deep:\n        - x\n        - '${NOPE}'\n",
            "terca.yaml:8:11",
            "NOPE",
        ),
        ("    rules: '${NOPE}/rules.md'\n", "terca.yaml:5:12", "NOPE"),
        ("    skills: ['${NOPE}/skill']\n", "terca.yaml:5:14", "NOPE"),
        (
            "    before: [{files: {a.js: 'x = `${user.name}`'}}]\n",
            "terca.yaml:5:29",
            "user.name",
        ),
        (
            "    before: [{copy: {'${NOPE}': a}}]\n", "terca.yaml:5:22", "NOPE",
        ),
    ] {
        let project = suite(&format!(
            "environments:\n  - name: g\n    agent: gemini\n{written}"
        ));
        let outcome = project.terca(&["check"]).expect_status(2);
        for said in [
            format!("the variable `{name}` is not set"),
            place.to_owned(),
            format!("`$${{{name}}}`"),
        ] {
            assert!(
                outcome.stderr.contains(&said),
                "{written}: {said}\n{}",
                outcome.stderr
            );
        }
    }
}

/// The names of the evals that a selection comes to.
fn selected(project: &Project, patterns: &[&str]) -> Vec<String> {
    let mut args = vec!["run", "--format", "plain", "--dry-run"];
    for pattern in patterns {
        args.extend(["-t", pattern]);
    }
    let outcome = project.terca(&args).expect_status(0);
    let mut folders: Vec<String> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1)?.split('/').next())
        .map(str::to_owned)
        .collect();
    folders.sort();
    folders
}

#[test]
fn directories_of_the_same_name_are_told_apart_by_their_paths() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: nop}]\n",
        )
        .file(
            "js/fib/eval.terca.yaml",
            "prompt: go\ntags: [slow]\nallowWarnings: no-tests\n",
        )
        .file(
            "py/Fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .file(
            "002-two/eval.terca.yaml",
            "prompt: go\nname: Two Named\nallowWarnings: no-tests\n",
        )
        .file(
            "js/sort/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    project.terca(&["run"]).expect_status(0);
    let results = project.results();
    let names: Vec<(&str, &str)> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| {
            (
                trial["eval"].as_str().unwrap(),
                trial["dir"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("Two Named", "Two Named/default.default.01"),
            ("js/fib", "js-fib/default.default.01"),
            ("sort", "sort/default.default.01"),
            ("py/Fib", "py-Fib/default.default.01"),
        ]
    );
    let all = ["Two", "js-fib", "py-Fib", "sort"];
    for (patterns, expected) in [
        (&["js/fib"][..], &["js-fib"][..]),
        (&["fib"], &["js-fib"]),
        (&["./js/fib/"], &["js-fib"]),
        (&["js"], &["js-fib", "sort"]),
        (&["js/*"], &["js-fib", "sort"]),
        (&["002-two"], &["Two"]),
        (&["Two Named"], &["Two"]),
        (&["00*"], &["Two"]),
        (&["!sort"], &["Two", "js-fib", "py-Fib"]),
        (&["!js", "!002-two"], &["py-Fib"]),
        (&["!tag:slow"], &["Two", "py-Fib", "sort"]),
        (&["js,!sort"], &["js-fib"]),
        (&["*,!*ib"], &["Two", "sort"]),
        (&["!sort", "sort", "py/Fib"], &["py-Fib"]),
        (&["*"], &all),
    ] {
        assert_eq!(selected(&project, patterns), expected, "{patterns:?}");
    }
    for (patterns, said) in [
        (
            &["-t", "fibb"][..],
            "the evals are `Two Named` in 002-two, `js/fib`, `sort` in js/sort and `py/Fib`",
        ),
        (&["-t", "003"], "no eval matches `003`"),
        (&["-t", "!nope"], "no eval matches `nope`"),
        (&["-t", "sort,!js"], "the selection has no eval"),
        (&["-x", "!default"], "the selection has no experiment"),
    ] {
        let outcome = project
            .terca(&[&["check"], patterns].concat())
            .expect_status(2);
        assert!(
            outcome.stderr.contains(said),
            "{patterns:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_written_name_stays_and_the_other_directory_is_named_by_its_path() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: nop}]\nevals: [{name: fib, prompt: go, allowWarnings: no-tests}]\n",
        )
        .file("py/fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    let plan = checked(&project, &[]);
    assert!(plan.contains("evals fib 1 trial py/fib 1 trial"), "{plan}");
    let project = project.file(
        "py-fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    let outcome = project.terca(&["check"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("`py/fib` and `py-fib` would share a directory"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn names_that_differ_in_case_only_are_refused_with_both_places() {
    let nop = "environments: [{name: default, agent: nop}]\n";
    for (text, places, said) in [
        (
            "environments:\n  - {name: Aa, agent: nop}\n  - {name: aa, agent: nop}\nevals: [{name: a, prompt: b, allowWarnings: no-tests}]\n".to_owned(),
            ["terca.yaml:2:12", "terca.yaml:3:12"],
            "the environments `Aa` and `aa` differ in case only",
        ),
        (
            format!("{nop}experiments:\n  - name: with\n  - name: WITH\nevals: [{{name: a, prompt: b, allowWarnings: no-tests}}]\n"),
            ["terca.yaml:3:11", "terca.yaml:4:11"],
            "the experiments `with` and `WITH` differ in case only",
        ),
        (
            format!("{nop}evals:\n  - {{name: größe, prompt: b, allowWarnings: no-tests}}\n  - {{name: GRÖSSE, prompt: b, allowWarnings: no-tests}}\n  - {{name: GRÖßE, prompt: b, allowWarnings: no-tests}}\n"),
            ["terca.yaml:3:12", "terca.yaml:5:12"],
            "the evals `größe` and `GRÖßE` differ in case only",
        ),
    ] {
        let outcome = project().file("terca.yaml", text).terca(&["check"]).expect_status(2);
        assert!(outcome.stderr.contains(said), "{said}\n{}", outcome.stderr);
        // The second place is the one that is wrong; the first is in the same picture.
        assert!(outcome.stderr.contains(places[1]), "{}", outcome.stderr);
        let first_line = places[0].split(':').nth(1).unwrap();
        assert!(
            outcome.stderr.lines().any(|line| line.starts_with(&format!("{first_line} |"))),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn keys_for_others_an_empty_file_and_no_evals_are_right() {
    let eval = "x-owner: me\nprompt: go\nallowWarnings: no-tests\n";
    for (suite, args) in [
        (
            "x-shared: &shared {model: m}\nx-5: [a]\nenvironments: [{<<: *shared, name: e, agent: nop}]\n",
            &[][..],
        ),
        ("", &["--agent", "nop"]),
        ("# to do\n", &["--agent", "nop"]),
        ("environments: [{name: e, agent: nop}]\nevals:\n", &[]),
    ] {
        let project = project()
            .file("terca.yaml", suite)
            .file("fib/eval.terca.yaml", eval);
        let plan = checked(&project, args);
        assert!(plan.contains("fib 1 trial"), "{suite:?}: {plan}");
    }
    let outcome = project()
        .file("terca.yaml", "")
        .terca(&["check"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("the suite has no evals"),
        "{}",
        outcome.stderr
    );
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: e, agent: nop, x-owner: me}]\n",
        )
        .file("fib/eval.terca.yaml", eval);
    let outcome = project.terca(&["check"]).expect_status(2);
    assert!(
        outcome.stderr.contains("unknown key `x-owner`"),
        "at the top alone: {}",
        outcome.stderr
    );
}

#[test]
fn doubtful_values_are_pointed_out() {
    let project = suite(
        "environments:\n  - name: g\n    agent: gemini\n    env: {HOME: /somewhere}\n    mcpServers:\n      \
         a: {command: 'npx -y docs-server'}\n      b: {command: npx, args: [-y, docs-server]}\n    \
         config: {mcpServers: {c: {command: x}}}\n",
    );
    let outcome = project.terca(&["check"]).expect_status(0);
    for said in [
        "`HOME` replaces a private directory of each trial",
        "no program is called `npx -y docs-server`",
        "write `command: npx` and `args: [\"-y\",\"docs-server\"]`",
        "MCP servers in `config` reach the agent, but Terca does not know them",
    ] {
        assert!(outcome.stderr.contains(said), "{said}\n{}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("warning[doubtful-value]").count(), 3);
    let program = "dir with spaces/server";
    let project = suite("").file(program, "");
    let path = project.path(program);
    let project = project.file(
        "terca.yaml",
        format!("environments:\n  - name: g\n    agent: gemini\n    mcpServers: {{a: {{command: '{path}'}}}}\n"),
    );
    let outcome = project.terca(&["check"]).expect_status(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
}

/// The variants that the latest run says are the same as the baseline.
fn identical_to_baseline(project: &Project) -> Value {
    let journal = std::fs::read_to_string(project.run_dir().join("events.jsonl")).unwrap();
    let started: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    assert_eq!(started["event"], "runStarted");
    started["identicalToBaseline"].clone()
}

#[test]
fn an_experiment_that_changes_nothing_is_pointed_out() {
    let suite = "environments:\n  - {name: one, agent: nop}\n  - {name: two, agent: nop, preamble: Be brief.}\n\
                 experiments:\n  - {name: control}\n  - {name: empty, description: nothing}\n  - {name: named, env: {A: b}}\n";
    let project = project().file("terca.yaml", suite).file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    let said = "the experiment `empty` changes nothing: it is the same as the baseline `control`";
    for args in [&["check"][..], &["run"], &["run", "-e", "one"]] {
        let outcome = project.terca(args).expect_status(0);
        assert!(
            outcome.stderr.contains("terca.yaml:6:"),
            "{args:?}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains(said),
            "{args:?}: {}",
            outcome.stderr
        );
        assert!(
            !outcome.stderr.contains("`named` changes"),
            "{}",
            outcome.stderr
        );
    }
    // The run says it, for all who read it later.
    project.terca(&["run"]).expect_status(0);
    assert_eq!(
        identical_to_baseline(&project),
        json!([["one", "empty"], ["two", "empty"]])
    );
    project
        .terca(&["run", "--shard", "2/2", "-e", "two"])
        .expect_status(0);
    assert_eq!(identical_to_baseline(&project), json!([["two", "empty"]]));
    for args in [
        &["run", "-x", "!empty"][..],
        &["run", "--aa"],
        &["validate"],
    ] {
        project.terca(args);
        assert_eq!(identical_to_baseline(&project), Value::Null, "{args:?}");
    }
    for args in [
        &["check", "-x", "!empty"][..],
        &["check", "-x", "empty"],
        &["run", "--aa"],
        &["validate"],
    ] {
        let outcome = project.terca(args);
        assert!(
            !outcome.stderr.contains("changes nothing"),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    let project = project.file(
        "terca.yaml",
        format!("before: [{{command: 'echo $TERCA_EXPERIMENT > name.txt'}}]\n{suite}"),
    );
    let outcome = project.terca(&["check"]).expect_status(0);
    assert!(
        !outcome.stderr.contains("changes nothing"),
        "{}",
        outcome.stderr
    );
    let project = project.file(
        "terca.yaml",
        "environments:\n  - {name: one, agent: nop, model: m}\n  - {name: two, agent: nop}\n\
         experiments:\n  - {name: control}\n  - {name: model, model: m}\n",
    );
    let outcome = project.terca(&["check"]).expect_status(0);
    assert!(
        outcome
            .stderr
            .contains("the experiment `model` changes nothing in `one`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn descriptions_are_where_names_are() {
    let project = project()
        .file(
            "terca.yaml",
            "description: ABOUT-SUITE\nenvironments: [{name: e, agent: nop, description: ABOUT-ENVIRONMENT}]\n\
             experiments:\n  - {name: control}\n  - {name: x, preamble: Be brief., description: ABOUT-EXPERIMENT}\n",
        )
        .file(
            "fib/eval.terca.yaml",
            "description: |\n  ABOUT-EVAL <b>\n  in two lines\nprompt: go\n\
             tests: [{name: there, description: ABOUT-TEST, fileExists: fib.js}]\n",
        );
    let plan = checked(&project, &[]);
    for said in [
        "ABOUT-SUITE",
        "fib 2 trials ABOUT-EVAL <b> in two lines",
        "environments e ABOUT-ENVIRONMENT",
        "experiments x ABOUT-EXPERIMENT",
    ] {
        assert!(plan.contains(said), "{said}\n{plan}");
    }
    project.terca(&["run"]).expect_status(1);
    let descriptions = json!({
        "suite": "ABOUT-SUITE",
        "evals": {"fib": "ABOUT-EVAL <b>\nin two lines"},
        "environments": {"e": "ABOUT-ENVIRONMENT"},
        "experiments": {"x": "ABOUT-EXPERIMENT"},
        "tests": {"fib": {"there": "ABOUT-TEST"}},
    });
    assert_eq!(project.results()["descriptions"], descriptions);
    assert_eq!(project.results_of_fold()["descriptions"], descriptions);
    let file = run_file(&project);
    let case = &file["cases"][1];
    assert_eq!(file["description"], "ABOUT-SUITE");
    assert_eq!(case["description"], "ABOUT-EVAL <b>\nin two lines\n");
    assert_eq!(
        case["variant"]["environmentDescription"],
        "ABOUT-ENVIRONMENT"
    );
    assert_eq!(case["variant"]["experimentDescription"], "ABOUT-EXPERIMENT");
    assert_eq!(case["tests"][0]["description"], "ABOUT-TEST");

    project
        .terca(&[
            "report", "--html", "r.html", "--markdown", "r.md", "--junit", "r.xml",
        ])
        .expect_status(0);
    for (name, eval) in [
        ("r.html", "ABOUT-EVAL &lt;b&gt;"),
        ("r.md", "ABOUT-EVAL \\<b\\> in two lines"),
        ("r.xml", "ABOUT-EVAL &lt;b&gt;"),
    ] {
        let text = unpacked(&project.read(name));
        for said in [
            "ABOUT-SUITE", eval, "ABOUT-ENVIRONMENT", "ABOUT-EXPERIMENT", "ABOUT-TEST",
        ] {
            assert!(text.contains(said), "{name} has no {said}:\n{text}");
        }
        assert!(!text.contains("ABOUT-EVAL <b>"), "{name}");
    }
}

#[test]
fn a_description_is_no_part_of_what_is_tested_and_has_no_secrets() {
    let run = |description: &str| {
        let project = project()
            .env("KEY", "s3cret-key-of-the-caller")
            .file(
                "terca.yaml",
                "env: {KEY: '${KEY}'}\nenvironments: [{name: e, agent: nop}]\n",
            )
            .file(
                "fib/eval.terca.yaml",
                format!(
                    "description: {description}\nprompt: go\n\
                     tests: [{{name: t, description: {description}, fileExists: fib.js}}]\n"
                ),
            );
        project.terca(&["run"]).expect_status(1);
        project
    };
    let first = run("has s3cret-key-of-the-caller in it");
    for name in ["results.json", "events.jsonl", "run.json"] {
        let text = std::fs::read_to_string(first.run_dir().join(name)).unwrap();
        assert!(
            text.contains("has *** in it") && !text.contains("s3cret-key"),
            "{name}: {text}"
        );
    }
    let second = run("says something else");
    assert_eq!(
        run_file(&first)["fingerprints"],
        run_file(&second)["fingerprints"]
    );
}

#[test]
fn a_run_of_fifteen_variants_and_eight_evals_ends_readably() {
    let mut suite = "environments:\n".to_owned();
    for agent in ["one", "two", "three"] {
        suite += &format!(
            "  - {{name: agent-{agent}, agent: {{name: command, command: 'true'}}, env: {{WHO: {agent}}}}}\n"
        );
    }
    suite += "experiments:\n  - {name: control}\n";
    for experiment in ["docs", "rules", "skill", "server"] {
        suite += &format!("  - {{name: with-{experiment}, preamble: Use the {experiment}.}}\n");
    }
    suite += "evals:\n";
    for eval in 1..=8 {
        suite +=
            &format!("  - {{name: eval-{eval}, prompt: go, tests: [{{fileExists: fib.js}}]}}\n");
    }
    let project = project().file("terca.yaml", suite);
    let end = project.terca(&["run", "-c", "8"]).expect_status(1).stdout;
    assert!(
        end.lines().count() <= 60,
        "{} lines:\n{end}",
        end.lines().count()
    );
    for said in [
        "120 trials: 0 passed",
        "agent-three.with-server",
        "`terca show",
        "has sentences on each of the 16 comparisons",
    ] {
        let words = end.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{said}\n{end}");
    }
    let whole = project.terca(&["show"]).expect_status(0).stdout;
    assert!(
        whole.lines().count() > end.lines().count() && whole.contains("eval-8"),
        "{whole}"
    );
    assert_eq!(whole.matches(" on these 8 evals (").count(), 16, "{whole}");
}
