//! Finds directories whose names are almost `_base`, `_tests` or `_solution`.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::suite::Action;
use crate::plan::Case;
use crate::reader::{PathKind, Surroundings};
use crate::text::{Code, Diagnostic, prose};

/// Directories with a meaning, the names that people give them by mistake, and what they are for.
const KNOWN: [(&str, &[&str], &str); 3] = [
    (
        "_base",
        &["base", "_bases", "__base__"],
        "the files that the workspace starts from",
    ),
    (
        "_tests",
        &["tests", "test", "_test", "__tests__", "__test__"],
        "the hidden files of the tests",
    ),
    (
        "_solution",
        &["solution", "solutions", "_solutions", "__solution__"],
        "the reference solution",
    ),
];

/// Warns of misspelt directories beside a YAML file, where the known ones are missing.
pub(super) fn check(
    dir: &Utf8Path,
    root: &Utf8Path,
    is_missing: [bool; 3],
    cases: &[&Case],
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    let names = surroundings.names_in(dir);
    let is_unused = |name: &str| {
        let path = dir.join(name);
        surroundings.kind(&path) == PathKind::Directory
            && !has_evals(&path, surroundings)
            && !cases.iter().any(|case| uses(case, &path))
    };
    let missing = KNOWN.into_iter().zip(is_missing);
    let missing = missing.filter(|(_, is_missing)| *is_missing);
    let found = missing.filter_map(|((right, others, about), _)| {
        let mut names = names.iter();
        let name = names.find(|name| is_like(name, right, others) && is_unused(name))?;
        let from = dir.strip_prefix(root).unwrap_or(dir).join(name);
        let message =
            format!("the directory `{name}` is not used: `{right}` is the directory of {about}");
        let to = from.with_file_name(right);
        let warning = Diagnostic::warning(Code::MisspeltDirectory, message);
        let warning = (warning.in_file(from.as_str())).help(format!("rename it: `mv {from} {to}`"));
        // Every agent would fail without the files of the tests.
        let command = cases.iter().find_map(|case| {
            let mut commands = case.commands().filter(|command| command.is_of_test);
            commands.find(|command| names_file(command.line, &dir.join(name), surroundings))
        });
        Some(match command.filter(|_| right == "_tests") {
            Some(command) => warning
                .as_error()
                .at(command.place, "this test would fail every agent"),
            None => warning,
        })
    });
    found.collect()
}

/// Tells whether a command names a file by its path in a directory.
fn names_file(line: &str, dir: &Utf8Path, surroundings: &dyn Surroundings) -> bool {
    let mut words = line.split_whitespace();
    words.any(|word| surroundings.kind(&dir.join(word.trim_matches(['"', '\'']))) == PathKind::File)
}

/// Tells whether a directory is one of evals.
fn has_evals(dir: &Utf8Path, surroundings: &dyn Surroundings) -> bool {
    let has_file =
        |dir: &Utf8Path| surroundings.kind(&dir.join("eval.terca.yaml")) == PathKind::File;
    let below = surroundings.names_in(dir);
    has_file(dir) || below.iter().any(|name| has_file(&dir.join(name)))
}

/// Tells whether a name was probably meant to be another.
fn is_like(name: &str, right: &str, others: &[&str]) -> bool {
    let lower = name.to_lowercase();
    let is_known = others.contains(&lower.as_str()) || lower == right;
    let is_near = name.starts_with('_') && prose::did_you_mean(name, [right]).is_some();
    name != right && (is_known || is_near)
}

/// Tells whether something in a case names the directory, so that it is there on purpose.
fn uses(case: &Case, dir: &Utf8Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    let is_below = |path: &Utf8PathBuf| path.starts_with(dir) || dir.starts_with(path);
    let copies =
        |action: &&Action| matches!(action, Action::Copy { source, .. } if is_below(source));
    case.all_actions().iter().any(copies)
        || case.variant.rules.iter().any(is_below)
        || case.variant.skills.iter().any(is_below)
        || (case.commands())
            .any(|command| command.line.contains("TERCA_") && command.line.contains(name))
}
