//! `terca mine --describe-with`: prompts that an agent writes in an empty room, and those that it does not.
//!
//! The agent is a script with the name of a real one. It finds out what it can reach, and answers by the message of the commit.

use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Outcome, Project};

use super::{START, entry, mine};
use crate::common::history::History;
use crate::common::project;

const KEY: &str = "fake-key-for-tests";

/// It costs half a dollar, and says so.
const AGENT: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.0 (Claude Code)'; exit; fi
files=$(ls -A | wc -l)
question=$(cat)
case "$question" in
@ANSWERS@
esac
echo '{"type":"system","subtype":"init","model":"claude-test-1","mcp_servers":[]}'
echo '{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-test-1","content":[{"type":"text","text":"It is written."}],"usage":{"input_tokens":10,"output_tokens":2}}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"It is written.","num_turns":1,"stop_reason":"end_turn","total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":2},"modelUsage":{"claude-test-1":{"inputTokens":10,"outputTokens":2,"costUSD":0.5}}}'
"#;

/// A project with a repository, and with a script that is called as an agent is. `answers` are the cases of its questions;
/// `@REPOSITORY@` is the path of the repository.
fn with_agent(answers: &str) -> (Project, History) {
    let project = project();
    let answers = answers.replace("@REPOSITORY@", project.path("repository").as_str());
    let script = AGENT.replace("@ANSWERS@", &answers);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", project.path("bin"));
    let project = project
        .executable("bin/claude", &script)
        .env("PATH", &path)
        .env("ANTHROPIC_API_KEY", KEY);
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    (project, history)
}

/// Adds a commit that can be proven.
fn provable(history: &mut History, name: &str, message: &str) -> String {
    let source =
        format!("words_of_{name}=$(echo \"the {name} is $1\")\necho \"$words_of_{name}\"\n");
    history.commit(
        message,
        &[
            (&format!("{name}.sh"), &source),
            (
                &format!("tests/{name}_test.sh"),
                &format!("[ \"$(sh ./{name}.sh x)\" = 'the {name} is x' ]\n"),
            ),
        ],
    )
}

fn described(project: &Project, args: &[&str]) -> (Outcome, Value) {
    let mut all = vec!["--describe-with", "claude-code"];
    all.extend(args);
    mine(project, &all)
}

fn file_of(project: &Project, answer: &Value, commit: &str, name: &str) -> String {
    let eval = entry(answer, commit)["eval"].as_str().unwrap();
    project.read(&format!("repository-evals/{eval}/{name}"))
}

#[test]
#[ignore = "needs bubblewrap"]
fn a_prompt_is_written_in_an_empty_room() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (project, mut history) = with_agent(&format!(
        r#"*"Say what the colour is"*)
  [ "$files" = 0 ] && empty=yes
  [ -e '@REPOSITORY@' ] && seen=yes
  python3 -c 'import socket' && python=yes
  python3 -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 2)' 2>/dev/null && reached=yes
  case "$question" in *'+words_of_colour='*) source=yes;; esac
  case "$question" in *'+[ "$(sh ./colour.sh x)"'*) tests=yes;; esac
  echo "The room: empty=$empty seen=$seen python=$python reached=$reached source=$source tests=$tests." >task.md
  echo "Write a script colour.sh that says the colour it is given." >>task.md
  ;;"#
    ));
    let commit = provable(&mut history, "colour", "Say what the colour is (#3)");
    let trivial = history.commit(
        "Test what was there before",
        &[("more.sh", "echo more\n"), ("tests/more_test.sh", "true\n")],
    );
    let (outcome, answer) = described(&project, &["--model", "claude-test"]);
    assert_eq!(outcome.status, 0, "{answer:#}{}", outcome.stderr);
    assert_eq!(
        entry(&answer, &commit)["described"],
        json!({"agent": "claude-code", "model": "claude-test-1", "costUsd": 0.5, "reason": null, "detail": null}),
        "{answer:#}{}",
        outcome.stderr
    );
    let prompt = file_of(&project, &answer, &commit, "prompt.md");
    assert_eq!(
        prompt,
        "The room: empty=yes seen= python=yes reached= source=yes tests=yes.\n\
         Write a script colour.sh that says the colour it is given.\n\n\
         Hidden tests check the behaviour when you are done.\n"
    );
    assert!(
        listener.accept().is_err(),
        "the agent has reached a service"
    );
    let eval = file_of(&project, &answer, &commit, "eval.terca.yaml");
    for part in [
        "# EDIT ME: claude-code (claude-test-1) wrote prompt.md from the commit.",
        "\"edit-me\"",
        "\"promptBy\": { \"agent\": \"claude-code\", \"model\": \"claude-test-1\" }",
    ] {
        assert!(eval.contains(part), "{part}: {eval}");
    }
    // Nobody was asked about a commit that is not proven.
    assert_eq!(entry(&answer, &trivial)["reason"], "trivial");
    assert_eq!(
        (&entry(&answer, &trivial)["described"], &answer["costUsd"]),
        (&Value::Null, &json!(0.5))
    );
    project
        .terca(&["-C", "repository-evals", "check"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bubblewrap"]
fn an_answer_that_is_none_leaves_the_message() {
    let (project, mut history) = with_agent(
        r#"*"Say what the line is"*) printf 'Write line.sh.\n\n    %s\n' 'words_of_line=$(echo "the line is $1")' >task.md;;
*"Say what the hash is"*) echo "Do what @HASH@ does in hash.sh" >task.md;;
*"Say what the void is"*) : ;;
*"Say what the long is"*) for i in 1 2 3 4 5 6 7 8 9; do printf '%01000d words ' 0 >>task.md; done;;
*"Say what the crash is"*) echo 'it broke' >&2; exit 7;;
*"Say what the sleep is"*) echo 'Write a script sleep.sh.' >task.md; sleep 600;;
*"Say what the good is"*) echo 'Write a script good.sh that says the good.' >task.md;;
"#,
    );
    let mut commits = Vec::new();
    for name in ["line", "hash", "void", "long", "crash", "sleep", "good"] {
        let message = format!("Say what the {name} is");
        commits.push((name, provable(&mut history, name, &message)));
    }
    let hash = &commits[1].1[..10];
    let agent = project.path("bin/claude");
    let script = std::fs::read_to_string(&agent).unwrap();
    std::fs::write(&agent, script.replace("@HASH@", hash)).unwrap();
    let (outcome, answer) = described(&project, &["--describe-timeout", "20"]);
    // The proof is not lost.
    assert_eq!(
        (outcome.status, &answer["written"]),
        (0, &json!(7)),
        "{answer:#}{}",
        outcome.stderr
    );
    for ((name, commit), (reason, detail)) in commits.iter().zip([
        ("leak", "it repeats a line of line.sh"),
        ("leak", "it has the hash of a commit"),
        ("empty", "it left no file task.md"),
        (
            "tooLong",
            "task.md has 9062 characters, and 8000 are allowed",
        ),
        ("agent", "it broke"),
        ("timeout", ""),
        ("", ""),
    ]) {
        let described = &entry(&answer, commit)["described"];
        let text = |key: &str| described[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(text("reason"), reason, "{name}: {described}");
        assert!(text("detail").contains(detail), "{name}: {described}");
        let prompt = file_of(&project, &answer, commit, "prompt.md");
        let eval = file_of(&project, &answer, commit, "eval.terca.yaml");
        let is_message = prompt.starts_with("Make this change to the project");
        assert_eq!(is_message, *name != "good", "{name}: {prompt}");
        assert_eq!(
            eval.contains("prompt.md is the commit's message"),
            is_message,
            "{eval}"
        );
        assert_eq!(eval.contains("promptBy"), !is_message, "{eval}");
        assert!(
            eval.contains("EDIT ME") && eval.contains("edit-me"),
            "{eval}"
        );
    }
    project.assert_nothing_left();
}

/// Each question would meet the same error, so only the first is asked.
#[test]
#[ignore = "needs bubblewrap"]
fn an_agent_without_its_key_is_named_by_its_error() {
    let (project, mut history) = with_agent(
        r#"*) echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 401 invalid x-api-key","total_cost_usd":0}'; exit 1;;"#,
    );
    let commits = [
        provable(&mut history, "one", "Say what the one is"),
        provable(&mut history, "two", "Say what the two is"),
    ];
    let (outcome, answer) = described(&project, &["-c", "1"]);
    assert_eq!(outcome.status, 0, "{answer:#}{}", outcome.stderr);
    for commit in &commits {
        let described = &entry(&answer, commit)["described"];
        assert_eq!(described["reason"], "auth", "{described}");
        let detail = described["detail"].as_str().unwrap();
        assert!(detail.contains("invalid x-api-key"), "{detail}");
        let prompt = file_of(&project, &answer, commit, "prompt.md");
        assert!(prompt.starts_with("Make this change"), "{prompt}");
    }
    // A program that is not there at all.
    std::fs::remove_file(project.path("bin/claude")).unwrap();
    std::fs::remove_dir_all(project.path("repository-evals")).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("bin"));
    let all = [
        "mine", "repository", "--since", "100y", "--describe-with", "claude",
    ];
    let outcome = project
        .terca_with(&[("PATH", &path)], &all)
        .expect_status(0);
    let part = "prompt not by claude-code: an error (agentMissing)";
    assert_eq!(
        outcome.stdout.matches(part).count(),
        2,
        "{}",
        outcome.stdout
    );
}

#[test]
#[ignore = "needs bubblewrap"]
fn a_budget_ends_the_descriptions_and_not_the_mining() {
    let (project, mut history) =
        with_agent("*) echo 'Write the script that is missing here.' >task.md;;");
    for name in ["one", "two", "three"] {
        provable(&mut history, name, &format!("Say what the {name} is"));
    }
    let args = [
        "--describe-with", "claude", "--budget-usd", "0.4", "-c", "1",
    ];
    let mut all = vec!["mine", "repository", "--since", "100y", "--limit", "2"];
    all.extend(args);
    let outcome = project.terca(&all).expect_status(0);
    for (part, times) in [
        ("prompt by claude-code (claude-test-1), $0.500", 1),
        ("prompt not by claude-code: the budget is spent", 1),
        (
            "2 evals written, 0 commits refused; the prompts cost $0.500",
            1,
        ),
    ] {
        assert_eq!(
            outcome.stdout.matches(part).count(),
            times,
            "{part}: {}",
            outcome.stdout
        );
    }
}

/// A key that was there before the commit is no part of it, but of the lines around.
#[test]
#[ignore = "needs bubblewrap"]
fn a_secret_beside_a_change_reaches_no_agent() {
    let (project, mut history) =
        with_agent("*) touch asked; echo 'Write the missing script.' >task.md;;");
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let colour = |last: &str| format!("key={key}\necho \"the colour is {last}\"\n");
    history.commit(
        "Say what the colour may be",
        &[
            ("colour.sh", &colour("red")),
            (
                "tests/colour_test.sh",
                "[ \"$(sh ./colour.sh x)\" = 'the colour is red' ]\n",
            ),
        ],
    );
    let commit = history.commit(
        "Say what the colour is",
        &[
            ("colour.sh", &colour("$1")),
            (
                "tests/colour_test.sh",
                "[ \"$(sh ./colour.sh x)\" = 'the colour is x' ]\n",
            ),
        ],
    );
    let (outcome, answer) = described(&project, &[]);
    let described = &entry(&answer, &commit)["described"];
    assert_eq!(
        (
            &described["reason"], &described["detail"], &answer["costUsd"]
        ),
        (
            &json!("secret"),
            &json!("a key of AWS is near the change: the agent was not asked"),
            &Value::Null
        ),
        "{answer:#}"
    );
    assert!(!outcome.stdout.contains(&key) && !outcome.stderr.contains(&key));
}

#[test]
#[ignore = "needs bubblewrap"]
fn an_interrupt_of_the_agent_keeps_what_is_proven() {
    let (project, mut history) = with_agent("*) echo 'Write a part of' >task.md; sleep 600;;");
    let commit = provable(&mut history, "colour", "Say what the colour is");
    let all = [
        "mine", "repository", "--since", "100y", "--describe-with", "claude",
    ];
    let mut session = project.start(&all);
    session.wait_until("the agent waits", || {
        let processes = project.processes();
        processes
            .iter()
            .any(|process| format!("{process:?}").contains("sleep"))
    });
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("prompt not by claude-code: it was interrupted"),
        "{}",
        outcome.stdout
    );
    let eval = format!("repository-evals/say-what-the-colour-is-{}", &commit[..9]);
    let prompt = project.read(&format!("{eval}/prompt.md"));
    assert!(prompt.starts_with("Make this change"), "{prompt}");
    project.assert_nothing_left();
}
