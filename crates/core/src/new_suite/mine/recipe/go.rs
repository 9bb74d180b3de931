//! Go: the modules are kept in the workspace, since neither agents nor tests have a proxy of modules.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::{Part, Project, Recipe, enter, traced, within};
use crate::text::shell::quoted;

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let has_modules = project.has(part.dir, "go.sum");
    let packages: BTreeSet<String> = part
        .inside()
        .map(|test| match test.parent().map(Utf8Path::as_str) {
            None | Some("") => ".".to_owned(),
            Some(dir) => quoted(&format!("./{dir}")),
        })
        .collect();
    let command = format!("go test -count=1 -v {}", Vec::from_iter(packages).join(" "));
    Recipe {
        tag: "go",
        tool: "go",
        setup: Vec::from_iter(has_modules.then(|| within(part.dir, "go mod vendor"))),
        // A `TestMain` of the work can end the process before a test has run.
        check: enter(part.dir) + &traced(&command, "^ *--- PASS: "),
        ..Recipe::default()
    }
}
