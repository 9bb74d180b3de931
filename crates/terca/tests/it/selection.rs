//! Which trials a run consists of, and in which order.

use crate::common::project;
use terca_testkit::Project;

/// Four evals, two environments, two experiments.
fn matrix() -> Project {
    project()
        .file(
            "terca.yaml",
            "environments:\n  - {name: node, agent: nop}\n  - {name: deno, agent: nop}\n\
             experiments:\n  - name: plain\n  - name: with-rules\n",
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntags: [maths, slow]\nallowWarnings: no-tests\n",
        )
        .file(
            "graph-bfs/eval.terca.yaml",
            "prompt: go\ntags: [graphs]\nallowWarnings: no-tests\n",
        )
        .file(
            "graph-dfs/eval.terca.yaml",
            "prompt: go\ntags: [graphs, slow]\nallowWarnings: no-tests\n",
        )
        .file(
            "sort/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
}

/// The folders of the trials that would run, in the order in which they would.
fn dry_run(project: &Project, args: &[&str]) -> Vec<String> {
    let outcome = project
        .terca(&[&["--dry-run"], args].concat())
        .expect_status(0);
    outcome
        .stdout
        .lines()
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn evals(project: &Project, args: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = dry_run(project, args)
        .iter()
        .map(|dir| {
            dir.split_once('/')
                .map_or(dir.as_str(), |(eval, _)| eval)
                .to_owned()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn evals_by_name_glob_list_and_tag() {
    let project = matrix();
    for (args, expected) in [
        (&[][..], &["fib", "graph-bfs", "graph-dfs", "sort"][..]),
        (&["-t", "fib"], &["fib"]),
        (&["--eval", "fib"], &["fib"]),
        // The older name.
        (&["--test", "fib"], &["fib"]),
        (&["-t", "fib,sort"], &["fib", "sort"]),
        (&["-t", "fib", "-t", "sort"], &["fib", "sort"]),
        (&["-t", " fib , sort "], &["fib", "sort"]),
        (&["-t", "graph-*"], &["graph-bfs", "graph-dfs"]),
        (&["-t", "graph-?fs"], &["graph-bfs", "graph-dfs"]),
        (&["-t", "{fib,sort}"], &["fib", "sort"]),
        (&["-t", "*"], &["fib", "graph-bfs", "graph-dfs", "sort"]),
        (&["-t", "tag:slow"], &["fib", "graph-dfs"]),
        (
            &["-t", "tag:graphs,sort"],
            &["graph-bfs", "graph-dfs", "sort"],
        ),
        (&["-t", "tag:s*"], &["fib", "graph-dfs"]),
        (&["-t", "fib", "-t", "tag:maths"], &["fib"]),
        // A part of a name, and words without a flag.
        (&["-t", "graph"], &["graph-bfs", "graph-dfs"]),
        (&["fib"], &["fib"]),
        (&["graph"], &["graph-bfs", "graph-dfs"]),
        (&["bfs", "sor"], &["graph-bfs", "sort"]),
        (&["*-dfs"], &["graph-dfs"]),
        (&["!graph"], &["fib", "sort"]),
        (&["graph", "!dfs"], &["graph-bfs"]),
        (&["tag:slow", "-t", "sort"], &["fib", "graph-dfs", "sort"]),
    ] {
        assert_eq!(evals(&project, args), expected, "{args:?}");
    }
}

/// A suite whose evals are in directories, one below another.
fn nested() -> Project {
    project()
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: nop}]\n",
        )
        .file(
            "js/001-slug/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .file(
            "js/002-retry/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .file(
            "py/001-slug/eval.terca.yaml",
            "name: python-slug\nprompt: go\nallowWarnings: no-tests\n",
        )
        .file(
            "py/list/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
}

#[test]
fn evals_by_parts_of_names_paths_and_directories() {
    let project = nested();
    for (word, expected) in [
        ("slug", &["001-slug", "python-slug"][..]),
        ("js", &["001-slug", "002-retry"]),
        ("js/", &["001-slug", "002-retry"]),
        ("py/001", &["python-slug"]),
        ("py/001-slug", &["python-slug"]),
        ("./py", &["list", "python-slug"]),
        ("js/*", &["001-slug", "002-retry"]),
        ("retry", &["002-retry"]),
    ] {
        assert_eq!(evals(&project, &[word]), expected, "{word}");
        // `terca run`, and the other commands that take evals.
        let run = project.terca(&["run", "--dry-run", word]).expect_status(0);
        for eval in expected {
            assert!(run.stdout.contains(eval), "{word}: {}", run.stdout);
        }
        let check = project.terca(&["check", word]).expect_status(0).stdout;
        let plan = project.terca(&["plan", word]).expect_status(0).stdout;
        for shown in [check, plan] {
            let number = expected.len().to_string();
            assert!(shown.contains(&number), "{word}: {shown}");
        }
    }
    let nothing = project.terca(&["run", "slgu"]).expect_status(2).stderr;
    for phrase in [
        "no eval matches `slgu`", "`002-retry`", "`python-slug` in py/001-slug",
    ] {
        assert!(nothing.contains(phrase), "{phrase}: {nothing}");
    }
}

/// A run costs money: a command that is mistyped is not taken for a part of an eval's name.
#[test]
fn a_word_that_looks_like_a_command_runs_nothing() {
    let project = nested().file(
        "js/003-versions-of-tests/eval.terca.yaml",
        "prompt: go\nallowWarnings: no-tests\n",
    );
    for (word, tip) in [
        ("lst", "did you mean `terca list`?"),
        ("chek", "did you mean `terca check`?"),
        ("version", "`terca --version`"),
        ("test", "`terca validate`"),
        ("new", "`terca create-eval`"),
    ] {
        let refused = project.terca(&[word]).expect_status(2).stderr;
        assert!(
            refused.contains(tip) && refused.contains(&format!("`terca run {word}`")),
            "{word}: {refused}"
        );
        assert!(!project.path(".terca").exists(), "{word}");
    }
    // With `run` before it, it is an eval.
    assert_eq!(
        evals(&project, &["versions"]),
        ["003-versions-of-tests"],
        "not like any command"
    );
    let run = project
        .terca(&["run", "--dry-run", "test"])
        .expect_status(0);
    assert!(
        run.stdout.contains("003-versions-of-tests"),
        "{}",
        run.stdout
    );
    // A command is a command, also where an eval has its name.
    let list = project.terca(&["list"]).expect_status(0);
    assert!(list.stderr.contains("no runs yet"), "{}", list.stderr);
}

#[test]
fn words_after_commands_that_take_a_run() {
    let project = nested();
    project.terca(&["--format", "plain"]).expect_status(0);
    let graded = project.terca(&["regrade", "slug"]).expect_status(0);
    assert!(
        graded.stdout.contains("grading 2: 2 trials"),
        "{}",
        graded.stdout
    );
    let graded = project.terca(&["regrade", "1", "retry"]).expect_status(0);
    assert!(
        graded.stdout.contains("grading 3: 1 trial,"),
        "{}",
        graded.stdout
    );
    let unknown = project.terca(&["regrade", "9"]).expect_status(2).stderr;
    assert!(
        unknown.contains("no-runs") || unknown.contains("unknown-run"),
        "{unknown}"
    );
    let validated = project.terca(&["validate", "retry", "--format", "plain"]);
    assert!(
        validated.stdout.contains("002-retry") && !validated.stdout.contains("slug"),
        "{}",
        validated.stdout
    );
}

#[test]
fn environments_and_experiments() {
    let project = matrix();
    for (args, expected) in [
        (
            &["-e", "node"][..],
            &["fib/node.plain.01", "fib/node.with-rules.01"][..],
        ),
        (
            &["-x", "plain"],
            &["fib/deno.plain.01", "fib/node.plain.01"],
        ),
        (&["-e", "n*", "-x", "with-*"], &["fib/node.with-rules.01"]),
        (
            &["-e", "node,deno", "-x", "plain"],
            &["fib/deno.plain.01", "fib/node.plain.01"],
        ),
        (
            &["-e", "node", "-e", "deno", "-x", "plain"],
            &["fib/deno.plain.01", "fib/node.plain.01"],
        ),
    ] {
        let args = [&["-t", "fib"], args].concat();
        assert_eq!(sorted(dry_run(&project, &args)), expected, "{args:?}");
    }
}

#[test]
fn a_selection_that_matches_nothing_lists_what_there_is() {
    let project = matrix();
    for (args, phrases) in [
        (
            &["-t", "fbi"][..],
            &["fbi", "fib", "graph-bfs", "graph-dfs", "sort"][..],
        ),
        (&["-t", "fib,tree"], &["tree", "sort"]),
        (&["-t", "tree-*"], &["tree-*", "sort"]),
        (&["-t", "tag:fast"], &["fast", "slow", "graphs"]),
        (&["-t", ""], &["empty"]),
        (&["-x", "without"], &["without", "plain", "with-rules"]),
        (&["-e", "bun"], &["bun", "node", "deno"]),
    ] {
        for command in ["run", "check"] {
            let outcome = project.terca(&[&[command], args].concat()).expect_status(2);
            for phrase in phrases {
                assert!(
                    outcome.stderr.contains(phrase),
                    "{args:?}: {phrase}: {}",
                    outcome.stderr
                );
            }
            assert_eq!(outcome.stdout, "", "{args:?}");
        }
        assert!(!project.path(".terca").exists(), "{args:?}");
    }
}

#[test]
fn repetitions_of_an_eval_replace_those_of_the_suite() {
    let project = project()
        .file(
            "terca.yaml",
            "repetitions: 3\nenvironments: [{name: default, agent: nop}]\n",
        )
        .file(
            "often/eval.terca.yaml",
            "prompt: go\nrepetitions: 4\nallowWarnings: no-tests\n",
        )
        .file(
            "usual/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    for (args, often, usual) in [
        (&[][..], 4, 3),
        (&["-n", "2"], 2, 2),
        (&["--repetitions", "12"], 12, 12),
    ] {
        let trials = sorted(dry_run(&project, args));
        let expected = (1..=often)
            .map(|n| format!("often/default.default.{n:02}"))
            .chain((1..=usual).map(|n| format!("usual/default.default.{n:02}")));
        assert_eq!(trials, sorted(expected.collect()), "{args:?}");
    }
}

#[test]
fn a_dry_run_and_a_check_run_nothing() {
    let project = project();
    let mark = project.home().join("mark");
    let project = project.agent(&format!("touch {mark}")).file(
        "fib/eval.terca.yaml",
        format!("prompt: go\nbefore: [{{command: touch {mark}}}]\nallowWarnings: no-tests\n"),
    );
    for args in [&["--dry-run"][..], &["run", "--dry-run"], &["check"]] {
        let outcome = project.terca(args).expect_status(0);
        assert!(
            outcome.stdout.contains("fib"),
            "{args:?}: {}",
            outcome.stdout
        );
        assert_eq!(outcome.stderr, "", "{args:?}");
        assert!(
            !mark.exists() && !project.path(".terca").exists(),
            "{args:?} ran something"
        );
    }
    project.terca(&[]).expect_status(0);
    assert!(mark.exists(), "the mark is what a real run leaves");
}

#[test]
fn a_check_prints_the_plan() {
    let plan = matrix()
        .terca(&["check", "-n", "2", "-t", "fib,sort"])
        .expect_status(0)
        .stdout;
    insta::assert_snapshot!("check", plan);
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let project = matrix();
    let first = dry_run(&project, &["-n", "3", "--seed", "1"]);
    assert_eq!(first.len(), 48);
    assert_eq!(dry_run(&project, &["-n", "3", "--seed", "1"]), first);
    let other = dry_run(&project, &["-n", "3", "--seed", "2"]);
    assert_ne!(other, first, "another seed is another order");
    assert_eq!(sorted(other), sorted(first.clone()), "of the same trials");

    // The run itself starts them in that order, and says with which seed.
    project
        .terca(&["-n", "3", "--seed", "1", "-c", "1"])
        .expect_status(0);
    let results = project.results();
    assert_eq!(results["seed"], 1);
    let dir = |id: u64| {
        results["trials"][id as usize - 1]["dir"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let events = project.journal();
    let started: Vec<String> = events
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|event| event.to_string().contains("trialStarted"))
        .map(|event| dir(event["trial"].as_u64().unwrap_or_default()))
        .collect();
    assert_eq!(started, first);
}

#[test]
fn the_seed_of_a_run_without_one_is_recorded_and_repeats_it() {
    let project = matrix();
    project.terca(&["-n", "3"]).expect_status(0);
    let seed = project.results()["seed"].as_u64().unwrap();
    let plan: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(project.run_dir().join("run.json")).unwrap())
            .unwrap();
    assert_eq!(plan["seed"].as_u64(), Some(seed));
    let again = dry_run(&project, &["-n", "3", "--seed", &seed.to_string()]);
    let order = plan["order"].as_array().unwrap();
    let recorded: Vec<&str> = order
        .iter()
        .map(|id| {
            plan["trials"][id.as_u64().unwrap() as usize - 1]["dir"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert_eq!(again, recorded);
}

#[test]
fn another_agent_for_every_variant() {
    let project = project()
        .agent("exit 1")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: done}]\n",
        )
        .file("fib/_solution/done", "");
    for (agent, status, verdict) in [("nop", 1, "failed"), ("oracle", 0, "passed")] {
        project.terca(&["--agent", agent]).expect_status(status);
        let trial = project.only_trial();
        assert_eq!(trial["agent"], agent);
        assert_eq!(trial["status"], verdict, "{agent}");
    }
    let plan = project
        .terca(&["check", "--agent", "oracle"])
        .expect_status(0)
        .stdout;
    assert!(
        plan.contains("oracle") && !plan.contains("command"),
        "{plan}"
    );
}

/// The names of a run's environments, as its results have them.
fn environments(project: &Project) -> Vec<String> {
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let mut names: Vec<String> = trials
        .iter()
        .map(|trial| trial["environment"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn an_environment_is_called_by_the_agent_that_runs() {
    let project = project()
        .file(
            "terca.yaml",
            "environments:\n  - {name: gemini-cli, agent: gemini-cli, before: [{command: 'echo $TERCA_ENVIRONMENT > told'}]}\n\
             experiments: [{name: plain}, {name: with-rules}]\n",
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileContains: {path: told, text: gemini-cli}}]\n",
        )
        .file("fib/_solution/done", "");
    let outcome = project.terca(&["--agent", "oracle"]).expect_status(0);
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(
        shown.contains("oracle") && !shown.contains("gemini-cli"),
        "{shown}"
    );
    assert_eq!(environments(&project), ["oracle"]);
    // The environment is still chosen by the name that the suite gives it.
    project
        .terca(&["--agent", "nop", "-e", "gemini-cli"])
        .expect_status(0);
    assert_eq!(environments(&project), ["nop"]);
    // And by the name that tables and results have.
    project
        .terca(&["--agent", "nop", "-e", "nop"])
        .expect_status(0);
    assert_eq!(environments(&project), ["nop"]);
    let unknown = project
        .terca(&["--agent", "nop", "-e", "codex"])
        .expect_status(2)
        .stderr;
    assert!(
        unknown.contains("no environment matches `codex`"),
        "{unknown}"
    );
    // Later commands find the trials by these names.
    project.terca(&["regrade"]).expect_status(0);
    project.terca(&["resume"]).expect_status(0);
}

#[test]
fn runs_of_two_agents_are_not_the_same_variant() {
    let project = project().agent("exit 0").env("PATH", "/usr/bin:/bin").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{commandSuccess: 'true'}]\n",
    );
    project.terca(&[]).expect_status(0);
    project.terca(&["--agent", "codex"]).expect_status(3);
    let compared = project.terca(&["compare", "1", "2"]).expect_status(2);
    for variant in ["default.default", "codex.default"] {
        assert!(compared.stderr.contains(variant), "{}", compared.stderr);
    }
}

#[test]
fn environments_that_get_one_agent_stay_apart() {
    let project = matrix();
    assert_eq!(
        sorted(dry_run(
            &project,
            &["--agent", "oracle", "-t", "fib", "-x", "plain"]
        )),
        [
            "fib/oracle-for-deno.plain.01", "fib/oracle-for-node.plain.01"
        ]
    );
    // An environment with this agent keeps its name.
    assert_eq!(
        sorted(dry_run(
            &project,
            &["--agent", "nop", "-t", "fib", "-x", "plain"]
        )),
        ["fib/deno.plain.01", "fib/node.plain.01"]
    );
}

#[test]
fn an_unknown_agent_is_refused_with_those_there_are() {
    let project = matrix();
    for agent in ["hal9000", "command", ""] {
        let outcome = project.terca(&["--agent", agent]).expect_status(2);
        for known in ["`gemini-cli`", "`oracle`", "`nop`"] {
            assert!(
                outcome.stderr.contains(known),
                "{agent}: {known}: {}",
                outcome.stderr
            );
        }
        assert!(!project.path(".terca").exists(), "{agent}");
    }
}

#[test]
fn only_selected_variants_need_their_variables() {
    let project = project()
        .file(
            "terca.yaml",
            "environments:\n  - {name: free, agent: nop}\n  - {name: paid, agent: nop, env: {KEY: '${NOT_SET_HERE}'}}\n",
        )
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    project.terca(&["-e", "free"]).expect_status(0);
    let refused = project.terca(&["-e", "paid"]).expect_status(2);
    assert!(
        refused.stderr.contains("NOT_SET_HERE"),
        "{}",
        refused.stderr
    );
}
