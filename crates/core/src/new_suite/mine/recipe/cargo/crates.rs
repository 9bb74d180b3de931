//! Compiles the crates that a project uses, with its manifests alone, for all evals in which these are equal.
//!
//! Cargo wants the files of a package's targets. Empty ones take their place, and are gone at the end with what was
//! compiled of them. A project for which this fails compiles its crates in each eval.

use camino::{Utf8Path, Utf8PathBuf};
use toml::{Table, Value};

use super::super::{Project, Step};
use crate::text::shell::{joined, quoted};

/// Files beside manifests that decide what is compiled.
const READ: [&str; 5] = [
    "Cargo.lock", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml",
];

/// The tables of targets in a manifest, with the directories of their files.
const TARGETS: [(&str, &str); 4] = [
    ("bin", "src/bin"),
    ("test", "tests"),
    ("bench", "benches"),
    ("example", "examples"),
];

/// Returns the step that fetches and compiles crates. `keep` fetches them, and `cargo` tests.
pub(super) fn step(
    root: &Utf8Path,
    project: &Project<'_>,
    keep: &str,
    cargo: &str,
) -> Option<Step> {
    let manifests: Vec<&Utf8PathBuf> = project.all_named(root, "Cargo.toml").collect();
    let (mut files, mut packages) = (Vec::new(), Vec::new());
    for manifest in &manifests {
        let table: Table = (project.text)(manifest)?.parse().ok()?;
        let dir = manifest.parent()?;
        let name = table.get("package").and_then(|package| package.get("name"));
        packages.extend(name.and_then(Value::as_str).map(quoted));
        let targets = targets(&table).into_iter().map(|path| dir.join(path));
        let targets = targets.filter(|path| project.files.contains(path));
        files.extend(targets.filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())));
    }
    let stubs = joined(&files);
    let dirs = files.iter().filter_map(|file| file.parent());
    let dirs = joined(dirs.filter(|dir| !dir.as_str().is_empty()));
    let own: String = packages.iter().map(|name| format!(" -p {name}")).collect();
    let command = format!(
        "mkdir -p {dirs} . && for file in {stubs}; do echo 'fn main() {{}}' > \"$file\"; done && \
         {{ {{ {keep}; }} || rm -rf vendor; }} && {{ {cargo} --no-run --tests && cargo clean -q --offline{own}; }} > crates.log 2>&1 || \
         rm -rf target; rm -f {stubs} crates.log"
    );
    let read = project.there(root, &READ).into_iter();
    let read = read.chain(manifests.into_iter().cloned());
    Some(Step::within(root, &command).with_only(read))
}

/// Returns the files that targets of a package may have.
fn targets(manifest: &Table) -> Vec<Utf8PathBuf> {
    let mut files: Vec<Utf8PathBuf> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .map(Into::into)
        .into();
    let path = |table: &Value, key: &str| {
        let path = table.get(key).and_then(Value::as_str);
        path.map(Utf8PathBuf::from)
    };
    files.extend(manifest.get("lib").and_then(|lib| path(lib, "path")));
    files.extend(
        manifest
            .get("package")
            .and_then(|package| path(package, "build")),
    );
    for (kind, dir) in TARGETS {
        let tables = manifest.get(kind).and_then(Value::as_array);
        for target in tables.into_iter().flatten() {
            files.extend(path(target, "path"));
            let name = path(target, "name").unwrap_or_default();
            files.push(Utf8Path::new(dir).join(format!("{name}.rs")));
            files.push(Utf8Path::new(dir).join(name).join("main.rs"));
        }
    }
    files
}
