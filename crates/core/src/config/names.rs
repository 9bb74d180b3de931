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

/// Returns the same for two names whose folders may be the same. On some file systems `A` and `a` are one folder.
pub(crate) fn one_folder(name: &str) -> String {
    folder_name(name).to_lowercase()
}

/// Refuses names that are the same, or of which `key` makes the same: they would overwrite each other.
pub(super) fn unique(
    names: &[Located<String>],
    what: &str,
    key: impl Fn(&str) -> String,
    reader: &mut Reader<'_>,
) {
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
            (Code::DuplicateName, message)
        } else {
            let message = format!(
                "the {what}s `{}` and `{}` would share a directory",
                first.value, name.value
            );
            (Code::SharedFolder, message)
        };
        reader.problems.push(
            Diagnostic::error(code, message)
                .at(name.place, "another is here")
                .beside(first.place, "the first is here")
                .help("rename or remove one of them"),
        );
    }
}
