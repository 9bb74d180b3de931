//! Libraries in Go.

use super::{Files, Language, Library, copied, is_plain};

const MANIFEST: &str = "go.mod";

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let text = files.text(MANIFEST)?;
    let module = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "))?;
    let module = module
        .split("//")
        .next()
        .unwrap_or_default()
        .trim()
        .trim_matches('"');
    let import = Some(module).filter(|module| is_plain(module))?;
    Some(Library {
        language: Language::Go,
        manifest: MANIFEST,
        name: import.to_owned(),
        import: import.to_owned(),
        runner: "go test",
        delivery: copied(parts(files)),
        remark: Some("copies the files and directories at the top of the library that Go reads"),
        has_dependencies: text.contains("require"),
        ..Library::default()
    })
}

/// Returns the entries at the top of the library that Go reads.
fn parts(files: &Files<'_>) -> Vec<String> {
    let sources = files.below("").into_iter();
    let sources = sources.filter(|path| path.extension() == Some("go"));
    let tops =
        sources.filter_map(|path| path.components().next().map(|top| top.as_str().to_owned()));
    let mut parts = files.existing([MANIFEST, "go.sum"]);
    parts.extend(tops.filter(|top| is_plain(top)));
    parts.sort();
    parts.dedup();
    parts
}
