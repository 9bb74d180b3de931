//! `terca completions` in real shells, `terca schema` and `terca man`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

mod common;

use std::process::Command;

use camino::Utf8Path;
use common::project;
use terca_testkit::{Project, Terminal};

/// A suite with names to complete, and the program under its own name on `PATH`.
fn suite() -> Project {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: envelope, agent: oracle}]\nexperiments: [{name: expedition}, {name: extra}]\n\
             evals: [{name: fibonacci, prompt: x}, {name: fizzbuzz, prompt: x}, {name: sorting, prompt: x}]\n",
        )
        .file("below/terca.yaml", "environments: [{name: e, agent: nop}]\nevals: [{name: deeper, prompt: x}]\n");
    let bin = Utf8Path::new(env!("CARGO_BIN_EXE_terca")).parent().unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    project.env("PATH", &path).env("TERM", "xterm")
}

/// A shell that Debian has. Where it is neither there nor can be had, the test fails and says so.
fn need(shell: &str) {
    let there = || {
        Command::new(shell)
            .args(["-c", "true"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if there() {
        return;
    }
    let install =
        format!("apt-get update -q && apt-get install -y -q --no-install-recommends {shell}");
    let output = Command::new("sh")
        .args(["-c", &install])
        .output()
        .expect("sh");
    assert!(
        there(),
        "this test needs {shell}, which is not here and could not be installed ({install}):\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A shell at a terminal, ready to complete.
fn shell(project: &Project, program: &str, args: &[&str], setup: &str) -> Terminal {
    need(program);
    // A session of its own with this terminal, as a person's shell has.
    let all = [&["--ctty", "--wait", program], args].concat();
    let mut terminal = Terminal::start(project.other("setsid", &all));
    // The words are put together by the shell, so that they are not found in what was typed.
    terminal
        .type_in(&format!("PS1='> '; {setup}; echo rea''dy\n"))
        .wait_for("ready\r\n");
    terminal
}

/// What a line becomes when Tab is pressed.
fn completes(terminal: &mut Terminal, typed: &str, expected: &str) {
    terminal
        .type_in(&format!("{typed}\t"))
        .wait_for_line(expected);
    // Ctrl+U: the line goes, and nothing is run.
    terminal.type_in("\u{15}echo nex''t\n").wait_for("next\r\n");
}

fn complete_everything(terminal: &mut Terminal, run: &str) {
    completes(terminal, "terca vali", "terca validate ");
    completes(terminal, "terca --conc", "terca --concurrency");
    completes(terminal, "terca check -t fibo", "terca check -t fibonacci");
    completes(terminal, "terca -t sorting,fiz", "sorting,fizzbuzz");
    completes(terminal, "terca run -x exp", "terca run -x expedition");
    completes(
        terminal,
        "terca validate -e env",
        "terca validate -e envelope",
    );
    completes(
        terminal,
        "terca run --agent ora",
        "terca run --agent oracle",
    );
    completes(terminal, "terca -C below check -t dee", "-t deeper");
    completes(terminal, "terca show 2", &format!("terca show {run}"));
    completes(terminal, "terca completions fi", "terca completions fish");
    completes(
        terminal,
        "terca explain unknown-k",
        "terca explain unknown-key",
    );
    // Several: all are shown.
    terminal
        .type_in("terca run -t fi\t\t")
        .wait_for_sight("fibonacci  ")
        .wait_for_sight("fizzbuzz")
        .type_in("\u{15}");
}

fn with_a_run() -> (Project, String) {
    let project = suite();
    project.terca(&["-t", "sorting"]);
    let run = project.run_dir().file_name().unwrap().to_owned();
    (project, run)
}

#[test]
fn a_real_bash_completes() {
    let (project, run) = with_a_run();
    let mut terminal = shell(
        &project,
        "bash",
        &["--noprofile", "--norc", "-i"],
        "source <(terca completions bash)",
    );
    complete_everything(&mut terminal, &run);
    terminal.type_in("exit\n");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn a_real_zsh_completes() {
    let (project, run) = with_a_run();
    let setup = "autoload -U compinit; compinit -u -D; source <(terca completions zsh)";
    let mut terminal = shell(&project, "zsh", &["-f", "-i"], setup);
    complete_everything(&mut terminal, &run);
    terminal.type_in("exit\n");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    let project = project();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = project
            .terca(&["completions", shell])
            .expect_status(0)
            .stdout;
        assert!(
            script.contains("TERCA_COMPLETE") && script.contains("terca"),
            "{shell}: {script}"
        );
    }
    let outcome = project.terca(&["completions", "csh"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("possible values: bash, zsh, fish, powershell"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_suite_that_is_broken_or_missing_is_no_trouble() {
    let project = project().file("broken/terca.yaml", "name: [\n");
    for dir in [".", "broken", "nowhere"] {
        let mut command = project.command(&["--", "terca", "-C", dir, "run", "-t", ""]);
        let output = command
            .env("TERCA_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", "5")
            .output()
            .unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.len()),
            (Some(0), 0),
            "{dir}: {output:?}"
        );
    }
}

#[test]
fn schemas_are_printed_as_they_are_committed() {
    let schemas = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (args, file) in [
        (&["schema"][..], "terca.schema.json"),
        (&["schema", "terca"], "terca.schema.json"),
        (&["schema", "eval"], "eval.schema.json"),
    ] {
        let printed = project().terca(args).expect_status(0).stdout;
        assert_eq!(
            printed,
            std::fs::read_to_string(schemas.join(file)).unwrap(),
            "{args:?}"
        );
    }
    project().terca(&["schema", "other"]).expect_status(2);
}

#[test]
fn the_manual_has_every_command_and_flag() {
    let project = project();
    let help = project.terca(&["--help"]).expect_status(0).stdout;
    let page = project.terca(&["man"]).expect_status(0).stdout;
    assert!(page.contains(".TH terca 1"), "{page}");
    let commands = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    let names = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        assert!(
            page.contains(&format!("terca\\-{}(1)", name.replace('-', "\\-"))),
            "{name}\n{page}"
        );
    }
    let run = project.terca(&["man", "run"]).expect_status(0).stdout;
    assert!(
        run.contains(".TH terca-run 1") && run.contains("\\-\\-fail\\-under"),
        "{run}"
    );
    let outcome = project.terca(&["man", "nothing"]).expect_status(2);
    assert!(
        outcome.stderr.contains("`create-eval`"),
        "{}",
        outcome.stderr
    );
}
