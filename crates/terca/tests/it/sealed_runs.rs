//! The record of a run: what was changed in it is noticed, what a crash left is mended, and both are told apart.

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_core::run::event::Event;
use terca_core::run::seal::{Seal, digest};
use terca_testkit::{Outcome, Project};

const SUITE: &str = "repetitions: 3\nenvironments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n\
                     evals: [{name: a, prompt: go, tests: [{fileExists: done.txt}]}]\n";

fn suite() -> Project {
    project()
        .agent("echo done > done.txt")
        .file("terca.yaml", SUITE)
}

/// A run that came to its end.
fn complete() -> Project {
    let project = suite();
    project
        .terca(&["--format", "plain", "-c", "1"])
        .expect_status(0);
    project
}

fn journal(project: &Project) -> Utf8PathBuf {
    project.run_dir().join("events.jsonl")
}

fn lines(project: &Project) -> Vec<String> {
    project.journal().lines().map(str::to_owned).collect()
}

fn write(project: &Project, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(journal(project), text).unwrap();
}

/// All files of a run, with their content.
fn content(dir: &Utf8Path) -> Vec<(String, Vec<u8>)> {
    ["events.jsonl", "results.json", "run.json"]
        .map(|name| {
            (
                name.to_owned(),
                std::fs::read(dir.join(name)).unwrap_or_default(),
            )
        })
        .to_vec()
}

fn verified(project: &Project) -> Value {
    let outcome = project.terca(&["verify", "--json"]);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(outcome.status == 0, found[0]["sound"] == true, "{found}");
    found[0].clone()
}

fn has(text: &str, words: &str) {
    assert!(text.contains(words), "no `{words}` in:\n{text}");
}

#[test]
fn a_run_as_it_was_written_is_sound() {
    let project = complete();
    let events = lines(&project).len();
    let said = project.terca(&["verify"]).expect_status(0).stdout;
    has(&said, &format!(": sound ({events} events, sealed)"));
    let found = verified(&project);
    assert_eq!(found["sealed"], "all");
    assert_eq!(found["notes"], json!([]));
    assert_eq!(found["chain"], project.results()["journal"]["chain"]);
    // It may be moved, renamed, graded again and continued.
    let elsewhere = project.path("elsewhere");
    std::fs::rename(project.run_dir(), &elsewhere).unwrap();
    project.terca(&["verify", "elsewhere"]).expect_status(0);
    let renamed = project.path(".terca/runs/2020-01-01-007");
    std::fs::rename(&elsewhere, &renamed).unwrap();
    project.terca(&["regrade"]).expect_status(0);
    project.terca(&["resume"]).expect_status(0);
    project.terca(&["verify", "7"]).expect_status(0);
    assert_eq!(verified(&project)["sealed"], "all");
}

#[test]
fn several_runs_are_checked_at_once() {
    let project = complete();
    project.terca(&["--format", "plain"]).expect_status(0);
    project.terca(&["verify", "1", "2"]).expect_status(0);
    let mut lines = lines(&project);
    lines.remove(2);
    write(&project, &lines);
    let said = project.terca(&["verify", "1", "2"]).expect_status(1).stdout;
    has(&said, "-001: sound");
    has(&said, "-002: damaged");
    project.terca(&["verify", "3"]).expect_status(2);
}

type Damage = fn(&mut Vec<String>);

/// Kinds of damage, the line that is named for it, and words of the message.
const DAMAGES: [(&str, Damage, usize, &str); 12] = [
    (
        "missing",
        |lines| drop(lines.remove(4)),
        5,
        "lines are missing",
    ),
    (
        "missing at the beginning",
        |lines| drop(lines.remove(0)),
        1,
        "lines are missing",
    ),
    (
        "doubled",
        |lines| lines.insert(5, lines[4].clone()),
        6,
        "doubled or moved",
    ),
    (
        "swapped",
        |lines| lines.swap(4, 5),
        5,
        "lines are missing, or were moved",
    ),
    (
        "forged",
        |lines| lines[4] = lines[4].replace("\"trial\":", "\"trial\": "),
        5,
        "its seal is wrong",
    ),
    (
        "with another number",
        |lines| lines[4] = lines[4].replacen("\"seq\":4", "\"seq\":99", 1),
        5,
        "event 99 is here",
    ),
    (
        "without a seal",
        |lines| {
            let end = lines[4].find(",\"chain\"").unwrap();
            lines[4].truncate(end);
            lines[4].push('}');
        },
        5,
        "it has no seal",
    ),
    (
        "added at the end",
        |lines| {
            let next = lines.len();
            lines.push(lines[next - 2].replacen(
                &format!("\"seq\":{}", next - 2),
                &format!("\"seq\":{next}"),
                1,
            ));
        },
        0,
        "its seal is wrong",
    ),
    (
        "not an event",
        |lines| lines[4] = "{}".to_owned(),
        5,
        "it is not an event",
    ),
    (
        "empty",
        |lines| lines.insert(4, String::new()),
        5,
        "it is not an event",
    ),
    (
        "begun twice",
        |lines| lines[4] = lines[0].replacen("\"seq\":0", "\"seq\":4", 1),
        5,
        "its seal is wrong",
    ),
    (
        "begun twice with a seal of its own", begun_twice, 5, "a second `runStarted`",
    ),
];

/// Puts a second beginning in, and computes the chain again.
fn begun_twice(lines: &mut Vec<String>) {
    lines[4] = lines[0].replacen("\"seq\":0", "\"seq\":4", 1);
    let first: Value = serde_json::from_str(&lines[0]).unwrap();
    let mut seal = Seal::new(first["runFile"].as_str().unwrap());
    for line in lines {
        let event: Event = serde_json::from_str(line).unwrap();
        let sealed = String::from_utf8(seal.line(&event).unwrap()).unwrap();
        sealed.trim_end().clone_into(line);
    }
}

#[test]
fn a_line_that_was_changed_is_named_and_refused() {
    for (kind, damage, line, words) in DAMAGES {
        let project = complete();
        let mut lines = lines(&project);
        damage(&mut lines);
        let line = if line == 0 { lines.len() } else { line };
        write(&project, &lines);
        let before = content(&project.run_dir());
        let found = verified(&project);
        assert_eq!(
            found["problems"][0]["file"], "events.jsonl",
            "{kind}: {found}"
        );
        assert_eq!(found["problems"][0]["line"], line, "{kind}: {found}");
        has(found["problems"][0]["text"].as_str().unwrap(), words);
        for args in [
            &["show"][..],
            &["resume"],
            &["resume", "--errors"],
            &["regrade"],
            &["compare"],
            &["report", "--csv", "-"],
        ] {
            let outcome = project.terca(args);
            assert_eq!(outcome.status, 3, "{kind} {args:?}: {}", outcome.stderr);
            has(&outcome.stderr, &format!("events.jsonl, line {line}: "));
            has(&outcome.stderr, "terca verify");
        }
        let listed = project.terca(&["list"]).expect_status(0).stdout;
        has(&listed, &format!("line {line}"));
        assert_eq!(content(&project.run_dir()), before, "{kind}");
    }
}

#[test]
fn what_is_sound_of_a_damaged_run_can_be_looked_at() {
    let project = complete();
    let mut lines = lines(&project);
    let second = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains("trialFinished"))
        .map(|(index, _)| index)
        .nth(1)
        .unwrap();
    lines[second] = lines[second].replace("passed", "failed");
    write(&project, &lines);
    let outcome = project.terca(&["show"]).expect_status(3);
    has(&outcome.stdout, "3 trials: 1 passed");
    has(&outcome.stderr, "only the part before the damage is shown");
}

#[test]
fn a_plan_that_was_changed_is_noticed() {
    let project = complete();
    let path = project.run_dir().join("run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for change in [
        text.replacen("\"failFast\": false", "\"failFast\": true", 1),
        text.clone() + " ",
    ] {
        assert_ne!(change, text);
        std::fs::write(&path, change).unwrap();
        assert_eq!(verified(&project)["problems"][0]["file"], "run.json");
        for args in [&["show"][..], &["resume"], &["regrade"], &["compare"]] {
            has(
                &project.terca(args).expect_status(3).stderr,
                "run.json was changed",
            );
        }
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(verified(&project)["problems"][0]["file"], "run.json");
    std::fs::write(&path, text).unwrap();
    project.terca(&["verify"]).expect_status(0);
}

/// A journal whose lines have lost their seals is not taken for one of an older version.
#[test]
fn a_seal_cannot_be_taken_off() {
    let project = complete();
    let unsealed: Vec<String> = lines(&project)
        .iter()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("chain");
            event.to_string()
        })
        .collect();
    write(&project, &unsealed);
    let found = verified(&project);
    assert_eq!(found["problems"][0]["line"], 1, "{found}");
    write(&project, &unsealed[..1]);
    std::fs::remove_file(project.run_dir().join("results.json")).unwrap();
    assert_eq!(verified(&project)["problems"][0]["line"], 1);
}

#[test]
fn a_journal_that_is_shorter_than_the_results_is_noticed() {
    let project = complete();
    let all = lines(&project);
    for kept in [all.len() - 1, all.len() / 2, 1, 0] {
        write(&project, &all[..kept]);
        let before = content(&project.run_dir());
        let found = verified(&project);
        has(
            found["problems"][0]["text"].as_str().unwrap(),
            "has lost lines",
        );
        for args in [&["resume"][..], &["regrade"], &["show"], &["compare"]] {
            let outcome = project.terca(args).expect_status(3);
            has(
                &outcome.stderr,
                &format!("has lost lines: it has {kept} events"),
            );
        }
        assert_eq!(content(&project.run_dir()), before);
    }
    // Who wants to go on with what is there says so by moving the results away.
    write(&project, &all[..all.len() / 2]);
    std::fs::remove_file(project.run_dir().join("results.json")).unwrap();
    project
        .terca(&["resume", "--format", "plain"])
        .expect_status(0);
    project.terca(&["verify"]).expect_status(0);
}

/// The whole chain made anew, as an agent could: the results were made from another.
#[test]
fn a_chain_that_was_computed_again_does_not_fit_the_results() {
    let project = complete();
    let mut lines = lines(&project);
    let last = lines.len() - 2;
    lines[last] = lines[last].replace("passed", "failed");
    let first: Value = serde_json::from_str(&lines[0]).unwrap();
    let mut seal = Seal::new(first["runFile"].as_str().unwrap());
    for line in &mut lines {
        let event: Event = serde_json::from_str(line).unwrap();
        let sealed = String::from_utf8(seal.line(&event).unwrap()).unwrap();
        sealed.trim_end().clone_into(line);
    }
    write(&project, &lines);
    let found = verified(&project);
    assert_eq!(found["problems"][0]["file"], "results.json", "{found}");
    project.terca(&["resume"]).expect_status(3);
}

#[test]
fn results_that_were_edited_are_noticed() {
    let project = complete();
    let path = project.run_dir().join("results.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, words) in [
        (
            "\"status\": \"passed\"", "\"status\": \"failed\"", "about trial 1",
        ),
        ("\"passRate\": 1.0", "\"passRate\": 0.5", "it was changed"),
        (
            "\"suite\": \"suite\"", "\"suite\": \"sweet\"", "it was changed",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        std::fs::write(&path, changed).unwrap();
        let found = verified(&project);
        assert_eq!(found["problems"][0]["file"], "results.json");
        has(found["problems"][0]["text"].as_str().unwrap(), words);
    }
}

/// Runs a command on results that a crash left, and checks that they are right again.
fn mended_by(args: &[&str], left: Option<&str>) -> (Project, Outcome) {
    let project = complete();
    let path = project.run_dir().join("results.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    match left {
        Some(left) => std::fs::write(&path, left).unwrap(),
        None => std::fs::remove_file(&path).unwrap(),
    }
    let outcome = project.terca(args).expect_status(0);
    let now = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now, whole, "{args:?} {left:?}");
    (project, outcome)
}

#[test]
fn results_that_are_missing_or_torn_are_written_anew() {
    for left in [
        None,
        Some(""),
        Some("{\"schemaVersion\": 1, \"sta"),
        Some("[]"),
    ] {
        for args in [&["show"][..], &["resume"]] {
            let (project, outcome) = mended_by(args, left);
            if args == ["show"] {
                has(
                    &outcome.stderr,
                    "results.json was out of date or incomplete",
                );
                let again = project.terca(args).expect_status(0);
                assert!(!again.stderr.contains("results.json"), "{}", again.stderr);
            }
        }
    }
}

/// Killed after its last event and before its results, as large runs are.
#[test]
fn results_that_are_stale_are_written_anew() {
    for args in [&["show"][..], &["resume"]] {
        let project = complete();
        let path = project.run_dir().join("results.json");
        let whole = std::fs::read_to_string(&path).unwrap();
        let all = lines(&project);
        // The results of the journal without its last two events, as Terca writes them while it runs.
        write(&project, &all[..all.len() - 2]);
        std::fs::remove_file(&path).unwrap();
        project.terca(&["show"]).expect_status(0);
        assert_eq!(project.results()["journal"]["events"], all.len() - 2);
        write(&project, &all);
        let found = verified(&project);
        has(
            found["notes"][0].as_str().unwrap(),
            "older than the journal",
        );
        project.terca(args).expect_status(0);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole, "{args:?}");
    }
}

/// A run that was killed says so in its results, too, once somebody looks.
#[test]
fn a_killed_run_is_sound_and_its_results_are_mended() {
    let project = suite().executable(
        "agent.sh",
        "#!/bin/sh\necho done > done.txt\nwhile [ -e $NOTES/wait ]; do sleep 0.05; done\n",
    );
    let notes = project.path("notes");
    let project = project
        .directory("notes")
        .file("terca.yaml", format!("env: {{NOTES: '{notes}'}}\n{SUITE}"))
        .file("notes/wait", "");
    let mut session = project.start(&["--format", "plain", "-c", "1"]);
    session.wait_until("an agent is at work", || {
        project.journal().contains("\"phase\":\"agent\"")
    });
    // While it goes on, it is sound too.
    project.terca(&["verify"]).expect_status(0);
    session.signal(Signal::KILL);
    session.finish();
    project.wait_until_nothing_runs();
    let mut text = std::fs::read(journal(&project)).unwrap();
    text.extend_from_slice(b"{\"seq\":3,\"at\":\"20");
    std::fs::write(journal(&project), &text).unwrap();
    let found = verified(&project);
    has(&found["notes"].to_string(), "is incomplete");
    project.terca(&["show"]).expect_status(0);
    assert_eq!(project.results()["status"], "interrupted");
    assert_eq!(
        std::fs::read(journal(&project)).unwrap(),
        text,
        "show cuts nothing off"
    );
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    project
        .terca(&["resume", "--format", "plain"])
        .expect_status(0);
    assert_eq!(verified(&project)["notes"], json!([]));
}

/// An agent at work on the record of its own run.
fn tampering(script: &str) -> Project {
    let project = project();
    let runs = project.path(".terca/runs");
    let script = format!("cd {runs}/*/ || exit 1\n{script}\ncd \"$OLDPWD\"; echo done > done.txt");
    project.agent(&script).file(
        "terca.yaml",
        format!(
            "concurrency: 1\n{}",
            SUITE.replace("repetitions: 3", "repetitions: 2")
        ),
    )
}

#[test]
fn a_journal_that_is_changed_while_its_run_goes_on_is_restored() {
    for (script, spoilt) in [
        (": > events.jsonl", true),
        ("rm events.jsonl", false),
        ("cp events.jsonl x; mv x events.jsonl", true),
        (
            "head -n 1 events.jsonl > x; cat x > events.jsonl; rm x",
            true,
        ),
        ("echo '{}' >> events.jsonl", true),
        ("sed -i 's/\"seed\":/\"feed\":/' events.jsonl", true),
        (
            "printf X | dd of=events.jsonl bs=1 seek=9 conv=notrunc 2> /dev/null",
            true,
        ),
        (
            "rm events.jsonl; mkdir events.jsonl; touch events.jsonl/x",
            true,
        ),
        ("rm events.jsonl; ln -s /dev/zero events.jsonl", true),
        ("rm events.jsonl; mkfifo events.jsonl", true),
    ] {
        let project = tampering(script);
        let outcome = project.terca(&["--format", "plain"]);
        assert_eq!(outcome.status, 3, "{script}: {}", outcome.stderr);
        has(
            &outcome.stderr,
            "error[damaged-run]: another program changed events.jsonl of ",
        );
        has(&outcome.stderr, "during the run");
        has(&outcome.stdout, "2 trials: 2 passed");
        let found = verified(&project);
        assert_eq!(found["problems"], json!([]), "{script}: {found}");
        assert_eq!(project.results()["summary"]["passed"], 2);
        let kept = project.run_dir().join("events.jsonl.spoilt");
        assert_eq!(kept.symlink_metadata().is_ok(), spoilt, "{script}");
        assert_eq!(
            found["notes"].to_string().contains("spoilt"),
            spoilt,
            "{script}"
        );
        project.terca(&["show"]).expect_status(0);
    }
}

#[test]
fn a_plan_that_is_changed_while_its_run_goes_on_is_restored() {
    for script in ["echo '{}' > run.json", "rm run.json"] {
        let project = tampering(script);
        let outcome = project.terca(&["--format", "plain"]).expect_status(3);
        has(
            &outcome.stderr,
            "error[damaged-run]: another program changed run.json of ",
        );
        project.terca(&["verify"]).expect_status(0);
    }
}

/// Other permissions, another name and a reader are nobody's harm.
#[test]
fn a_journal_that_is_only_touched_is_left_alone() {
    let project = tampering(
        "chmod 600 events.jsonl; touch events.jsonl; ln events.jsonl copy; cat events.jsonl > /dev/null",
    );
    project.terca(&["--format", "plain"]).expect_status(0);
    assert!(!project.run_dir().join("events.jsonl.spoilt").exists());
    project.terca(&["verify"]).expect_status(0);
}

/// A part of a plan without a trial has a beginning and an end all the same, and is not begun again.
#[test]
fn a_run_without_trials_is_over() {
    let project = suite();
    project.terca(&["--shard", "1/40", "--format", "plain"]);
    assert_eq!(project.results()["trials"], json!([]));
    let before = project.journal();
    let outcome = project.terca(&["resume"]);
    has(&outcome.stderr, "nothing is left to run");
    assert_eq!(project.journal(), before);
    project.terca(&["verify"]).expect_status(0);
}

/// The hash of the plan is that of its bytes: others can check it.
#[test]
fn the_first_line_has_the_hash_of_the_plan() {
    let project = complete();
    let first: Value = serde_json::from_str(&lines(&project)[0]).unwrap();
    let plan = std::fs::read(project.run_dir().join("run.json")).unwrap();
    assert_eq!(first["runFile"], digest(&plan));
}
