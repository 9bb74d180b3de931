//! Files that a program would take in the place of a hidden one. The agent cannot overwrite a hidden file, but Python prefers
//! a package, a compiled module or a cached one to the module of the same name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use terca_core::text::prose;

use crate::tree::{Dir, Options, TreeError};
use crate::workspace::laid::Laid;

const CACHE: &str = "__pycache__";
/// A directory with more entries is not looked through.
const MOST_ENTRIES: u64 = 100_000;
/// The most that a remark names.
const MOST_NAMED: usize = 5;

/// Removes what would take the place of a hidden file. Returns a remark about it.
pub(super) fn remove_shadows(
    workspace: &Dir,
    hidden: &Laid,
    options: &Options<'_>,
) -> Result<Option<String>, TreeError> {
    let mut listed = BTreeMap::new();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in hidden.paths() {
        let (Some(stem), Some("py")) = (
            path.file_stem().and_then(|stem| stem.to_str()),
            path.extension().and_then(|end| end.to_str()),
        ) else {
            continue;
        };
        let package = path.with_extension("");
        let mut names_in = |dir: &Path| -> Vec<String> {
            let names = || names(workspace, dir);
            listed.entry(dir.to_owned()).or_insert_with(names).clone()
        };
        let has_init = names_in(&package)
            .iter()
            .any(|name| name.starts_with("__init__."));
        if has_init || is_link(workspace, &package) {
            found.push(package);
        }
        let beside = path.parent().unwrap_or(Path::new(""));
        let cache = beside.join(CACHE);
        if is_link(workspace, &cache) {
            found.push(cache.clone());
        }
        for dir in [beside, &cache] {
            let names = names_in(dir);
            let compiled = names.iter().filter(|name| is_compiled(name, stem));
            found.extend(compiled.map(|name| dir.join(name)));
        }
    }
    found.retain(|path| !hidden.paths().any(|own| own.starts_with(path)));
    found.sort();
    found.dedup();
    for path in &found {
        let removed = workspace.remove_tree(path, options)?;
        removed.into_result(&workspace.path().join(path))?;
    }
    let named = found
        .iter()
        .take(MOST_NAMED)
        .map(|path| path.to_string_lossy());
    let more = found.len().saturating_sub(MOST_NAMED);
    Ok((!found.is_empty()).then(|| {
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!(
            "removed before the tests, in which it would take the place of a hidden file: {}{more}",
            prose::quoted_list(named, "and")
        )
    }))
}

fn is_compiled(name: &str, stem: &str) -> bool {
    let end = name.strip_prefix(stem).filter(|end| end.starts_with('.'));
    end.is_some_and(|end| {
        [".pyc", ".so", ".pyd"]
            .iter()
            .any(|kind| end.ends_with(kind))
    })
}

fn is_link(workspace: &Dir, path: &Path) -> bool {
    let meta = workspace.meta_at(path).ok().flatten();
    meta.is_some_and(|meta| meta.is_link())
}

/// Returns the names in a directory of the workspace; none where it is something else.
fn names(workspace: &Dir, dir: &Path) -> Vec<String> {
    let names = match dir.as_os_str().is_empty() {
        true => workspace.names(MOST_ENTRIES),
        false => workspace
            .open_dir(dir)
            .and_then(|dir| dir.names(MOST_ENTRIES)),
    };
    let names = names.unwrap_or_default().into_iter();
    names.filter_map(|name| name.into_string().ok()).collect()
}
