//! `terca ablate`: the parts of the rules that an agent needs are found out.

use crate::common::mcp::{AGENT, HTTP_TOKEN, SERVER};
use crate::common::project;
use crate::common::viewer::View;
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{HttpMcpServer, Project};

/// Eight parts, after a text that is in every trial.
const RULES: &str = "# Rules\n\nRead all of it.\n\n## Style\nTabs.\n\n## Testing\nRun the tests.\n\n## Layout\nShort files.\n\n\
                     ## Naming\nFull words.\n\n## Legacy\nUse the old one.\n\n## Commits\nSmall ones.\n\n## Review\nRead it.\n\n\
                     ## Words\nPlain English.\n";

/// An agent that passes where the rules have both the part on testing and that on naming. Each trial costs 10 cents, and waits while
/// a file is there.
fn eight_parts() -> Project {
    let project = project().executable(
        "agent.sh",
        "#!/bin/sh\n\
         while [ -e $NOTES/wait ]; do sleep 0.05; done\n\
         echo '{\"costUsd\": 0.1, \"inputTokens\": 100}' > $TERCA_STATS_FILE\n\
         grep -qs '^## Testing' AGENTS.md && grep -qs '^## Naming' AGENTS.md && touch done\n\
         grep -qs '^Read all of it.' AGENTS.md || rm -f done\n\
         exit 0\n",
    );
    let notes = project.path("notes");
    project
        .directory("notes")
        .file("rules.md", RULES)
        .file(
            "terca.yaml",
            format!(
                "env: {{NOTES: '{notes}'}}\n\
             environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
             experiments:\n\
             \x20 - {{name: control, baseline: true}}\n\
             \x20 - {{name: with-rules, rules: rules.md}}\n\
             \x20 - {{name: short, rules: short.md}}\n\
             evals:\n\
             \x20 - {{name: a, prompt: a, tests: [{{fileExists: done}}]}}\n\
             \x20 - {{name: b, prompt: b, tests: [{{fileExists: done}}]}}\n\
             \x20 - {{name: c, prompt: c, tests: [{{fileExists: done}}]}}\n"
            ),
        )
        .file("short.md", "# Rules\n\nOne text.\n")
}

const ABLATE: [&str; 4] = ["ablate", "with-rules", "--parts", "rules"];

fn ablate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ABLATE.iter().copied().chain(more.iter().copied()).collect()
}

/// The finding on each part, by name.
fn findings(ablation: &Value) -> Vec<(String, String)> {
    let parts = ablation["parts"].as_array().unwrap();
    let text = |part: &Value, key: &str| part[key].as_str().unwrap().to_owned();
    parts
        .iter()
        .map(|part| (text(part, "name"), text(part, "finding")))
        .collect()
}

fn finding(ablation: &Value, name: &str) -> String {
    let found = findings(ablation);
    found.into_iter().find(|(part, _)| part == name).unwrap().1
}

#[test]
fn the_parts_that_matter_are_found_out() {
    let project = eight_parts();
    let outcome = project
        .terca(&ablate(&["--format", "plain", "--write", "slim.md"]))
        .expect_status(0);
    // Before the run: the parts, the trials, and what they can detect.
    for said in [
        "Testing", "48 trials: 3 evals × 16 rows", "detects an effect of",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
    let results = project.results();
    let summary = &results["summary"];
    assert_eq!(
        (&summary["trials"], &summary["noVerdict"]),
        (&48.into(), &"ablation".into())
    );
    assert_eq!(summary["comparisons"], serde_json::json!([]));
    let ablation = &summary["ablation"];
    for (name, expected) in [
        ("Testing", "earnsItsPlace"),
        ("Naming", "earnsItsPlace"),
        ("Legacy", "noEffectShown"),
        ("Style", "noEffectShown"),
        ("Words", "noEffectShown"),
    ] {
        assert_eq!(finding(ablation, name), expected, "{name}");
    }
    // By effect for each 1,000 tokens.
    let order: Vec<String> = findings(ablation)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(order[..2], ["Naming", "Testing"]);
    assert!(
        outcome.stdout.contains("earns its place"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("BETTER"), "{}", outcome.stdout);
    // The file without the rest, with the text that belongs to no part.
    let slim = project.read("slim.md");
    assert_eq!(
        slim,
        "# Rules\n\nRead all of it.\n\n## Testing\nRun the tests.\n\n## Naming\nFull words.\n"
    );
    assert!(
        outcome.stderr.contains("To confirm it"),
        "{}",
        outcome.stderr
    );
    project.assert_nothing_left();
}

#[test]
fn the_design_is_stored_and_read_again() {
    let project = eight_parts();
    project
        .terca(&ablate(&["--format", "json"]))
        .expect_status(0);
    let run = project.run_dir().file_name().unwrap().to_owned();
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(project.run_dir().join("run.json")).unwrap())
            .unwrap();
    let design = &file["command"]["ablation"];
    assert_eq!(design["parts"][1]["name"], "Testing");
    assert_eq!(design["rows"][1]["experiment"], "none");
    assert_eq!(design["evals"][0]["rows"].as_array().unwrap().len(), 16);
    // Another run is the latest now, and `--of` names the one that is meant.
    project.terca(&["run", "-t", "a", "-x", "control"]);
    let again = project
        .terca(&["ablate", "--of", &run, "--format", "json"])
        .expect_status(0);
    let answer: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&answer["event"], &answer["run"]),
        (&"ablated".into(), &run.clone().into())
    );
    assert_eq!(finding(&answer, "Naming"), "earnsItsPlace");
    let shown = project.terca(&["show", &run]).expect_status(0);
    assert!(shown.stdout.contains("earns its place"), "{}", shown.stdout);
    // The rules are those of the run, or nothing is written.
    project
        .terca(&["ablate", "--of", &run, "--write", "out/slim.md"])
        .expect_status(0);
    assert!(project.read("out/slim.md").contains("## Naming"));
    std::fs::write(
        project.path("rules.md"),
        format!("{RULES}\n## More\nMore.\n"),
    )
    .unwrap();
    let changed = project
        .terca(&["ablate", "--of", &run, "--write", "slim.md"])
        .expect_status(2);
    assert!(
        changed.stderr.contains("have changed since the run"),
        "{}",
        changed.stderr
    );
    // The tests run again on the saved workspaces, and the parts are still there.
    let regraded = project.terca(&["regrade", &run]).expect_status(0);
    assert!(
        regraded.stdout.contains("earns its place"),
        "{}",
        regraded.stdout
    );
    let page = project
        .terca(&["report", &run, "--markdown", "-"])
        .expect_status(0);
    assert!(
        page.stdout.contains("<code>Naming</code>: earns its place"),
        "{}",
        page.stdout
    );
    let page = View::open(&project, &[]).get(&format!("runs/{run}/"));
    for said in [
        "Parts</h2>", ">earns its place</button>", ">no effect shown</button>", "note: ",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("BETTER"), "{page}");
    // Rows are not compared with each other.
    let compared = project.terca(&["compare", &run]).expect_status(2);
    assert!(
        compared.stderr.contains("is an ablation"),
        "{}",
        compared.stderr
    );
    // A run of another kind has no parts.
    let other = project.terca(&["ablate", "--of", "2"]).expect_status(2);
    assert!(other.stderr.contains("is no ablation"), "{}", other.stderr);
}

#[test]
fn a_plan_is_shown_and_nothing_runs() {
    let project = eight_parts();
    let plan = project
        .terca(&ablate(&["--dry-run", "-n", "12"]))
        .expect_status(0);
    for said in [
        "Legacy", "~6", "36 trials: 3 evals × 12 rows", "(it has 16)", "not known",
    ] {
        assert!(plan.stdout.contains(said), "{said}: {}", plan.stdout);
    }
    assert!(!project.has_run());
    let plan = project
        .terca(&ablate(&["--dry-run", "--format", "json"]))
        .expect_status(0);
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!((&plan["rows"], &plan["trials"]), (&16.into(), &48.into()));
    assert!(plan["precision"]["detectable"].is_number(), "{plan}");
    // What is known of the experiment is known of its rows.
    project.terca(&["run", "-x", "with-rules"]);
    let plan = project.terca(&ablate(&["--dry-run"])).expect_status(0);
    assert!(plan.stdout.contains("about $4.80"), "{}", plan.stdout);
}

#[test]
fn a_budget_stops_it_and_resume_finishes_it() {
    let project = eight_parts();
    let stopped = project.terca(&ablate(&[
        "-c", "1", "--budget-usd", "1", "--format", "plain",
    ]));
    assert!(
        stopped.stderr.contains("the budget is spent"),
        "{}",
        stopped.stderr
    );
    let ended = |project: &Project| {
        project
            .journal()
            .matches("\"event\":\"trialFinished\"")
            .count()
    };
    assert_eq!(ended(&project), 10);
    assert!(
        stopped.stdout.contains("from 10 of 48 trials"),
        "{}",
        stopped.stdout
    );
    let resumed = project
        .terca(&["resume", "--budget-usd", "9", "--format", "plain"])
        .expect_status(0);
    assert_eq!(ended(&project), 48);
    assert!(
        resumed.stdout.contains("earns its place"),
        "{}",
        resumed.stdout
    );
    let ablation = project.results()["summary"]["ablation"].clone();
    assert_eq!(finding(&ablation, "Testing"), "earnsItsPlace");
}

#[test]
fn an_interrupted_ablation_is_analysed_with_what_it_has() {
    let project = eight_parts();
    let mut session = project.start(&ablate(&[
        "-c", "1", "--format", "plain", "--write", "slim.md",
    ]));
    let ended = || match project.has_run() {
        true => project
            .journal()
            .matches("\"event\":\"trialFinished\"")
            .count(),
        false => 0,
    };
    session.wait_until("some trials are done", || ended() >= 4);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert!(
        outcome.stderr.contains("slim.md was not written"),
        "{}",
        outcome.stderr
    );
    let of = project.terca(&["ablate", "--of", "1"]).expect_status(0);
    assert!(
        of.stdout
            .contains("of 48 trials: the others were not judged"),
        "{}",
        of.stdout
    );
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let project = eight_parts();
    for (args, said) in [
        (&["ablate", "no-rules", "--parts", "rules"][..], "no-rules"),
        (
            &["ablate", "control", "--parts", "rules"],
            "has no `rules` of its own",
        ),
        (&["ablate", "short", "--parts", "rules"], "one part only"),
        (
            &["ablate", "with-rules", "--parts", "skills"],
            "has no `skills` of its own",
        ),
        (
            &["ablate", "with-rules", "--parts", "tools"],
            "has no `mcpServers` of its own",
        ),
        (
            &[
                "ablate", "with-rules", "--parts", "skills", "--split", "items",
            ],
            "only rules are split",
        ),
        (
            &[
                "ablate", "with-rules", "--parts", "rules", "-t", "a", "-n", "4",
            ],
            "every row is needed once",
        ),
        (
            &[
                "ablate", "with-rules", "--parts", "rules", "--write", "rules.md",
            ],
            "is a rules file of",
        ),
        (&["ablate", "with-rules"], "--parts"),
        (&["ablate", "--of", "7"], "no runs yet"),
    ] {
        let outcome = project.terca(args).expect_status(2);
        assert!(
            outcome.stderr.contains(said),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
}

/// A row leaves out a server or a skill as a whole.
#[test]
fn skills_and_servers_are_parts() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: About {name}.\n---\nText.\n");
    let project = project()
        .executable(
            "agent.sh",
            "#!/bin/sh\ncase \"$(cat)\" in\n\
             skills) [ -e .agents/skills/one ] && touch done ;;\n\
             *) grep -qs first \"$TERCA_MCP_CONFIG\" && touch done ;;\nesac\nexit 0\n",
        )
        .file("skills/one/SKILL.md", skill("one"))
        .file("skills/two/SKILL.md", skill("two"))
        .file(
            "terca.yaml",
            "mcpPreflight: false\n\
             environments: [{name: script, agent: {name: command, command: ./agent.sh}}]\n\
             experiments:\n\
             \x20 - {name: control, baseline: true}\n\
             \x20 - name: more\n    skills: [skills/one, skills/two]\n    \
             mcpServers: {first: {command: 'true'}, second: {command: 'true'}}\n\
             evals:\n\
             \x20 - {name: skills, prompt: skills, tests: [{fileExists: done}]}\n\
             \x20 - {name: servers, prompt: servers, tests: [{fileExists: done}]}\n",
        );
    for (parts, eval, good, other) in [
        ("skills", "skills", "one", "two"),
        ("servers", "servers", "first", "second"),
    ] {
        let args = [
            "ablate", "more", "--parts", parts, "-t", eval, "-n", "16", "--format", "plain",
        ];
        project.terca(&args).expect_status(0);
        let ablation = project.results()["summary"]["ablation"].clone();
        assert_eq!(finding(&ablation, good), "earnsItsPlace", "{ablation}");
        assert_eq!(finding(&ablation, other), "noEffectShown", "{ablation}");
    }
}

/// Where only trials without any part are judged, nothing can be said of a part.
#[test]
fn parts_that_were_not_compared_are_not_called_useless() {
    let project = eight_parts().executable(
        "agent.sh",
        "#!/bin/sh\ngrep -qs '^## ' AGENTS.md && exit 3\nexit 0\n",
    );
    let outcome = project
        .terca(&ablate(&["--format", "plain"]))
        .expect_status(3);
    assert!(
        outcome.stdout.contains("not compared"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("could be removed"),
        "{}",
        outcome.stdout
    );
    let ablation = project.results()["summary"]["ablation"].clone();
    assert_eq!(finding(&ablation, "Style"), "notCompared", "{ablation}");
}

/// Of the four tools of two servers, the agent needs one that is there and one that is not.
#[test]
fn tools_of_servers_are_parts() {
    let tools = |names: &[&str]| {
        let tools = names
            .iter()
            .map(|name| format!("{{\"name\":\"{name}\",\"description\":\"About {name}.\"}}"));
        let list = tools.collect::<Vec<_>>().join(",");
        let begin = SERVER.find("{\"tools\":[").unwrap() + "{\"tools\":[".len();
        let end = begin + SERVER[begin..].find("]}").unwrap();
        format!("{}{list}{}", &SERVER[..begin], &SERVER[end..])
    };
    let docs = HttpMcpServer::start(HTTP_TOKEN);
    let project = project()
        .executable("docs-server", &tools(&["find", "legacy", "extra"]))
        .executable(
            "agent.sh",
            &format!(
                "{AGENT}\nstart; hello\n\
                 case $line in *'\"find\"'*) touch done;; esac\n\
                 case $line in *'\"legacy\"'*) rm -f done;; esac\nexit 0\n"
            ),
        )
        .env("SERVER_TOKEN", HTTP_TOKEN)
        .file(
            "terca.yaml",
            format!(
                "environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
                 experiments:\n\
                 \x20 - {{name: control, baseline: true, mcpServers: {{docs: {{command: ./docs-server}}}}}}\n\
                 \x20 - {{name: more, mcpServers: {{docs: {{command: ./docs-server}}}}}}\n\
                 \x20 - name: both\n    mcpServers:\n      docs: {{command: ./docs-server}}\n      \
                 pages: {{url: '{}', headers: {{Authorization: '${{SERVER_TOKEN}}'}}}}\n    hideTools: {{docs: [extra]}}\n\
                 \x20 - {{name: broken, mcpServers: {{docs: {{command: ./gone}}}}}}\n\
                 evals:\n\
                 \x20 - {{name: a, prompt: a, tests: [{{fileExists: done}}]}}\n\
                 \x20 - {{name: b, prompt: b, tests: [{{fileExists: done}}]}}\n",
                docs.url("/mcp")
            ),
        )
        .executable("gone", "#!/bin/sh\nexit 7\n");
    // Before anything runs: the tools of all servers, without those that the experiment hides anyway.
    let plan = project
        .terca(&["ablate", "both", "--parts", "tools", "--dry-run"])
        .expect_status(0);
    for tool in [
        "docs/find", "docs/legacy", "pages/search", "pages/stream", "tool ",
    ] {
        assert!(plan.stdout.contains(tool), "{tool}: {}", plan.stdout);
    }
    assert!(!plan.stdout.contains("extra"), "{}", plan.stdout);
    assert_eq!((docs.asked("tools/list"), docs.asked("tools/call")), (1, 0));

    let outcome = project
        .terca(&[
            "ablate", "more", "--parts", "tools", "-n", "16", "--format", "plain",
        ])
        .expect_status(0);
    let ablation = project.results()["summary"]["ablation"].clone();
    assert_eq!(finding(&ablation, "find"), "earnsItsPlace", "{ablation}");
    assert_eq!(finding(&ablation, "legacy"), "hurts", "{ablation}");
    assert_eq!(finding(&ablation, "extra"), "noEffectShown", "{ablation}");
    assert!(ablation["parts"][0]["tokens"].is_u64(), "{ablation}");
    let confirm = "hideTools: {docs: [legacy, extra]}";
    assert!(outcome.stderr.contains(confirm), "{}", outcome.stderr);

    // A server that cannot say what it offers, and a file that cannot be written.
    let outcome = project
        .terca(&["ablate", "broken", "--parts", "tools"])
        .expect_status(3);
    let said = "the tools of the MCP server `docs` cannot be listed: it ended before it answered (exit status 7)";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    let outcome = project
        .terca(&["ablate", "more", "--parts", "tools", "--write", "slim.md"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("only rules can be written"),
        "{}",
        outcome.stderr
    );
    project.wait_until_nothing_runs();
    project.assert_nothing_left();
}

/// A server that is asked for its tools and stays silent can be left.
#[test]
fn an_interrupt_ends_the_question_for_tools() {
    let project = project();
    let asked = project.path("asked");
    let project = project
        .executable("silent", &format!("#!/bin/sh\ntouch '{asked}'\nexec sleep 60\n"))
        .file(
            "terca.yaml",
            "environments: [{name: script, sandbox: none, agent: {name: command, command: 'true'}}]\n\
             experiments: [{name: control, baseline: true}, {name: more, mcpServers: {docs: {command: ./silent}}}]\n\
             evals: [{name: a, prompt: a, tests: [{fileExists: done}]}]\n",
        );
    let mut session = project.start(&["ablate", "more", "--parts", "tools"]);
    session.wait_until("the server is asked", || asked.exists());
    session.signal(Signal::INT);
    let outcome = session.finish().expect_status(130);
    let said = "interrupted before the servers had listed their tools";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(!project.has_run());
    project.wait_until_nothing_runs();
    project.assert_nothing_left();
}
