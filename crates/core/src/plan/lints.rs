//! Finds parts of a suite that are valid and do not do what their author wants.
//!
//! Each kind has a code, a place and a fix. `allowWarnings` of the suite or of an eval silences it. Mistakes that are seen
//! in one value alone (an empty rules file, a prompt that is a file's name) are found where the value is read.

mod agent_settings;
mod hidden_paths;
mod left_running;
mod misspelt_directories;
mod scripts;
mod shown_tests;

use std::sync::Arc;

use camino::Utf8Path;
use hidden_paths::HiddenPaths;

use crate::config::suite::{Action, Eval, ShellCommand, Suite};
use crate::plan::fingerprint::{suite_variable_unquoted, words};
use crate::plan::{Case, Plan};
use crate::reader::Surroundings;
use crate::reader::paths::beside;
use crate::text::diagnostic::Severity;
use crate::text::{Code, Diagnostic, Diagnostics, Place, prose};

/// Reports everything about a plan that is doubtful, and drops the warnings that its suite allows.
pub fn report_lints(
    suite: &Suite,
    plan: &Plan,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) {
    let root = &suite.root;
    let cases: Vec<&Case> = plan.cases().collect();
    let mut hidden_paths = HiddenPaths::around(root, surroundings);
    let misspelt = |dir: &Utf8Path, is_missing: [bool; 3], cases: &[&Case]| {
        misspelt_directories::check(dir, root, is_missing, cases, surroundings)
    };
    // The cases of an eval follow each other in a plan.
    for cases in cases.chunk_by(|one, other| Arc::ptr_eq(&one.eval, &other.eval)) {
        let eval = &*cases[0].eval;
        let mut found = missing_inputs(&eval.prepare, root);
        found.extend(no_tests(eval));
        for case in cases {
            found.extend(agent_settings::check(&case.variant, suite, surroundings));
            found.extend(scripts::check(case, surroundings));
            found.extend(hidden_paths.check(case, surroundings));
            found.extend(left_running::check(case));
        }
        // An eval that has its directory for itself.
        if eval.path.is_some() {
            let is_missing = [
                eval.layer.is_none(),
                eval.tests_layer.is_none(),
                !eval.has_solution(),
            ];
            found.extend(misspelt(&eval.dir, is_missing, cases));
        }
        found.retain(|problem| !eval.allowed_warnings.contains(&problem.code));
        found.into_iter().for_each(|problem| problems.push(problem));
    }
    let mut found = missing_inputs(&suite.prepare, root);
    found.extend(shown_tests::check(suite, surroundings));
    found.extend(misspelt(
        root,
        [suite.layers.is_empty(), false, false],
        &cases,
    ));
    found.into_iter().for_each(|problem| problems.push(problem));
    drop_answered(problems);
    drop_allowed(suite, problems);
}

/// Drops the warnings of hidden paths that `inputs` brings there, where another warning asks for them.
fn drop_answered(problems: &mut Diagnostics) {
    let place = |problem: &Diagnostic| problem.labels.first().map(|label| label.place);
    let of_inputs = problems
        .iter()
        .filter(|problem| problem.code == Code::MissingInputs);
    let answered: Vec<Option<Place>> = of_inputs.map(place).collect();
    problems
        .retain(|problem| problem.code != Code::HiddenPath || !answered.contains(&place(problem)));
}

/// Drops the warnings that a suite or one of its evals allows.
pub fn drop_allowed(suite: &Suite, problems: &mut Diagnostics) {
    problems.retain(|problem| {
        let is_of_tests = [
            Code::NotExecutable,
            Code::MisspeltDirectory,
            Code::HiddenPath,
        ];
        let can_be_dropped =
            problem.severity == Severity::Warning || is_of_tests.contains(&problem.code);
        let is_allowed = suite.allowed_warnings.contains(&problem.code)
            || suite.evals.iter().any(|eval| is_allowed_by(eval, problem));
        !(can_be_dropped && is_allowed)
    });
}

/// Tells whether an eval that has a file for itself allows a warning in this file.
fn is_allowed_by(eval: &Eval, problem: &Diagnostic) -> bool {
    let file = eval.path.as_ref().map(|_| eval.place.file);
    let of_problem = problem.labels.first().map(|label| label.place.file);
    file.is_some() && file == of_problem && eval.allowed_warnings.contains(&problem.code)
}

/// Warns of an eval without tests: its trials are in no rate and in no verdict.
fn no_tests(eval: &Eval) -> Option<Diagnostic> {
    let message = format!(
        "the eval `{}` has no tests: its trials run, and nothing verifies their work",
        eval.name
    );
    eval.tests.is_empty().then(|| {
        Diagnostic::warning(Code::NoTests, message)
            .at(eval.place, "in no pass rate and in no verdict")
            .help("add `tests`, for example `tests: [{commandSuccess: npm test}]`")
            .help("if only the costs matter, add `allowWarnings: [no-tests]` to the eval")
    })
}

/// Warns of each command of `prepare` that names a path outside of the suite and has no `inputs`: a cached step is made
/// again when one of its inputs changes. Terca knows the files of the suite by itself, and other files only from `inputs`.
fn missing_inputs<T>(prepare: &[Action<T>], root: &Utf8Path) -> Vec<Diagnostic> {
    let warnings = prepare.iter().filter_map(|action| match action {
        Action::Run(command) if command.inputs.is_empty() => missing_inputs_of(command, root),
        _ => None,
    });
    warnings.collect()
}

fn missing_inputs_of(command: &ShellCommand, root: &Utf8Path) -> Option<Diagnostic> {
    let line = suite_variable_unquoted(&command.command);
    let mut outside: Vec<&str> = words(&line).filter_map(path_in_suite).collect();
    outside.retain(|path| !beside(root, path).starts_with(root));
    outside.dedup();
    if outside.is_empty() {
        return None;
    }
    // As the YAML file of the command would write them.
    let below = command.dir.strip_prefix(root).unwrap_or(Utf8Path::new(""));
    let up = "../".repeat(below.components().count());
    let names: Vec<String> = outside.iter().map(|path| format!("{up}{path}")).collect();
    let message = format!(
        "a command of `prepare` names {} outside of the suite, and has no `inputs`",
        prose::quoted_list(&names, "and")
    );
    let warning = Diagnostic::warning(Code::MissingInputs, message).at(
        command.place,
        "the cached step is not made again when that changes",
    );
    Some(warning.help(format!(
        "name the files that it reads beside `command`, such as `inputs: [{}]`",
        names.join(", ")
    )))
}

/// Returns the rest of a word after the variable of the suite's directory: `../src` of `file:$TERCA_SUITE_DIR/../src`.
fn path_in_suite(word: &str) -> Option<&str> {
    let (_, rest) = word
        .split_once("$TERCA_SUITE_DIR/")
        .or_else(|| word.split_once("${TERCA_SUITE_DIR}/"))?;
    // `PATH=$TERCA_SUITE_DIR/bin:$PATH`.
    let path = rest.split(':').next()?;
    Some(path.trim_start_matches('/'))
}
