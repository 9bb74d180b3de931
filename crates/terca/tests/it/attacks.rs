//! Attacks from outside on the finished program, by another pair of eyes: agents, strangers' runs, odd names.

use crate::common::{forge, project};
use serde_json::Value;
use terca_testkit::{Outcome, Project};

/// A suite of one eval, whose agent is a shell script, with the tests of the eval.
fn suite(agent: &str, tests: &str) -> Project {
    project().agent(agent).file(
        "task/eval.terca.yaml",
        format!("prompt: go\ntests:\n{tests}"),
    )
}

/// Runs Terca; what takes longer than a minute hangs.
#[track_caller]
fn within_a_minute(project: &Project, args: &[&str]) -> Outcome {
    let mut all = vec!["60", env!("CARGO_BIN_EXE_terca")];
    all.extend(args);
    let outcome: Outcome = project.other("timeout", &all).output().unwrap().into();
    assert!(outcome.status != 124, "{args:?} hangs");
    outcome
}

/// Runs a suite of one trial and returns the trial. It must be judged, and nothing may be left.
#[track_caller]
fn judged(project: &Project) -> Value {
    let outcome = within_a_minute(project, &["--format", "plain", "--retries", "0"]);
    assert!(outcome.status <= 1, "{}{}", outcome.stdout, outcome.stderr);
    project.assert_nothing_left();
    project.only_trial()
}

/// The bytes on the disk of all files below the latest run.
fn bytes_on_disk(project: &Project) -> u64 {
    let du = project.other("du", &["-sk", project.run_dir().as_str()]);
    let outcome: Outcome = { du }.output().unwrap().into();
    let kilobytes = outcome.stdout.split_whitespace().next().unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

#[test]
fn a_refused_merge_leaves_no_run() {
    let project = suite("touch done", "  - fileExists: done\n").file(
        "other/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done}]\n",
    );
    for part in ["1/2", "2/2"] {
        let outcome = project.terca(&["--format", "plain", "--shard", part]);
        outcome.expect_status(0);
    }
    let runs = project.path(".terca/runs");
    let names = || {
        let entries = runs.read_dir_utf8().unwrap().map(Result::unwrap);
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into()).collect();
        names.sort();
        names
    };
    let before = names();
    let [first, second] = before.as_slice() else {
        panic!("two runs: {before:?}");
    };
    let folder =
        ["task", "other"].map(|eval| runs.join(first).join(eval).join("default.default.01"));
    let folder = folder.iter().find(|folder| folder.exists()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::os::unix::fs::symlink("/etc", folder).unwrap();
    let outcome = project.terca(&["merge", first, second]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("is a symbolic link"),
        "{}",
        outcome.stderr
    );
    assert_eq!(names(), before, "half of a run would be the latest");
}

#[test]
fn files_that_an_agent_links_from_outside_stay_as_they_are() {
    use std::os::unix::fs::PermissionsExt;
    let project = suite(
        "for place in . \"$HOME\" \"$TMPDIR\"; do for mode in 0 400 4755; do \
           ln \"$OUTSIDE/$mode\" \"$place/$mode\" || exit 9; done; done\n\
         mkdir closed; ln \"$OUTSIDE/0\" closed/0; chmod 0 closed",
        "  - fileExists: done\n  - changedFiles: {never: [nothing]}\n",
    );
    let outside = project.work_dir().with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    let modes = [("0", 0), ("400", 0o400), ("4755", 0o4755)];
    for (name, mode) in modes {
        std::fs::write(outside.join(name), "precious").unwrap();
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(outside.join(name), permissions).unwrap();
    }
    let settings = project.read("terca.yaml") + &format!("env: {{OUTSIDE: '{outside}'}}\n");
    let project = project.file("terca.yaml", settings);
    let trial = judged(&project);
    assert_eq!(trial["status"], "partial", "{trial:#}");
    for args in [&["regrade"][..], &["clean", "--yes", "--older-than", "0d"]] {
        let outcome = within_a_minute(&project, args);
        assert!(outcome.status <= 1, "{args:?}: {}", outcome.stderr);
        for (name, mode) in modes {
            let found = outside.join(name).metadata().unwrap();
            let found = (found.len(), found.permissions().mode() & 0o7777);
            assert_eq!(found, (8, mode), "{args:?}: {name}");
        }
    }
}

/// None of these is an error, hangs, or leaves anything.
#[test]
fn tricks_with_directories_and_outputs_are_judged() {
    for trick in [
        "cd ..; mv \"$PWD\" \"$PWD.moved\"",
        "cd ..; room=$PWD; cd ..; rm -rf \"$room\"; mkfifo \"$room\"",
        "cd ..; room=$PWD; cd ..; mv \"$room\" \"$room.x\"; ln -s /etc \"$room\"",
        "rm -rf \"$HOME\"; mkfifo \"$HOME\"; rm -rf \"$TMPDIR\"; ln -s /etc \"$TMPDIR\"",
        "for file in $(find .. -maxdepth 2 -type f); do rm -f $file; mkfifo $file; done",
        "for file in $(find .. -maxdepth 2 -type f); do rm -f $file; mkdir $file; done",
        "for name in lock .lock sealed t; do mkfifo ../../$name; done; true",
        "exec >&- 2>&-; touch file",
        "truncate -s 1T .gitignore; mkdir -p .git/info; truncate -s 1T .git/config .git/info/exclude",
        "mkfifo .gitignore wanted",
        "truncate -s 1T wanted",
        "ln -s wanted wanted",
        "umask 777; mkdir closed; echo x > file",
    ] {
        let project = suite(
            trick,
            "  - fileContains: {path: wanted, text: x}\n  - fileContains: {path: wanted, matches: '(x+)+$'}\n  \
               - commandSuccess: 'false'\n",
        );
        let trial = judged(&project);
        assert_eq!(trial["status"], "failed", "{trick}: {trial:#}");
        within_a_minute(&project, &["verify"]).expect_status(0);
    }
}

/// Puts the same value in the place of every figure of every trial.
fn with_figures(value: &mut Value, figure: &Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| {
            let is_figure = field.is_number() || name.ends_with("Tokens") || name == "costUsd";
            if is_figure && !["seq", "trial", "grading", "exitCode"].contains(&name.as_str()) {
                *field = figure.clone();
            } else {
                with_figures(field, figure);
            }
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| with_figures(item, figure)),
        _ => {}
    }
}

#[test]
fn absurd_figures_and_times_in_a_strangers_run_break_nothing() {
    let project = suite("touch done", "  - fileExists: done\n");
    project
        .terca(&["--format", "plain", "-n", "2"])
        .expect_status(0);
    let dir = project.run_dir();
    let journal = project.journal();
    for (figure, time) in [
        (serde_json::json!(u64::MAX), "9999-12-30T00:00:00Z"),
        (serde_json::json!(-1), "0001-01-01T00:00:00Z"),
        (serde_json::json!(1e308), "-009999-01-01T00:00:00Z"),
        (serde_json::json!(-1e308), "1970-01-01T00:00:00Z"),
        (serde_json::json!(5e-324), "2026-02-30T00:00:00Z"),
    ] {
        for args in [
            &["verify"][..],
            &["show"],
            &["list"],
            &["report", "--html", "report"],
            &["report", "--junit", "report"],
            &["report", "--markdown", "report"],
            &["report", "--csv", "report"],
            &["report", "--jsonl", "report"],
            &["regrade"],
            &["resume", "--format", "plain"],
        ] {
            std::fs::write(dir.join("events.jsonl"), &journal).unwrap();
            forge(&dir, |events| {
                let ends = events
                    .iter_mut()
                    .filter(|event| event["event"] == "trialFinished");
                for event in ends {
                    event["at"] = time.into();
                    with_figures(&mut event["report"], &figure);
                }
            });
            let outcome = within_a_minute(&project, args);
            let is_said = outcome.status <= 3 && !outcome.stderr.contains("panicked");
            assert!(
                is_said,
                "{figure} {time} {args:?}: {} {}",
                outcome.status, outcome.stderr
            );
        }
    }
}

/// A stranger's journal may be another name of a file of the user's.
#[test]
fn a_journal_with_a_second_name_is_not_written() {
    let project = project().agent("true").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done}]\n",
    );
    project.terca(&[]).expect_status(1);
    let journal = project.run_dir().join("events.jsonl");
    let outside = project.home().join("precious");
    std::fs::hard_link(&journal, &outside).unwrap();
    let before = std::fs::read(&outside).unwrap();
    for args in [&["regrade"][..], &["resume", "--errors"]] {
        let outcome = project.terca(args);
        assert!(
            outcome.stderr.contains("hard link elsewhere"),
            "{args:?}: {outcome:?}"
        );
    }
    assert_eq!(std::fs::read(&outside).unwrap(), before);
    project.terca(&["show"]).expect_status(0);
}

mod thorough {
    use super::*;

    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn an_output_with_a_terabyte_of_holes_is_read_without_them() {
        let lengthen = "echo before; truncate -s 1T /proc/self/fd/1; echo after; echo $KEY; \
                    truncate -s 1T /proc/self/fd/2; echo after >&2";
        for key in ["", "sk-Ab0123456789cdefghijklm"] {
            let project = suite(
                lengthen,
                &format!("  - commandSuccess: '{lengthen}; exit 1'\n"),
            )
            .env("MY_KEY", key);
            let settings = project.read("terca.yaml") + "env: {KEY: '${MY_KEY}'}\n";
            let project = project.file("terca.yaml", settings);
            let trial = judged(&project);
            assert_eq!(trial["status"], "failed", "{trial:#}");
            let stdout = project
                .run_dir()
                .join("task/default.default.01/artifacts/stdout.log");
            // The rest of a block that was begun is no hole.
            let stdout = std::fs::read_to_string(stdout).unwrap().replace('\0', "");
            assert!(stdout.starts_with("before\nafter\n"), "{stdout}");
            assert!(bytes_on_disk(&project) < 10 << 20);
        }
    }
}
