//! Keys and Ctrl+Z while a run goes on in a terminal.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::{Project, Terminal, misbehaving_agent, wait_until};

use crate::common::project;

/// The line below the display that names the keys.
const HINT: &str = "q stop · ? keys";

/// Agents that say something, wait until there is a file `go` beside them, and pass.
fn waiting(trials: usize, limit: u64) -> Project {
    with_terca(
        project().file(
            "terca.yaml",
            format!(
                "concurrency: {trials}\nrepetitions: {trials}\nsandbox: none\n\
                 environments:\n  - name: e\n    agent: {{name: command, command: 'echo first words; touch ready; \
                 while [ ! -e go ]; do sleep 0.05; done'}}\n\
                 evals:\n  - name: task\n    prompt: do it\n    timeoutSeconds: {limit}\n    allowWarnings: no-tests\n"
            ),
        ),
    )
}

/// Puts the program on `PATH`, under its own name.
fn with_terca(project: Project) -> Project {
    let bin = Utf8Path::new(env!("CARGO_BIN_EXE_terca")).parent().unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    project.env("PATH", &path).env("TERM", "xterm")
}

fn workspace(project: &Project, trial: usize) -> Utf8PathBuf {
    project
        .run_dir()
        .join(format!("task/e.default.{trial:02}/workspace"))
}

fn wait_for_agents(project: &Project, trials: usize) {
    wait_until("the agents are at work", || {
        project.has_run()
            && (1..=trials).all(|trial| workspace(project, trial).join("ready").exists())
    });
}

fn let_go(project: &Project, trials: usize) {
    for trial in 1..=trials {
        std::fs::write(workspace(project, trial).join("go"), "").unwrap();
    }
}

/// A person's shell at a terminal, with jobs.
fn shell(project: &Project) -> Terminal {
    let shell = ["--ctty", "--wait", "bash", "--norc", "--noediting", "-i"];
    let mut terminal = Terminal::sized(project.other("setsid", &shell), 100, 30);
    terminal
        .type_in("PS1='$ '; echo rea''dy\n")
        .wait_for("ready\r\n");
    terminal
}

/// A run that was started in a shell, whose agents are at work. The shell prints its exit status.
fn running_in_shell(project: &Project, trials: usize) -> Terminal {
    let mut terminal = shell(project);
    terminal
        .type_in("terca; echo stat''us $?\n")
        .wait_for_sight(HINT);
    wait_for_agents(project, trials);
    terminal
}

/// Ends the shell. Returns all that a person can see.
fn leave(mut terminal: Terminal) -> String {
    // The words are put together by the shell, so that they are not found in what was typed.
    terminal
        .type_in("stty -a | tr ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon' | tr '\\n' ' '; echo en''d; exit\n")
        .wait_for("end\r\n");
    terminal.see_it_out().1
}

/// The shell has the terminal as it gave it away, with the cursor in sight.
fn assert_given_back(seen: &str, written: &str) {
    assert!(seen.contains("\nicanon echo end"), "{seen}");
    let (hidden, shown) = (written.rfind("\x1b[?25l"), written.rfind("\x1b[?25h"));
    assert!(hidden < shown, "the cursor is back");
    assert!(!seen.contains(HINT), "{seen}");
}

#[test]
fn keys_are_listed_and_others_are_thrown_away() {
    let project = waiting(2, 600);
    let mut terminal = running_in_shell(&project, 2);
    terminal.type_in("?").wait_for_sight("keys: q stop");
    // Keys that mean nothing, and lines for nobody.
    terminal.type_in("xyz\necho leaked\n");
    let_go(&project, 2);
    terminal.wait_for("status 0\r\n");
    let written = terminal.text();
    let seen = leave(terminal);
    assert_given_back(&seen, &written);
    assert!(!seen.contains("xyz") && !seen.contains("leaked"), "{seen}");
}

#[test]
fn q_stops_and_a_second_q_does_not_wait() {
    let agent = misbehaving_agent();
    let project = with_terca(project().file(
        "terca.yaml",
        format!(
            "sandbox: none\nenvironments:\n  - name: e\n    agent: {{name: command, command: '{agent} ignores-signals'}}\n\
             evals:\n  - name: task\n    prompt: do it\n    timeoutSeconds: 600\n    allowWarnings: no-tests\n"
        ),
    ));
    let mut terminal = running_in_shell(&project, 1);
    terminal.type_in("q").wait_for_sight("stopping, waiting");
    terminal.type_in("q").wait_for("status 130\r\n");
    let written = terminal.text();
    assert_given_back(&leave(terminal), &written);
    project.assert_nothing_left();
    assert_eq!(project.results()["status"], "interrupted");
}

/// Keys and signals are counted together: the third one ends the program where it is.
#[test]
fn the_third_stop_leaves_no_frame_behind() {
    let project = waiting(2, 600);
    let mut terminal = running_in_shell(&project, 2);
    // All at once: the keys are read together.
    terminal.type_in("qqq").wait_for("status 130\r\n");
    let written = terminal.text();
    let seen = leave(terminal);
    assert_given_back(&seen, &written);
    assert!(!seen.contains("· agent"), "{seen}");
    project.wait_until_nothing_runs();
}

#[test]
fn ctrl_z_stops_agents_and_time() {
    // The agent has this time, and is stopped for longer. Where a machine takes most of it to start the agent, it has more.
    let (limit, project, mut terminal) = [4, 12]
        .into_iter()
        .find_map(|limit| Some((limit, started_in_time(limit)?)))
        .map(|(limit, (project, terminal))| (limit, project, terminal))
        .expect("an agent that starts in time");
    terminal.type_in("\u{1a}").wait_for("Stopped");
    wait_until("the agent is stopped", || {
        let states = agent_states(&project);
        !states.is_empty() && states.iter().all(|state| state == "T")
    });
    let stopped = Instant::now();
    // Another command has the terminal as it was.
    terminal
        .type_in("stty -a | tr ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon' | tr '\\n' ' '; echo shel''l\n")
        .wait_for_sight("icanon echo shell");
    let written = terminal.text();
    assert!(written.rfind("\x1b[?25l") < written.rfind("\x1b[?25h"));
    let_go(&project, 1);
    wait_until("the limit is over", || {
        stopped.elapsed() > Duration::from_secs(limit)
    });
    assert!(project.results()["trials"][0]["status"] == "pending");
    terminal
        .type_in("fg; echo stat''us $?\n")
        .wait_for("status 0\r\n");
    let trial = project.only_trial();
    assert_eq!(trial["status"], "unverified", "{trial}");
    assert_eq!(trial["timedOut"], false, "{trial}");
    let duration = trial["durationSeconds"].as_f64().unwrap();
    assert!(duration < limit as f64, "{trial}");
    let written = terminal.text();
    assert_given_back(&leave(terminal), &written);
}

/// A run whose agent is at work, and has half of its seconds left. Otherwise the run ends.
fn started_in_time(limit: u64) -> Option<(Project, Terminal)> {
    let project = waiting(1, limit);
    let before = Instant::now();
    let mut terminal = running_in_shell(&project, 1);
    if before.elapsed() < Duration::from_secs(limit) / 2 {
        return Some((project, terminal));
    }
    let_go(&project, 1);
    terminal.wait_for("status ");
    leave(terminal);
    None
}

/// The states of the agent's processes, as the kernel has them: `T` is stopped.
fn agent_states(project: &Project) -> Vec<String> {
    let processes = project.processes();
    let of_agent = processes
        .iter()
        .filter(|process| process.command.contains("! -e go"));
    let states = of_agent.filter_map(|process| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).ok()?;
        let state = stat.rsplit_once(')')?.1.split_whitespace().next()?;
        Some(state.to_owned())
    });
    states.collect()
}

#[test]
fn the_frame_is_drawn_anew_after_fg() {
    let project = waiting(1, 600);
    let mut terminal = running_in_shell(&project, 1);
    for _ in 0..2 {
        terminal.type_in("\u{1a}").wait_for("Stopped");
        terminal
            .type_in("clear; echo shel''l\n")
            .wait_for("shell\r\n");
        terminal
            .type_in("fg; echo stat''us $?\n")
            .wait_for("? keys");
        terminal.type_in("?").wait_for("keys: q stop");
    }
    let_go(&project, 1);
    terminal.wait_for("status 0\r\n");
    let written = terminal.text();
    assert_given_back(&leave(terminal), &written);
}

#[test]
fn a_run_in_the_background_leaves_the_keyboard_alone() {
    let project = waiting(1, 600);
    let mut terminal = shell(&project);
    terminal.type_in("terca 2>/dev/tty &\n");
    wait_for_agents(&project, 1);
    terminal
        .type_in("stty -a | tr ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon' | tr '\\n' ' '; echo shel''l\n")
        .wait_for("icanon echo shell");
    let_go(&project, 1);
    terminal
        .type_in("wait %1; echo stat''us $?\n")
        .wait_for("status 0\r\n");
    assert!(!terminal.text().contains(HINT));
    leave(terminal);
}
