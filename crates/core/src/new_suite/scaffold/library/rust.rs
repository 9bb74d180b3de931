//! Libraries in Rust.

use serde_json::Value;

use super::workspace::{Identity, Manager, Patterns, Workspace, patterns};
use super::{Files, Language, Library, Runner, Source, copied, joined, names_some, plain, sources};

const MANIFEST: &str = "Cargo.toml";
const DEPENDENCIES: [&str; 2] = ["dependencies", "build-dependencies"];

/// Workspaces of Cargo.
pub(super) const MANAGER: Manager = Manager { members, identity };

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let manifest = manifest(files)?;
    let (name, _) = identity(files)?;
    // A program alone cannot be imported.
    let source = manifest["lib"]["path"].as_str().unwrap_or("src/lib.rs");
    let source = files.text(source)?;
    let own = manifest["lib"]["name"].as_str();
    let import = own.unwrap_or(&name).replace('-', "_");
    let workspace = Workspace::around(MANAGER, files);
    let mut parts = files.packages(workspace.as_ref(), sources);
    let place = parts.first().map(|own| joined("library", &own.to))?;
    let mut version = &manifest["package"]["version"];
    let root = workspace.as_ref().and_then(|workspace| {
        // A package inherits from the root's manifest: versions, dependencies, lints.
        parts.push(Source {
            from: files.way_to(&workspace.root),
            to: String::new(),
            parts: vec![MANIFEST.to_owned()],
        });
        self::manifest(&Files {
            dir: &workspace.root,
            ..*files
        })
    });
    if let (Value::Object(_), Some(root)) = (version, &root) {
        version = &root["workspace"]["package"]["version"];
    }
    let has_dependencies = names_some(&manifest, &DEPENDENCIES);
    Some(Library {
        language: Language::Rust,
        manifest: MANIFEST,
        import,
        name,
        version: plain(version),
        runner: Runner::CargoTest,
        delivery: copied(&parts),
        place,
        exports: exports(&source),
        has_dependencies,
        ..Library::default()
    })
}

fn manifest(files: &Files<'_>) -> Option<Value> {
    toml::from_str(&files.text(MANIFEST)?).ok()
}

fn identity(files: &Files<'_>) -> Option<Identity> {
    let manifest = manifest(files)?;
    let tables = DEPENDENCIES
        .iter()
        .filter_map(|table| manifest[table].as_object());
    let needs = tables.flatten().flat_map(|(name, wanted)| {
        let renamed = wanted["package"].as_str();
        [Some(name.as_str()), renamed]
    });
    let needs = needs.flatten().map(str::to_owned).collect();
    Some((plain(&manifest["package"]["name"])?, needs))
}

fn members(files: &Files<'_>) -> Option<Patterns> {
    manifest(files)?.get("workspace").map(patterns)
}
/// Returns the public items at the top of a crate that nothing hides.
fn exports(source: &str) -> Vec<String> {
    const KINDS: [&str; 9] = [
        "fn", "struct", "enum", "trait", "const", "static", "type", "mod", "union",
    ];
    let mut hidden = false;
    let mut names = Vec::new();
    for line in source.lines() {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let item = match (words.next(), words.next(), words.next()) {
            (Some("pub"), Some(kind), Some(name)) if KINDS.contains(&kind) => Some(name),
            _ => None,
        };
        if let Some(name) = item.filter(|name| !hidden && !name.is_empty()) {
            names.push(name.to_owned());
        }
        hidden = line.starts_with("#[cfg") || line.starts_with("#![cfg");
    }
    names.sort();
    names.dedup();
    names
}
