//! What a workspace is when the agent starts: layers, actions, variables, rules, the prompt.

use std::os::unix::fs::PermissionsExt;

use crate::common::project;
use terca_testkit::Project;

/// One eval whose agent does nothing; `before` as the eval has it.
fn with_before(before: &str) -> Project {
    project().agent("true").file(
        "fib/eval.terca.yaml",
        format!("prompt: go\nallowWarnings: no-tests\nbefore:\n{before}"),
    )
}

/// Fails unless the one trial ended as an error of the set-up with these words, and without its agent.
#[track_caller]
fn expect_setup_error(project: &Project, words: &str) {
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error", "{trial}");
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    let message = trial["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(words), "{message}");
    assert!(trial["score"].is_null(), "an error has no score: {trial}");
    assert!(
        trial["phases"]["agent"].is_null(),
        "the agent was not started: {trial}"
    );
    assert!(
        !project.trial_file("run.log").contains("── agent"),
        "the agent was not started"
    );
}

#[test]
fn layers_are_laid_over_each_other_file_by_file() {
    let project = project()
        .agent("true")
        .file("_base/common.txt", "project")
        .file("_base/src/a.txt", "project")
        .file("_base/src/b.txt", "project")
        .file("fib/_base/src/b.txt", "eval")
        .file("fib/_base/src/c.txt", "eval")
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .file("other/_base/other.txt", "not for fib")
        .file(
            "other/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    project.terca(&["-t", "fib"]).expect_status(0);
    for (path, content) in [
        ("common.txt", "project"),
        ("src/a.txt", "project"),
        ("src/b.txt", "eval"),
        ("src/c.txt", "eval"),
    ] {
        assert_eq!(
            project.trial_file(&format!("workspace/{path}")),
            content,
            "{path}"
        );
    }
    assert!(!project.trial_path("workspace/other.txt").exists());
    assert!(!project.trial_path("workspace/_base").exists());
    assert!(!project.trial_path("workspace/eval.terca.yaml").exists());
}

#[test]
fn a_workspace_dir_is_a_layer_too() {
    let project = project().agent("true").file("start/a.txt", "start").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    let suite = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("{suite}workspaceDir: start\n"));
    project.terca(&[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/a.txt"), "start");
}

#[test]
fn actions_copy_write_and_run() {
    let project = with_before(
        "  - copy: {a.txt: copied.txt, ../shared: lib/shared}\n\
         \x20 - files: {deep/er/note.md: \"line 1\\nline 2\\n\", copied.txt: replaced}\n\
         \x20 - command: cat deep/er/note.md > from-command.txt\n",
    )
    .file("fib/a.txt", "a")
    .file("shared/one.txt", "1")
    .file("shared/sub/two.txt", "2");
    project.terca(&[]).expect_status(0);
    for (path, content) in [
        ("copied.txt", "replaced"),
        ("lib/shared/one.txt", "1"),
        ("lib/shared/sub/two.txt", "2"),
        ("deep/er/note.md", "line 1\nline 2\n"),
        ("from-command.txt", "line 1\nline 2\n"),
    ] {
        assert_eq!(
            project.trial_file(&format!("workspace/{path}")),
            content,
            "{path}"
        );
    }
}

#[test]
fn commands_are_given_to_the_shell_as_they_are_written() {
    let project = with_before(
        r#"  - command: printf '%s|%s' "a  b" 'c "d"' > quotes.txt
  - command: printf 'b\na\n' | sort | tr '\n' ' ' > pipe.txt
  - command: true && echo and > and.txt
  - command: "false || echo or > or.txt; echo after >> or.txt"
  - command: |
      for n in 1 2 3; do
        echo "n=$n"
      done > lines.txt
  - command: echo $((6 * 7)) > arithmetic.txt
  - command: cat < /dev/stdin > stdin.txt
"#,
    );
    project.terca(&[]).expect_status(0);
    for (path, content) in [
        ("quotes.txt", "a  b|c \"d\""),
        ("pipe.txt", "a b "),
        ("and.txt", "and\n"),
        ("or.txt", "or\nafter\n"),
        ("lines.txt", "n=1\nn=2\nn=3\n"),
        ("arithmetic.txt", "42\n"),
        ("stdin.txt", ""),
    ] {
        assert_eq!(
            project.trial_file(&format!("workspace/{path}")),
            content,
            "{path}"
        );
    }
}

#[test]
fn actions_run_from_the_suite_inwards() {
    let project = project()
        .executable("agent.sh", "#!/bin/sh\necho agent >> order.txt\n")
        .file(
            "terca.yaml",
            "before: [{command: echo suite-1 >> order.txt}, {command: echo suite-2 >> order.txt}]\n\
             environments:\n  - name: default\n    agent: {name: command, command: ./agent.sh}\n\
             \x20   command: echo never >> order.txt\n\
             \x20   before: [{command: echo environment >> order.txt}]\n\
             experiments:\n  - name: default\n    command: echo command >> order.txt\n\
             \x20   before: [{command: echo experiment >> order.txt}]\n",
        )
        .file("_base/order.txt", "base\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore: [{command: echo eval >> order.txt}]\ntests: [{commandSuccess: cat order.txt}]\n",
        );
    project.terca(&[]).expect_status(0);
    assert_eq!(
        project.trial_file("workspace/order.txt"),
        "base\nsuite-1\nsuite-2\neval\nenvironment\nexperiment\ncommand\nagent\n"
    );
}

#[test]
fn scripts_beside_the_file_that_names_them_are_found() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: nop}]\nexperiments: [{name: default, command: setup_context.sh}]\n",
        )
        .executable("setup_context.sh", "#!/bin/sh\npwd > where.txt\necho suite > who.txt\n")
        .executable("fib/local.sh", "#!/bin/sh\necho eval > local.txt\n")
        .executable("_base/in-workspace.sh", "#!/bin/sh\necho workspace > own.txt\n")
        .executable("fib/verify.sh", "#!/bin/sh\ntest -f local.txt\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore: [{command: local.sh}, {command: in-workspace.sh}]\n\
             tests: [{commandSuccess: verify.sh}, {commandSuccess: in-workspace.sh}]\n",
        );
    project.terca(&[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/who.txt"), "suite\n");
    assert_eq!(project.trial_file("workspace/local.txt"), "eval\n");
    assert_eq!(project.trial_file("workspace/own.txt"), "workspace\n");
    let place = project.trial_file("workspace/where.txt");
    assert!(
        !place.starts_with(project.dir().as_str()),
        "commands run in the workspace, not the suite: {place}"
    );
}

#[test]
fn every_kind_of_file_survives_the_way_into_the_workspace_and_back() {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let project = project()
        .agent("./run.sh && test ! -w locked.txt || test $(id -u) = 0; rmdir empty/gone; echo written > link.txt")
        .executable("_base/run.sh", "#!/bin/sh\necho ran > ran.txt\n")
        .file("_base/binary.bin", &bytes)
        .file("_base/locked.txt", "locked")
        .file("_base/target.txt", "target")
        .file("_base/with space/ünï.txt", "name")
        .symlink("_base/link.txt", "target.txt")
        .symlink("_base/dangling", "nowhere/at/all")
        .symlink("_base/dir-link", "empty")
        .directory("_base/empty/gone")
        .directory("_base/empty/kept")
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    std::fs::set_permissions(
        project.path("_base/locked.txt"),
        std::fs::Permissions::from_mode(0o444),
    )
    .unwrap();
    project.terca(&[]).expect_status(0);

    let workspace = project.trial_path("workspace");
    assert_eq!(std::fs::read(workspace.join("binary.bin")).unwrap(), bytes);
    assert_eq!(
        project.trial_file("workspace/ran.txt"),
        "ran\n",
        "the script was executable"
    );
    assert_eq!(project.trial_file("workspace/with space/ünï.txt"), "name");
    let mode = |path: &str| {
        workspace
            .join(path)
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode("run.sh"), mode("locked.txt")), (0o755, 0o444));
    assert!(workspace.join("empty/kept").is_dir() && !workspace.join("empty/gone").exists());
    for (link, target) in [
        ("link.txt", "target.txt"),
        ("dangling", "nowhere/at/all"),
        ("dir-link", "empty"),
    ] {
        assert_eq!(workspace.join(link).read_link_utf8().unwrap(), target);
    }
    // What was written through the link stayed in the workspace.
    assert_eq!(project.trial_file("workspace/target.txt"), "written\n");
    assert_eq!(project.read("_base/target.txt"), "target");
    assert!(project.path("_base/empty/gone").is_dir());
    assert!(!project.path("_base/ran.txt").exists());
}

#[test]
fn trials_do_not_share_a_workspace() {
    let project = project()
        .agent("test ! -e mark && echo x > mark && echo changed > shared.txt")
        .file("_base/shared.txt", "original")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nrepetitions: 4\nallowWarnings: no-tests\n",
        );
    project.terca(&["-c", "2"]).expect_status(0);
    assert_eq!(project.read("_base/shared.txt"), "original");
}

#[test]
fn a_failing_action_ends_the_trial_before_its_agent() {
    let outside = project();
    let mark = outside.home().join("agent-was-here");
    for (before, words, logged) in [
        (
            "  - command: echo out; echo err >&2; exit 3\n",
            "exit status 3",
            "out\nerr\n",
        ),
        (
            "  - command: no-such-program-xyz --flag\n",
            "exit status 127",
            "no-such-program-xyz",
        ),
        ("  - command: kill -9 $$\n", "SIGKILL", "killed by SIGKILL"),
        (
            "  - command: echo fine\n  - command: 'false'\n  - command: echo never\n",
            "`false`",
            "fine\n",
        ),
        (
            "  - command: ln -s /var/tmp out\n  - copy: {a.txt: out/terca-escape.txt}\n",
            "leaves the workspace",
            "copy",
        ),
        (
            "  - command: ln -s /var/tmp out\n  - files: {out/terca-escape.txt: x}\n",
            "leaves the workspace",
            "file",
        ),
        (
            "  - command: ln -s ../.. up\n  - files: {up/escape.txt: x}\n",
            "leaves the workspace",
            "file",
        ),
        (
            "  - command: mkdir taken\n  - files: {taken: x}\n",
            "taken",
            "file",
        ),
    ] {
        let project = project()
            .agent(&format!("touch {mark}"))
            .file("fib/a.txt", "a")
            .file(
                "fib/eval.terca.yaml",
                format!("prompt: go\nbefore:\n{before}tests: [{{commandSuccess: 'true'}}]\n"),
            );
        expect_setup_error(&project, words);
        let log = project.trial_file("run.log");
        assert!(log.contains(logged), "{before}: {log}");
        assert!(
            !log.contains("never\n"),
            "nothing runs after a failure: {log}"
        );
        assert!(!mark.exists(), "{before}: the agent was started");
        assert_eq!(
            project.only_trial()["tests"],
            serde_json::json!({}),
            "{before}: nothing was graded"
        );
        assert!(
            !std::path::Path::new("/var/tmp/terca-escape.txt").exists(),
            "{before}: it got out"
        );
        project.assert_nothing_left();
    }
}

#[test]
fn a_failing_command_of_a_variant_ends_the_trial() {
    for place in ["environments", "experiments"] {
        let suite = match place {
            "environments" => "environments: [{name: default, agent: nop, command: 'false'}]\n".to_owned(),
            _ => "environments: [{name: default, agent: nop}]\nexperiments: [{name: default, command: 'false'}]\n".to_owned(),
        };
        let project = project().file("terca.yaml", suite).file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
        expect_setup_error(&project, "`false`: exit status 1");
    }
}

#[test]
fn an_action_has_a_time_limit() {
    let project =
        with_before("  - command: {command: echo begun; sleep 30, timeoutSeconds: 0.3}\n");
    expect_setup_error(&project, "still running after");
    assert!(
        project.trial_file("run.log").contains("begun"),
        "what it said until then is logged"
    );
    project.assert_nothing_left();
}

#[test]
fn a_server_left_running_is_there_for_the_agent_and_gone_afterwards() {
    let project = project()
        .agent("kill -0 $(cat server.pid) && echo alive > seen.txt")
        .file(
            "fib/eval.terca.yaml",
            // It holds the command's standard output open, as servers do.
            "prompt: go\nbefore:\n  - command: sleep 300 & echo $! > server.pid\ntests: [{fileExists: seen.txt}]\n",
        );
    project.terca(&[]).expect_status(0);
    let pid: u32 = project
        .trial_file("workspace/server.pid")
        .trim()
        .parse()
        .unwrap();
    assert!(
        !std::path::Path::new(&format!("/proc/{pid}")).exists(),
        "the server outlived the trial"
    );
    project.assert_nothing_left();
}

#[test]
fn variables_are_merged_inwards_and_null_removes() {
    let print = "echo \"$A|$B|$C|$D|${GONE-none}\"";
    let project = project()
        .executable("agent.sh", &format!("#!/bin/sh\n{print} > agent.txt\n"))
        .file(
            "terca.yaml",
            "env: {A: suite, B: suite, C: suite, D: suite, GONE: suite}\n\
             environments: [{name: default, agent: {name: command, command: ./agent.sh}, env: {C: environment, D: environment}}]\n\
             experiments: [{name: default, env: {D: experiment, GONE: null}}]\n",
        )
        .file(
            "fib/eval.terca.yaml",
            format!(
                "prompt: go\nenv: {{B: eval}}\nbefore:\n  - command: {print} > before.txt\n\
                 tests:\n  - commandSuccess: {{command: '{print}', outputContains: 'suite|eval|environment|experiment|none'}}\n"
            ),
        );
    project.terca(&[]).expect_status(0);
    for file in ["agent.txt", "before.txt"] {
        assert_eq!(
            project.trial_file(&format!("workspace/{file}")),
            "suite|eval|environment|experiment|none\n"
        );
    }
}

#[test]
fn values_come_from_the_surroundings_when_they_are_named() {
    let project = project()
        .executable("agent.sh", "#!/bin/sh\nprintf '%s' \"$ONE,$TWO,$THREE,$FOUR\" > env.txt\n")
        .file(
            "terca.yaml",
            "env:\n  ONE: '${HERE_1}'\n  TWO: 'a ${HERE_1} b ${HERE_2:-spare} c'\n  THREE: '${NOT_HERE:-spare}'\n  FOUR: 'just $HERE_1'\n\
             environments: [{name: default, agent: {name: command, command: ./agent.sh}}]\n",
        )
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
        .env("HERE_1", "one")
        .env("HERE_2", "two");
    project.terca(&[]).expect_status(0);
    assert_eq!(
        project.trial_file("workspace/env.txt"),
        "one,a one b two c,spare,just $HERE_1"
    );
}

#[test]
fn actions_and_tests_know_which_trial_they_are_in() {
    let print = "env | grep ^TERCA_ | sort";
    let project = project()
        .agent("true")
        .file(
            "fib/eval.terca.yaml",
            format!(
                "prompt: go\nname: fib 1\nbefore: [{{command: '{print} > before.txt'}}]\n\
                 tests: [{{commandSuccess: '{print} > \"$TERCA_TRIAL_DIR/artifacts/tests.txt\"'}}, {{commandSuccess: 'test -f \"$TERCA_TRANSCRIPT\"'}}]\n"
            ),
        );
    let suite = "environments: [{name: node, agent: {name: command, command: ./agent.sh}}]\nexperiments: [{name: plain}]\n";
    let project = project.file("terca.yaml", suite);
    project.terca(&["-n", "1"]).expect_status(0);
    let dir = project.trial_path("");
    let dir = dir.as_str().trim_end_matches('/');
    // The suite's directory is a sealed copy, under the same path in a work directory with a name that nobody knows.
    let before = project.trial_file("workspace/before.txt");
    let suite_dir = before
        .lines()
        .find_map(|line| line.strip_prefix("TERCA_SUITE_DIR="));
    let suite_dir = suite_dir.unwrap();
    assert!(
        suite_dir.starts_with(project.work_dir().as_str())
            && suite_dir.ends_with(project.dir().as_str()),
        "{suite_dir}"
    );
    let common = format!(
        "TERCA_ENVIRONMENT=node\nTERCA_EVAL=fib 1\nTERCA_EXPERIMENT=plain\nTERCA_REPETITION=1\n\
         TERCA_SUITE_DIR={suite_dir}\nTERCA_TRIAL_DIR={dir}\n"
    );
    let transcript = format!("TERCA_TRANSCRIPT={dir}/transcript.jsonl\n");
    assert_eq!(before, common);
    let tests = project.trial_file("artifacts/tests.txt");
    let (known, rest): (Vec<&str>, Vec<&str>) = tests.split_inclusive('\n').partition(|line| {
        !line.starts_with("TERCA_TRANSCRIPT=") && !line.starts_with("TERCA_WORK=")
    });
    assert_eq!(known.concat(), common);
    let work = rest[1].trim_end();
    assert!(work.ends_with("/terca-work"), "{work}");
    assert_eq!(rest[0], transcript);
}

#[test]
fn the_prompt_is_put_together_from_outside_in_and_back_out() {
    let around = |who: &str| format!("preamble: {who} before\n    postamble: {who} after\n");
    let project = project()
        .executable("agent.sh", "#!/bin/sh\ncat > prompt.txt\n")
        .file(
            "terca.yaml",
            format!(
                "preamble: suite before\npostamble: suite after\n\
                 environments:\n  - name: default\n    agent: {{name: command, command: ./agent.sh}}\n    {}\
                 experiments:\n  - name: all\n    {}  - name: none\n",
                around("environment"),
                around("experiment")
            ),
        )
        .file("fib/eval.terca.yaml", "prompt: |\n  the task\n\n  in two parts\nallowWarnings: no-tests\n");
    for (experiment, expected) in [
        (
            "all",
            "suite before\n\nenvironment before\n\nexperiment before\n\nthe task\n\nin two parts\n\n\
             experiment after\n\nenvironment after\n\nsuite after",
        ),
        (
            "none",
            "suite before\n\nenvironment before\n\nthe task\n\nin two parts\n\nenvironment after\n\nsuite after",
        ),
    ] {
        project.terca(&["-x", experiment]).expect_status(0);
        assert_eq!(
            project.trial_file("workspace/prompt.txt").trim_end(),
            expected,
            "{experiment}"
        );
    }
}

#[test]
fn rules_are_installed_where_the_agent_reads_them() {
    let project = project()
        .executable("agent.sh", "#!/bin/sh\ncp AGENTS.md seen.md 2>/dev/null || echo none > seen.md\n")
        .file(
            "terca.yaml",
            "environments: [{name: default, agent: {name: command, command: ./agent.sh}}]\n\
             experiments:\n  - name: without\n  - {name: one, rules: rules/one.md}\n  - {name: two, rules: [rules/two.md, rules/one.md]}\n",
        )
        .file("rules/one.md", "Rule one.\n")
        .file("rules/two.md", "Rule two.")
        .file("fresh/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
        .file("own/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n")
        .file("own/_base/AGENTS.md", "Own rules.\n");
    for (eval, experiment, expected) in [
        ("fresh", "without", "none\n"),
        ("fresh", "one", "Rule one.\n"),
        ("fresh", "two", "Rule two.\n\nRule one.\n"),
        ("own", "without", "Own rules.\n"),
        ("own", "one", "Own rules.\n\nRule one.\n"),
        ("own", "two", "Own rules.\n\nRule two.\n\nRule one.\n"),
    ] {
        project
            .terca(&["-t", eval, "-x", experiment])
            .expect_status(0);
        assert_eq!(
            project.trial_file("workspace/seen.md"),
            expected,
            "{eval}, {experiment}"
        );
        let delivered = &project.only_trial()["delivery"]["rules"];
        if experiment == "without" {
            assert_eq!(*delivered, serde_json::json!([]), "{eval}");
            continue;
        }
        let output = std::process::Command::new("sha256sum")
            .arg(project.trial_path("workspace/AGENTS.md"))
            .output()
            .expect("sha256sum");
        let sum = String::from_utf8_lossy(&output.stdout)
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(
            *delivered,
            serde_json::json!([{"path": "AGENTS.md", "sha256": sum, "mayBeCut": false}]),
            "{eval}, {experiment}"
        );
        assert!(
            !project.trial_file("changes.diff").contains("AGENTS.md"),
            "rules are not the agent's work"
        );
    }
    assert_eq!(project.read("own/_base/AGENTS.md"), "Own rules.\n");
}

/// What is laid over a link replaces it: nothing is ever written through one.
#[test]
fn nothing_is_laid_through_a_link_to_the_outside() {
    let link = |outside: &camino::Utf8Path| {
        format!("before: [{{command: ln -s {outside} d}}, {{copy: {{src: .}}}}]\n")
    };
    for (title, layer, args) in [
        ("the copy of a directory", "fib/src/d/escaped", &[][..]),
        ("the eval's layer", "fib/_base/d/escaped", &[]),
        ("the hidden tests", "fib/_tests/d/escaped", &[]),
        (
            "the solution",
            "fib/_solution/d/escaped",
            &["--agent", "oracle"],
        ),
    ] {
        let project = project();
        let outside = project.home().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let before = link(&outside);
        let project = project
            .agent(&format!("test -e d || ln -s {outside} d"))
            .directory("fib/src")
            .symlink("_base/d", outside.as_str())
            .file(layer, "x")
            .file(
                "fib/eval.terca.yaml",
                format!(
                    "prompt: go\n{}tests: [{{fileExists: d/escaped}}]\n",
                    if layer.contains("src") { &before } else { "" }
                ),
            );
        // In the first case a command makes the link.
        if layer.contains("src") {
            std::fs::remove_file(project.path("_base/d")).unwrap();
        }
        project.terca(args).expect_status(0);
        assert_eq!(
            outside.read_dir_utf8().unwrap().count(),
            0,
            "{title} went through the link"
        );
    }
}

#[test]
fn what_set_up_left_running_is_gone_for_the_tests_whatever_the_agent() {
    for agent in ["nop", "oracle"] {
        let project = project().directory("fib/_solution").file("terca.yaml", "environments: [{name: e, agent: nop}]\n").file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore:\n  - command: sleep 300 & echo $! > pid\ntests:\n  - commandSuccess: '! kill -0 $(cat pid)'\n",
        );
        project.terca(&["--agent", agent]).expect_status(0);
    }
}

#[test]
fn skills_are_installed_whole_with_a_proof() {
    let project = project()
        .agent("cat .agents/skills/docs/SKILL.md > seen.txt; sh .agents/skills/docs/tools/run.sh")
        .file(
            "skills/docs/SKILL.md",
            "---\nname: docs\ndescription: d\n---\nRead.\n",
        )
        .executable("skills/docs/tools/run.sh", "echo ran > ran.txt\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: [seen.txt, ran.txt]}]\n",
        );
    let suite = project.read("terca.yaml");
    let project = project.file(
        "terca.yaml",
        format!("{suite}experiments:\n  - {{name: with, skills: skills/docs}}\n"),
    );
    project.terca(&[]).expect_status(0);
    let skills = project.only_trial()["delivery"]["skills"].clone();
    assert_eq!(skills[0]["path"], ".agents/skills/docs");
    assert_eq!(skills[0]["sha256"].as_str().map(str::len), Some(64));
}
