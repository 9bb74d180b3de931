//! Finds directories whose names are almost `_base`, `_tests` or `_solution`.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::suite::{Action, Eval, Suite};
use crate::plan::{Case, Layer};
use crate::reader::{PathKind, Surroundings};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;

/// A directory with a meaning, and the names that people give it by mistake.
struct KnownDirectory {
    right: &'static str,
    others: &'static [&'static str],
    about: &'static str,
}

const BASE: KnownDirectory = KnownDirectory {
    right: "_base",
    others: &["base", "_bases", "__base__"],
    about: "the files that the workspace starts from",
};
const TESTS: KnownDirectory = KnownDirectory {
    right: "_tests",
    others: &["tests", "test", "_test", "__tests__", "__test__"],
    about: "the hidden files of the tests",
};
const SOLUTION: KnownDirectory = KnownDirectory {
    right: "_solution",
    others: &["solution", "solutions", "_solutions", "__solution__"],
    about: "the reference solution",
};

/// Warns of misspelt directories beside an eval's file, if the eval has its directory for itself.
pub(super) fn of_eval(
    eval: &Eval,
    cases: &[&Case],
    root: &Utf8Path,
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    if eval.path.is_none() {
        return Vec::new();
    }
    let missing = [
        (BASE, eval.layer.is_none()),
        (TESTS, eval.tests_layer.is_none()),
        (SOLUTION, !eval.has_solution()),
    ];
    let missing = missing
        .into_iter()
        .filter_map(|(part, is_missing)| is_missing.then_some(part));
    let parts: Vec<KnownDirectory> = missing.collect();
    let directory = Beside {
        dir: &eval.dir,
        root,
        surroundings,
    };
    directory.misspelt(&parts, cases)
}

/// Warns of a misspelt `_base` of the whole suite.
pub(super) fn of_suite(
    suite: &Suite,
    cases: &[&Case],
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    if !suite.layers.is_empty() {
        return Vec::new();
    }
    let directory = Beside {
        dir: &suite.root,
        root: &suite.root,
        surroundings,
    };
    directory.misspelt(&[BASE], cases)
}

/// The directory of a YAML file.
struct Beside<'a> {
    dir: &'a Utf8Path,
    root: &'a Utf8Path,
    surroundings: &'a dyn Surroundings,
}

impl Beside<'_> {
    fn misspelt(&self, parts: &[KnownDirectory], cases: &[&Case]) -> Vec<Diagnostic> {
        let names = self.surroundings.names_in(self.dir);
        let mut found = Vec::new();
        for part in parts {
            let mut candidates = names.iter().filter(|name| is_like(name, part));
            let meant = candidates.find(|name| {
                let path = self.dir.join(name);
                self.surroundings.kind(&path) == PathKind::Directory
                    && !self.has_evals(&path)
                    && !cases.iter().any(|case| uses(case, &path))
            });
            found.extend(meant.map(|name| self.warning(name, part)));
        }
        found
    }

    fn warning(&self, name: &str, part: &KnownDirectory) -> Diagnostic {
        let KnownDirectory { right, about, .. } = *part;
        let shown = |name: &str| -> Utf8PathBuf {
            let path = self.dir.join(name);
            path.strip_prefix(self.root).unwrap_or(&path).to_owned()
        };
        let (from, to) = (shown(name), shown(right));
        Diagnostic::warning(
            Code::MisspeltDirectory,
            format!("the directory `{name}` is not used: `{right}` is the directory of {about}"),
        )
        .in_file(from.as_str())
        .help(format!("rename it: `mv {from} {to}`"))
    }

    /// Tells whether a directory is one of evals.
    fn has_evals(&self, dir: &Utf8Path) -> bool {
        let has_file =
            |dir: &Utf8Path| self.surroundings.kind(&dir.join("eval.terca.yaml")) == PathKind::File;
        let below = self.surroundings.names_in(dir);
        has_file(dir) || below.iter().any(|name| has_file(&dir.join(name)))
    }
}

/// Tells whether a name was probably meant to be that of a part.
fn is_like(name: &str, part: &KnownDirectory) -> bool {
    let lower = name.to_lowercase();
    let is_known = part.others.contains(&lower.as_str()) || lower == part.right;
    let is_near = name.starts_with('_') && prose::did_you_mean(name, [part.right]).is_some();
    name != part.right && (is_known || is_near)
}

/// Tells whether something in a case names the directory, so that it is there on purpose.
fn uses(case: &Case, dir: &Utf8Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    let is_below = |path: &Utf8PathBuf| path.starts_with(dir) || dir.starts_with(path);
    let mut prepared = Vec::new();
    add_actions(&case.layers, &mut prepared);
    let mut actions = prepared.into_iter().chain(&case.actions);
    actions.any(|action| match action {
        Action::Copy { source, .. } => is_below(source),
        Action::Write { .. } | Action::Run(_) => false,
    }) || case.variant.rules.iter().any(is_below)
        || case.variant.skills.iter().any(is_below)
        || case
            .commands()
            .any(|command| command.contains("TERCA_") && command.contains(name))
}

fn add_actions<'a>(layers: &'a [Layer], actions: &mut Vec<&'a Action>) {
    for layer in layers {
        if let Layer::Prepared(prepared) = layer {
            add_actions(&prepared.below, actions);
            actions.extend(&prepared.actions);
        }
    }
}
