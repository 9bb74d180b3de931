//! The record of a run: what was changed in it is noticed, what a crash left is mended, and both are told apart.

use crate::common::{forge, project};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_core::run::seal::digest;
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
    has(&said, &format!(": sound ({events} events)"));
    let found = verified(&project);
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
const DAMAGES: [(&str, Damage, usize, &str); 11] = [
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
        "doubled",
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
];

#[test]
fn a_second_beginning_is_refused() {
    let project = complete();
    forge(&project.run_dir(), |events| {
        events[4] = events[0].clone();
        events[4]["seq"] = 4.into();
    });
    let found = verified(&project);
    has(&found["problems"].to_string(), "a second `runStarted`");
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

/// Nothing in the files of a run says that its lines need no seals.
#[test]
fn a_seal_cannot_be_taken_off() {
    let project = complete();
    let plan = project.run_dir().join("run.json");
    let unsealed: Vec<String> = lines(&project)
        .iter()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("chain");
            event.to_string().replace("passed", "failed")
        })
        .collect();
    write(&project, &unsealed);
    for text in [std::fs::read_to_string(&plan).unwrap(), "{}".to_owned()] {
        let text = text
            .replacen('{', "{\"sealed\": false,", 1)
            .replace(",}", "}");
        std::fs::write(&plan, text).unwrap();
        let _ = std::fs::remove_file(project.run_dir().join("results.json"));
        let found = verified(&project);
        assert_eq!(found["problems"][0]["line"], 1, "{found}");
        has(&found["problems"].to_string(), "it has no seal");
        project.terca(&["show"]).expect_status(3);
    }
}

/// A run of a version that this one does not know, with a plan that is whole.
#[test]
fn a_plan_of_another_version_is_refused() {
    let project = complete();
    let path = project.run_dir().join("run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for version in ["0", "2"] {
        let other = text
            .replacen(
                "\"schemaVersion\": 1",
                &format!("\"schemaVersion\": {version}"),
                1,
            )
            .replacen(env!("CARGO_PKG_VERSION"), "9.8.7", 1);
        std::fs::write(&path, other).unwrap();
        forge(&project.run_dir(), |_| {});
        for args in [&["resume"][..], &["regrade"]] {
            let said = project.terca(args).expect_status(3).stderr;
            has(
                &said,
                &format!("written by Terca 9.8.7 in version {version} of the format"),
            );
            has(&said, "help: use that version of Terca");
        }
    }
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
    let results = project.run_dir().join("results.json");
    let made = std::fs::read(&results).unwrap();
    forge(&project.run_dir(), |events| {
        let last = events.len() - 2;
        events[last]["report"]["status"] = "failed".into();
    });
    std::fs::write(results, made).unwrap();
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
            "\"status\": \"passed\"",
            "\"status\": \"failed\"",
            "about trial 1, which is `passed` in the journal",
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
fn files_that_are_changed_while_their_run_goes_on_are_noticed_at_its_end() {
    for script in [
        ": > events.jsonl",
        "rm events.jsonl",
        "cp events.jsonl x; mv x events.jsonl",
        "echo '{}' >> events.jsonl",
        "sed -i 's/\"seed\":/\"feed\":/' events.jsonl",
        "printf X | dd of=events.jsonl bs=1 seek=9 conv=notrunc 2> /dev/null",
        "rm events.jsonl; ln -s /dev/zero events.jsonl",
        "rm events.jsonl; mkfifo events.jsonl",
        "echo '{}' > run.json",
        "rm run.json",
    ] {
        let project = tampering(script);
        let outcome = project.terca(&["--format", "plain"]);
        assert_eq!(outcome.status, 3, "{script}: {}", outcome.stderr);
        has(
            &outcome.stderr,
            "error[damaged-run]: another program changed the run's files during the run: ",
        );
        has(&outcome.stdout, "2 trials: 2 passed");
        assert_ne!(project.terca(&["verify"]).status, 0, "{script}");
    }
}

/// Other permissions, another name and a reader are nobody's harm.
#[test]
fn a_journal_that_is_only_touched_is_left_alone() {
    let project = tampering(
        "chmod 600 events.jsonl; touch events.jsonl; ln events.jsonl copy; cat events.jsonl > /dev/null",
    );
    project.terca(&["--format", "plain"]).expect_status(0);
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

/// A run whose second trial failed, with all kinds of evidence.
fn failed() -> Project {
    let project = project()
        .agent("echo working; mkdir sub; echo wrong > sub/answer.txt")
        .file(
            "terca.yaml",
            "environments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n\
             evals: [{name: a, prompt: go, tests: [{fileExists: done.txt}]}]\n",
        );
    project.terca(&["--format", "plain"]).expect_status(1);
    project
}

type Edit = (&'static str, fn(&Utf8Path));

const EDITS: [Edit; 9] = [
    ("run.log", |file| {
        std::fs::write(file, "all is well").unwrap();
    }),
    ("changes.diff", |file| std::fs::remove_file(file).unwrap()),
    ("transcript.jsonl", |file| {
        std::fs::write(file, "{}").unwrap();
    }),
    ("artifacts/agent-work.json", |file| {
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, text.replace("false", "true")).unwrap();
    }),
    ("artifacts/stdout.log", |file| {
        std::fs::write(file, "done").unwrap();
    }),
    ("artifacts/added.log", |file| {
        std::fs::write(file, "done").unwrap();
    }),
    ("workspace.changes", |dir| {
        std::fs::write(dir.join("tree/done.txt"), "").unwrap();
    }),
    ("workspace.changes", |dir| {
        std::fs::remove_file(dir.join("tree/sub/answer.txt")).unwrap();
    }),
    ("workspace", |dir| {
        std::fs::create_dir(dir).unwrap();
        std::fs::write(dir.join("done.txt"), "").unwrap();
    }),
];

/// The journal has the hash of every file of a trial, and a trial whose files were changed is not graded again.
#[test]
fn evidence_that_was_changed_is_noticed_and_not_graded_again() {
    for (name, edit) in EDITS {
        let project = failed();
        project.terca(&["verify"]).expect_status(0);
        let before = project.journal();
        edit(&project.run_dir().join("a/e.default.01").join(name));
        let found = verified(&project);
        let file = format!("a/e.default.01/{name}");
        assert_eq!(found["problems"][0]["file"], *file, "{found}");
        has(
            &found["problems"].to_string(),
            "which is `failed` in the journal",
        );
        let outcome = project.terca(&["regrade"]).expect_status(3);
        has(&outcome.stderr, "error[damaged-run]: a/e.default.01: ");
        has(&outcome.stderr, &format!("`{name}` "));
        has(&outcome.stderr, "help: ");
        assert_eq!(project.journal(), before, "{name}");
        assert_eq!(project.terca(&["show"]).status, 0);
    }
}

/// A layer that the saved workspaces started from is evidence, too.
#[test]
fn a_layer_that_was_changed_is_noticed() {
    let project = project()
        .agent("echo more > more.txt")
        .file("a/_base/base.txt", "base")
        .file(
            "a/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: done.txt}]\n",
        );
    project.terca(&["--format", "plain"]).expect_status(1);
    project.terca(&["verify"]).expect_status(0);
    let layers = project.path(".terca/layers");
    let layer = layers.read_dir_utf8().unwrap().next().unwrap().unwrap();
    std::fs::write(layer.path().join("done.txt"), "").unwrap();
    has(&verified(&project)["problems"].to_string(), "layers/");
    project.terca(&["regrade"]).expect_status(3);
}

/// Remarks, reports and gradings come after the end, and are no evidence.
#[test]
fn what_comes_after_the_end_is_no_damage() {
    let project = failed().file(
        "terca.yaml",
        "environments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n\
         evals: [{name: a, prompt: go, tests: [{fileExists: sub/answer.txt}]}]\n",
    );
    project.terca(&["regrade"]).expect_status(0);
    project
        .terca(&["report", "--html", "page.html"])
        .expect_status(0);
    assert_eq!(verified(&project)["problems"], json!([]));
    project.terca(&["regrade"]).expect_status(0);
    assert_eq!(verified(&project)["problems"], json!([]));
}
