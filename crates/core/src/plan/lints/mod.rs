//! Finds parts of a suite that are valid and do not do what their author wants.
//!
//! Each kind has a code, a place and a fix. `allowWarnings` of the suite or of an eval silences it. Mistakes that are seen
//! in one value alone (an empty rules file, a prompt that is a file's name) are found where the value is read.

mod missing_inputs;
mod misspelt_directories;
mod no_tests;
mod other_agents;
mod scripts;

use std::sync::Arc;

use crate::config::suite::{Eval, Suite};
use crate::plan::{Case, Plan};
use crate::reader::Surroundings;
use crate::text::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::text::explain::Code;

/// Reports everything about a plan that is doubtful, and drops the warnings that its suite allows.
pub fn report_lints(
    suite: &Suite,
    plan: &Plan,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) {
    let cases: Vec<&Case> = plan.cases().collect();
    // The cases of an eval follow each other in a plan.
    for cases in cases.chunk_by(|one, other| Arc::ptr_eq(&one.eval, &other.eval)) {
        let eval = &*cases[0].eval;
        let mut found = scripts::check(cases[0], surroundings);
        found.extend(no_tests::check(eval));
        found.extend(misspelt_directories::of_eval(
            eval, cases, &suite.root, surroundings,
        ));
        found.extend(missing_inputs::check(
            &eval.prepare, &suite.root, surroundings,
        ));
        let heard = found
            .into_iter()
            .filter(|problem| !eval.allowed_warnings.contains(&problem.code));
        heard.for_each(|problem| problems.push(problem));
    }
    let mut whole = misspelt_directories::of_suite(suite, &cases, surroundings);
    let prepare = &suite.prepare;
    whole.extend(missing_inputs::check(prepare, &suite.root, surroundings));
    whole.into_iter().for_each(|problem| problems.push(problem));
    other_agents::check(suite, plan, problems);
    drop_allowed(suite, problems);
}

/// Drops the warnings that a suite or one of its evals allows.
pub fn drop_allowed(suite: &Suite, problems: &mut Diagnostics) {
    let evals = suite.evals.iter();
    let allowing: Vec<&Eval> = evals
        .filter(|eval| !eval.allowed_warnings.is_empty())
        .map(|eval| &**eval)
        .collect();
    problems.retain(|problem| {
        let can_be_dropped = problem.severity == Severity::Warning || problem.code == Code::NoTests;
        let is_allowed = suite.allowed_warnings.contains(&problem.code)
            || allowing.iter().any(|eval| is_allowed_by(eval, problem));
        !(can_be_dropped && is_allowed)
    });
}

/// Tells whether an eval that has a file for itself allows a warning in this file.
fn is_allowed_by(eval: &Eval, problem: &Diagnostic) -> bool {
    let file = eval.path.as_ref().map(|_| eval.place.file);
    let of_problem = problem.labels.first().map(|label| label.place.file);
    file.is_some() && file == of_problem && eval.allowed_warnings.contains(&problem.code)
}
