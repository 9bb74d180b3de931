//! Names must differ when they become folders or keys.

use std::collections::HashMap;

use crate::reader::Reader;
use crate::reader::paths::folder_name;
use crate::text::{Code, Diagnostic, Located};

/// Refuses the names of a run's own files: an eval's folder is beside them.
pub(super) fn not_reserved(name: &Located<String>, reader: &mut Reader<'_>) {
    const OWN_FILES: [&str; 3] = ["results.json", "events.jsonl", "run.json"];
    if OWN_FILES
        .iter()
        .any(|own| own.eq_ignore_ascii_case(&name.value))
    {
        reader.problems.push(
            Diagnostic::error(
                Code::InvalidName,
                format!("an eval cannot be named `{}`", name.value),
            )
            .at(
                name.place,
                "a run has a file of this name where the eval's directory would be",
            )
            .help("choose another name"),
        );
    }
}

/// Refuses equal names and names that make the same folder: they would overwrite each other. On some file systems
/// `A` and `a` are one folder.
pub(super) fn unique_folders(names: &[Located<String>], what: &str, reader: &mut Reader<'_>) {
    unique(names, what, one_folder, reader);
}

/// Returns the same for two names whose folders may be the same.
pub(crate) fn one_folder(name: &str) -> String {
    folder_name(name).to_lowercase()
}

/// Refuses equal names.
pub(super) fn unique_names(names: &[Located<String>], what: &str, reader: &mut Reader<'_>) {
    unique(names, what, str::to_owned, reader);
}

fn unique(names: &[Located<String>], what: &str, key: fn(&str) -> String, reader: &mut Reader<'_>) {
    let mut seen: HashMap<String, &Located<String>> = HashMap::new();
    for name in names {
        let first = *seen.entry(key(&name.value)).or_insert(name);
        if std::ptr::eq(first, name) {
            continue;
        }
        let (code, message) = if first.value == name.value {
            (
                Code::DuplicateName,
                format!("two {what}s are named `{}`", name.value),
            )
        } else if first.value.to_lowercase() == name.value.to_lowercase() {
            let message = format!(
                "the {what}s `{}` and `{}` differ in case only",
                first.value, name.value
            );
            (Code::SharedFolder, message)
        } else {
            let folder = folder_name(&name.value);
            let message = format!(
                "the {what}s `{}` and `{}` would share the directory `{folder}`",
                first.value, name.value
            );
            (Code::SharedFolder, message)
        };
        reader.problems.push(
            Diagnostic::error(code, message)
                .at(name.place, whose(name, "another is here", reader))
                .beside(first.place, whose(first, "the first is here", reader))
                .help("rename or remove one of them"),
        );
    }
}

/// Adds to a label that a name is a default, where the user did not write it.
fn whose(name: &Located<String>, label: &str, reader: &Reader<'_>) -> String {
    let written = reader.sources.slice(name.place).contains(&name.value);
    if written {
        label.to_owned()
    } else {
        format!("{label}, named so by default")
    }
}
