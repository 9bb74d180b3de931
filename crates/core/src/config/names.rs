//! Names that make folders or keys must differ.

use std::collections::HashMap;

use crate::config::paths::folder_name;
use crate::config::resolver::Resolver;
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// An eval's folder stands in the run's directory, beside the run's own files.
pub(super) fn not_reserved(name: &Located<String>, resolver: &mut Resolver<'_>) {
    const OWN_FILES: [&str; 3] = ["results.json", "events.jsonl", "run.json"];
    if OWN_FILES.contains(&name.value.as_str()) {
        resolver.problems.push(
            Diagnostic::error(
                Code::InvalidName,
                format!("an eval cannot be named `{}`", name.value),
            )
            .at(
                name.place,
                "a run has a file of this name where the eval's folder would be",
            )
            .help("choose another name"),
        );
    }
}

/// Two things of the same name, or of names that make the same folder, would overwrite each other.
pub(super) fn unique_folders(names: &[&Located<String>], what: &str, resolver: &mut Resolver<'_>) {
    unique(names, what, folder_name, resolver);
}

pub(super) fn unique_names(names: &[&Located<String>], what: &str, resolver: &mut Resolver<'_>) {
    unique(names, what, str::to_owned, resolver);
}

fn unique(
    names: &[&Located<String>],
    what: &str,
    key: fn(&str) -> String,
    resolver: &mut Resolver<'_>,
) {
    let mut seen: HashMap<String, &Located<String>> = HashMap::new();
    for &name in names {
        let first = *seen.entry(key(&name.value)).or_insert(name);
        if std::ptr::eq(first, name) {
            continue;
        }
        let (code, message) = if first.value == name.value {
            (
                Code::DuplicateName,
                format!("two {what}s are named `{}`", name.value),
            )
        } else {
            let folder = folder_name(&name.value);
            let message = format!(
                "the {what}s `{}` and `{}` would share the folder `{folder}`",
                first.value, name.value
            );
            (Code::SharedFolder, message)
        };
        resolver.problems.push(
            Diagnostic::error(code, message)
                .at(name.place, whose(name, "another is here", resolver))
                .beside(first.place, whose(first, "the first is here", resolver))
                .help("rename one of them"),
        );
    }
}

/// A name that stands nowhere is that of the eval's directory, or of the test's kind and position.
fn whose(name: &Located<String>, label: &str, resolver: &Resolver<'_>) -> String {
    let written = resolver.sources.slice(name.place).contains(&name.value);
    if written {
        label.to_owned()
    } else {
        format!("{label}, named so by default")
    }
}
