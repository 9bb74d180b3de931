//! Libraries in Rust.

use serde_json::Value;

use super::{Delivery, Files, Language, Library, copied, names_some, plain};

const MANIFEST: &str = "Cargo.toml";

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let text = files.text(MANIFEST)?;
    let manifest: Value = toml::from_str(&text).ok()?;
    let package = &manifest["package"];
    let name = plain(&package["name"])?;
    let own = manifest["lib"]["name"].as_str();
    let import = own.unwrap_or(&name).replace('-', "_");
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
        copied(files.existing([MANIFEST, "src", "build.rs", "README.md"]))
    };
    Some(Library {
        language: Language::Rust,
        manifest: MANIFEST,
        name,
        import,
        version: plain(&package["version"]),
        runner: "cargo test",
        delivery,
        exports: exports(&files.text("src/lib.rs").unwrap_or_default()),
        has_dependencies: names_some(&manifest, &["dependencies"]),
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
