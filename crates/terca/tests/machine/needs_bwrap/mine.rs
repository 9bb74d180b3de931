//! `terca mine`: drafts that are proven in a sandbox, and those that are not.

mod cargo;
mod describe;
mod inject;

use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Outcome, Project, Session};

use crate::common::history::History;
use crate::common::project;
use crate::mined::assert_mined_evals_hold;

const START: [(&str, &str); 2] = [
    ("greet.sh", "echo hello\n"),
    ("tests/greet_test.sh", "[ \"$(sh ./greet.sh)\" = hello ]\n"),
];

fn mine(project: &Project, args: &[&str]) -> (Outcome, Value) {
    let mut all = vec!["mine", "repository", "--since", "100y", "--format", "json"];
    all.extend(args);
    let outcome = project.terca(&all);
    let answer = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", outcome.stdout, outcome.stderr));
    (outcome, answer)
}

fn entry<'a>(answer: &'a Value, commit: &str) -> &'a Value {
    let commits = answer["commits"].as_array().unwrap();
    let found = commits.iter().find(|entry| entry["commit"] == commit);
    found.unwrap_or_else(|| panic!("{commit}: {answer:#}"))
}

/// Mines, and expects an eval of each of these commits.
pub(crate) fn all_are_written(project: &Project, commits: &[&String]) {
    let (outcome, answer) = mine(project, &[]);
    for commit in commits {
        let entry = entry(&answer, commit);
        assert!(entry["eval"].is_string(), "{entry:#}{}", outcome.stderr);
    }
    assert_eq!(answer["written"], commits.len(), "{answer:#}");
}

/// The names in a directory that are not hidden, sorted.
fn names(project: &Project, dir: &str) -> Vec<String> {
    let entries = project.path(dir).read_dir_utf8().unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    names.retain(|name| name != ".schemas");
    names.sort();
    names
}

#[test]
#[ignore = "needs bubblewrap"]
fn proven_commits_become_evals() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    let shell = history.commit(
        "Greet everybody by name (#7)\n\nThe name is the argument.\n\nSigned-off-by: A <a@example.com>\n",
        &[
            ("greet.sh", "echo \"hello $1\"\n"),
            ("tests/greet_test.sh", "[ \"$(sh ./greet.sh you)\" = 'hello you' ]\n"),
        ],
    );
    let python = history.commit(
        "Count the words of a text",
        &[
            ("count.py", "def words(text):\n    return len(text.split())\n"),
            (
                "tests/test_count.py",
                "import unittest\nfrom count import words\n\n\nclass Words(unittest.TestCase):\n    def test_two(self):\n        \
                 self.assertEqual(words('a b'), 2)\n",
            ),
        ],
    );
    // A module of Python has this name, too.
    let one_file = history.commit(
        "Count the lines of a text",
        &[
            ("lines.py", "def lines(text):\n    return len(text.splitlines())\n"),
            (
                "test.py",
                "import unittest\nfrom lines import lines\n\n\nclass Lines(unittest.TestCase):\n    def test_two(self):\n        \
                 self.assertEqual(lines('a\\nb'), 2)\n",
            ),
        ],
    );
    let (outcome, answer) = mine(&project, &[]);
    assert_eq!(
        (outcome.status, &answer["written"]),
        (0, &3.into()),
        "{answer:#}{}",
        outcome.stderr
    );
    for commit in [&shell, &python, &one_file] {
        let eval = entry(&answer, commit)["eval"].as_str().unwrap();
        assert!(eval.ends_with(&commit[..9]), "{eval}");
        let text = project.read(&format!("repository-evals/{eval}/eval.terca.yaml"));
        assert!(
            text.contains(commit.as_str()) && text.contains("EDIT ME"),
            "{text}"
        );
        assert!(
            !project
                .path(&format!("repository-evals/{eval}/_base/.git"))
                .exists()
        );
    }
    let eval = entry(&answer, &shell)["eval"].as_str().unwrap();
    let prompt = project.read(&format!("repository-evals/{eval}/prompt.md"));
    assert!(
        prompt.contains("Greet everybody by name\n\nThe name is the argument.\n"),
        "{prompt}"
    );
    assert!(
        !prompt.contains("#7") && !prompt.contains("Signed-off"),
        "{prompt}"
    );
    // The suite is one like any other.
    project
        .terca(&["-C", "repository-evals", "check"])
        .expect_status(0);
    assert_mined_evals_hold(
        &project.terca(&["-C", "repository-evals", "validate", "--format", "plain"]),
    );
    // What is there is not made again.
    let (outcome, answer) = mine(&project, &[]);
    assert_eq!(outcome.status, 1, "{answer:#}");
    assert_eq!(entry(&answer, &shell)["reason"], "already");
}

#[test]
#[ignore = "needs bubblewrap"]
fn commits_that_prove_nothing_are_refused_with_a_reason() {
    let project = project().file("decoy", "");
    let mut history = History::new(&project);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    history.commit("Start the whole project", &START);
    let mut number = 0;
    let mut commit = |message: &str, test: &str| {
        number += 1;
        let code = format!("echo {number}\n");
        let path = format!("tests/t{number}_test.sh");
        history.commit(
            message,
            &[
                ("greet.sh", &code),
                (
                    &path,
                    &format!("[ \"$(sh ./greet.sh)\" = {number} ] || exit 1\n{test}\n"),
                ),
            ],
        )
    };
    let broken = commit(
        "Break the tests of it", "echo 'error: it is broken'; exit 1",
    );
    let connect =
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)'");
    let network = commit("Ask a service for it", &connect);
    let endless = commit("Wait for the end of it", "while :; do :; done");
    let home = project.home();
    let outside = commit(
        "Write into the home of somebody",
        &format!("echo x > {home}/written"),
    );
    let flaky = commit(
        "Pass once and never again", "[ ! -e \"$TERCA_TRIAL_DIR/gradings\" ]",
    );
    let trivial = history.commit(
        "Test what was there before",
        &[
            ("more.sh", "echo more\n"),
            ("tests/more_test.sh", "[ \"$(echo x)\" = x ]\n"),
        ],
    );
    let gameable = history.commit(
        "Check only that it ends well",
        &[
            ("new.sh", "exit 0\n"),
            ("tests/new_test.sh", ". ./greet.sh\nsh ./new.sh\n"),
        ],
    );
    let (outcome, answer) = mine(&project, &["--timeout", "5"]);
    for (commit, reason) in [
        (&broken, "broken"),
        (&network, "broken"),
        (&endless, "slow"),
        (&outside, "broken"),
        (&flaky, "flaky"),
        (&trivial, "trivial"),
        (&gameable, "gameable"),
    ] {
        assert_eq!(
            entry(&answer, commit)["reason"],
            reason,
            "{answer:#}{}",
            outcome.stderr
        );
    }
    assert_eq!(
        entry(&answer, &broken)["detail"],
        "0 of 1 tests passed: error: it is broken"
    );
    let detail = entry(&answer, &endless)["detail"].as_str().unwrap();
    assert!(detail.contains("5"), "{detail}");
    assert_eq!(outcome.status, 1);
    assert!(
        listener.accept().is_err(),
        "the test has reached the service"
    );
    assert!(!home.join("written").exists());
    assert_eq!(
        names(&project, "."),
        ["decoy", "repository"],
        "nothing is left"
    );
    project.assert_nothing_left();
}

#[test]
#[ignore = "needs bubblewrap"]
fn commands_of_the_user_and_the_limit() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    let mut commits = Vec::new();
    for number in 0..3 {
        commits.push(history.commit(
            "Say another number instead",
            &[
                ("greet.sh", &format!("echo {number}\n")),
                ("tests/number_test.go", &format!("{number}\n")),
            ],
        ));
    }
    let test = "[ \"$(sh ./greet.sh)\" = \"$(cat {files})\" ] && [ -e installed ]";
    let args = [
        "--setup", "touch installed", "--test-command", test, "--limit", "1", "--into", "into",
    ];
    let (outcome, answer) = mine(&project, &args);
    assert_eq!(
        (outcome.status, &answer["written"]),
        (0, &1.into()),
        "{answer:#}{}",
        outcome.stderr
    );
    assert_eq!(
        answer["commits"].as_array().unwrap().len(),
        1,
        "the newest is enough"
    );
    assert_eq!(names(&project, "into").len(), 2);
    // The next ones are added.
    let (_, answer) = mine(
        &project,
        &[
            "--setup", "exit 3", "--test-command", test, "--into", "into",
        ],
    );
    assert_eq!(entry(&answer, &commits[1])["reason"], "setup", "{answer:#}");
}

/// A test that fails before and after the commit, as one that needs a network does, is in no list.
#[test]
#[ignore = "needs bubblewrap"]
fn an_old_failure_does_not_refuse_a_commit() {
    let project = project();
    let mut history = History::new(&project);
    let tests = |more: &str| {
        format!(
            "import unittest\nimport count\n\n\nclass Words(unittest.TestCase):\n    def test_old(self):\n        \
             raise OSError('no network')\n\n    def test_none(self):\n        self.assertEqual(count.words(''), 0)\n{more}"
        )
    };
    history.commit(
        "Start the whole project",
        &[
            ("count.py", "def words(text):\n    return len(text)\n"),
            ("tests/test_count.py", &tests("")),
        ],
    );
    let two = "\n    def test_two(self):\n        self.assertEqual(count.words('a b'), 2)\n";
    let commit = history.commit(
        "Count words and not bytes",
        &[
            (
                "count.py",
                "def words(text):\n    return len(text.split())\n",
            ),
            ("tests/test_count.py", &tests(two)),
        ],
    );
    let (outcome, answer) = mine(&project, &[]);
    let eval = entry(&answer, &commit)["eval"].as_str();
    let eval = eval.unwrap_or_else(|| panic!("{answer:#}{}", outcome.stderr));
    let text = project.read(&format!("repository-evals/{eval}/eval.terca.yaml"));
    let lists = "      mustPass:\n        # They fail at first.\n        - \"test_count.Words.test_two\"\n        \
                 # They pass at first, too.\n        - \"test_count.Words.test_none\"\n";
    assert!(text.contains(lists), "{text}");
    // Work that breaks what passed before does not pass.
    let answers = project.terca(&["-C", "repository-evals", "validate", "--format", "plain"]);
    assert_mined_evals_hold(&answers);
}

/// Adds commits, the newest last, whose tests end with these lines.
fn commits_that_end(history: &mut History, ends: &[&str]) -> Vec<String> {
    let commit = |(number, end): (usize, &&str)| {
        let test = format!("[ \"$(sh ./greet.sh)\" = {number} ] || exit 1\n{end}\n");
        let code = format!("echo {number}\n");
        history.commit(
            "Say another number instead",
            &[
                ("greet.sh", &code),
                (&format!("tests/t{number}_test.sh"), &test),
            ],
        )
    };
    ends.iter().enumerate().map(commit).collect()
}

/// Starts to mine, and waits until the tests of a draft sleep.
fn mining_until_it_sleeps(project: &Project) -> Session {
    let mut session = project.start(&["mine", "repository", "--since", "100y", "-c", "1"]);
    session.wait_until("the tests run", || {
        let processes = project.processes();
        processes
            .iter()
            .any(|process| format!("{process:?}").contains("sleep"))
    });
    session
}

#[test]
#[ignore = "needs bubblewrap"]
fn an_interrupt_keeps_what_is_proven() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    let commits = commits_that_end(&mut history, &["sleep 600", "true", "exit 1"]);
    let session = mining_until_it_sleeps(&project);
    let eval = format!("say-another-number-instead-{}", &commits[1][..9]);
    assert!(
        project
            .path(&format!("repository-evals/{eval}/eval.terca.yaml"))
            .exists()
    );
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    let refused = format!(
        "{} refused: its tests fail after the commit, too: 0 of 1 tests passed\n",
        &commits[2][..9]
    );
    let written = format!("{} written: {eval}\n", &commits[1][..9]);
    let is_end = |line: &&str| !line.starts_with("trying ");
    let ends: Vec<&str> = outcome.stderr.lines().filter(is_end).collect();
    let told = format!("{refused}{written}");
    assert!(ends.join("\n").starts_with(told.trim_end()), "{ends:?}");
    let begun = format!("trying {eval} in a sandbox\n");
    assert!(outcome.stderr.contains(&begun), "{}", outcome.stderr);
    let total = "1 eval written, 1 commit refused";
    assert!(outcome.stdout.contains(total), "{}", outcome.stdout);
    assert_eq!(
        names(&project, "repository-evals"),
        [eval.as_str(), "terca.yaml"]
    );
    project.assert_nothing_left();
}

/// A program that does not hear a signal is not waited for, and the next run removes what it has left.
#[test]
#[ignore = "needs bubblewrap"]
fn an_interrupt_waits_for_nobody() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    commits_that_end(
        &mut history,
        &["trap '' TERM INT HUP\nwhile :; do sleep 600; done"],
    );
    let session = mining_until_it_sleeps(&project);
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    project.wait_until_nothing_runs();
    project
        .terca(&["mine", "repository", "--since", "1h"])
        .expect_status(1);
    project.assert_nothing_left();
}

#[test]
#[ignore = "needs bubblewrap"]
fn tries_are_counted_apart_from_evals() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    let reason = format!("echo 'error: {}'; exit 1", "very ".repeat(30) + "long");
    let commits = commits_that_end(
        &mut history,
        &["true", &reason, "echo '}'; exit 1", "exit 1"],
    );
    let all = ["mine", "repository", "--since", "100y", "--limit", "1"];
    let tried = |tries: &str| project.terca(&[&all[..], &["--max-tries", tries]].concat());
    let outcome = tried("3").expect_status(1);
    let message = "stopped after 3 drafts: --max-tries";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    // Nothing cuts a reason where there is no terminal.
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(text.contains("very very long\n"), "{text}");
    }
    let outcome = project.terca(&all).expect_status(0);
    assert!(
        !outcome.stderr.contains("--max-tries"),
        "{}",
        outcome.stderr
    );
    let written = format!("{} written: ", &commits[0][..9]);
    assert!(outcome.stderr.contains(&written), "{}", outcome.stderr);
}

#[test]
#[ignore = "needs bubblewrap"]
fn an_interrupt_leaves_nothing() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &START);
    history.commit(
        "Wait for a very long time",
        &[
            ("greet.sh", "echo 1\n"),
            ("tests/wait_test.sh", "sleep 600\n"),
        ],
    );
    let mut session = project.start(&["mine", "repository", "--since", "100y"]);
    session.wait_until("the tests run", || {
        let processes = project.processes();
        processes
            .iter()
            .any(|process| format!("{process:?}").contains("sleep"))
    });
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    assert_eq!(names(&project, "."), ["repository"]);
    project.assert_nothing_left();
}
