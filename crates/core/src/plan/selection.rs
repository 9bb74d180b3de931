//! Finds the evals, experiments and environments that `-t`, `-x` and `-e` select.

use std::sync::Arc;

use camino::Utf8Path;
use globset::GlobMatcher;

use crate::config::suite::{Eval, Setup, Suite};
use crate::text::{Code, Diagnostic, Diagnostics, globs, prose};

/// Patterns: names, globs, and for evals also paths, parts of names and paths, and `tag:NAME`. One with a `!`
/// before it leaves out. An empty list
/// selects all that is complete, and so does one that only leaves out, apart from these.
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

impl Selected<'_> {
    /// Returns the experiment to build on: the baseline, or the first that is selected.
    pub fn main_experiment(&self, suite: &Suite) -> Setup {
        let mut experiments = self.experiments.iter();
        let baseline = experiments.find(|setup| setup.name == suite.baseline);
        let experiment = baseline.or(self.experiments.first());
        experiment.map_or_else(Setup::named_default, |setup| (*setup).clone())
    }
}

/// The kind of item that is also found by a part of its name.
const EVAL: &str = "eval";
/// Incomplete evals that a message names.
const NAMED: usize = 3;

/// Selects parts of a suite, and reports patterns that match nothing.
pub fn select<'a>(
    suite: &'a Suite,
    selection: &Selection,
    problems: &mut Diagnostics,
) -> Selected<'a> {
    Selected {
        evals: pick(EVAL, &selection.evals, &suite.evals, eval, problems),
        experiments: pick(
            "experiment", &selection.experiments, &suite.experiments, setup, problems,
        ),
        environments: selected_environments(suite, selection, problems),
    }
}

/// Selects environments of a suite, and reports patterns that match nothing.
pub fn selected_environments<'a>(
    suite: &'a Suite,
    selection: &Selection,
    problems: &mut Diagnostics,
) -> Vec<&'a Setup> {
    pick(
        "environment", &selection.environments, &suite.environments, setup, problems,
    )
}

/// Everything that an item is called.
struct Called<'a> {
    name: &'a str,
    tags: &'a [String],
    /// The path of an eval's own directory.
    path: Option<&'a Utf8Path>,
    is_incomplete: bool,
}

fn eval(eval: &Arc<Eval>) -> Called<'_> {
    Called {
        name: &eval.name,
        tags: &eval.tags,
        path: eval.path.as_deref(),
        is_incomplete: !eval.incomplete.is_empty(),
    }
}

fn setup(setup: &Setup) -> Called<'_> {
    Called {
        name: &setup.name,
        tags: &[],
        path: None,
        is_incomplete: false,
    }
}

impl Called<'_> {
    /// Returns the name, and the directory where that is another.
    fn in_words(&self) -> String {
        match self.path {
            Some(path) if path != self.name => format!("`{}` in {path}", self.name),
            _ => format!("`{}`", self.name),
        }
    }
}

/// Returns the items that a pattern matches, in their own order. Each pattern must match something.
fn pick<'a, T>(
    what: &str,
    patterns: &[String],
    items: &'a [T],
    called: impl Fn(&'a T) -> Called<'a>,
    problems: &mut Diagnostics,
) -> Vec<&'a T> {
    let called: Vec<Called<'_>> = items.iter().map(called).collect();
    let parts: Vec<&str> = patterns
        .iter()
        .flat_map(|pattern| parts(pattern, &called))
        .collect();
    if parts.is_empty() && !patterns.is_empty() {
        problems.push(
            Diagnostic::error(Code::NoMatch, format!("an empty selection of {what}s"))
                .help(format!("name at least one {what}, or omit the option")),
        );
    }
    let mut patterns: Vec<Pattern<'_>> = parts
        .into_iter()
        .map(|part| Pattern::new(part, &called, what == EVAL))
        .collect();
    let only_leaves_out = patterns.iter().all(|pattern| pattern.leaves_out);
    let mut chosen = vec![only_leaves_out; items.len()];
    let mut is_known = true;
    patterns.sort_by_key(|pattern| pattern.leaves_out);
    for pattern in &patterns {
        let found = pattern.positions(&called);
        if found.is_empty() {
            is_known = false;
            problems.push(nothing(what, pattern.written, &called));
        }
        for position in found {
            chosen[position] = !pattern.leaves_out;
        }
    }
    if is_known && !patterns.is_empty() && !chosen.contains(&true) {
        problems.push(
            Diagnostic::error(Code::NoMatch, format!("the selection has no {what}"))
                .help("names after `!` are excluded, even if another pattern selects them"),
        );
    }
    if only_leaves_out {
        leave_out_incomplete(&called, &mut chosen, problems);
    }
    items
        .iter()
        .zip(chosen)
        .filter_map(|(item, chosen)| chosen.then_some(item))
        .collect()
}

/// Leaves out the evals that lack something, which only run when they are asked for, and says so.
fn leave_out_incomplete(called: &[Called<'_>], chosen: &mut [bool], problems: &mut Diagnostics) {
    let mut names = Vec::new();
    for (item, chosen) in called.iter().zip(chosen.iter_mut()) {
        if *chosen && item.is_incomplete {
            *chosen = false;
            names.push(item.name);
        }
    }
    if names.is_empty() {
        return;
    }
    let listed = prose::few(&names, NAMED);
    problems.push(if chosen.contains(&true) {
        let evals = match names.len() {
            1 => "1 incomplete eval is".to_owned(),
            many => format!("{many} incomplete evals are"),
        };
        let message = format!("{evals} left out: {listed}; `-t NAME` runs one as it is");
        Diagnostic::warning(Code::IncompleteEval, message)
    } else {
        let message = format!("every eval is incomplete: {listed}");
        Diagnostic::error(Code::IncompleteEval, message).help("`-t NAME` runs one as it is")
    });
}

/// Splits a pattern at its commas. A comma inside `{a,b}` is the glob's, and one inside a name is the name's.
fn parts<'a>(pattern: &'a str, called: &[Called<'_>]) -> Vec<&'a str> {
    let is_whole = |item: &Called<'_>| {
        item.name == pattern || item.path.is_some_and(|path| path.as_str() == pattern)
    };
    if called.iter().any(is_whole) {
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

fn nothing(what: &str, part: &str, items: &[Called<'_>]) -> Diagnostic {
    let known: Vec<String> = items.iter().map(Called::in_words).collect();
    let diagnostic = Diagnostic::error(Code::NoMatch, format!("no {what} matches `{part}`")).help(
        format!("the {what}s are {}", prose::list(known.iter(), "and")),
    );
    if items
        .iter()
        .any(|item| item.tags.iter().any(|tag| tag == part))
    {
        return diagnostic.help(format!("`{part}` is a tag: `tag:{part}` selects by tags"));
    }
    let places = items.iter().filter_map(|item| item.path);
    let words: Vec<&str> = items
        .iter()
        .map(|item| item.name)
        .chain(places.map(Utf8Path::as_str))
        .collect();
    if words.iter().any(|word| word.contains(part)) {
        return diagnostic.help(format!(
            "a name must match as a whole; `'*{part}*'` matches a part of it"
        ));
    }
    if part.starts_with("tag:") {
        let mut tags: Vec<&str> = items
            .iter()
            .flat_map(|item| item.tags.iter().map(String::as_str))
            .collect();
        tags.sort_unstable();
        tags.dedup();
        return diagnostic.help(match tags.as_slice() {
            [] => "no eval has tags".to_owned(),
            tags => format!("the tags are {}", prose::quoted_list(tags, "and")),
        });
    }
    diagnostic.maybe_help(prose::meant(part, words))
}

/// An exact name or place, or a glob over names, places or tags.
struct Pattern<'a> {
    /// As the user wrote it, without `!`.
    written: &'a str,
    exact: &'a str,
    glob: Option<GlobMatcher>,
    on_tags: bool,
    leaves_out: bool,
    /// A part of a name or path is enough, where it is no whole name or path.
    by_part: bool,
}

impl<'a> Pattern<'a> {
    /// Reads a pattern. A `!` at the beginning of a name is the name's.
    fn new(part: &'a str, called: &[Called<'_>], by_part: bool) -> Self {
        let is_name = called.iter().any(|item| item.name == part);
        let (leaves_out, written) = match part.strip_prefix('!') {
            Some(rest) if !is_name => (true, rest.trim_start()),
            _ => (false, part),
        };
        let (on_tags, exact) = match written.strip_prefix("tag:") {
            Some(tag) => (true, tag),
            None => (false, written),
        };
        let is_glob = exact.contains(['*', '?', '[', '{']);
        let glob = is_glob.then(|| globs::compiled(exact, false).ok());
        Pattern {
            written,
            exact,
            glob: glob.flatten(),
            on_tags,
            leaves_out,
            by_part: by_part && !is_glob && !exact.is_empty(),
        }
    }

    /// Returns the positions of the items that it matches. A name that is given exactly is that one item; else it may
    /// be the directory of an eval, or one with evals below it; else a part of names and paths.
    fn positions(&self, items: &[Called<'_>]) -> Vec<usize> {
        if self.on_tags {
            return positions(items, |item| item.tags.iter().any(|tag| self.is(tag)));
        }
        let named = positions(items, |item| item.name == self.exact);
        if !named.is_empty() {
            return named;
        }
        let place = self.exact.strip_prefix("./").unwrap_or(self.exact);
        let place = Utf8Path::new(place.trim_end_matches('/'));
        let whole = positions(items, |item| {
            self.is(item.name)
                || item.path.is_some_and(|path| {
                    let dir = path.file_name().unwrap_or_default();
                    self.is(dir)
                        || self.is(path.as_str())
                        || (!place.as_str().is_empty() && path.starts_with(place))
                })
        });
        if !whole.is_empty() || !self.by_part {
            return whole;
        }
        positions(items, |item| {
            item.name.contains(self.exact)
                || item
                    .path
                    .is_some_and(|path| path.as_str().contains(self.exact))
        })
    }

    fn is(&self, text: &str) -> bool {
        text == self.exact || self.glob.as_ref().is_some_and(|glob| glob.is_match(text))
    }
}

fn positions(items: &[Called<'_>], matches: impl Fn(&Called<'_>) -> bool) -> Vec<usize> {
    let found = items.iter().enumerate().filter(|(_, item)| matches(item));
    found.map(|(position, _)| position).collect()
}
