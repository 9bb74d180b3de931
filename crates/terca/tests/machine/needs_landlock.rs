//! Contained trials, where namespaces are forbidden: the kernel's own rules refuse what bubblewrap would not show.

mod not_protected;

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use serde_json::{Value, json};
use terca_testkit::{Outcome, Project};

use crate::common::caches::tests_cannot_poison;
use crate::common::layouts::OF_RUST;
use crate::common::mcp::project_with_mcp_server;
use crate::common::project;
use crate::common::sandboxes::without_namespaces;
use crate::common::work_command;
use crate::names_of_home::{a_home_that_is_a_link, programs_are_found, show_nothing_more};
use crate::needs_bwrap::network::Service;
use crate::needs_bwrap::{Victim, reached};
use crate::needs_overlay::{User, assert_same_by_both_ways};
use crate::suite_in_sandbox::{downloads_for_set_up_alone, open_file, suite_and_not_the_solution};

/// The attempts of a hostile agent, each with a shell command that succeeds if it is in reach. `test -w` and `touch` are no
/// attempts: the rules are about opening files.
fn attempts(project: &Project, victim: u32) -> Vec<(&'static str, String)> {
    let suite = project.dir();
    let home = project.home();
    let work = project.work_dir();
    vec![
        ("read the user's home", format!("cat {home}/.netrc")),
        ("list the user's home", format!("ls {home}")),
        ("write the user's home", format!("echo x > {home}/new")),
        ("append to a file", format!(": >> {home}/.netrc")),
        ("empty a file", format!("truncate -s 6 {home}/.netrc")),
        ("link a file", format!("ln {home}/.netrc linked")),
        (
            "move a file out",
            format!("echo x > moved; mv moved {home}/moved"),
        ),
        (
            "read hidden tests",
            format!("cat {suite}/fib/_tests/hidden.txt"),
        ),
        (
            "read the solution",
            format!("cat {suite}/fib/_solution/answer.txt"),
        ),
        ("read the suite", format!("cat {suite}/terca.yaml")),
        (
            "read the journal",
            format!("cat {suite}/.terca/runs/*/events.jsonl"),
        ),
        (
            "write the run",
            format!(
                "for file in {suite}/.terca/runs/*/run.json; do : >> \"$file\" && exit 0; done; exit 1"
            ),
        ),
        ("read another trial", format!("cat {work}/other/secret.txt")),
        ("write another trial", format!("echo x > {work}/other/new")),
        (
            "find the copy of the suite",
            format!("find {work} -name hidden.txt | grep ."),
        ),
        ("signal a process", format!("kill -0 {victim}")),
        (
            "read the environment of a process",
            format!("grep -q VICTIM_KEY /proc/{victim}/environ"),
        ),
        (
            "look through the root of a process",
            format!("ls /proc/{victim}/root/"),
        ),
    ]
}

/// The attempts that fail without a sandbox too, for those who are not the superuser.
const OF_SUPERUSERS: [(&str, &str); 6] = [
    ("read passwords", "cat /etc/shadow"),
    ("write settings", ": >> /etc/passwd"),
    (
        "write the system",
        "echo x > /usr/terca-test && rm /usr/terca-test",
    ),
    (
        "set the machine's core pattern", ": >> /proc/sys/kernel/core_pattern",
    ),
    (
        "read the kernel's memory", "head -c 1 /proc/kcore | grep -q .",
    ),
    (
        "have a capability",
        "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
    ),
];

/// A suite whose agent tries everything and writes down what worked.
fn probing(victim: u32) -> Project {
    let project = project()
        .file(
            "fib/eval.terca.yaml",
            "prompt: try it\ntests: [{commandSuccess: 'test -f probe.txt'}]\n",
        )
        .file("fib/_tests/hidden.txt", "secret")
        .file("fib/_solution/answer.txt", "secret");
    open_file(&project.home().join(".netrc"));
    open_file(&project.work_dir().join("other/secret.txt"));
    let superuser = OF_SUPERUSERS.map(|(name, command)| (name, command.to_owned()));
    let mut script = String::new();
    for (name, command) in attempts(&project, victim).into_iter().chain(superuser) {
        script +=
            &format!("if ({command}) >/dev/null 2>&1; then echo \"{name}\"; fi >> probe.txt\n");
    }
    script += "mkdir a b && echo x > a/f && mv a/f b/f && touch \"$HOME/mine\" \"$TMPDIR/mine\" \
        && echo x > /dev/null && head -c 1 /dev/urandom > /dev/null && echo own >> probe.txt\n";
    project.agent(&script)
}

#[test]
#[ignore = "needs landlock"]
fn a_contained_agent_reaches_nothing_but_its_trial() {
    let mut victim = Victim::start();
    let project = probing(victim.0.id());
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(0);
    let open = reached(&project);
    let is_superuser = rustix::process::geteuid().is_root();
    for (name, _) in attempts(&project, 1) {
        // The directories of trials cannot be listed, but by the superuser.
        if !is_superuser && name.starts_with("find ") {
            continue;
        }
        assert!(open.iter().any(|line| line == name), "{name}: {open:?}");
    }
    let outcome = project
        .terca(&["run", "--sandbox", "landlock"])
        .expect_status(0);
    assert!(
        outcome
            .stderr
            .starts_with("agents run in a sandbox (Landlock); network: model only\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        outcome
            .stderr
            .matches("note: Landlock does less than bubblewrap")
            .count(),
        1,
        "{}",
        outcome.stderr
    );
    assert_eq!(reached(&project), ["own"]);
    assert_eq!(project.only_trial()["containedBy"], "landlock");
    assert!(victim.is_alive());
    assert!(project.processes().is_empty());
}

#[test]
#[ignore = "needs landlock"]
fn an_agent_of_somebody_without_privileges_is_contained_too() {
    let mut victim = Victim::start();
    let project = probing(victim.0.id());
    let run = |sandbox: &str| -> Outcome {
        project
            .command_without_privileges(&["run", "--sandbox", sandbox])
            .output()
            .unwrap()
            .into()
    };
    run("none").expect_status(0);
    let open = reached(&project);
    for name in [
        "read the user's home", "write another trial", "read the solution",
    ] {
        assert!(open.iter().any(|line| line == name), "{name}: {open:?}");
    }
    run("landlock").expect_status(0);
    assert_eq!(reached(&project), ["own"]);
    assert_eq!(project.only_trial()["containedBy"], "landlock");
    assert!(victim.is_alive());
}

#[test]
#[ignore = "needs landlock"]
fn it_takes_the_place_of_a_bubblewrap_that_may_not_make_namespaces() {
    let project = project().agent("echo x > made.txt").file(
        "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
    );
    let project = without_namespaces(project).env("TERCA_SANDBOX", "");
    for args in [&["run", "--sandbox", "auto"][..], &["run"]] {
        project.terca(args).expect_status(0);
        assert_eq!(project.only_trial()["containedBy"], "landlock", "{args:?}");
    }
    let outcome = project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("No permissions"),
        "{}",
        outcome.stderr
    );
    let doctor = project.terca(&["doctor"]);
    assert!(
        doctor.stdout.contains("✓ sandbox: Landlock works"),
        "{}",
        doctor.stdout
    );
}

/// An agent that tries to reach places by TCP, with nothing but a shell.
const REACH: &str = r#"#!/bin/bash
reach() {
  (exec 3<>"/dev/tcp/$1/$2" && printf 'GET / HTTP/1.1\r\nhost: x\r\n\r\n' >&3 && grep -q here-am-i <&3) 2>/dev/null
}
proxy=${HTTPS_PROXY#http://}
touch reached.txt answer.txt
if [ -n "$proxy" ]; then
  exec 4<>"/dev/tcp/${proxy%:*}/${proxy#*:}" && printf 'CONNECT refused.example:443 HTTP/1.1\r\n\r\n' >&4
  IFS= read -r line <&4 && printf '%s\n' "$line" > answer.txt
fi
"#;

#[test]
#[ignore = "needs landlock"]
fn tcp_is_allowed_by_port() {
    let service = Service::start();
    let other = Service::start();
    let name = format!("terca-test-landlock-{}", service.port);
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script = format!(
        "{REACH}reach 127.0.0.1 {} && echo service >> reached.txt\nreach 127.0.0.1 {} && echo other >> reached.txt\ntrue\n",
        service.port, other.port
    );
    for (settings, expected, is_refused) in [
        ("network: open".to_owned(), "service\nother\n", false),
        ("network: off".to_owned(), "", false),
        ("network: model".to_owned(), "", true),
        (
            format!("allow: ['localhost:{}']", service.port),
            "service\n",
            true,
        ),
    ] {
        let project = project().executable("agent.sh", &script).file(
            "terca.yaml",
            format!(
                "sandbox: landlock\n{settings}\n\
                 environments: [{{name: mine, agent: {{name: command, command: ./agent.sh}}}}]\n\
                 evals: [{{name: task, prompt: go, allowWarnings: no-tests}}]\n"
            ),
        );
        project.terca(&["run"]).expect_status(0);
        assert_eq!(
            project.trial_file("workspace/reached.txt"),
            expected,
            "{settings}"
        );
        let answer = project.trial_file("workspace/answer.txt");
        assert_eq!(answer.contains("403"), is_refused, "{settings}: {answer}");
        let trial = project.only_trial();
        let refused = &trial["network"]["refused"];
        if is_refused {
            assert_eq!(
                *refused,
                json!([{"host": "refused.example", "port": 443, "count": 1}]),
                "{settings}"
            );
        } else {
            assert_eq!(*refused, Value::Null, "{settings}");
        }
    }
}

#[test]
#[ignore = "needs landlock"]
fn downloads_are_kept_for_set_up_alone() {
    downloads_for_set_up_alone("landlock");
}

#[test]
#[ignore = "needs landlock"]
fn no_other_name_shows_the_home_or_the_suite() {
    show_nothing_more("landlock");
}

#[test]
#[ignore = "needs landlock"]
fn a_home_by_a_link_is_the_home() {
    a_home_that_is_a_link("landlock");
}

#[test]
#[ignore = "needs landlock"]
fn programs_are_found_by_other_names() {
    programs_are_found("landlock");
}

#[test]
#[ignore = "needs landlock"]
fn commands_of_the_suite_find_the_suite_and_not_the_solution() {
    suite_and_not_the_solution("landlock");
}

#[test]
#[ignore = "needs landlock"]
fn limits_and_signals_are_as_without_it() {
    let hog = "touch started\nx=$(head -c 400000000 /dev/zero | tr '\\0' x)\nsleep 600\n";
    let project = project().agent(hog);
    let yaml = project.read("terca.yaml");
    let project = project
        .file(
            "terca.yaml",
            format!("limits: {{memory: 64MB}}\nsandbox: landlock\n{yaml}"),
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: started}]\n",
        );
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert!(
        trial["notes"].to_string().contains("limits.memory (64 MB)"),
        "{trial}"
    );
    // The supervisor is in reach; its death is no error, which would be another attempt.
    let project = project
        .agent("echo x > made.txt\nkill -KILL $PPID\nsleep 600\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: made.txt}]\n",
        );
    project
        .terca(&["run", "--sandbox", "landlock"])
        .expect_status(0);
    assert!(project.processes().is_empty());
}

/// Landlock has no rule for `chmod`. An agent finds the path that it is started from, those above its trial, and those that
/// have the same names everywhere.
#[test]
#[ignore = "needs landlock"]
fn an_agent_that_takes_rights_away_voids_no_trial() {
    for target in [
        "\"$(dirname \"$0\")\"", "\"$0\"", "..", "../..", "../../..", "$SUITE", "$SUITE/.terca",
        "$SUITE/.terca/runs", "$RUN", "$RUN/fib", "$RUN/fib/*.01 $RUN/fib/e.default.01",
        "$RUN/fib/e.default.01/artifacts",
    ] {
        for sandbox in ["landlock", "none"] {
            let agent = format!(
                "RUN=$SUITE/.terca/runs/$(date -u +%F)-001\nchmod 0 {target} 2>/dev/null\ntouch done\n"
            );
            let project = project().executable("agents/x.sh", &format!("#!/bin/sh\n{agent}"));
            let suite = project.dir();
            let yaml = format!(
                "env: {{SUITE: '{suite}'}}\nrepetitions: 3\nconcurrency: 1\n\
                 environments: [{{name: e, agent: {{name: command, command: ./agents/x.sh}}}}]\n"
            );
            let project = project.file("terca.yaml", yaml);
            let project = project.file("fib/_tests/check.sh", "test -e done\n").file(
                "fib/eval.terca.yaml",
                "prompt: go\ntests: [{commandSuccess: sh check.sh}]\n",
            );
            let args = ["run", "--sandbox", sandbox, "--retries", "0"];
            let mut command = project.command_without_privileges(&args);
            let outcome: Outcome = command.output().unwrap().into();
            assert_eq!(outcome.status, 0, "{target} {sandbox}: {outcome:?}");
            let passed = &project.results()["summary"]["passed"];
            assert_eq!(passed, 3, "{target} {sandbox}: {outcome:?}");
        }
    }
}

#[test]
#[ignore = "needs landlock"]
fn the_tap_of_an_mcp_server_works_by_its_rules() {
    let script = "start; hello; ask 2 tools/call search; answer; exec 3>&-; wait $server";
    let project = project_with_mcp_server(script, "sandbox: landlock\n");
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["containedBy"], "landlock");
    let server = &trial["delivery"]["mcpServers"]["docs"];
    assert_eq!(server["tap"]["tools"]["search"]["calls"], 1, "{server:#}");
}

#[test]
#[ignore = "needs landlock"]
fn a_workspace_is_the_same_mounted_and_copied() {
    assert_same_by_both_ways(User::Own, "landlock");
    assert_same_by_both_ways(User::WithoutPrivileges, "landlock");
}

#[test]
#[ignore = "needs landlock"]
fn what_tests_write_to_a_cache_reaches_no_other_trial() {
    tests_cannot_poison("landlock");
}

/// Libraries in Rust, in git and outside, by bubblewrap and by Landlock.
#[test]
#[ignore = "needs Landlock and bwrap"]
fn suites_of_crates_are_proven() {
    let tools = camino::Utf8Path::new(env!("CARGO")).parent().unwrap();
    let path = format!("{tools}:{}", std::env::var("PATH").unwrap_or_default());
    for layout in &OF_RUST {
        let project = layout.make().directory(".git").env("PATH", &path);
        let project = project.env("TERCA_SANDBOX", "bwrap");
        layout.init(&project, &[]);
        layout.prove(&project, "landlock");
        let project = layout.make().env("PATH", &path);
        let project = project.env("TERCA_SANDBOX", "landlock");
        layout.init(&project, &[]);
        layout.prove(&project, "bwrap");
    }
}

#[test]
#[ignore = "needs landlock"]
fn tests_start_the_work_where_it_finds_nothing_hidden() {
    work_command::looking_it_up_gains_nothing("landlock");
    work_command::it_is_the_command_itself("landlock");
    work_command::it_reaches_nothing_hidden("landlock");
}
