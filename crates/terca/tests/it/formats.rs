//! What a run shows while it goes on and at its end.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::project;
use serde_json::Value;
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::state::RunState;
use terca_testkit::Project;

/// A trial of every ending, in two variants.
fn mixed() -> Project {
    project()
        .executable(
            "agent.sh",
            "#!/bin/sh\ncase $(cat) in *crash*) echo 'no key' >&2; exit 1;; *half*) touch half;; *work*) touch half whole;; esac\n\
             echo '{\"inputTokens\": 1200, \"outputTokens\": 34, \"costUsd\": 0.5}' > $TERCA_STATS_FILE\n",
        )
        .file(
            "terca.yaml",
            "name: mixed\nenvironments: [{name: script, agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: without}, {name: with, rules: rules.md}]\n",
        )
        .file("rules.md", "Be kind.\n")
        .file("crash/eval.terca.yaml", "prompt: crash\nallowWarnings: no-tests\n")
        .file("half/eval.terca.yaml", "prompt: half\ntests: [{name: half, fileExists: half}, {name: whole, fileExists: whole}]\n")
        .file("idle/eval.terca.yaml", "prompt: idle\ntests: [{name: half, fileExists: half}, {name: whole, fileExists: whole}]\n")
        .file("work/eval.terca.yaml", "prompt: work\ntests: [{name: half, fileExists: half}, {name: whole, fileExists: whole}]\n")
}

/// What changes from run to run is made the same.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\d-\d{3}", "[run]");
    settings.add_filter(r"\d\d:\d\d", "[time]");
    settings.add_filter(r"\b\d+\.\ds", "0.0s");
    settings.add_filter(r"[\d.]+×  (INCONCLUSIVE)", "0.00×  $1");
    settings.add_filter(r"/var/tmp/terca-test-\w+", "[tmp]");
    settings
}

#[test]
fn a_session_in_plain_lines() {
    let outcome = mixed()
        .terca(&["--format", "plain", "-c", "1", "--seed", "1"])
        .expect_status(3);
    settings().bind(|| {
        insta::assert_snapshot!(
            "plain_session",
            format!(
                "{}\n──── standard output\n{}",
                outcome.stderr, outcome.stdout
            )
        );
    });
}

#[test]
fn plain_is_what_is_shown_without_a_terminal() {
    let project = mixed();
    let lines = |args: &[&str]| -> Vec<String> {
        let text = project
            .terca(&[args, &["-c", "1", "--seed", "1"]].concat())
            .expect_status(3)
            .stderr;
        text.lines()
            .map(|line| {
                line.split_whitespace()
                    .take(4)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect()
    };
    assert_eq!(lines(&[])[1..], lines(&["--format", "plain"])[1..]);
}

#[test]
fn a_line_when_a_trial_ends() {
    let project = mixed();
    let outcome = project
        .terca(&["--format", "plain", "-n", "3"])
        .expect_status(3);
    let rest: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    assert!(rest[0].starts_with("mixed: 24 trials"), "{}", rest[0]);
    let ends = &rest[1..];
    assert_eq!(ends.len(), 24, "{}", outcome.stderr);
    for (number, line) in ends.iter().enumerate() {
        assert!(
            line.starts_with(&format!("[{:>2}/24]", number + 1)),
            "{line}"
        );
    }
    assert!(
        outcome
            .stdout
            .contains("24 trials: 6 passed, 6 partial, 6 failed, 6 errors"),
        "{}",
        outcome.stdout
    );
    let results = project.run_dir().join("results.json");
    assert!(
        outcome
            .stdout
            .contains(results.strip_prefix(project.dir()).unwrap().as_str()),
        "{}",
        outcome.stdout
    );
}

#[test]
fn json_is_one_event_a_line_and_folds_to_the_results() {
    let project = mixed();
    let outcome = project
        .terca(&["--format", "json", "-n", "2"])
        .expect_status(3);
    let events: Vec<Event> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let folded = serde_json::to_value(Results::of(&RunState::fold(&events))).unwrap();
    assert_eq!(folded, project.results_of_fold());
    assert_eq!(outcome.stderr, "", "nothing else is said");
}

#[test]
fn json_does_not_hide_a_mistake() {
    let project = mixed().file("terca.yaml", "naem: x\n");
    let outcome = project.terca(&["--format", "json"]).expect_status(2);
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.stderr.contains("terca.yaml:1:1"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn colour_is_used_where_it_is_wanted() {
    let project = mixed();
    project.terca(&[]).expect_status(3);
    let broken = mixed().file("terca.yaml", "naem: x\n");
    for (project, args) in [
        (&project, &[][..]),
        (&project, &["--format", "plain"]),
        (&project, &["check"]),
        (&project, &["--dry-run"]),
        (&project, &["show"]),
        (&project, &["list"]),
        (&broken, &["check"]),
    ] {
        let has_escapes = |args: &[&str], no_color: Option<&str>| {
            let mut command = project.command(args);
            if let Some(value) = no_color {
                command.env("NO_COLOR", value);
            }
            let output = command.output().unwrap();
            [output.stdout, output.stderr].concat().contains(&0x1b)
        };
        let never = [args, &["--color", "never"]].concat();
        let always = [args, &["--color", "always"]].concat();
        assert!(!has_escapes(args, None), "{args:?}: not into a pipe");
        assert!(!has_escapes(args, Some("1")), "{args:?}: NO_COLOR");
        assert!(!has_escapes(&never, None), "{args:?}: never");
        if args != ["--dry-run"] {
            assert!(has_escapes(&always, None), "{args:?}: always");
        }
    }
}

#[test]
fn json_has_no_colour_even_when_asked() {
    let outcome = mixed()
        .terca(&["--format", "json", "--color", "always"])
        .expect_status(3);
    assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
}

/// `terca | head -1`: the reader goes away after a line.
#[test]
fn a_closed_pipe_does_not_end_the_run() {
    for args in [
        &["--format", "json"][..],
        &["--format", "plain"],
        &["--format", "tty"],
    ] {
        let project = mixed();
        let mut child = project
            .command(&[args, &["-n", "3", "-c", "2"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        if args[1] == "json" {
            BufReader::new(child.stdout.take().unwrap())
                .read_line(&mut first)
                .unwrap();
            assert!(first.contains("runStarted"), "{first}");
        } else {
            drop(child.stdout.take());
            BufReader::new(child.stderr.take().unwrap())
                .read_line(&mut first)
                .unwrap();
        }
        let status = child.wait().unwrap();
        assert_eq!(
            status.code(),
            Some(3),
            "{args:?}: as if somebody had read it"
        );
        let results = project.results();
        assert_eq!(results["status"], "complete", "{args:?}");
        let trials = results["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 24);
        assert!(
            trials.iter().all(|trial| trial["status"] != "pending"),
            "{args:?}"
        );
        project.assert_nothing_left();
    }
}

#[test]
fn a_closed_pipe_is_no_error_for_the_other_commands() {
    let project = mixed();
    project.terca(&[]).expect_status(3);
    for command in ["check", "list", "show"] {
        let mut child = project
            .command(&[command])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
    }
}

#[test]
fn a_live_display_leaves_a_clean_end() {
    let outcome = mixed()
        .terca(&["--format", "tty", "-n", "2"])
        .expect_status(3);
    for (on, off) in [
        ("\u{1b}[?25h", "\u{1b}[?25l"),
        ("\u{1b}[?7h", "\u{1b}[?7l"),
        ("\u{1b}[?2026l", "\u{1b}[?2026h"),
    ] {
        let (on, off) = (outcome.stderr.rfind(on), outcome.stderr.rfind(off));
        assert!(
            off.is_some() && on > off,
            "cursor, wrapping and drawing come back: {:?}",
            outcome.stderr
        );
    }
    assert!(!outcome.stdout.contains('\u{1b}'), "{:?}", outcome.stdout);
    assert!(outcome.stdout.contains("16 trials"), "{}", outcome.stdout);
}

#[test]
fn the_events_have_their_names_and_times() {
    let outcome = mixed()
        .terca(&["--format", "json", "-t", "work", "-x", "with"])
        .expect_status(0);
    let mut seen = Vec::new();
    for line in outcome.stdout.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(event["at"].is_string() && event["seq"].is_u64(), "{line}");
        let name = ["type", "kind", "event"]
            .iter()
            .find_map(|key| event[key].as_str())
            .unwrap_or("?")
            .to_owned();
        if seen.last() != Some(&name) {
            seen.push(name);
        }
    }
    seen.retain(|name| name != "progress");
    seen.dedup();
    assert_eq!(
        seen,
        [
            "runStarted", "trialStarted", "phaseStarted", "trialFinished", "runFinished"
        ]
    );
}
