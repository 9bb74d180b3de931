//! A suite whose agent passes exactly as often as it is told, whatever the order of its trials.

use camino::Utf8Path;
use terca_testkit::Project;

use crate::common::project;

/// The agent of the suite: each trial takes the next free number of its eval and arm. What is in `_mode` shifts the
/// number of trials that pass, so that two runs can differ.
const AGENT: &str = "#!/bin/sh\n\
    set -- $(cat)\n\
    arm=without; passes=$2; cost=0.03\n\
    if [ -e AGENTS.md ]; then arm=with; passes=$3; cost=0.0342; fi\n\
    passes=$((passes + $(cat \"$COUNTS/shift\")))\n\
    round=$(cat \"$COUNTS/round\")\n\
    n=1; while ! mkdir \"$COUNTS/$round.$1.$arm.$n\" 2> /dev/null; do n=$((n + 1)); done\n\
    if [ $n -le $passes ]; then touch done; fi\n\
    echo \"{\\\"costUsd\\\": $cost}\" > $TERCA_STATS_FILE\n";

/// For each eval, how many of five trials pass without and with the rules.
pub fn suite(passes: &[(u32, u32)]) -> Project {
    let mut project = project()
        .executable("agent.sh", AGENT)
        .file("_counts/shift", "0")
        .file("_counts/round", "0")
        .file("rules.md", "Be right.\n");
    let configuration = configuration(&project.path("_counts"));
    project = project.file("terca.yaml", configuration);
    for (number, (without, with)) in passes.iter().enumerate() {
        project = eval(project, &format!("eval{number}"), *without, *with);
    }
    project
}

fn configuration(counts: &Utf8Path) -> String {
    format!(
        "name: counted\nrepetitions: 5\nenv: {{COUNTS: {counts}}}\n\
         environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
         experiments: [{{name: with-rules, rules: rules.md}}, {{name: control, baseline: true}}]\n"
    )
}

pub fn eval(project: Project, name: &str, without: u32, with: u32) -> Project {
    let text = format!("prompt: {name} {without} {with}\ntests: [{{fileExists: done}}]\n");
    project.file(&format!("{name}/eval.terca.yaml"), text)
}

/// Runs the suite again; `shift` more (or fewer) trials of every cell pass.
pub fn run(project: Project, round: u32, shift: i32, args: &[&str]) -> Project {
    let project = project
        .file("_counts/shift", shift.to_string())
        .file("_counts/round", round.to_string());
    let outcome = project.terca(&[&["run", "--fail-under", "0"], args].concat());
    outcome.expect_status(0);
    project
}

/// Asserts a snapshot of what was written, without what differs from day to day and machine to machine.
macro_rules! assert_told {
    ($name:expr, $text:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"\d{4}-\d\d-\d\d-(\d{3})", "2026-11-14-$1");
        settings.add_filter(
            r" +\d+\.\d+×  (BETTER|WORSE|EQUIVALENT|INCONCLUSIVE)",
            " [time]  $1",
        );
        settings.add_filter(r"(?m) {2,}time$", "  time");
        settings.add_filter(r" {2,}(\d+\.\ds|\d+s|\d+m \d\ds|\d+h \d\dm)", "  [time]");
        settings.bind(|| insta::assert_snapshot!($name, $text));
    };
}
pub(crate) use assert_told;
