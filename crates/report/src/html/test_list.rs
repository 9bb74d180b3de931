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
use super::text::{clean, fit, fit_text, or_dash, pill, preview};
use super::variants::LONGEST_DESCRIPTION;

/// The tests of a trial, and their texts.
#[derive(Debug)]
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
    let each = room / report.tests.iter().count().max(1) / 2;
    let items: Vec<Markup> = report
        .tests
        .iter()
        .map(|(name, grade)| test(tested, name, grade, each))
        .collect();
    let remark = |number| {
        format!(
            "… {} left out; see results.json …",
            prose::count(number, "test")
        )
    };
    let list = html! {
        ul.tests { (fit(&items, room, remark)) }
        @if let Some(sum) = sum(report) { p.quiet.sum { (sum) } }
    };
    (!items.is_empty()).then_some(list)
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
            span.message { (clean(&fit_text(&grade.message, 2_000))) }
            small.quiet {
                @if let Some(weight) = grade.weight { "weight " (weight) ", " }
                (prose::duration(grade.duration_seconds))
            }
            @if let Some(about) = about {
                p.about { (clean(&fit_text(about, LONGEST_DESCRIPTION))) }
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
    let terms: Vec<String> = parts
        .iter()
        .map(|(weight, score)| format!("{weight} × {}", wording::score(*score)))
        .collect();
    Some(format!(
        "score {} = ({}) / {}",
        wording::score(score),
        terms.join(" + "),
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
                b { (clean(&case.name)) }
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
    let rows: Vec<Markup> = judge
        .reasons
        .iter()
        .map(|reason| {
            let criterion = reason.criterion.as_deref().unwrap_or("–");
            html! {
                tr {
                    th scope="row" { (clean(&fit_text(criterion, each / 4 + 100))) }
                    td.num { (or_dash(reason.score.map(wording::score))) }
                    td { (clean(&fit_text(&reason.reason, each))) }
                }
            }
        })
        .collect();
    html! {
        div.judge {
            @if !rows.is_empty() {
                table {
                    thead {
                        tr { th scope="col" { "Criterion" } th scope="col" { "Score" } th scope="col" { "Reason" } }
                    }
                    tbody { @for row in rows { (row) } }
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
    let agent = match &by.agent_version {
        Some(version) => format!("{} {version}", by.agent),
        None => by.agent.clone(),
    };
    let model = by.model.as_ref().map(|model| format!(" with {model}"));
    let mut words = format!(
        "judged {} by {agent}{}",
        wording::score(judge.score),
        model.unwrap_or_default()
    );
    let figures = [
        usage
            .tokens()
            .map(|tokens| format!("{} tokens", prose::compact(tokens))),
        usage.cost_usd.map(prose::dollars),
        by.stats.duration_seconds.map(prose::duration),
    ];
    for figure in figures.into_iter().flatten() {
        words += ", ";
        words += &figure;
    }
    clean(&words).into_owned()
}
