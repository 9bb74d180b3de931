//! `cache`: package managers whose downloads are kept for all trials and later runs.

use crate::reader::{Kind, one_or_more, word};

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
    let words = PackageCache::ALL.map(|cache| (cache.name(), cache));
    one_or_more(word(words, None).value().called("package manager"))
}
