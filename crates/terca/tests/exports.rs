//! Runs in the formats that other programs read: JUnit, Markdown, CSV, JSON Lines, and GitHub Actions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

mod common;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Once;

use camino::Utf8Path;
use common::project;
use serde_json::Value;
use terca_testkit::Project;

/// A suite in which every kind of ending comes about, with names and messages that break careless formats. Its agent
/// does what the prompt says.
fn suite() -> Project {
    let agent = "prompt=$(cat)\n\
                 echo '{\"inputTokens\": 100, \"outputTokens\": 20, \"costUsd\": 0.25}' > \"$TERCA_STATS_FILE\"\n\
                 case $prompt in *right*) echo ok > answer;; *half*) echo so > answer;; esac\n";
    let hostile =
        r#"printf '\033[31mred\033[0m <b>]]></failure> | `x` @octocat #1 \001\n'; exit 1"#;
    let tests = |first: &str| {
        format!(
            "tests:\n  - {{name: there, {first}}}\n  - {{name: ok, fileContains: {{path: answer, text: ok}}}}\n"
        )
    };
    let file = "fileExists: answer";
    project()
        .executable("agent.sh", &format!("#!/bin/sh\n{agent}"))
        .file(
            "terca.yaml",
            "name: endings\nrepetitions: 2\n\
             environments: [{name: 'e|1', agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: base}, {name: '=with,\"rules\"'}]\n",
        )
        .file("a-right/eval.terca.yaml", format!("prompt: do it right\n{}", tests(file)))
        .file("b-half/eval.terca.yaml", format!("prompt: half of it\n{}", tests(file)))
        .file(
            "c-wrong/eval.terca.yaml",
            format!("name: '=cmd|<&\"@octocat'\nprompt: nothing\ntests:\n  - name: say\n    commandSuccess: |\n      {hostile}\n"),
        )
        .file("d-error/eval.terca.yaml", "prompt: never\nbefore: [{command: 'echo no such luck; exit 3'}]\n")
}

fn schema() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/junit/junit.xsd").to_owned()
}

/// Fails where there is no `xmllint` and it cannot be installed: a document that nobody has looked at is not valid.
fn xmllint() -> Command {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let is_there = || Command::new("xmllint").arg("--version").output().is_ok();
        if !is_there() && rustix::process::geteuid().is_root() {
            let _ = Command::new("apt-get")
                .args(["install", "-y", "libxml2-utils"])
                .output();
        }
        assert!(
            is_there(),
            "these tests need `xmllint`: apt-get install libxml2-utils (Debian), libxml2 (others)"
        );
    });
    Command::new("xmllint")
}

/// Whether a document is valid, and what was said about it.
fn validated(document: &str) -> (bool, String) {
    let mut child = xmllint()
        .args(["--noout", "--nonet", "--schema", &schema(), "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xmllint");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(document.as_bytes())
        .expect("the document");
    let output = child.wait_with_output().expect("xmllint ends");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// What an XPath expression finds.
fn found(file: &Utf8Path, xpath: &str) -> String {
    let output = xmllint()
        .args(["--nonet", "--xpath", xpath, file.as_str()])
        .output()
        .expect("xmllint");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn the_schema_can_say_no() {
    let case = |inner: &str| {
        format!(
            "<testsuites><testsuite name=\"a\" tests=\"1\" failures=\"0\" errors=\"0\">{inner}</testsuite></testsuites>"
        )
    };
    assert!(validated(&case("<testcase name=\"t\" classname=\"c\" time=\"0.1\"/>")).0);
    for wrong in [
        "<testcase name=\"t\"/>",
        "<testcase name=\"t\" classname=\"c\"><properties/></testcase>",
        "<testcase name=\"t\" classname=\"c\" time=\"1e-7\"/>",
        "<testcase name=\"t\" classname=\"c\"><skipped/><failure/></testcase>",
        "<testcase name=\"t\" classname=\"c\"/><properties/>",
    ] {
        assert!(!validated(&case(wrong)).0, "{wrong}");
    }
}

#[test]
fn junit_of_every_ending_is_valid() {
    let project = suite();
    project
        .terca(&["--junit", "out/deep/junit.xml"])
        .expect_status(3);
    let file = project.path("out/deep/junit.xml");
    let text = project.read("out/deep/junit.xml");
    let (valid, said) = validated(&text);
    assert!(valid, "{said}\n{text}");
    for (xpath, expected) in [
        ("string(/testsuites/@name)", "endings"),
        ("string(/testsuites/@tests)", "16"),
        ("count(/testsuites/testsuite)", "2"),
        ("string(/testsuites/testsuite[1]/@name)", "e|1.base"),
        (
            "string(/testsuites/testsuite[2]/@name)",
            "e|1.=with,\"rules\"",
        ),
        ("string(/testsuites/testsuite[1]/@failures)", "4"),
        ("string(/testsuites/testsuite[1]/@errors)", "2"),
        ("string(/testsuites/testsuite[1]/@skipped)", "0"),
        (
            "string(/testsuites/testsuite[1]/properties/property[@name='inputTokens']/@value)",
            "600",
        ),
        (
            "string(/testsuites/testsuite[1]/properties/property[@name='costUsd']/@value)",
            "1.5",
        ),
        ("string(//testsuite[1]/testcase[2]/@name)", "a-right #02"),
        (
            "count(//testcase[starts-with(@name, 'a-right')]/*[not(self::system-out)])",
            "0",
        ),
        ("count(//testcase/failure[@type='partial'])", "4"),
        ("count(//testcase/failure[@type='failed'])", "4"),
        ("count(//testcase/error[@type='setup'])", "4"),
        (
            "contains(//testcase[starts-with(@name, '=cmd')]/failure/@message, 'red <b>]]></failure> |')",
            "true",
        ),
        (
            "contains(//testcase[starts-with(@name, 'b-half')]/failure, 'there: answer exists')",
            "true",
        ),
        (
            "contains(//testcase[starts-with(@name, 'a-right')]/system-out, 'costUsd: 0.25')",
            "true",
        ),
    ] {
        assert_eq!(found(&file, xpath), expected, "{xpath}\n{text}");
    }
    // The same afterwards, from the run on disk.
    project
        .terca(&["report", "--junit", "again.xml"])
        .expect_status(0);
    assert_eq!(project.read("again.xml"), text);
}

#[test]
fn what_did_not_run_is_skipped() {
    let project = suite();
    project
        .terca(&[
            "-t",
            "b-half",
            "--fail-fast",
            "-c",
            "1",
            "--junit",
            "junit.xml",
        ])
        .expect_status(1);
    let (valid, said) = validated(&project.read("junit.xml"));
    assert!(valid, "{said}");
    let file = project.path("junit.xml");
    assert_eq!(
        found(&file, "count(//testcase/skipped[@message='not run'])"),
        "3"
    );
    assert_eq!(found(&file, "sum(//testsuite/@skipped)"), "3");
}

#[test]
fn resume_writes_junit_too_and_a_file_that_cannot_be_written_is_trouble() {
    let project = suite();
    project
        .terca(&["-t", "a-right", "--fail-fast", "--junit", "first.xml"])
        .expect_status(0);
    project
        .terca(&["resume", "--junit", "second.xml"])
        .expect_status(0);
    assert_eq!(project.read("first.xml"), project.read("second.xml"));
    let outcome = project
        .terca(&["-t", "a-right", "--junit", "first.xml/x.xml"])
        .expect_status(3);
    assert!(
        outcome
            .stderr
            .contains("error[cannot-write]: first.xml/x.xml cannot be written: "),
        "{}",
        outcome.stderr
    );
}

/// Reads RFC 4180.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted && characters.next_if_eq(&'\n').is_some() => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    assert!(
        row.is_empty() && cell.is_empty() && !quoted,
        "the last line is whole"
    );
    rows
}

#[test]
fn csv_and_json_lines_have_every_trial_and_agree_with_the_results() {
    let project = suite();
    project.terca(&[]).expect_status(3);
    let csv = project
        .terca(&["report", "--csv", "-"])
        .expect_status(0)
        .stdout;
    project
        .terca(&["report", "--jsonl", "rows.jsonl"])
        .expect_status(0);
    let table = parse_csv(&csv);
    let lines: Vec<Value> = project
        .read("rows.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    assert_eq!((table.len(), lines.len()), (trials.len() + 1, trials.len()));
    let column = |name: &str| table[0].iter().position(|title| title == name).unwrap();
    for ((row, line), trial) in table[1..].iter().zip(&lines).zip(trials) {
        assert_eq!(row.len(), table[0].len());
        let cell = |name: &str| row[column(name)].as_str();
        assert_eq!(cell("trial"), trial["id"].to_string());
        assert_eq!(line["eval"], trial["eval"]);
        assert_eq!(line["costUsd"], trial["stats"]["costUsd"]);
        assert_eq!(line["status"], trial["status"]);
        assert_eq!(cell("status"), trial["status"].as_str().unwrap());
        let score = if trial["score"].is_null() {
            String::new()
        } else {
            trial["score"].to_string()
        };
        assert_eq!(cell("score"), score);
        let tokens = if trial["status"] == "error" {
            ""
        } else {
            "100"
        };
        assert_eq!(
            (cell("inputTokens"), cell("cachedInputTokens")),
            (tokens, "")
        );
        // A spreadsheet must not calculate what somebody named.
        for text in row {
            let is_number = text.parse::<f64>().is_ok();
            assert!(
                is_number || !text.starts_with(['=', '+', '-', '@']),
                "{text}"
            );
        }
    }
    assert!(
        table
            .iter()
            .any(|row| row[column("eval")] == "'=cmd|<&\"@octocat")
    );
    assert!(
        table
            .iter()
            .any(|row| row[column("experiment")] == "'=with,\"rules\"")
    );
    assert_eq!(
        lines[0]["tests"],
        serde_json::json!({"there": 1.0, "ok": 1.0})
    );
}

#[test]
fn markdown_for_a_pull_request() {
    let project = suite();
    project.terca(&[]).expect_status(3);
    let text = project
        .terca(&["report", "--markdown", "-"])
        .expect_status(0)
        .stdout;
    assert!(
        text.starts_with("## Terca: endings\n\n- **INCONCLUSIVE**: "),
        "{text}"
    );
    assert!(
        text.contains("| eval | e\\|1.base | e\\|1.=with,\"rules\" |\n|---|---:|---:|\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "| a-right | ✅ 2/2 | ✅ 2/2 |\n| b-half | 🟡 0/2 · 0.50 | 🟡 0/2 · 0.50 |\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("<summary>12 trials did not pass</summary>"),
        "{text}"
    );
    assert!(
        text.contains(
            "red \\<b\\>\\]\\]\\>\\</failure\\> \\| \\`x\\` @\u{200b}octocat \\#\u{200b}1"
        ),
        "{text}"
    );
    // Every row of both tables has its cells and no more.
    for line in text.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 4, "{line}");
    }
    let outcome = project.terca(&["report"]).expect_status(2);
    assert!(
        outcome.stderr.contains("help: ask for `--html FILE`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn on_github_actions_a_run_adds_itself_to_the_summary_and_annotates() {
    let project = suite()
        .file("summary.md", "before\n")
        .env("GITHUB_ACTIONS", "true");
    let summary = project.path("summary.md");
    let project = project.env("GITHUB_STEP_SUMMARY", summary.as_str());
    let outcome = project.terca(&[]).expect_status(3);
    let annotations: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("::"))
        .collect();
    assert_eq!(annotations.len(), 11, "{annotations:#?}");
    assert_eq!(
        annotations[10],
        "::notice title=Terca::2 more trials did not pass; the job's summary has them"
    );
    assert!(
        annotations[0].starts_with("::error title=b-half e|1.base #01%3A partial::ok: "),
        "{}",
        annotations[0]
    );
    let hostile = annotations
        .iter()
        .find(|line| line.contains("=cmd"))
        .unwrap();
    assert!(
        hostile.starts_with("::error title==cmd|<&\"@octocat e|1.base #01%3A failed::say: "),
        "{hostile}"
    );
    let told = project.read("summary.md");
    assert!(told.starts_with("before\n\n## Terca: endings\n"), "{told}");
    assert_eq!(
        told["before\n\n".len()..],
        project.terca(&["report", "--markdown", "-"]).stdout
    );

    // As JSON, standard output has nothing but events.
    let outcome = project
        .terca(&["--format", "json", "-t", "b-half"])
        .expect_status(1);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    assert_eq!(
        outcome.stderr.matches("::error ").count(),
        4,
        "{}",
        outcome.stderr
    );

    let outcome = project
        .terca(&["--no-github", "-t", "b-half"])
        .expect_status(1);
    assert!(!outcome.stdout.contains("::error"));
    assert_eq!(
        project.read("summary.md").matches("## Terca").count(),
        2,
        "once for each of the others"
    );
}

#[test]
fn elsewhere_nothing_is_annotated() {
    let project = suite();
    let outcome = project.terca(&["-t", "b-half"]).expect_status(1);
    assert!(!outcome.stdout.contains("::error"), "{}", outcome.stdout);
}
