//! The report as one file: what it keeps, and how small it stays.

use crate::common::gallery;
use crate::common::project;
use serde_json::json;
use terca_report::html::unpacked;
use terca_testkit::Project;

const RUN: &str = "2026-11-14-001";

fn with_a_made_run(repetitions: u32) -> Project {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    gallery::make(&project.path(&format!(".terca/runs/{RUN}")), repetitions);
    project
}

fn report(project: &Project, args: &[&str]) -> String {
    let args = [&["report", "--html", "report.html"], args].concat();
    project.terca(&args).expect_status(0);
    project.read("report.html")
}

#[test]
fn bodies_are_compressed_and_all_there() {
    let project = with_a_made_run(2);
    let page = report(&project, &[]);
    assert!(page.len() < 600_000, "{}", page.len());
    assert!(
        !page.contains("The list is read in one go."),
        "not as it is"
    );
    let opened = unpacked(&page);
    assert_eq!(opened.matches("<article class=\"trial\"").count(), 56);
    assert!(opened.matches("The list is read in one go.").count() >= 56);
    assert_eq!(opened.matches("\"html\":").count(), 56, "a row for each");
}

#[test]
fn a_full_report_leaves_nothing_out() {
    let project = with_a_made_run(1);
    let flood = "&lt;script&gt;window.pwned=1&lt;/script&gt;";
    let usual = unpacked(&report(&project, &[]));
    assert!(usual.contains("bytes left out"));
    assert!(usual.matches(flood).count() < 100_000);
    let full = unpacked(&report(&project, &["--full"]));
    assert!(!full.contains("bytes left out") && !full.contains("left out; see"));
    assert!(full.matches(flood).count() >= 160_000);
    let alone = project.terca(&["report", "--full"]).expect_status(2);
    assert!(alone.stderr.contains("--html"), "{}", alone.stderr);
}

/// A session of 590 kB, as agents leave them in an hour of work.
#[test]
fn a_long_session_keeps_all_its_steps() {
    let project = with_a_made_run(1);
    let transcript: String = (0..38)
        .flat_map(|number| {
            let output: String = (0..700)
                .map(|line| format!("src/module-{number}/file-{line}.ts\n"))
                .collect();
            [
                json!({"line": 1, "type": "toolCall", "id": number.to_string(), "tool": "Bash", "input": {"command": format!("ls module-{number}")}}),
                json!({"line": 2, "type": "toolResult", "id": number.to_string(), "ok": true, "output": output}),
            ]
        })
        .map(|record| format!("{record}\n"))
        .collect();
    assert!(transcript.len() > 590_000, "{}", transcript.len());
    let run = project.path(&format!(".terca/runs/{RUN}"));
    let trial = "auth-sign-in/claude.control.01";
    std::fs::write(run.join(trial).join("transcript.jsonl"), transcript).unwrap();
    let page = unpacked(&report(&project, &[]));
    for number in 0..38 {
        assert!(page.contains(&format!("ls module-{number}<")), "{number}");
    }
    assert!(!page.contains("steps left out"));
    assert!(page.contains("bytes left out"), "outputs are cut");
}

/// Without a browser that runs scripts, the first rows are there.
#[test]
fn the_first_rows_are_in_the_page_itself() {
    let project = with_a_made_run(8);
    let page = report(&project, &[]);
    assert_eq!(page.matches("<tr id=\"row-").count(), 200);
    assert!(page.contains("These are the first 200 of 224 trials."));
    let first = page.find("data-status=\"failed\"").unwrap();
    assert!(
        page.find("data-status=\"passed\"")
            .is_none_or(|passed| first < passed)
    );
}
