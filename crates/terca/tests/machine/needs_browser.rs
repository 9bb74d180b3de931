//! The pages in a real browser: opened, filtered, read; and whatever an agent wrote runs nothing and asks nobody.

use crate::common::gallery::{self, EVIL};
use crate::common::project;
use crate::common::viewer;
use terca_report::html::unpacked;
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
    let page = unpacked(&project.read("report.html"));
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

/// Twenty megabytes: in the file outputs are cut and no step is missing; the server has more of them.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_huge_transcript_is_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    let steps = gallery::write_huge_transcript(&project.path(".terca/runs/2026-11-14-001"));
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
fn the_overview_is_read_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    browser.drive(
        "overview.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn runs_are_listed_and_compared_in_a_browser() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    for (run, repetitions) in [("2026-11-14-002", 3), ("2026-11-14-003", 5)] {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
    }
    let view = viewer::View::open(&project, &[]);
    browser.drive("runs.mjs", &[("URL", view.url.as_str())]);
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn a_thousand_trials_are_opened() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 36);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    assert!(size_of(&project, "report.html") < 2_000_000);
    browser.drive(
        "thousand.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

fn size_of(project: &Project, file: &str) -> u64 {
    project.path(file).metadata().unwrap().len()
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_list_is_sorted_narrowed_and_moved_in() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 5);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    browser.drive(
        "list.mjs",
        &[("REPORT", project.path("report.html").as_str())],
    );
}

#[test]
#[ignore = "needs Node, npm and Chromium"]
fn words_are_found_in_everything_that_was_written() {
    let browser = browser::require();
    let project = with_run("2026-11-14-001", 1);
    project
        .terca(&["report", "--html", "report.html"])
        .expect_status(0);
    let view = viewer::View::open(&project, &[]);
    browser.drive(
        "search.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("URL", view.url.as_str()),
        ],
    );
}

/// Trials that left no files.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn five_thousand_trials_are_listed_like_thirty() {
    let browser = browser::require();
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    for (run, repetitions, file) in [
        ("2026-11-14-001", 1, "few.html"),
        ("2026-11-14-002", 179, "many.html"),
    ] {
        gallery::make_record(&project.path(&format!(".terca/runs/{run}")), repetitions);
        project
            .terca(&["report", run, "--html", file])
            .expect_status(0);
    }
    let size = size_of(&project, "many.html");
    assert!(size <= 2_000_000, "{size}");
    browser.drive(
        "five_thousand.mjs",
        &[
            ("FEW", project.path("few.html").as_str()),
            ("MANY", project.path("many.html").as_str()),
        ],
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

/// The parts of the script share one scope, as they do in a page. TypeScript reads the types in their comments.
#[test]
#[ignore = "needs Node, npm and Chromium"]
fn the_types_of_the_script_are_right() {
    let scripts =
        camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src/html/script");
    let files = scripts.read_dir_utf8().unwrap().flatten();
    let files: Vec<_> = files.map(|entry| entry.into_path()).collect();
    assert!(files.len() > 5);
    let checked = std::process::Command::new(terca_testkit::runners::typescript())
        .args([
            "--noEmit",
            "--allowJs",
            "--checkJs",
            "--skipLibCheck",
            "--target",
            "es2023",
        ])
        .args(["--lib", "es2023,dom,dom.iterable"])
        .args(&files)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}");
}
