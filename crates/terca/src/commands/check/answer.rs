//! What `terca check` found, for programs.

use camino::Utf8Path;
use serde::Serialize;
use terca_core::plan::remarks::Remark;
use terca_core::run::run_file::RunCase;
use terca_core::text::Diagnostic;
use terca_core::text::diagnostic::Severity;
use terca_core::text::source::Sources;
use terca_engine::run::load::LoadedPlan;

/// The answer. `suite` and what follows from it are missing where an error keeps the suite from being read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckAnswer<'a> {
    /// The suite's name.
    suite: Option<&'a str>,
    /// The suite's directory.
    suite_dir: &'a Utf8Path,
    /// The experiment that the others are compared with.
    baseline: Option<&'a str>,
    /// The number of trials.
    trials: usize,
    /// The number of errors.
    errors: usize,
    /// The number of warnings.
    warnings: usize,
    /// Every error and warning.
    problems: Vec<Problem<'a>>,
    /// Sentences about variants.
    remarks: &'a [Remark],
    /// Each eval in each variant, as in `run.json`.
    cases: &'a [RunCase],
}

/// An error or a warning.
#[derive(Debug, Serialize)]
struct Problem<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    /// The file, relative to the suite's directory.
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    help: &'a [String],
}

impl<'a> CheckAnswer<'a> {
    pub(super) fn new(
        suite_dir: &'a Utf8Path,
        loaded: &'a LoadedPlan,
        remarks: &'a [Remark],
        cases: &'a [RunCase],
    ) -> Self {
        let plan = loaded.plan.as_ref();
        let problems = loaded.problems.iter();
        CheckAnswer {
            suite: plan.map(|plan| plan.suite.name.as_str()),
            suite_dir,
            baseline: plan.map(|plan| plan.suite.baseline.as_str()),
            trials: plan.map_or(0, |plan| plan.trials.len()),
            errors: loaded.problems.error_count(),
            warnings: loaded.problems.warning_count(),
            problems: problems
                .map(|problem| Problem::new(problem, &loaded.sources))
                .collect(),
            remarks,
            cases,
        }
    }
}

impl<'a> Problem<'a> {
    fn new(problem: &'a Diagnostic, sources: &'a Sources) -> Self {
        let place = problem.labels.first().map(|label| label.place);
        let at = place.map(|place| sources.line_and_column(place));
        Problem {
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: problem.code.as_str(),
            message: &problem.message,
            file: match place {
                Some(place) => Some(&sources.get(place.file).label),
                None => problem.path.as_deref(),
            },
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
            help: &problem.help,
        }
    }
}
