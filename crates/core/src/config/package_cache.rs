//! `cache` and `testCache`: what package managers and compilers keep for all trials and later runs.

use crate::reader::{Fields, Kind, one_or_more, word};

/// The text of the reference about `cache`.
const ABOUT: &str = "Package managers and compilers whose [caches are kept](terca-yaml.md#caches) for `prepare` and `before` of all trials \
     and later runs: `npm`, `pnpm`, `yarn`, `pip`, `uv`, `cargo`, `go`, `gradle`, `ccache` and `sccache`. The agent does not get them.";

/// The text of the reference about `testCache`.
const ABOUT_TESTS: &str = "Those of them of which tests get [a copy](terca-yaml.md#caches), too, which is thrown away after each trial. They need not be in `cache`.";

/// A program whose cache can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PackageCache {
    /// `npm`, and `npx`.
    Npm,
    /// `pnpm`.
    Pnpm,
    /// `yarn`, of all versions.
    Yarn,
    /// `pip`.
    Pip,
    /// `uv`.
    Uv,
    /// `cargo`: downloads alone. What it compiles is in the workspace.
    Cargo,
    /// `go`: downloads, and what it compiled.
    Go,
    /// `gradle`: downloads, what it compiled, and the versions of itself.
    Gradle,
    /// `ccache`.
    Ccache,
    /// `sccache`.
    Sccache,
}

/// A directory: the name that it is kept under, and its place in a home.
pub type Place = (&'static str, &'static str);

/// The name of each, and its directories.
const ALL: [(PackageCache, &str, &[Place]); 10] = [
    (PackageCache::Npm, "npm", &[("npm", ".npm")]),
    (
        PackageCache::Pnpm,
        "pnpm",
        &[(
            "pnpm",
            or_on_macos(".local/share/pnpm/store", "Library/pnpm/store"),
        )],
    ),
    (
        PackageCache::Yarn,
        "yarn",
        &[
            ("yarn", or_on_macos(".cache/yarn", "Library/Caches/Yarn")),
            ("yarn-berry", ".yarn/berry/cache"),
        ],
    ),
    (
        PackageCache::Pip,
        "pip",
        &[("pip", or_on_macos(".cache/pip", "Library/Caches/pip"))],
    ),
    (PackageCache::Uv, "uv", &[("uv", ".cache/uv")]),
    // The rest of `.cargo` has settings and credentials.
    (
        PackageCache::Cargo,
        "cargo",
        &[("cargo", ".cargo/registry"), ("cargo-git", ".cargo/git")],
    ),
    (
        PackageCache::Go,
        "go",
        &[
            (
                "go",
                or_on_macos(".cache/go-build", "Library/Caches/go-build"),
            ),
            ("go-mod", "go/pkg/mod"),
        ],
    ),
    (
        PackageCache::Gradle,
        "gradle",
        &[
            ("gradle", ".gradle/caches"),
            ("gradle-wrapper", ".gradle/wrapper"),
        ],
    ),
    (
        PackageCache::Ccache,
        "ccache",
        &[(
            "ccache",
            or_on_macos(".cache/ccache", "Library/Caches/ccache"),
        )],
    ),
    (
        PackageCache::Sccache,
        "sccache",
        &[(
            "sccache",
            or_on_macos(".cache/sccache", "Library/Caches/Mozilla.sccache"),
        )],
    ),
];

/// Returns the place in a home on this system.
const fn or_on_macos(place: &'static str, on_macos: &'static str) -> &'static str {
    if cfg!(target_os = "macos") {
        on_macos
    } else {
        place
    }
}

impl PackageCache {
    /// Returns its directories: the name that each is kept under, and its place in a home.
    pub fn places(self) -> &'static [Place] {
        let row = ALL.iter().find(|(cache, ..)| *cache == self);
        row.map_or(&[], |(.., places)| places)
    }
}

/// Reads the caches of set-up, and those of them that tests get a copy of.
pub(super) fn read(fields: &mut Fields<'_, '_>) -> (Vec<PackageCache>, Vec<PackageCache>) {
    let mut all = fields.defaulted("cache", package_caches(), ABOUT);
    let of_tests = fields.defaulted("testCache", package_caches(), ABOUT_TESTS);
    let more = of_tests.iter().filter(|cache| !all.contains(cache));
    all.extend(more.copied().collect::<Vec<_>>());
    (all, of_tests)
}

/// One or more programs.
fn package_caches() -> Kind<Vec<PackageCache>> {
    let words = ALL.map(|(cache, name, _)| (name, cache));
    one_or_more(word(words, None).value().called("package manager"))
}
