//! Go: the modules are kept in the workspace, since neither agents nor tests have a proxy of modules.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::{Part, Project, Recipe, Step, enter, within};
use crate::text::shell::quoted;

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let vendor = || Step::Command(within(part.dir, "go mod vendor"));
    let packages: BTreeSet<String> = part
        .inside()
        .map(|test| match test.parent().map(Utf8Path::as_str) {
            None | Some("") => ".".to_owned(),
            Some(dir) => quoted(&format!("./{dir}")),
        })
        .collect();
    let packages: Vec<String> = packages.into_iter().collect();
    let report = "\"$TMPDIR/ran\"";
    Recipe {
        tag: "go",
        setup: project
            .has(part.dir, "go.sum")
            .then(vendor)
            .into_iter()
            .collect(),
        // A `TestMain` of the work can end the process before a test has run.
        check: format!(
            "{}go test -count=1 -v {} > {report} 2>&1 || {{ cat {report}; exit 1; }}\ncat {report}\n\
             grep -q '^ *--- PASS: ' {report}\n",
            enter(part.dir),
            packages.join(" ")
        ),
        settings: Vec::new(),
        files: Vec::new(),
    }
}
