//! The tests of a trial: scores, weights, reasons and outputs, those that failed open.

use maud::{Markup, html};
use terca_core::analysis::summary::wording;
use terca_core::grade::test_report::{Case, CaseEnd, Cases};
use terca_core::grade::{Grade, JudgeRecord};
use terca_core::plan::descriptions::Descriptions;
use terca_core::run::outcome::TrialReport;
use terca_core::text::excerpt::Excerpt;
use terca_core::text::prose;

use super::log::of_test;
use super::text::{clean, column_titles, fit, fit_text, left_out, or_dash, pill, preview};
use super::variants::LONGEST_DESCRIPTION;

/// The tests of a trial, and their texts.
pub struct Tested<'a> {
    /// The eval that they are of.
    pub eval: &'a str,
    /// The results of the trial.
    pub report: &'a TrialReport,
    /// The descriptions of the run's tests.
    pub descriptions: &'a Descriptions,
    /// The log with their outputs.
    pub log: &'a Excerpt,
}

/// Returns the list in so many bytes of markup, or nothing without tests.
pub fn tests(tested: &Tested<'_>, room: usize) -> Option<Markup> {
    let report = tested.report;
    let each = room / report.tests.len().max(1) / 2;
    let items: Vec<Markup> = report
        .tests
        .iter()
        .map(|(name, grade)| test(tested, name, grade, each))
        .collect();
    let list = html! {
        ul.tests { (fit(items, room, left_out("test", "results.json"))) }
        @if let Some(sum) = sum(report) { p.quiet.sum { (sum) } }
    };
    (!report.tests.is_empty()).then_some(list)
}

fn test(tested: &Tested<'_>, name: &str, grade: &Grade, room: usize) -> Markup {
    let about = tested.descriptions.test(tested.eval, name);
    let class = match grade.score {
        score if score >= 1.0 => "passed",
        score if score > 0.0 => "partial",
        _ => "failed",
    };
    html! {
        li class=(class) {
            (pill(class, &wording::score(grade.score)))
            b { (name) }
            span.message { (fit_text(&grade.message, 2_000)) }
            small.quiet {
                @if let Some(weight) = grade.weight { "weight " (weight) ", " }
                (prose::duration(grade.duration_seconds))
            }
            @if let Some(about) = about {
                p.about { (fit_text(about, LONGEST_DESCRIPTION)) }
            }
            @if let Some(judge) = &grade.judge { (judgement(judge, room)) }
            @if let Some(report) = &grade.report { (cases(report)) }
            (output(tested, name, grade, room))
        }
    }
}

/// Returns the output of a test, open if the test lost points.
fn output(tested: &Tested<'_>, name: &str, grade: &Grade, room: usize) -> Markup {
    let ends = grade.output_end.join("\n");
    let (title, text) = match of_test(tested.log, name) {
        Some(output) => ("Output", output),
        None => ("The last lines of its output", ends.as_str()),
    };
    // The words of a judge are its verdict, which is above.
    let is_open = grade.score < 1.0 && grade.judge.is_none();
    html! {
        @if !text.is_empty() {
            details open[is_open] {
                summary { (title) }
                (preview(&fit_text(text, room)))
            }
        }
    }
}

/// Returns how the score follows from the tests: `0.50 = (1 × 1.00 + 3 × 0.33) / 4`.
fn sum(report: &TrialReport) -> Option<String> {
    const MOST: usize = 12;
    let score = report.score?;
    let parts: Option<Vec<(f64, f64)>> = report
        .tests
        .iter()
        .map(|(_, grade)| Some((grade.weight?, grade.score)))
        .collect();
    let parts = parts.filter(|parts| (2..=MOST).contains(&parts.len()))?;
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    Some(format!(
        "score {} = ({}) / {}",
        wording::score(score),
        prose::joined(
            parts
                .iter()
                .map(|(weight, score)| format!("{weight} × {}", wording::score(*score))),
            " + "
        ),
        (total * 1e6).round() / 1e6
    ))
}

/// Returns the cases of a report, those that failed first to see.
fn cases(report: &Cases) -> Markup {
    let is_failed = |case: &&Case| case.end == CaseEnd::Failed;
    let failed = report.cases.iter().filter(is_failed);
    let others = report.cases.iter().filter(|case| !is_failed(case));
    let line = |case: &Case| {
        html! {
            li {
                (pill(case.end.as_str(), case.end.as_str()))
                b { (case.name) }
                span.message { (clean(&case.message)) }
            }
        }
    };
    html! {
        ul.tests { @for case in failed { (line(case)) } }
        @if others.clone().count() > 0 {
            details {
                summary { (report.passed) " passed, " (report.skipped) " skipped" }
                ul.tests { @for case in others { (line(case)) } }
            }
        }
    }
}

/// Returns the verdict in about so many bytes.
pub fn judgement(judge: &JudgeRecord, room: usize) -> Markup {
    let each = room / judge.reasons.len().max(1);
    html! {
        div.judge {
            @if !judge.reasons.is_empty() {
                table {
                    thead { (column_titles(&["Criterion", "Score", "Reason"])) }
                    tbody {
                        @for reason in &judge.reasons {
                            @let criterion = reason.criterion.as_deref().unwrap_or("–");
                            tr {
                                th scope="row" { (fit_text(criterion, each / 4 + 100)) }
                                td.num { (or_dash(reason.score.map(wording::score))) }
                                td { (fit_text(&reason.reason, each)) }
                            }
                        }
                    }
                }
            }
            p.quiet { (by(judge)) }
        }
    }
}

/// `judged 0.67 by claude-code 2.1 with claude-sonnet-5, 1.2k tokens, $0.02, 3.4s`.
fn by(judge: &JudgeRecord) -> String {
    let by = &judge.by;
    let usage = &by.stats.usage;
    let mut words = format!("judged {} by {}", wording::score(judge.score), by.agent);
    words.extend(by.agent_version.iter().map(|version| format!(" {version}")));
    words.extend(by.model.iter().map(|model| format!(" with {model}")));
    let tokens = usage.tokens();
    let figures = [
        tokens.map(|tokens| format!("{} tokens", prose::compact(tokens))),
        usage.cost_usd.map(prose::dollars),
        by.stats.duration_seconds.map(prose::duration),
    ];
    let figures = figures.into_iter().flatten();
    words.extend(figures.map(|figure| format!(", {figure}")));
    words
}
