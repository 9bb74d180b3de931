//! `cache`: package managers whose downloads are kept for all trials and later runs.

use serde_json::json;

use crate::reader::values::filled_text;
use crate::reader::{Kind, Reader, one_or_more};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

/// The text of the reference.
pub(super) const ABOUT: &str = "Package managers whose [downloads are kept](terca-yaml.md#downloads) for `prepare` and `before` of all trials \
     and later runs: `npm`, `pip`, `uv` and `cargo`. The agent and tests do not get them.";

/// A package manager whose downloads can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PackageCache {
    /// `npm`, and `npx`.
    Npm,
    /// `pip`.
    Pip,
    /// `uv`.
    Uv,
    /// `cargo`.
    Cargo,
}

impl PackageCache {
    const ALL: [PackageCache; 4] = [
        PackageCache::Npm,
        PackageCache::Pip,
        PackageCache::Uv,
        PackageCache::Cargo,
    ];

    /// Returns the name of the package manager.
    pub fn name(self) -> &'static str {
        match self {
            PackageCache::Npm => "npm",
            PackageCache::Pip => "pip",
            PackageCache::Uv => "uv",
            PackageCache::Cargo => "cargo",
        }
    }

    /// Returns the directory in a home that has its downloads.
    pub fn place_in_home(self) -> &'static str {
        match self {
            PackageCache::Npm => ".npm",
            PackageCache::Pip if cfg!(target_os = "macos") => "Library/Caches/pip",
            PackageCache::Pip => ".cache/pip",
            PackageCache::Uv => ".cache/uv",
            // The rest of `.cargo` has settings and credentials.
            PackageCache::Cargo => ".cargo/registry",
        }
    }
}

/// One or more package managers.
pub(super) fn package_caches() -> Kind<Vec<PackageCache>> {
    let names = PackageCache::ALL.map(PackageCache::name);
    let name = filled_text()
        .called("package manager")
        .with("enum", json!(names));
    one_or_more(name.then(|word, reader| package_cache(&word, reader)))
}

fn package_cache(word: &Located<String>, reader: &mut Reader<'_>) -> Option<PackageCache> {
    let mut all = PackageCache::ALL.into_iter();
    if let Some(found) = all.find(|cache| cache.name() == word.value) {
        return Some(found);
    }
    let names = PackageCache::ALL.map(PackageCache::name);
    let problem = Diagnostic::error(
        Code::WrongValue,
        format!("no downloads of `{}` can be kept", word.value),
    )
    .at(word.place, "not a package manager that Terca knows");
    reader.refuse(problem.help(match prose::did_you_mean(&word.value, names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write one of {}", prose::list(&names, "or")),
    }))
}
