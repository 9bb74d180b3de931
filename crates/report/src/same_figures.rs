//! One run in every format: they all say the same.

use proptest::option;
use proptest::prelude::*;
use serde_json::Value;
use terca_core::analysis::compare::within;
use terca_core::analysis::metrics::{COMPARISON_METRICS, METRICS, UNKNOWN};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::points;
use terca_core::analysis::summary::{By, DEFAULT_MARGIN, EvalEffect, Figures};
use terca_core::run::event::{EventKind, RunStatus};
use terca_core::run::outcome::TrialReport;
use terca_core::text::prose;

use crate::fixture::{self, Script};
use crate::html::{Bound, run_page};
use crate::term::Palette;
use crate::{compared_markdown, csv, footer, junit, markdown, results_table, verdicts};

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
    let page = run_page(&script.state, &Bound::OnDemand { seen: 0 });
    let (_, body) = page.split_once("<main").unwrap();
    let (main, _) = body.split_once("</main>").unwrap();
    main.to_owned()
}

#[test]
fn a_retried_attempt_is_paid_for_in_every_format() {
    let script = retried();
    let results = script.results();
    let terminal = footer(&results, fixture::here()).render(PALETTE);
    assert!(terminal.contains("$1.50"), "{terminal}");
    assert!(html(&script).contains("$1.50"), "the page");
    let document = junit(&results);
    let property = r#"<property name="costUsd" value="1.5"></property>"#;
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
        results_table(&results, 100).render(PALETTE),
        markdown(&results, usize::MAX),
        html(&script),
    ];
    for text in formats {
        assert!(text.contains("99 %"), "{text}");
        // Of ten trials one may be the one that failed: pass@10 is all, and nothing else is.
        assert!(text.matches("100 %").count() <= 1, "{text}");
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

/// The end of one trial.
#[derive(Debug, Clone)]
struct Outcome {
    /// `None` is an error.
    score: Option<f64>,
    seconds: f64,
    cost: Option<f64>,
    tokens: Option<u64>,
    /// The cost of an attempt before it.
    earlier: Option<f64>,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let score = prop::sample::select(vec![Some(1.0), Some(1.0), Some(0.999), Some(0.0), None]);
    (
        score,
        0.1..5_000.0f64,
        option::of(0.0..20.0f64),
        option::of(0..9_000_000u64),
        option::of(0.0..20.0f64),
    )
        .prop_map(|(score, seconds, cost, tokens, earlier)| Outcome {
            score,
            seconds,
            cost,
            tokens,
            earlier,
        })
}

/// Two variants of one eval.
fn played(outcomes: &[Outcome]) -> Script {
    let repetitions = (outcomes.len() / 2) as u32;
    let mut script = Script::new(fixture::heads(1, 2, repetitions), 4);
    for (outcome, id) in outcomes.iter().zip(1..=repetitions * 2) {
        if let Some(cost) = outcome.earlier {
            script.start(id).add(EventKind::AttemptFailed {
                trial: id,
                report: Box::new(costing(cost, fixture::error("429"))),
                wait_seconds: 0.0,
            });
        }
        script.start(id).finish(id, &report_of(outcome));
    }
    script.end(RunStatus::Complete);
    script
}

fn report_of(outcome: &Outcome) -> TrialReport {
    let mut report = match outcome.score {
        Some(score) => fixture::partial(outcome.seconds, score),
        None => fixture::error("no key"),
    };
    report.stats.usage.cost_usd = outcome.cost;
    report.stats.usage.input_tokens = outcome.tokens;
    report.stats.usage.output_tokens = None;
    report.stats.duration_seconds = Some(outcome.seconds);
    report
}

/// Three evals in four variants. Where there is no outcome, the trial did not run.
fn played_matrix(outcomes: &[Option<Outcome>]) -> Script {
    let repetitions = (outcomes.len() / 12) as u32;
    let mut script = Script::new(fixture::heads(3, 4, repetitions), 4);
    let mut all_ran = true;
    for (outcome, id) in outcomes.iter().zip(1..=repetitions * 12) {
        let Some(outcome) = outcome else {
            all_ran = false;
            continue;
        };
        script.start(id).finish(id, &report_of(outcome));
    }
    script.end(if all_ran {
        RunStatus::Complete
    } else {
        RunStatus::Interrupted
    });
    script
}

/// The texts of the cells of each row of a table, found by its class. Elements in a cell are divided by spaces.
fn table_of(page: &str, class: &str) -> Vec<Vec<String>> {
    let Some((_, table)) = page.split_once(&format!("<table class=\"{class}\">")) else {
        return Vec::new();
    };
    let (table, _) = table.split_once("</table>").unwrap();
    let rows = table.split("<tr").skip(1);
    let text = |cell: &str| {
        let parts = cell
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap().trim());
        prose::joined(parts.filter(|part| !part.is_empty()), " ").replace("&lt;", "<")
    };
    rows.map(|row| {
        let cells = row.replace("<th", "<td").replace("</th>", "</td>");
        cells
            .split("<td")
            .skip(1)
            .map(|cell| text(&format!("<td{cell}")))
            .collect()
    })
    .collect()
}

/// The cells of the row with this title, without emphasis.
fn cells(text: &str, title: &str, between: &str) -> Vec<String> {
    let plain = text.replace("**", "");
    let rows = plain.lines().map(|line| {
        line.split(between)
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect::<Vec<String>>()
    });
    let mut found = rows.filter(|row| row.first().is_some_and(|cell| cell == title));
    found.next().unwrap_or_default().split_off(1)
}

fn property(document: &str, variant: usize, name: &str) -> Option<f64> {
    let suite = document.split("<testsuite ").nth(variant + 1)?;
    let (_, rest) = suite.split_once(&format!("name=\"{name}\" value=\""))?;
    rest.split_once('"')?.0.parse().ok()
}

fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-6 * one.abs().max(1.0),
        (one, other) => one == other,
    }
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_has_the_same_figures(outcomes in prop::collection::vec(outcomes(), 2..40)) {
        let script = played(&outcomes);
        let results = script.results();
        let json: Value = serde_json::from_str(&serde_json::to_string(&results).unwrap()).unwrap();
        let xml = junit(&results);
        let terminal = results_table(&results, 200).render(PALETTE);
        let table = markdown(&results, usize::MAX);
        for metric in &METRICS {
            let figures = json["summary"]["variants"].as_array().unwrap();
            let read: Vec<Option<f64>> = figures.iter().map(|variant| variant[metric.name].as_f64()).collect();
            let shown: Vec<String> =
                read.iter().map(|value| value.map_or(UNKNOWN.to_owned(), metric.show)).collect();
            prop_assert_eq!(&cells(&terminal, metric.title, "  "), &shown, "{}", terminal);
            prop_assert_eq!(&cells(&table, metric.title, "|"), &shown, "{}", table);
            for (variant, value) in read.iter().enumerate() {
                prop_assert!(is_near(property(&xml, variant, metric.name), *value), "{} {}", metric.name, xml);
            }
        }
        // The share of all is shown only for all, and nothing only for nothing.
        for variant in &results.summary.variants {
            let shown = variant.figures.pass_rate.map(METRICS[0].show);
            prop_assert_eq!(shown.as_deref() == Some("100 %"), variant.figures.pass_rate == Some(1.0));
            prop_assert_eq!(shown.as_deref() == Some("0 %"), variant.figures.pass_rate == Some(0.0));
        }
    }

    #[test]
    fn every_format_has_the_same_sum(outcomes in prop::collection::vec(outcomes(), 2..40)) {
        let script = played(&outcomes);
        let results = script.results();
        let used = &outcomes[..outcomes.len() / 2 * 2];
        let paid: Vec<f64> = used.iter().flat_map(|outcome| [outcome.cost, outcome.earlier]).flatten().collect();
        let sum = (!paid.is_empty()).then(|| paid.iter().sum::<f64>());
        let json: Value = serde_json::from_str(&serde_json::to_string(&results).unwrap()).unwrap();
        prop_assert!(is_near(json["summary"]["spent"]["costUsd"].as_f64(), sum));
        let rows = csv(&results);
        let column = rows.lines().next().unwrap().split(',').position(|title| title == "spentUsd").unwrap();
        // Texts with commas are in columns before it.
        let from_end = rows.lines().next().unwrap().split(',').count() - 1 - column;
        let of_rows: Vec<f64> =
            rows.lines().skip(1).filter_map(|line| line.rsplit(',').nth(from_end)?.parse().ok()).collect();
        prop_assert!(is_near((!of_rows.is_empty()).then(|| of_rows.iter().sum()), sum), "{}", rows);
        let of_suites: Vec<f64> = (0..2).filter_map(|variant| property(&junit(&results), variant, "costUsd")).collect();
        prop_assert!(is_near((!of_suites.is_empty()).then(|| of_suites.iter().sum()), sum));
        if let Some(sum) = json["summary"]["spent"]["costUsd"].as_f64() {
            let dollars = prose::dollars(sum);
            let live = crate::metrics::dollars(&script.state.spent_with_live()).unwrap_or_default();
            prop_assert!(live.starts_with(&dollars));
            prop_assert!(footer(&results, fixture::here()).render(PALETTE).contains(&dollars));
            let spent = format!("spent: {}", crate::metrics::spent_on(&results).unwrap_or_default());
            prop_assert!(html(&script).contains(&spent));
            prop_assert!(footer(&results, fixture::here()).render(PALETTE).contains(&spent));
            let escaped = "\\".to_owned() + &dollars;
            prop_assert!(markdown(&results, usize::MAX).contains(&escaped));
        }
    }

    #[test]
    fn the_page_has_the_figures_of_the_results(
        outcomes in prop::collection::vec(option::weighted(0.9, outcomes()), 12..60),
    ) {
        let script = played_matrix(&outcomes);
        let results: Results = serde_json::from_str(&serde_json::to_string(&script.results()).unwrap()).unwrap();
        let page = html(&script).replace('\u{a0}', " ");
        let summary = &results.summary;
        // The heat map, cell by cell, and the totals.
        let heat = table_of(&page, "heat");
        let cell = |figures: &Figures| match (figures.judged, figures.errors) {
            (0, 0) => "…".to_owned(),
            (0, errors) => prose::count(errors, "error"),
            (judged, _) => format!("{} {}/{judged}", METRICS[0].text(figures), figures.passed),
        };
        for (number, cells) in summary.cells.chunks(4).enumerate() {
            for (variant, found) in cells.iter().enumerate() {
                let shown = &heat[number + 2][variant + 1];
                prop_assert!(shown.starts_with(&cell(&found.figures)), "{} {:?}", shown, found);
            }
        }
        for (variant, total) in summary.variants.iter().enumerate() {
            let shown = &heat[summary.cells.len() / 4 + 2][variant + 1];
            prop_assert!(shown.starts_with(&cell(&total.figures)), "{} {:?}", shown, total);
        }
        // The comparisons, figure by figure, as in the table of the terminal, and in their sentences.
        let terminal = verdicts(&results, 400).render(PALETTE);
        let rows = table_of(&page, "comparisons");
        let words = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
        for (number, comparison) in summary.comparisons.iter().enumerate() {
            let row = &rows[1 + 2 * number];
            prop_assert!(row[1].starts_with(comparison.verdict.as_str()), "{:?}", row);
            for metric in &COMPARISON_METRICS {
                if let Some(text) = (metric.text)(comparison) {
                    prop_assert!(row.contains(&text), "{} {:?}", text, row);
                    prop_assert!(terminal.contains(&text), "{} {}", text, terminal);
                }
            }
            let told = comparison.sentence.replace('`', "");
            let shown = rows[2 + 2 * number].join(" ").replace(" ,", ",").replace(" .", ".");
            prop_assert!(without_spaces(&shown).contains(&without_spaces(&told)), "{}\n{}", shown, told);
            prop_assert!(without_spaces(&words.replace('`', "")).contains(&without_spaces(&told)));
        }
        // Each eval of each comparison in one environment.
        let changed = table_of(&page, "changed");
        let evals = summary.comparisons.iter().filter(|one| one.place.is_some());
        let evals: Vec<&EvalEffect> = evals.flat_map(|one| &one.per_eval).collect();
        prop_assert_eq!(changed.len().saturating_sub(1), evals.len());
        for effect in evals {
            let is_it = |row: &&Vec<String>| {
                row[0].starts_with(&effect.eval) && row[2].starts_with(&points(effect.difference))
            };
            prop_assert!(changed.iter().skip(1).any(|row| is_it(&row)), "{:?} {:?}", effect, changed);
        }
        // The counts.
        for (number, status) in [(summary.passed, "passed"), (summary.errors, "error"), (summary.pending, "pending")] {
            let counted = format!("<b>{number}</b> {status}<");
            prop_assert_eq!(page.contains(&counted), number > 0, "{}", status);
        }
    }
}
