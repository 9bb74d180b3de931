//! One run in every format: they all say the same.

use terca_core::analysis::compare::within;
use terca_core::analysis::summary::{By, DEFAULT_MARGIN};
use terca_core::run::event::{EventKind, RunStatus};
use terca_core::run::outcome::TrialReport;

use crate::fixture::{self, Script};
use crate::html::{Bound, run_page};
use crate::term::style::Palette;
use crate::{compared_markdown, csv, footer, junit, markdown, results_table};

const PALETTE: Palette = Palette { colour: false };

fn costing(usd: f64, report: TrialReport) -> TrialReport {
    let mut report = report;
    report.stats.usage.cost_usd = Some(usd);
    report
}

/// One trial: an attempt of $1.00 that ended in an error, then one of $0.50 that passed.
fn retried() -> Script {
    let mut script = Script::new(fixture::heads(1, 1, 1), 1);
    script.start(1).add(EventKind::AttemptFailed {
        trial: 1,
        report: Box::new(costing(1.0, fixture::error("429"))),
        wait_seconds: 0.0,
    });
    let second = TrialReport {
        attempts: 2,
        ..costing(0.5, fixture::passed(20.0))
    };
    script.start(1).finish(1, &second).end(RunStatus::Complete);
    script
}

/// The text of the page, without its style and script.
fn html(script: &Script) -> String {
    let page = run_page(&script.state, &Bound::OnDemand);
    let (_, body) = page.split_once("<main").unwrap();
    let (main, _) = body.split_once("</main>").unwrap();
    main.to_owned()
}

#[test]
fn a_retried_attempt_is_paid_for_in_every_format() {
    let script = retried();
    let results = script.results();
    let terminal = footer(&results, fixture::here(), PALETTE);
    assert!(terminal.contains("$1.50"), "{terminal}");
    assert!(html(&script).contains("$1.50"), "the page");
    let document = junit(&results);
    let property = r#"<property name="costUsd" value="1.5"/>"#;
    assert!(document.contains(property), "{document}");
    let summary = markdown(&results, usize::MAX);
    assert!(summary.contains("1.50"), "{summary}");
    let table = csv(&results);
    let mut lines = table.lines().map(|line| line.split(','));
    let (titles, row) = (lines.next().unwrap(), lines.next().unwrap());
    let spent: Vec<&str> = titles
        .zip(row)
        .filter(|(title, _)| *title == "spentUsd")
        .map(|(_, cell)| cell)
        .collect();
    assert_eq!(spent, ["1.5"]);
    let document = serde_json::to_value(&results).unwrap();
    assert_eq!(document["summary"]["spent"]["costUsd"], 1.5);
}

#[test]
fn nearly_all_is_not_all_in_any_format() {
    let mut script = Script::new(fixture::heads(1, 1, 250), 4);
    for id in 1..=249 {
        script.start(id).finish(id, &fixture::passed(20.0));
    }
    let failed = fixture::failed(20.0, "check-file", "fib.js does not exist");
    script
        .start(250)
        .finish(250, &failed)
        .end(RunStatus::Complete);
    let results = script.results();
    let formats = [
        results_table(&results, 100, PALETTE),
        markdown(&results, usize::MAX),
        html(&script),
    ];
    for text in formats {
        assert!(text.contains("99 %"), "{text}");
        assert!(!text.contains("100 %"), "{text}");
    }
}

#[test]
fn an_experiment_cannot_mention_anybody() {
    let mut heads = fixture::heads(3, 2, 4);
    for head in &mut heads {
        if head.experiment != "base" {
            head.experiment = "@octocat #12".to_owned();
        }
    }
    let mut script = Script::new(heads, 4);
    for id in 1..=24 {
        script.start(id).finish(id, &fixture::passed(20.0));
    }
    script.end(RunStatus::Complete);
    let compared = within(&script.state, By::Experiment, None, DEFAULT_MARGIN).unwrap();
    for text in [
        compared_markdown(&compared),
        markdown(&script.results(), usize::MAX),
    ] {
        assert!(text.contains("octocat"), "{text}");
        assert!(!text.contains("@octocat"), "{text}");
        assert!(!text.contains("#12"), "{text}");
    }
}
