//! Libraries in JavaScript and TypeScript.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Delivery, Files, Language, Library, is_plain, names_some, plain};

const MANIFEST: &str = "package.json";

/// The path of the runner that hidden tests can use, below the library.
const VITEST: &str = "node_modules/vitest/vitest.mjs";

/// Sources and settings that a build reads.
const SOURCES: [&str; 10] = [
    "src", "lib", "source", "index.js", "index.mjs", "index.cjs", "index.ts", "index.d.ts",
    "tsconfig.json", "tsconfig.build.json",
];

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let package: Value = serde_json::from_str(&files.text(MANIFEST)?).ok()?;
    let name = plain(&package["name"])?;
    let installed_runner = files.has_file(VITEST).then_some(VITEST);
    let (delivery, remark) = delivery(&package, &name, files);
    Some(Library {
        language: Language::Node,
        manifest: MANIFEST,
        import: name.clone(),
        name,
        version: plain(&package["version"]),
        runner: installed_runner.map_or("node:test", |_| "vitest"),
        installed_runner,
        delivery,
        remark,
        has_dependencies: has_dependencies(&package),
        ..Library::default()
    })
}

/// Packs the library as for npm, and puts it where programs find it.
fn delivery(package: &Value, name: &str, files: &Files<'_>) -> (Delivery, Option<&'static str>) {
    let build = ["build", "prepack"]
        .into_iter()
        .find(|script| package["scripts"][script].is_string());
    let built = entry_roots(package);
    let mut lines = Vec::new();
    let mut remark = None;
    let mut from = "@library@";
    let sources = std::iter::once(MANIFEST).chain(SOURCES);
    let inputs = match build {
        Some(script) if can_build(package, files) => {
            let mut read = files.existing(sources);
            read.extend(settings(files));
            read.retain(|path| !built.contains(path));
            read.sort();
            read.dedup();
            lines.extend(build_lines(script, &read, files.has("node_modules")));
            from = "\"$TMPDIR/library\"";
            read
        }
        _ => {
            if build.is_some() {
                remark = Some(
                    "does not build the library but takes it as it is: its dependencies are not installed",
                );
            }
            let published = package["files"].as_array().into_iter().flatten();
            let published = published.filter_map(Value::as_str).map(trimmed);
            let published: Vec<&str> = published.filter(|path| is_plain(path)).collect();
            let read = sources.chain(built.iter().map(String::as_str));
            files.existing(read.chain(published))
        }
    };
    lines.push(format!(
        "npm pack --loglevel=error --ignore-scripts {from} > /dev/null"
    ));
    if has_dependencies(package) {
        lines.push("npm install --silent --no-save --no-audit --no-fund ./*.tgz".to_owned());
    } else {
        lines.push(format!("mkdir -p node_modules/{name}"));
        lines.push(format!(
            "tar -xzf ./*.tgz -C node_modules/{name} --strip-components=1"
        ));
    }
    lines.push("rm ./*.tgz".to_owned());
    (Delivery::Script { lines, inputs }, remark)
}

/// Returns whether everything that a build needs is installed, or it needs nothing.
fn can_build(package: &Value, files: &Files<'_>) -> bool {
    files.has("node_modules") || !names_some(package, &["dependencies", "devDependencies"])
}

fn has_dependencies(package: &Value) -> bool {
    names_some(package, &["dependencies", "peerDependencies"])
}

/// Returns lines that build the library in a copy of its inputs: a sandbox has the library itself for reading alone, and
/// a build from anything else than the inputs fails at once.
fn build_lines(script: &str, inputs: &[String], has_modules: bool) -> Vec<String> {
    let all = inputs.join(" ");
    let mut lines = vec![
        "mkdir \"$TMPDIR/library\"".to_owned(),
        format!("(cd @library@ && cp -R {all} \"$TMPDIR/library\")"),
    ];
    if has_modules {
        lines.push("ln -s @library@/node_modules \"$TMPDIR/library/node_modules\"".to_owned());
    }
    lines.push(format!("(cd \"$TMPDIR/library\" && npm run {script})"));
    lines
}

/// Returns the files at the top of the library that may be settings of a build.
fn settings(files: &Files<'_>) -> Vec<String> {
    const KINDS: [&str; 6] = ["json", "js", "mjs", "cjs", "ts", "mts"];
    let top = files.below("").into_iter().filter(|path| {
        let is_top = path.components().count() == 1;
        is_top && path.extension().is_some_and(|kind| KINDS.contains(&kind))
    });
    top.map(camino::Utf8PathBuf::into_string)
        .filter(|path| is_plain(path) && path != "package-lock.json")
        .collect()
}

/// Returns the first parts of the paths that programs load: `dist` of `./dist/index.js`.
fn entry_roots(package: &Value) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    let keys = ["main", "module", "types", "bin", "exports"];
    let mut unseen: Vec<&Value> = keys.iter().map(|key| &package[*key]).collect();
    while let Some(value) = unseen.pop() {
        match value {
            Value::String(path) => {
                let root = trimmed(path).split_once('/').map(|(root, _)| root);
                roots.extend(root.filter(|root| is_plain(root)).map(str::to_owned));
            }
            Value::Object(map) => unseen.extend(map.values()),
            Value::Array(list) => unseen.extend(list),
            _ => {}
        }
    }
    roots
}

fn trimmed(path: &str) -> &str {
    path.trim_start_matches("./").trim_matches('/')
}
