//! Tests of an eval: exactly one kind each, patterns that compile, names that differ.

use std::time::Duration;

use globset::GlobBuilder;
use regex::Regex;

use crate::config::names::unique_names;
use crate::config::paths::inside;
use crate::config::raw::{RawTest, RawTestKind};
use crate::config::resolver::Resolver;
use crate::config::suite::DEFAULT_TEST_SECONDS;
use crate::diagnostic::Diagnostic;
use crate::grade::{PathPattern, TestKind, TestSpec};
use crate::prose;
use crate::source::Located;

/// The kinds that this version can carry out; the others are read, and refused by name.
const SUPPORTED: [&str; 3] = ["commandSuccess", "fileExists", "fileContains"];

pub(super) fn tests(raw: Vec<RawTest>, resolver: &mut Resolver<'_>) -> Vec<TestSpec> {
    let mut names = Vec::new();
    let mut tests = Vec::new();
    for (index, raw) in raw.into_iter().enumerate() {
        let place = raw.name.as_ref().map_or(raw.place, |name| name.place);
        if let Some(test) = test(raw, index + 1, resolver) {
            names.push(Located::new(test.name.clone(), place));
            tests.push(test);
        }
    }
    unique_names(&names.iter().collect::<Vec<_>>(), "test", resolver);
    tests
}

fn test(raw: RawTest, position: usize, resolver: &mut Resolver<'_>) -> Option<TestSpec> {
    let kind = single_kind(&raw, resolver)?;
    let name = raw.name.map_or_else(|| format!("{}-{position}", kind.value.key()), |name| name.value);
    let dir = resolver.dir(raw.place).to_owned();
    Some(TestSpec {
        name,
        kind: supported(kind, resolver)?,
        weight: raw.weight.map_or(1.0, |weight| weight.value),
        timeout: Duration::from_secs_f64(
            raw.timeout_seconds.map_or(DEFAULT_TEST_SECONDS, |seconds| seconds.value),
        ),
        dir,
    })
}

fn single_kind(raw: &RawTest, resolver: &mut Resolver<'_>) -> Option<Located<RawTestKind>> {
    match raw.kinds.as_slice() {
        [kind] => Some(kind.clone()),
        [] if raw.unreadable => None,
        [] => {
            resolver.problems.push(
                Diagnostic::error("a test needs a kind")
                    .at(raw.place, "this test verifies nothing")
                    .help(format!("the kinds are {}", prose::quoted_list(&SUPPORTED, "and"))),
            );
            None
        }
        [first, second, ..] => {
            let message = format!(
                "a test has one kind, this one has `{}` and `{}`",
                first.value.key(),
                second.value.key()
            );
            resolver.problems.push(
                Diagnostic::error(message)
                    .at(second.place, "a second kind")
                    .beside(first.place, "the first kind")
                    .help("make it two tests"),
            );
            None
        }
    }
}

fn supported(kind: Located<RawTestKind>, resolver: &mut Resolver<'_>) -> Option<TestKind> {
    match kind.value {
        RawTestKind::CommandSuccess { command, output_contains, output_matches } => {
            Some(TestKind::CommandSuccess {
                command: command.value,
                output_contains: output_contains.map(|text| text.value),
                output_matches: match output_matches {
                    Some(pattern) => Some(regex(&pattern, resolver)?),
                    None => None,
                },
            })
        }
        RawTestKind::FileExists(paths) => {
            let patterns: Option<Vec<PathPattern>> =
                paths.iter().map(|path| pattern(path, resolver)).collect();
            Some(TestKind::FileExists(patterns?))
        }
        RawTestKind::FileContains { path, text, matches } => Some(TestKind::FileContains {
            path: workspace_path(&path, resolver)?,
            text: text.map(|text| text.value),
            matches: match matches {
                Some(pattern) => Some(regex(&pattern, resolver)?),
                None => None,
            },
        }),
        later => {
            resolver.not_yet(&format!("the test kind `{}`", later.key()), kind.place);
            None
        }
    }
}

fn regex(pattern: &Located<String>, resolver: &mut Resolver<'_>) -> Option<Regex> {
    match Regex::new(&pattern.value) {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            resolver.problems.push(Diagnostic::error("invalid regular expression").at(pattern.place, reason));
            None
        }
    }
}

/// A path, or a glob where one of `*?[{` is in it.
fn pattern(path: &Located<String>, resolver: &mut Resolver<'_>) -> Option<PathPattern> {
    let clean = workspace_path(path, resolver)?;
    if !path.value.contains(['*', '?', '[', '{']) {
        return Some(PathPattern::Path(clean));
    }
    match GlobBuilder::new(clean.as_str()).literal_separator(true).build() {
        Ok(glob) => Some(PathPattern::Glob { written: path.value.clone(), matcher: glob.compile_matcher() }),
        Err(error) => {
            let reason = error.kind().to_string();
            resolver
                .problems
                .push(Diagnostic::error(format!("invalid glob `{}`", path.value)).at(path.place, reason));
            None
        }
    }
}

fn workspace_path(path: &Located<String>, resolver: &mut Resolver<'_>) -> Option<camino::Utf8PathBuf> {
    match inside(&path.value) {
        Ok(clean) => Some(clean),
        Err(reason) => {
            resolver.problems.push(
                Diagnostic::error(format!("path `{}` lies outside the workspace", path.value))
                    .at(path.place, reason),
            );
            None
        }
    }
}
