//! The first hour of somebody with a library: from `terca init` in it to a verdict on its rules.
//!
//! The libraries are real ones; the agent is a script that does right with the rules alone.

use terca_testkit::{Project, Terminal};

use crate::common::libraries::{library, script_the_agent};
use crate::common::proof::SOUND;
use crate::common::viewer::View;

const DOWN: &str = "\u{1b}[B";
const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// A copy of a library with rules for agents, on a machine without agents.
fn with_rules(name: &str) -> Project {
    library(name).file("AGENTS.md", "- Print every name.\n")
}

/// Types a command in the suite, and sees it out.
fn see(project: &Project, args: &[&str], status: i32) -> String {
    let mut command = project.command(args);
    command.current_dir(project.path("evals"));
    let (found, screen) = Terminal::start(command).see_it_out();
    assert_eq!(found, status, "{args:?}\n{screen}");
    screen
}

#[track_caller]
fn assert_shows(screen: &str, parts: &[&str]) {
    for part in parts {
        assert!(screen.contains(part), "{part:?} is not in:\n{screen}");
    }
}

/// Answers the wizard: a name that is corrected, a choice that is changed, the only agent.
fn answer(project: &Project, title: &str) -> String {
    let args = ["init", "--no-validate", "--color", "never"];
    let mut wizard = Terminal::start(project.command(&args));
    wizard
        .wait_for_sight("Directory of the suite (. is this one) [evals]")
        .type_in(&format!("evls{LEFT}{LEFT}a\r"));
    wizard
        .wait_for_sight(&format!("> Evals of {title}"))
        .type_in(DOWN)
        .wait_for_sight("> An example with shell scripts")
        .type_in(UP)
        .wait_for_sight(&format!("> Evals of {title}"))
        .type_in("\r");
    wizard
        .wait_for_sight("oracle           built in")
        .type_in("\r");
    let (status, screen) = wizard.see_it_out();
    assert_eq!(status, 0, "{screen}");
    screen
}

/// A library, and what is to be seen on the way.
struct Journey {
    library: &'static str,
    title: &'static str,
    found: &'static [&'static str],
    end: &'static str,
    assertion: &'static str,
}

fn travel(journey: &Journey) {
    let project = with_rules(journey.library);
    let screen = answer(&project, journey.title);
    assert_shows(&screen, journey.found);
    assert_shows(&screen, &["rules     AGENTS.md", "terca validate"]);
    let suite = project.read("evals/terca.yaml");
    assert!(suite.contains("rules: ../AGENTS.md "), "{suite}");
    script_the_agent(&project, journey.end);

    let checked = see(&project, &["check"], 0);
    assert_shows(&checked, &["4 trials: 2 evals × 2 variants"]);
    assert!(!checked.contains("warning"), "{checked}");
    let proven = see(&project, &["validate"], 0);
    assert_eq!(proven.matches(SOUND).count(), 2, "{proven}");

    let run = see(&project, &["--color", "never"], 1);
    assert_shows(&run, &[journey.assertion, "without-rules", "with-rules"]);
    assert_shows(&run, &["INCONCLUSIVE", "2 passed"]);
    let name = last_run(&project);
    let shown = see(&project, &["show"], 0);
    assert_shows(&shown, &[&name, journey.assertion, "001-exports"]);
    let trial = see(
        &project,
        &["show", &name, "001-exports without-rules #01"],
        0,
    );
    assert_shows(&trial, &["001-exports", journey.assertion, "nothing"]);
    let good = see(&project, &["show", &name, "001-exports with-rules #01"], 0);
    assert!(!good.contains(journey.assertion), "{good}");

    let view = View::open(&project, &["-C", "evals"]);
    let page = view.get(&format!("runs/{name}/"));
    assert!(page.starts_with("HTTP/1.1 200 "), "{page:.300}");
    assert_shows(&page, &["001-exports", "002-kinds", "with-rules"]);
    let id = rustix::process::Pid::from_raw(i32::try_from(view.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    view.wait();
}

/// Returns the name of the newest run.
fn last_run(project: &Project) -> String {
    let runs = project.path("evals/.terca/runs");
    let entries = runs.read_dir_utf8().unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().to_owned());
    names
        .filter(|name| name.starts_with("20"))
        .max()
        .expect("a run")
}

/// The wizard's questions, and a key that answers each.
const QUESTIONS: [(&str, &str); 3] = [
    ("[evals]", "\r"),
    ("> Evals of iniconfig", "\r"),
    ("oracle           built in", "\r"),
];

#[test]
fn keys_that_leave_the_wizard_leave_nothing() {
    for asked in 0..QUESTIONS.len() {
        let project = with_rules("iniconfig");
        let args = ["init", "--color", "never"];
        let mut wizard = Terminal::start(project.command(&args));
        for (question, key) in &QUESTIONS[..asked] {
            wizard.wait_for_sight(question).type_in(key);
        }
        wizard.wait_for_sight(QUESTIONS[asked].0).type_in(CTRL_D);
        assert_left(&project, wizard);
    }
}

/// The wizard has drawn the answer to a key, and does not wait for the next one yet.
#[test]
fn an_interrupt_between_two_keys_counts() {
    for _ in 0..10 {
        let project = with_rules("iniconfig");
        let args = ["init", "--color", "never"];
        let mut wizard = Terminal::start(project.command(&args));
        wizard.wait_for_sight(QUESTIONS[0].0).type_in("\r");
        wizard
            .wait_for_sight(QUESTIONS[1].0)
            .type_in(DOWN)
            .wait_for("> An example")
            .type_in(CTRL_C);
        assert_left(&project, wizard);
    }
}

#[track_caller]
fn assert_left(project: &Project, wizard: Terminal) {
    let (status, text) = wizard.finish();
    assert_eq!(status, 130, "{text}");
    assert_shows(&text, &["nothing was made"]);
    assert!(!project.path("evals").exists(), "{text}");
}

mod needs_test_runners {
    use super::*;

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn from_a_typescript_library_to_a_verdict() {
        travel(&Journey {
            library: "tiny-invariant",
            title: "tiny-invariant 1.3.3",
            found: &["JavaScript or TypeScript", "tests     node:test"],
            end: "mjs",
            assertion: "every export is listed: Expected values to be strictly deep-equal",
        });
    }

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn from_a_python_library_to_a_verdict() {
        travel(&Journey {
            library: "iniconfig",
            title: "iniconfig",
            found: &["Python", "tests     unittest"],
            end: "py",
            assertion: "test_every_public_name_is_listed: AssertionError: 'nothing' != 'COMMENTCHARS'",
        });
    }
}
