//! Libraries in JavaScript and TypeScript.

use std::collections::BTreeSet;

use serde_json::Value;

use super::workspace::{Identity, Manager, Patterns, Workspace, texts};
use super::{
    Delivery, Files, Language, Library, Runner, Source, build_sources, is_plain, joined,
    names_some, plain,
};

const MANIFEST: &str = "package.json";
const MODULES: &str = "node_modules";

/// The runners that hidden tests can use, and their paths where they are installed.
const RUNNERS: [(Runner, &str); 2] = [
    (Runner::Vitest, "node_modules/vitest/vitest.mjs"),
    (Runner::Jest, "node_modules/jest/bin/jest.js"),
];

/// Lock files, and the commands that install what they name.
const LOCKS: [(&str, &str, &str); 3] = [
    (
        "package-lock.json", "npm", "npm ci --silent --no-audit --no-fund",
    ),
    (
        "pnpm-lock.yaml",
        "pnpm",
        "pnpm install --silent --frozen-lockfile",
    ),
    (
        "yarn.lock",
        "yarn",
        "yarn install --silent --frozen-lockfile",
    ),
];

/// Workspaces of npm, yarn and pnpm.
pub(super) const MANAGER: Manager = Manager { members, identity };

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let package = manifest(files)?;
    let name = plain(&package["name"])?;
    let is_private = package["private"] == true || package["version"].is_null();
    if is_private && Workspace::at(MANAGER, files).is_some() {
        return None;
    }
    let workspace = Workspace::around(MANAGER, files);
    let mut library = Library {
        language: Language::Node,
        manifest: MANIFEST,
        import: name.clone(),
        name,
        version: plain(&package["version"]),
        has_dependencies: names_some(&package, &["dependencies", "peerDependencies"]),
        ..Library::default()
    };
    deliver(&package, files, workspace.as_ref(), &mut library);
    let root = workspace.map(|workspace| files.way_to(&workspace.root));
    let places = std::iter::once(String::new()).chain(root);
    let mut runners =
        places.flat_map(|dir| RUNNERS.map(|(runner, path)| (runner, joined(&dir, path))));
    if let Some((runner, path)) = runners.find(|(_, path)| files.has_file(path)) {
        (library.runner, library.installed_runner) = (runner, Some(path));
    }
    Some(library)
}

fn manifest(files: &Files<'_>) -> Option<Value> {
    serde_json::from_str(&files.text(MANIFEST)?).ok()
}

fn identity(files: &Files<'_>) -> Option<Identity> {
    let package = manifest(files)?;
    let tables = ["dependencies", "peerDependencies"].map(|table| package[table].as_object());
    let needs = tables.into_iter().flatten().flat_map(|table| table.keys());
    Some((plain(&package["name"])?, needs.cloned().collect()))
}

fn members(files: &Files<'_>) -> Option<Patterns> {
    let package = manifest(files).unwrap_or_default();
    let pnpm = files.text("pnpm-workspace.yaml");
    let pnpm = pnpm.and_then(|text| serde_saphyr::from_str::<Value>(&text).ok());
    let lists = [
        &package["workspaces"],
        &package["workspaces"]["packages"],
        pnpm.as_ref().map_or(&Value::Null, |pnpm| &pnpm["packages"]),
    ];
    let patterns = lists.into_iter().flat_map(texts);
    let patterns: Vec<String> = patterns.map(|path| trimmed(&path).to_owned()).collect();
    let (excluded, patterns): (Vec<String>, Vec<String>) =
        patterns.into_iter().partition(|path| path.starts_with('!'));
    let excluded = excluded.iter().map(|path| trimmed(&path[1..]).to_owned());
    (!patterns.is_empty()).then(|| (patterns, excluded.collect()))
}

/// Packs the library in a copy of its sources as for npm, and installs it.
fn deliver(
    package: &Value,
    files: &Files<'_>,
    workspace: Option<&Workspace>,
    library: &mut Library,
) {
    let built = entry_roots(package);
    let needed = workspace.map(|workspace| workspace.needed(files.dir));
    let needed = needed.unwrap_or_default();
    let is_own = |name: &String| needed.iter().any(|member| member.name == *name);
    let is_fetched = match needed.is_empty() {
        true => library.has_dependencies,
        false => needed.iter().any(|member| !member.needs.iter().all(is_own)),
    };
    library.fetches = is_fetched.then_some("npm");
    let (mut lines, links) = build(package, files, workspace, library);
    let builds = !lines.is_empty();
    let mut sources = files.packages(workspace, build_sources);
    lines.extend(package_lines(package, files, &sources));
    if let Some(own) = sources.first_mut().filter(|_| builds) {
        let copy = own.copy();
        lines = lines
            .iter()
            .map(|line| line.replace("@copy@", &copy))
            .collect();
        own.parts.retain(|path| !built.contains(path));
        own.parts.extend(files.existing([".babelrc", ".swcrc"]));
        if links.is_empty() {
            own.parts
                .extend(files.existing(LOCKS.map(|(file, ..)| file)));
        }
    }
    if let Some(workspace) = workspace.filter(|_| builds) {
        let dir = &workspace.root;
        let root = Files { dir, ..*files };
        let mut parts = build_sources(&root);
        // What the settings of a member extend.
        parts.retain(|name| name.ends_with(".json") && root.has_file(name));
        let (from, to) = (files.way_to(dir), String::new());
        sources.push(Source { from, to, parts });
    }
    library.delivery = Delivery::Script {
        sources,
        links,
        lines,
    };
}

/// Returns lines that build the copy, and links to installed packages that the build needs. There are none where nothing is
/// built.
fn build(
    package: &Value,
    files: &Files<'_>,
    workspace: Option<&Workspace>,
    library: &mut Library,
) -> (Vec<String>, Vec<(String, String)>) {
    let mut scripts = ["build", "prepack", "prepare"].into_iter();
    let Some(script) = scripts.find(|script| package["scripts"][script].is_string()) else {
        return Default::default();
    };
    let run = format!("(cd @copy@ && npm run {script})");
    let modules = modules(files, workspace);
    if !modules.is_empty() || !names_some(package, &["dependencies", "devDependencies"]) {
        return (vec![run], modules);
    }
    let mut built = entry_roots(package).into_iter();
    if workspace.is_some() || built.any(|path| files.has(&path)) {
        library.remarks.push(
            "`prepare` does not build the library but takes it as it is: its dependencies are not installed",
        );
        return Default::default();
    }
    let mut locks = LOCKS.iter();
    let lock = locks.find(|(file, manager, _)| files.has_file(file) && files.has_program(manager));
    let install = "npm install --silent --no-audit --no-fund";
    let (_, manager, install) = lock.copied().unwrap_or(("", "npm", install));
    library.fetches = Some(manager);
    (vec![format!("(cd @copy@ && {install})"), run], Vec::new())
}

/// Returns lines that pack copies of packages and install them.
fn package_lines(package: &Value, files: &Files<'_>, sources: &[Source]) -> Vec<String> {
    let mut lines = Vec::new();
    let copies: Vec<String> = sources.iter().map(Source::copy).collect();
    for (source, copy) in sources.iter().zip(&copies) {
        let text = files
            .text(&joined(&source.from, MANIFEST))
            .unwrap_or_default();
        if text.contains("\"workspace:") {
            // npm does not know this word of pnpm and yarn.
            lines.push(format!(
                "(cd {copy} && sed 's/\"workspace:[^\"]*\"/\"*\"/' package.json > plain.json && mv plain.json package.json)"
            ));
        }
    }
    if let Some(own) = copies.first().filter(|_| package["version"].is_null()) {
        lines.push(format!("(cd {own} && npm pkg set version=0.0.0)"));
    }
    lines.push(format!(
        "npm pack --loglevel=error --ignore-scripts {} > /dev/null",
        copies.join(" ")
    ));
    lines.push("npm install --silent --no-save --no-audit --no-fund ./*.tgz".to_owned());
    lines.push("rm ./*.tgz".to_owned());
    lines
}

/// Returns the directories of installed packages, the library's and those of its workspace, and where they are linked to.
fn modules(files: &Files<'_>, workspace: Option<&Workspace>) -> Vec<(String, String)> {
    let mut all = vec![(String::new(), String::new())];
    if let Some(workspace) = workspace {
        let root = files.way_to(&workspace.root);
        let own = files.dir.strip_prefix(&workspace.root).unwrap_or(files.dir);
        all = vec![(root, String::new()), (String::new(), own.to_string())];
    }
    let all = all
        .into_iter()
        .map(|(from, to)| (joined(&from, MODULES), joined(&to, MODULES)));
    all.filter(|(from, _)| files.has(from)).collect()
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
