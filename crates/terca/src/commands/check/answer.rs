//! What `terca check` found, for programs.

use camino::Utf8Path;
use serde_json::{Value, json};
use terca_core::plan::remarks::Remark;
use terca_core::run::run_file::RunCase;
use terca_core::text::Diagnostic;
use terca_core::text::diagnostic::Severity;
use terca_core::text::source::Sources;
use terca_engine::run::load::LoadedPlan;

/// Returns the answer. `suite` and what follows from it are null where an error keeps the suite from being read.
pub(super) fn answer(
    suite_dir: &Utf8Path,
    loaded: &LoadedPlan,
    remarks: &[Remark],
    cases: &[RunCase],
) -> Value {
    let plan = loaded.plan.as_ref();
    let problems = loaded.problems.iter();
    let problems = problems.map(|problem| as_json(problem, &loaded.sources));
    json!({
        "suite": plan.map(|plan| &plan.suite.name),
        "suiteDir": suite_dir,
        "baseline": plan.map(|plan| &plan.suite.baseline),
        "trials": plan.map_or(0, |plan| plan.trials.len()),
        "errors": loaded.problems.error_count(),
        "warnings": loaded.problems.warning_count(),
        "problems": Value::from_iter(problems),
        "remarks": remarks,
        // As in `run.json`.
        "cases": cases,
    })
}

fn as_json(problem: &Diagnostic, sources: &Sources) -> Value {
    let place = problem.labels.first().map(|label| label.place);
    let at = place.map(|place| sources.line_and_column(place));
    let file = place.map(|place| sources.get(place.file).label.as_str());
    json!({
        "severity": match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": problem.code.as_str(),
        "message": problem.message,
        // Relative to the suite's directory.
        "file": file.or(problem.path.as_deref()),
        "line": at.map(|(line, _)| line),
        "column": at.map(|(_, column)| column),
        "help": problem.help,
    })
}
