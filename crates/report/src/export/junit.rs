//! A run as JUnit XML, for CI systems: a suite per variant, a case per eval and repetition.
//!
//! Written by hand and not with a library: the schema that Jenkins publishes (`junit-10.xsd`, the strictest that is in
//! common use) knows `skipped` on suites, no `disabled` and no `uuid`, and no `properties` in cases. So the figures of
//! a variant are properties of its suite, and those of a trial are the lines of its `system-out`.

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

pub fn junit(results: &Results) -> String {
    let mut xml = Xml::document();
    let counts = Counts::of(results.trials.iter());
    let mut attributes = vec![("name", results.suite.clone())];
    attributes.extend(counts.common());
    xml.element("testsuites", &attributes, |xml| {
        for variant in &results.summary.variants {
            suite(xml, results, variant);
        }
    });
    xml.text
}

fn suite(xml: &mut Xml, results: &Results, variant: &VariantSummary) {
    let trials = of_variant(results, &variant.environment, &variant.experiment);
    let trials: Vec<&TrialResult> = trials.collect();
    let counts = Counts::of(trials.iter().copied());
    let name = format!("{}.{}", variant.environment, variant.experiment);
    let mut attributes = vec![("name", name.clone())];
    attributes.extend(counts.common());
    attributes.push(("skipped", counts.skipped.to_string()));
    if let Some(started_at) = results.started_at {
        // Without a zone, which older readers do not know; it is UTC.
        attributes.push((
            "timestamp",
            started_at.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        ));
    }
    xml.element("testsuite", &attributes, |xml| {
        xml.element("properties", &[], |xml| {
            properties(xml, results, variant, &trials);
        });
        for trial in trials {
            case(xml, results, trial, &name);
        }
    });
}

fn properties(xml: &mut Xml, results: &Results, variant: &VariantSummary, trials: &[&TrialResult]) {
    let spent = &variant.spent.spent;
    let about = &results.descriptions;
    let first = trials.first();
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
    for (name, value) in told.into_iter().chain(figures) {
        if let Some(value) = value {
            xml.empty("property", &[("name", name.to_owned()), ("value", value)]);
        }
    }
}

fn case(xml: &mut Xml, results: &Results, trial: &TrialResult, variant: &str) {
    let attributes = [
        // With the repetition even where there is one: names are what CI systems follow over time.
        (
            "name",
            format!("{} #{:02}", trial.head.eval, trial.head.repetition),
        ),
        ("classname", format!("{}.{variant}", results.suite)),
        ("time", seconds(trial.report.duration_seconds)),
    ];
    xml.element("testcase", &attributes, |xml| {
        let report = &trial.report;
        let said = reasons(report).join("; ");
        let attributes = |kind: &str| [("message", said.clone()), ("type", kind.to_owned())];
        match report.status {
            Status::Passed => {}
            Status::Partial | Status::Failed => {
                let grades = grades(results, trial);
                xml.text_element("failure", &attributes(report.status.as_str()), &grades);
            }
            Status::Error => {
                let error = report.error.as_ref();
                let kind = error.map_or("internal", |error| error.kind.as_str());
                let text = format!("{said}\n{}", log(trial));
                xml.text_element("error", &attributes(kind), &text);
            }
            Status::Interrupted => xml.empty("skipped", &[("message", "interrupted".to_owned())]),
            Status::Pending => xml.empty("skipped", &[("message", "not run".to_owned())]),
        }
        if report.attempts > 0 {
            xml.text_element("system-out", &[], &figures(results, trial));
        }
    });
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

#[derive(Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Counts {
    fn of<'a>(trials: impl Iterator<Item = &'a TrialResult>) -> Self {
        let mut counts = Counts::default();
        for trial in trials {
            counts.tests += 1;
            counts.seconds += trial.report.duration_seconds;
            match trial.report.status {
                Status::Passed => {}
                Status::Partial | Status::Failed => counts.failures += 1,
                Status::Error => counts.errors += 1,
                Status::Interrupted | Status::Pending => counts.skipped += 1,
            }
        }
        counts
    }

    fn common(&self) -> [(&'static str, String); 4] {
        [
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("time", seconds(self.seconds)),
        ]
    }
}

/// The name and the value of an attribute.
type Attribute = (&'static str, String);

struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn document() -> Self {
        Xml {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            depth: 0,
        }
    }

    /// An element with elements in it.
    fn element(&mut self, name: &str, attributes: &[Attribute], content: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.indent();
        self.text.push_str(&format!("</{name}>\n"));
    }

    /// An element with text in it, which is kept as it is: no indentation gets into it.
    fn text_element(&mut self, name: &str, attributes: &[Attribute], content: &str) {
        self.open(name, attributes);
        let content = escaped(content, false);
        self.text.push_str(&format!(">{content}</{name}>\n"));
    }

    fn empty(&mut self, name: &str, attributes: &[Attribute]) {
        self.open(name, attributes);
        self.text.push_str("/>\n");
    }

    fn open(&mut self, name: &str, attributes: &[Attribute]) {
        self.indent();
        self.text.push_str(&format!("<{name}"));
        for (name, value) in attributes {
            let value = escaped(value, true);
            self.text.push_str(&format!(" {name}=\"{value}\""));
        }
    }

    fn indent(&mut self) {
        self.text.push_str(&"  ".repeat(self.depth));
    }
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

/// Escapes text. Characters that XML 1.0 cannot hold become `U+FFFD`. In attributes white space is written so that it survives.
fn escaped(text: &str, in_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in stripped(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if in_attribute => escaped.push_str("&quot;"),
            '\t' | '\n' if in_attribute => escaped.push_str(&format!("&#{};", u32::from(c))),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(c),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
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
