//! Finds the evals, experiments and environments that `-t`, `-x` and `-e` select.

use std::sync::Arc;

use globset::GlobMatcher;

use crate::config::suite::{Eval, Setup, Suite};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::globs;
use crate::text::prose;

/// Patterns: names, globs, and for evals `tag:NAME`. An empty list selects all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Patterns of `-t`.
    pub evals: Vec<String>,
    /// Patterns of `-x`.
    pub experiments: Vec<String>,
    /// Patterns of `-e`.
    pub environments: Vec<String>,
}

/// The parts of a suite that a selection matches.
#[derive(Debug)]
pub struct Selected<'a> {
    /// The selected evals, in the order of the suite.
    pub evals: Vec<&'a Arc<Eval>>,
    /// The selected experiments, in the order of the suite.
    pub experiments: Vec<&'a Setup>,
    /// The selected environments, in the order of the suite.
    pub environments: Vec<&'a Setup>,
}

/// Selects parts of a suite, and reports patterns that match nothing.
pub fn select<'a>(
    suite: &'a Suite,
    selection: &Selection,
    problems: &mut Diagnostics,
) -> Selected<'a> {
    Selected {
        evals: pick(
            "eval",
            &selection.evals,
            &suite.evals,
            |eval| (&eval.name, &eval.tags),
            problems,
        ),
        experiments: pick(
            "experiment",
            &selection.experiments,
            &suite.experiments,
            |setup| (&setup.name, &[]),
            problems,
        ),
        environments: pick(
            "environment",
            &selection.environments,
            &suite.environments,
            |setup| (&setup.name, &[]),
            problems,
        ),
    }
}

/// Returns the items that a pattern matches, in their own order. Each pattern must match something.
fn pick<'a, T>(
    what: &str,
    patterns: &[String],
    items: &'a [T],
    name_and_tags: impl Fn(&'a T) -> (&'a str, &'a [String]),
    problems: &mut Diagnostics,
) -> Vec<&'a T> {
    let names: Vec<&str> = items.iter().map(|item| name_and_tags(item).0).collect();
    let parts: Vec<&str> = patterns
        .iter()
        .flat_map(|pattern| parts(pattern, &names))
        .collect();
    if parts.is_empty() {
        if !patterns.is_empty() {
            problems.push(
                Diagnostic::error(Code::NoMatch, format!("an empty selection of {what}s"))
                    .help(format!("name at least one {what}, or leave the option out")),
            );
        }
        return items.iter().collect();
    }
    let mut chosen = vec![false; items.len()];
    for part in parts {
        let pattern = Pattern::new(part);
        let mut found = false;
        for (item, chosen) in items.iter().zip(&mut chosen) {
            let (name, tags) = name_and_tags(item);
            if pattern.matches(name, tags) {
                (found, *chosen) = (true, true);
            }
        }
        if !found {
            problems.push(nothing(
                what,
                part,
                &items.iter().map(&name_and_tags).collect::<Vec<_>>(),
            ));
        }
    }
    items
        .iter()
        .zip(chosen)
        .filter_map(|(item, chosen)| chosen.then_some(item))
        .collect()
}

/// Splits a pattern at its commas. A comma inside `{a,b}` is the glob's, and one inside a name is the name's.
fn parts<'a>(pattern: &'a str, names: &[&str]) -> Vec<&'a str> {
    if names.contains(&pattern) {
        return vec![pattern];
    }
    let mut depth = 0usize;
    let is_between = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    pattern
        .split(is_between)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

fn nothing(what: &str, part: &str, items: &[(&str, &[String])]) -> Diagnostic {
    let names: Vec<&str> = items.iter().map(|(name, _)| *name).collect();
    let diagnostic = Diagnostic::error(Code::NoMatch, format!("no {what} matches `{part}`")).help(
        format!("the {what}s are {}", prose::quoted_list(&names, "and")),
    );
    if items
        .iter()
        .any(|(_, tags)| tags.iter().any(|tag| tag == part))
    {
        return diagnostic.help(format!("`{part}` is a tag: `tag:{part}` selects by tags"));
    }
    if names.iter().any(|name| name.contains(part)) {
        return diagnostic.help(format!(
            "a name is matched as a whole; `'*{part}*'` matches a part of it"
        ));
    }
    if part.starts_with("tag:") {
        let mut tags: Vec<&str> = items
            .iter()
            .flat_map(|(_, tags)| tags.iter().map(String::as_str))
            .collect();
        tags.sort_unstable();
        tags.dedup();
        return diagnostic.help(match tags.as_slice() {
            [] => "no eval has tags".to_owned(),
            tags => format!("the tags are {}", prose::quoted_list(tags, "and")),
        });
    }
    match prose::did_you_mean(part, names) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic,
    }
}

/// An exact name, or a glob over names or tags.
struct Pattern<'a> {
    exact: &'a str,
    glob: Option<GlobMatcher>,
    on_tags: bool,
}

impl<'a> Pattern<'a> {
    fn new(part: &'a str) -> Self {
        let (on_tags, exact) = match part.strip_prefix("tag:") {
            Some(tag) => (true, tag),
            None => (false, part),
        };
        let is_glob = exact.contains(['*', '?', '[', '{']);
        let glob = is_glob
            .then(|| {
                let compiled = globs::compiled(exact, |builder| {
                    builder.empty_alternates(true);
                });
                compiled.ok()
            })
            .flatten();
        Pattern {
            exact,
            glob,
            on_tags,
        }
    }

    fn matches(&self, name: &str, tags: &[String]) -> bool {
        let one = |text: &str| {
            text == self.exact || self.glob.as_ref().is_some_and(|glob| glob.is_match(text))
        };
        if self.on_tags {
            tags.iter().any(|tag| one(tag))
        } else {
            one(name)
        }
    }
}
