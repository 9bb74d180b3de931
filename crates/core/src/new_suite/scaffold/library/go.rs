//! Libraries in Go.

use camino::Utf8Path;

use super::workspace::{Identity, Manager, Patterns, Workspace};
use super::{Files, Language, Library, Runner, copied, is_plain, joined, sources};

const MANIFEST: &str = "go.mod";

/// Workspaces of Go: `go.work`.
pub(super) const MANAGER: Manager = Manager { members, identity };

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let (name, required) = identity(files)?;
    let workspace = Workspace::around(MANAGER, files);
    let packages = files.packages(workspace.as_ref(), parts);
    let place = packages.first().map(|own| joined("library", &own.to))?;
    let needed = workspace
        .iter()
        .flat_map(|workspace| workspace.needed(files.dir));
    let siblings = needed.skip(1).map(|member| {
        let place = joined("library", &member.place);
        (member.name.clone(), place)
    });
    let siblings: Vec<(String, String)> = siblings.collect();
    let is_foreign = |module: &String| !siblings.iter().any(|(name, _)| name == module);
    Some(Library {
        language: Language::Go,
        manifest: MANIFEST,
        import: name.clone(),
        name,
        runner: Runner::GoTest,
        delivery: copied(&packages),
        place,
        remarks: vec![
            "`prepare` copies the files and directories at the top of the library that Go reads",
        ],
        has_dependencies: required.iter().any(is_foreign),
        siblings,
        ..Library::default()
    })
}

/// Returns the module's path, and those that it requires.
fn identity(files: &Files<'_>) -> Option<Identity> {
    let text = files.text(MANIFEST)?;
    let mut name = None;
    let mut required = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace().map(|word| word.trim_matches('"'));
        match (words.next(), words.next(), words.next()) {
            (Some("module"), Some(module), None) => name = Some(module.to_owned()),
            (Some("require"), Some(module), Some(_)) => required.push(module.to_owned()),
            (Some(module), Some(version), None) if version.starts_with('v') => {
                required.push(module.to_owned());
            }
            _ => {}
        }
    }
    let name = name.filter(|name| is_plain(name))?;
    Some((name, required))
}

/// Returns the directories of `use`, on a line each or in a block.
fn members(files: &Files<'_>) -> Option<Patterns> {
    let text = files.text("go.work")?;
    let words = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let words = words.flat_map(str::split_whitespace);
    let dirs = words.filter(|word| word.starts_with("./") || *word == ".");
    Some((dirs.map(str::to_owned).collect(), Vec::new()))
}

/// Returns the entries at the top of the library that Go reads.
fn parts(files: &Files<'_>) -> Vec<String> {
    let mut parts = sources(files);
    let has_code = |name: &str| {
        let below = files.below(name).into_iter();
        let mut code = below.filter(|path| path.extension() == Some("go"));
        code.next().is_some()
    };
    parts.retain(|name| match Utf8Path::new(name).extension() {
        Some("go" | "mod" | "sum") => true,
        _ => !files.has_file(name) && has_code(name),
    });
    parts
}
