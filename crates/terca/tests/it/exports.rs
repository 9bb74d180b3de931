//! Runs in the formats that other programs read: JUnit, Markdown, CSV, JSON Lines, and GitHub Actions.

use crate::common::endings::every_ending;
use serde_json::Value;

#[test]
fn resume_writes_junit_too_and_a_file_that_cannot_be_written_is_trouble() {
    let project = every_ending();
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
    let project = every_ending();
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
    let project = every_ending();
    project.terca(&[]).expect_status(3);
    let text = project
        .terca(&["report", "--markdown", "-"])
        .expect_status(0)
        .stdout;
    assert!(
        text.starts_with("## Terca: endings\n\n- **INCONCLUSIVE** on these 3 evals "),
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
    let project = every_ending()
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
    // Two evals could not be judged; there is a verdict; and two evals did not pass in either variant.
    assert_eq!(annotations.len(), 2 + 1 + 4, "{annotations:#?}");
    let errors = annotations
        .iter()
        .filter(|line| line.starts_with("::error"));
    assert_eq!(errors.count(), 2, "{annotations:#?}");
    assert!(
        annotations[3].starts_with(
            "::notice title=b-half e|1.base%3A partial in 2 of 2 trials,file=b-half/eval.terca.yaml,line="
        ),
        "{}",
        annotations[3]
    );
    let folded: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("::"))
        .collect();
    assert_eq!(folded, ["::group::Trials", "::endgroup::"]);
    let hostile = annotations
        .iter()
        .find(|line| line.contains("=cmd"))
        .unwrap();
    assert!(
        hostile.starts_with(
            "::notice title==cmd|<&\"@octocat e|1.base%3A failed in 2 of 2 trials,file="
        ),
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
        outcome.stderr.matches("::notice ").count(),
        3,
        "{}",
        outcome.stderr
    );

    let outcome = project
        .terca(&["--no-github", "-t", "b-half"])
        .expect_status(1);
    assert!(!outcome.stdout.contains("::notice") && !outcome.stderr.contains("::group"));
    assert_eq!(
        project.read("summary.md").matches("## Terca").count(),
        2,
        "once for each of the others"
    );
}

#[test]
fn elsewhere_nothing_is_annotated() {
    let project = every_ending();
    let outcome = project.terca(&["-t", "b-half"]).expect_status(1);
    assert!(!outcome.stdout.contains("::error"), "{}", outcome.stdout);
}
