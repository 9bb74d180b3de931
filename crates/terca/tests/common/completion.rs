//! Completions in a real shell at a terminal.

use camino::Utf8Path;
use terca_testkit::{Project, Terminal};

use crate::common::project;

/// A suite with names to complete, and the program under its own name on `PATH`.
fn with_names() -> Project {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: envelope, agent: oracle}]\nexperiments: [{name: expedition}, {name: extra}]\n\
             evals: [{name: fibonacci, prompt: x, allowWarnings: no-tests}, {name: fizzbuzz, prompt: x, allowWarnings: no-tests}, {name: sorting, prompt: x, allowWarnings: no-tests}]\n",
        )
        .file("below/terca.yaml", "environments: [{name: e, agent: nop}]\nevals: [{name: deeper, prompt: x, allowWarnings: no-tests}]\n");
    let bin = Utf8Path::new(env!("CARGO_BIN_EXE_terca")).parent().unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    project.env("PATH", &path).env("TERM", "xterm")
}

/// A shell at a terminal, ready to complete.
pub fn shell(project: &Project, program: &str, args: &[&str], setup: &str) -> Terminal {
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

pub fn complete_everything(terminal: &mut Terminal, run: &str) {
    completes(terminal, "terca vali", "terca validate ");
    completes(terminal, "terca --conc", "terca --concurrency");
    completes(terminal, "terca check -t fibo", "terca check -t fibonacci");
    completes(terminal, "terca -t sorting,fiz", "sorting,fizzbuzz");
    completes(terminal, "terca run -x exp", "terca run -x expedition");
    completes(
        terminal, "terca validate -e env", "terca validate -e envelope",
    );
    completes(
        terminal, "terca run --agent ora", "terca run --agent oracle",
    );
    completes(terminal, "terca -C below check -t dee", "-t deeper");
    completes(terminal, "terca show 2", &format!("terca show {run}"));
    completes(terminal, "terca completions fi", "terca completions fish");
    completes(
        terminal, "terca explain unknown-k", "terca explain unknown-key",
    );
    // Several: all are shown.
    terminal
        .type_in("terca run -t fi\t\t")
        .wait_for_sight("fibonacci  ")
        .wait_for_sight("fizzbuzz")
        .type_in("\u{15}");
}

pub fn with_a_run() -> (Project, String) {
    let project = with_names();
    project.terca(&["-t", "sorting"]);
    let run = project.run_dir().file_name().unwrap().to_owned();
    (project, run)
}
