//! Libraries in Rust.

use toml::{Table, Value};

use super::{Delivery, Files, Language, Library, is_plain, version};

const MANIFEST: &str = "Cargo.toml";

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let text = files.text(MANIFEST)?;
    let manifest: Table = text.parse().ok()?;
    let package = manifest.get("package")?;
    let name = package
        .get("name")?
        .as_str()
        .filter(|name| is_plain(name))?;
    let own = manifest.get("lib").and_then(|lib| lib.get("name"));
    let import = own
        .and_then(Value::as_str)
        .unwrap_or(name)
        .replace('-', "_");
    let inherits = text.contains("workspace = true") || text.contains(".workspace=true");
    let delivery = if inherits {
        let lines = [
            "cargo package --quiet --no-verify --allow-dirty --manifest-path @library@/Cargo.toml --target-dir \"$TMPDIR/package\"",
            "mkdir library",
            "tar -xzf \"$TMPDIR\"/package/package/*.crate -C library --strip-components=1",
        ];
        Delivery::Script {
            lines: lines.map(str::to_owned).to_vec(),
            inputs: files.existing([MANIFEST, "src", "build.rs"]),
        }
    } else {
        let parts = files.existing([MANIFEST, "src", "build.rs", "README.md"]);
        let copies = parts.into_iter().map(|part| {
            let to = format!("library/{part}");
            (part, to)
        });
        Delivery::Copies(copies.collect())
    };
    Some(Library {
        language: Language::Rust,
        language_name: "Rust",
        manifest: MANIFEST,
        name: name.to_owned(),
        import,
        version: package
            .get("version")
            .and_then(Value::as_str)
            .and_then(version),
        manager: "cargo",
        runner: Some("cargo test"),
        delivery,
        exports: exports(&files.text("src/lib.rs").unwrap_or_default()),
        has_dependencies: manifest
            .get("dependencies")
            .and_then(Value::as_table)
            .is_some_and(|table| !table.is_empty()),
        ..Library::default()
    })
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
