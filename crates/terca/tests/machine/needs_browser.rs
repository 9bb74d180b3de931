//! The pages in a real browser: opened, filtered, read; and whatever an agent wrote runs nothing and asks nobody.

use serde_json::json;

use crate::common::gallery::{self, EVIL};
use crate::common::project;
use crate::common::viewer;
use terca_testkit::{Project, browser};

/// A suite with a run in it that was made up.
fn with_run(name: &str, repetitions: u32) -> Project {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    gallery::make(&project.path(&format!(".terca/runs/{name}")), repetitions);
    project
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_file_is_read_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let page = project.read("report.html");
    assert!(
        page.contains("All files are in .terca/runs/2026-11-14-001/"),
        "and not where on this machine"
    );
    browser.drive(
        "file.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

/// Makes a report with five repetitions, so that each eval has twenty trials.
fn with_report() -> Project {
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    project
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_steps_of_a_trial() {
    let browser = browser::require();
    let project = with_report();
    browser.drive(
        "steps.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("JUDGED", "101"),
        ],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn two_trials_beside_each_other() {
    let browser = browser::require();
    let project = with_report();
    browser.drive(
        "pair.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("EVIL", "140"),
        ],
    );
}

/// Replaces the transcript of the first trial by one of about 20 MB. Returns the number of its steps.
fn write_huge_transcript(project: &Project) -> usize {
    const CALLS: usize = 1_000;
    let output = "x <b>y</b>\n".repeat(1_800);
    let mut lines = String::new();
    for id in 0..CALLS {
        let input = json!({"file_path": format!("shard-{id:04}.ts")});
        let id = id.to_string();
        let call = json!({"line": 1, "type": "toolCall", "id": id, "tool": "Read", "input": input});
        let result =
            json!({"line": 2, "type": "toolResult", "id": id, "ok": true, "output": output});
        lines += &format!("{call}\n{result}\n");
    }
    let trial = ".terca/runs/2026-11-14-001/auth-sign-in/claude.control.01";
    std::fs::write(project.path(trial).join("transcript.jsonl"), lines).unwrap();
    CALLS
}

/// Twenty megabytes: in the file outputs are cut and no step is missing; the server has more of them.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_huge_transcript_is_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    let steps = write_huge_transcript(&project);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let view = viewer::View::open(&project, &[]);
    browser.drive(
        "huge.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("URL", view.url.as_str()),
            ("STEPS", &steps.to_string()),
        ],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_thousand_trials_are_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 36);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    assert!(project.path("report.html").metadata().unwrap().len() < 20_000_000);
    browser.drive(
        "thousand.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

/// Two trials, each of which waits until the page has shown what came before.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_run_that_goes_on_is_followed() {
    let browser = browser::require();
    let project = with_run("2020-01-01-001", 2).executable(
        "agent.sh",
        &format!("#!/bin/sh\nread name\nwhile ! [ -e \"$GATES/$name\" ]; do sleep 0.05; done\necho '{EVIL}' | tee made.html\n"),
    );
    let gates = project.path("_gates");
    let project = project.directory("_gates").file(
        "terca.yaml",
        format!(
            "name: live\nconcurrency: 2\nenv: {{GATES: {gates}}}\n\
             environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals:\n  - {{name: first, prompt: first, tests: [{{fileExists: made.html}}]}}\n  \
             - {{name: second, prompt: second, tests: [{{fileExists: made.html}}]}}\n"
        ),
    );
    let mut run = project.start(&["--format", "plain"]);
    run.wait_until("both agents are at work", || {
        project.journal().matches("\"phase\":\"agent\"").count() == 2
    });
    let view = viewer::View::open(&project, &[]);
    let (one, two) = (gates.join("first"), gates.join("second"));
    browser.drive(
        "live.mjs",
        &[
            ("URL", view.url.as_str()),
            ("GATE_ONE", one.as_str()),
            ("GATE_TWO", two.as_str()),
        ],
    );
    run.finish().expect_status(0);
}

/// Pictures for the documentation: `TERCA_SCREENSHOTS=docs/images cargo nextest run -E 'test(pictures)'`.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn pictures() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let dir = std::env::var("TERCA_SCREENSHOTS")
        .unwrap_or_else(|_| project.path("pictures").into_string());
    let dir = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    browser.drive(
        "pictures.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("PICTURES", dir.as_str()),
        ],
    );
    let pictures = dir
        .read_dir_utf8()
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().ends_with(".png"));
    assert!(pictures.count() >= 8);
}
