//! Go: the modules are kept in the workspace, since neither agents nor tests have a proxy of modules.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::{Part, Project, Recipe, SHOWN, Step, enter};
use crate::text::prose;
use crate::text::shell::quoted;

/// The directory of compiled packages. Go knows by their content which ones it can use.
const CACHE: &str = ".go-cache";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let has_modules = project.has(part.dir, "go.sum");
    let packages: BTreeSet<String> = part
        .inside()
        .map(|test| match test.parent().map(Utf8Path::as_str) {
            None | Some("") => ".".to_owned(),
            Some(dir) => quoted(&format!("./{dir}")),
        })
        .collect();
    let packages = prose::joined(packages, " ");
    let go = |command: &str| format!("GOCACHE=\"$PWD/{CACHE}\" go {command} {packages}");
    let mut setup = Vec::from_iter(has_modules.then(|| Step::within(part.dir, "go mod vendor")));
    // What is compiled is kept: each grading would compile Go's own library again. Tests that do not compile are no error.
    let build = format!("{} > {CACHE}.log 2>&1 || true", go("test -run '^$'"));
    setup.push(Step::within(part.dir, &build));
    Recipe {
        tag: "go",
        tool: "go",
        setup,
        // A `TestMain` of the work can end the process before a test has run.
        check: enter(part.dir) + &go("test -count=1 -json") + " > \"$report\"\n" + SHOWN,
        ..Recipe::default()
    }
}
