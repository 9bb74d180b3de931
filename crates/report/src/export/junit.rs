//! A run as JUnit XML, for CI systems: a suite per variant, a case per eval and repetition.
//!
//! Not with a library for JUnit: the schema that Jenkins publishes (`junit-10.xsd`, the strictest that is in
//! common use) knows `skipped` on suites, no `disabled` and no `uuid`, and no `properties` in cases. So the figures of
//! a variant are properties of its suite, and those of a trial are the lines of its `system-out`.

use maud::{Markup, PreEscaped, Render, html};
use terca_core::analysis::metrics::METRICS;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::{VariantSummary, wording};
use terca_core::grade::test_report::CaseEnd;
use terca_core::run::outcome::Status;
use terca_core::text::stripped::stripped;

use crate::export::trial_rows::row;
use crate::outcome::{of_variant, reasons};

/// The columns of a trial's row that say how it went in numbers.
const FIGURES: [&str; 12] = [
    "score", "requests", "inputTokens", "cachedInputTokens", "outputTokens", "toolCalls",
    "costUsd", "agentSeconds", "attempts", "timedOut", "modelObserved", "dir",
];

const FAILURES: [Status; 2] = [Status::Partial, Status::Failed];
const ERRORS: [Status; 1] = [Status::Error];
const SKIPPED: [Status; 2] = [Status::Interrupted, Status::Pending];

pub fn junit(results: &Results) -> String {
    let trials: Vec<&TrialResult> = results.trials.iter().collect();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name=(attribute(&results.suite)) tests=(trials.len()) failures=(count(&trials, &FAILURES))
            errors=(count(&trials, &ERRORS)) time=(time(&trials)) {
            "\n"
            @for variant in &results.summary.variants { (suite(results, variant)) "\n" }
        }
        "\n"
    };
    document.into_string()
}

fn suite(results: &Results, variant: &VariantSummary) -> Markup {
    let trials = of_variant(results, &variant.environment, &variant.experiment);
    let trials: Vec<&TrialResult> = trials.collect();
    let name = format!("{}.{}", variant.environment, variant.experiment);
    // Without a zone, which older readers do not know; it is UTC.
    let timestamp = results.started_at;
    let timestamp = timestamp.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S").to_string());
    html! {
        testsuite name=(attribute(&name)) tests=(trials.len()) failures=(count(&trials, &FAILURES))
            errors=(count(&trials, &ERRORS)) time=(time(&trials)) skipped=(count(&trials, &SKIPPED))
            timestamp=[timestamp] {
            "\n"
            properties { "\n" (properties(results, variant, trials.first().copied())) }
            "\n"
            @for trial in trials { (case(results, trial, &name)) "\n" }
        }
    }
}

fn count(trials: &[&TrialResult], statuses: &[Status]) -> usize {
    let statuses_of = trials.iter().map(|trial| trial.report.status);
    statuses_of
        .filter(|status| statuses.contains(status))
        .count()
}

fn time(trials: &[&TrialResult]) -> String {
    seconds(
        trials
            .iter()
            .map(|trial| trial.report.duration_seconds)
            .sum(),
    )
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

fn case(results: &Results, trial: &TrialResult, variant: &str) -> Markup {
    let report = &trial.report;
    let said = reasons(report).join("; ");
    let error = report.error.as_ref();
    let kind = error.map_or("internal", |error| error.kind.as_str());
    // With the repetition even where there is one: names are what CI systems follow over time.
    let name = format!("{} #{:02}", trial.head.eval, trial.head.repetition);
    let class = format!("{}.{variant}", results.suite);
    html! {
        testcase name=(attribute(&name)) classname=(attribute(&class)) time=(seconds(report.duration_seconds)) {
            @match report.status {
                Status::Passed => {}
                Status::Partial | Status::Failed => {
                    failure message=(attribute(&said)) type=(report.status.as_str()) {
                        (escaped(&grades(results, trial)))
                    }
                }
                Status::Error => {
                    error message=(attribute(&said)) type=(kind) { (escaped(&said)) "\n" (escaped(&log(trial))) }
                }
                Status::Interrupted => skipped message="interrupted" {},
                Status::Pending => skipped message="not run" {},
            }
            @if report.attempts > 0 { system-out { (escaped(&figures(results, trial))) } }
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
