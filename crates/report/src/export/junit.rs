//! A run as JUnit XML, for CI systems: a suite per variant with a case per eval, and one with a case per verdict.
//!
//! A case has all repetitions. It fails where one of them does not pass and is to pass: CI systems show each failure in red, and
//! the failures of a baseline, or of an experiment that is not worse, are expected. Its `system-out` has them nevertheless.
//!
//! Not with a library for JUnit: the schema that Jenkins publishes (`junit-10.xsd`, the strictest that is in
//! common use) knows `skipped` on suites, no `disabled` and no `uuid`, and no `properties` in cases. So the figures of
//! a variant are properties of its suite, and those of a trial are the lines of its `system-out`.

use maud::{Markup, PreEscaped, Render, html};
use terca_core::analysis::metrics::METRICS;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::{Comparison, VariantSummary, Verdict, wording};
use terca_core::grade::test_report::CaseEnd;
use terca_core::run::outcome::Status;
use terca_core::text::stripped::stripped;

use crate::export::trial_rows::row;
use crate::outcome::{by_case, reasons};

/// The columns of a trial's row that say how it went in numbers.
const FIGURES: [&str; 12] = [
    "score", "requests", "inputTokens", "cachedInputTokens", "outputTokens", "toolCalls",
    "costUsd", "agentSeconds", "attempts", "timedOut", "modelObserved", "dir",
];

pub fn junit(results: &Results) -> String {
    let cases: Vec<Case<'_>> = by_case(results)
        .into_iter()
        .map(|trials| Case::new(results, trials))
        .collect();
    let verdicts = &results.summary.comparisons;
    let worse = verdicts
        .iter()
        .filter(|verdict| verdict.verdict == Verdict::Worse);
    let worse = worse.count();
    let all: Vec<&Case<'_>> = cases.iter().collect();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name=(attribute(&results.suite)) tests=(all.len() + verdicts.len())
            failures=(count(&all, End::Failed) + worse) errors=(count(&all, End::Error)) time=(time(&all)) {
            "\n"
            @for variant in &results.summary.variants { (suite(results, variant, &cases)) "\n" }
            @if !verdicts.is_empty() {
                testsuite name="verdicts" tests=(verdicts.len()) failures=(worse) errors="0" time="0" skipped="0"
                    timestamp=[timestamp(results)] {
                    "\n"
                    @for comparison in verdicts { (verdict(results, comparison)) "\n" }
                }
                "\n"
            }
        }
        "\n"
    };
    document.into_string()
}

/// The trials of an eval in a variant.
struct Case<'a> {
    trials: Vec<&'a TrialResult>,
    /// The trial that says why it ended so.
    told: &'a TrialResult,
    end: End,
}

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Error,
    Skipped,
}

impl<'a> Case<'a> {
    fn new(results: &Results, trials: Vec<&'a TrialResult>) -> Self {
        let head = &trials[0].head;
        let is_to_pass = results
            .summary
            .is_to_pass(&head.environment, &head.experiment);
        let end_of = |trial: &TrialResult| match trial.report.status {
            Status::Error => End::Error,
            Status::Partial | Status::Failed if is_to_pass => End::Failed,
            Status::Unverified | Status::Interrupted | Status::Pending => End::Skipped,
            Status::Passed | Status::Partial | Status::Failed => End::Passed,
        };
        let rank = |trial: &&&TrialResult| match end_of(trial) {
            End::Error => 0,
            End::Failed => 1,
            End::Passed => 2,
            End::Skipped => 3,
        };
        let told = trials.iter().min_by_key(rank).copied().unwrap_or(trials[0]);
        Case {
            end: end_of(told),
            told,
            trials,
        }
    }
}

fn skipped_because(status: Status) -> &'static str {
    match status {
        Status::Unverified => "completed, nothing verified",
        Status::Interrupted => "interrupted",
        _ => "not run",
    }
}

fn suite(results: &Results, variant: &VariantSummary, cases: &[Case<'_>]) -> Markup {
    let is_own = |case: &&Case<'_>| {
        let head = &case.told.head;
        head.environment == variant.environment && head.experiment == variant.experiment
    };
    let cases: Vec<&Case<'_>> = cases.iter().filter(is_own).collect();
    let name = format!("{}.{}", variant.environment, variant.experiment);
    let first = cases.first().map(|case| case.told);
    html! {
        testsuite name=(attribute(&name)) tests=(cases.len()) failures=(count(&cases, End::Failed))
            errors=(count(&cases, End::Error)) time=(time(&cases)) skipped=(count(&cases, End::Skipped))
            timestamp=[timestamp(results)] {
            "\n"
            properties { "\n" (properties(results, variant, first)) }
            "\n"
            @for case in cases { (one_case(results, case, &name)) "\n" }
        }
    }
}

/// Returns the time without a zone, which older readers do not know; it is UTC.
fn timestamp(results: &Results) -> Option<String> {
    let at = results.started_at?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%S").to_string())
}

fn count(cases: &[&Case<'_>], end: End) -> usize {
    cases.iter().filter(|case| case.end == end).count()
}

fn time(cases: &[&Case<'_>]) -> String {
    let trials = cases.iter().flat_map(|case| &case.trials);
    seconds(trials.map(|trial| trial.report.duration_seconds).sum())
}

fn verdict(results: &Results, comparison: &Comparison) -> Markup {
    let place = comparison.place.as_ref();
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let name = format!("{} against {}{place}", comparison.arm, comparison.baseline);
    let class = format!("{}.verdicts", results.suite);
    let sentence = &comparison.sentence;
    html! {
        testcase name=(attribute(&name)) classname=(attribute(&class)) time="0" {
            @if comparison.verdict == Verdict::Worse {
                failure message=(attribute(sentence)) type=(comparison.verdict.as_str()) { (escaped(sentence)) }
            }
            system-out { (escaped(sentence)) }
        }
    }
}

fn properties(results: &Results, variant: &VariantSummary, first: Option<&TrialResult>) -> Markup {
    let spent = &variant.spent.spent;
    let about = &results.descriptions;
    let (environment, experiment) = (&variant.environment, &variant.experiment);
    let [input, output] = [spent.input_tokens, spent.output_tokens];
    let told = [
        ("run", Some(results.run.clone())),
        ("description", about.suite.clone()),
        ("environment", Some(environment.clone())),
        (
            "environmentDescription",
            about.environments.get(environment).cloned(),
        ),
        ("experiment", Some(experiment.clone())),
        (
            "experimentDescription",
            about.experiments.get(experiment).cloned(),
        ),
        ("agent", first.map(|trial| trial.head.agent.clone())),
        ("model", first.and_then(|trial| trial.head.model.clone())),
        ("inputTokens", input.map(|sum| sum.to_string())),
        ("outputTokens", output.map(|sum| sum.to_string())),
        ("costUsd", spent.cost_usd.map(number)),
    ];
    let figures = METRICS.iter();
    let figures = figures.map(|metric| (metric.name, (metric.read)(&variant.figures).map(number)));
    html! {
        @for (name, value) in told.into_iter().chain(figures) {
            @if let Some(value) = value { property name=(name) value=(attribute(&value)) {} "\n" }
        }
    }
}

fn one_case(results: &Results, case: &Case<'_>, variant: &str) -> Markup {
    let report = &case.told.report;
    let said = match case.trials.len() {
        1 => reasons(report).join("; "),
        count => {
            let alike = case
                .trials
                .iter()
                .filter(|trial| trial.report.status == report.status);
            let alike = alike.count();
            format!("{alike} of {count} trials: {}", reasons(report).join("; "))
        }
    };
    let error = report.error.as_ref();
    let kind = error.map_or("internal", |error| error.kind.as_str());
    let class = format!("{}.{variant}", results.suite);
    let time = seconds(
        case.trials
            .iter()
            .map(|trial| trial.report.duration_seconds)
            .sum(),
    );
    let ran = case.trials.iter().filter(|trial| trial.report.attempts > 0);
    let figures: Vec<String> = ran.map(|trial| figures(results, trial)).collect();
    html! {
        testcase name=(attribute(&case.told.head.eval)) classname=(attribute(&class)) time=(time) {
            @match case.end {
                End::Passed => {}
                End::Failed => {
                    failure message=(attribute(&said)) type=(report.status.as_str()) {
                        (escaped(&grades(results, case.told)))
                    }
                }
                End::Error => {
                    error message=(attribute(&said)) type=(kind) { (escaped(&said)) "\n" (escaped(&log(case.told))) }
                }
                End::Skipped => {
                    skipped message=(skipped_because(report.status)) {}
                }
            }
            @if !figures.is_empty() { system-out { (escaped(&figures.join("\n\n"))) } }
        }
    }
}

/// The messages of all tests, so that nobody has to look elsewhere.
fn grades(results: &Results, trial: &TrialResult) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (test, grade) in &trial.report.tests {
        let score = wording::score(grade.score);
        lines.push(format!("{score} {test}: {}", grade.message));
        if let Some(about) = results.descriptions.test(&trial.head.eval, test) {
            lines.push(format!("  {test} is about: {about}"));
        }
        let cases = grade.report.iter().flat_map(|report| &report.cases);
        let failed = cases.filter(|case| case.end == CaseEnd::Failed);
        lines.extend(failed.map(|case| format!("  failed: {}: {}", case.name, case.message)));
    }
    let notes = trial.report.notes.iter();
    lines.extend(notes.map(|note| format!("note: {note}")));
    lines.push(log(trial));
    lines.join("\n")
}

fn log(trial: &TrialResult) -> String {
    format!("log: {}", trial.head.dir.join("run.log"))
}

fn figures(results: &Results, trial: &TrialResult) -> String {
    let about = results.descriptions.evals.get(&trial.head.eval);
    let about = about.map(|text| format!("description: {text}"));
    let mut lines: Vec<String> = about.into_iter().collect();
    let status = trial.report.status.as_str();
    lines.push(format!("trial #{:02}: {status}", trial.head.repetition));
    let is_loss = matches!(trial.report.status, Status::Partial | Status::Failed);
    lines.extend(is_loss.then(|| reasons(&trial.report).join("; ")));
    for (name, value) in row(results, trial) {
        if FIGURES.contains(&name) && !value.is_null() {
            let text = value.as_str().map_or(value.to_string(), str::to_owned);
            lines.push(format!("{name}: {text}"));
        }
    }
    lines.join("\n")
}

/// A number with at most six digits after the point, and never an exponent.
fn number(value: f64) -> String {
    plain(value, 6)
}

/// A time as readers expect it: at most three digits after the point.
fn seconds(value: f64) -> String {
    plain(value, 3)
}

fn plain(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes text. Characters that XML 1.0 cannot hold become `U+FFFD`.
fn escaped(text: &str) -> Markup {
    let is_impossible = |c: char| {
        let is_control = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
        is_control || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    let text = stripped(text).replace(is_impossible, "\u{fffd}");
    PreEscaped(text.render().0.replace('\r', "&#13;"))
}

/// Escapes text, and writes white space so that it survives.
fn attribute(text: &str) -> Markup {
    let text = escaped(text).0.replace('\t', "&#9;");
    PreEscaped(text.replace('\n', "&#10;"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    #[test]
    fn a_run_with_everything() {
        let mut script = Script::new(fixture::heads(3, 2, 1), 1);
        script
            .start(1)
            .finish(1, &fixture::passed(3.0))
            .start(2)
            .finish(2, &fixture::partial(4.5, 0.5));
        script.start(3).finish(
            3,
            &fixture::failed(2.0, "check-file", "fib.js does not exist"),
        );
        script
            .start(4)
            .finish(4, &fixture::error("`npm ci`: exit status 1"));
        script.start(5).finish(5, &fixture::interrupted(1.0));
        insta::assert_snapshot!("junit", junit(&script.results()));
    }

    #[test]
    fn hostile_text_is_harmless() {
        let mut script = Script::new(vec![fixture::head(1, "<&\"'>]]>", "e\u{1}", "x\ny", 1)], 1);
        let message =
            "\u{1b}[31mred\u{1b}[0m \0\u{fffe} ]]> </failure><testcase name=\"x\"/>\nline two";
        script
            .start(1)
            .finish(1, &fixture::failed(1.0, "t<", message));
        insta::assert_snapshot!("junit_hostile", junit(&script.results()));
    }

    #[test]
    fn numbers_are_plain() {
        for (value, text) in [
            (0.0, "0"),
            (100.0, "100"),
            (1.5, "1.5"),
            (0.00031, "0.00031"),
            (1e9, "1000000000"),
            (0.0000001, "0"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(seconds(12.34567), "12.346");
    }
}
