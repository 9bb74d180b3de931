//! Finds directories of workspaces with the suite in them. Copies leave `_tests` out; what the suite's files say of the tests
//! would be there.

use camino::Utf8PathBuf;

use crate::config::suite::Suite;
use crate::reader::Surroundings;
use crate::text::{Code, Diagnostic};

/// Reports each directory that every workspace starts from and that has the suite, or the hidden files of an eval, in it.
pub(super) fn check(suite: &Suite, surroundings: &dyn Surroundings) -> Vec<Diagnostic> {
    let root = surroundings.real(&suite.root);
    let hidden: Vec<Utf8PathBuf> = (suite.evals.iter())
        .flat_map(|eval| [&eval.tests_layer, &eval.solution, &eval.solution_script])
        .flatten()
        .map(|path| surroundings.real(path))
        .chain([root.clone()])
        .collect();
    let check = |layer: &Utf8PathBuf| {
        let dir = surroundings.real(layer);
        let shown = hidden.iter().find(|path| path.starts_with(&dir))?;
        let shown = shown.strip_prefix(&root).unwrap_or(shown);
        let of_key = suite.workspace_dir.as_ref().filter(|(dir, _)| dir == layer);
        let what = of_key.map_or("`_base`", |_| "`workspaceDir`");
        let message = match shown.as_str() {
            "" => format!("{what} has the suite in it, with the tests of its evals"),
            path => format!("{what} has `{path}` in it"),
        };
        let error = Diagnostic::error(Code::ShownTests, message)
            .help("name a directory that has the files of the workspace alone");
        Some(match of_key {
            Some((_, place)) => error.at(*place, "every agent would see it"),
            None => error.in_file(layer.as_str()),
        })
    };
    let of_evals = suite.evals.iter().filter_map(|eval| eval.layer.as_ref());
    suite
        .layers
        .iter()
        .chain(of_evals)
        .filter_map(check)
        .collect()
}
