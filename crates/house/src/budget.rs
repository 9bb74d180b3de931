//! Limits of the source's size and shape, which only fall.

use std::collections::BTreeMap;
use std::process::Command;

use camino::Utf8Path;
use serde::Deserialize;

use crate::Error;
use crate::figures::Figures;

/// The file with the limits, from the root of the checkout.
const FILE: &str = "crates/house/budget.toml";

/// The beginning of the line in a commit's message that says why a limit rises.
const REASON: &str = "Budget: ";

/// Upper limits of figures.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Crate → tokens of product code.
    tokens: BTreeMap<String, usize>,
    /// Crate → modules at its root.
    #[serde(rename = "root-modules")]
    root_modules: BTreeMap<String, usize>,
    /// Figures of all crates together.
    all: Overall,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Overall {
    lines_of_a_function: usize,
    types_of_one_name: usize,
}

impl Budget {
    /// Reads the limits of a checkout.
    pub fn read(root: &Utf8Path) -> Result<Self, Error> {
        Self::parse(&fs_err::read_to_string(root.join(FILE))?)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| format!("{FILE}: {error}").into())
    }

    /// Returns a line for each figure above its limit.
    pub fn exceeded(&self, crates: &[(&str, Figures)], all: &Figures) -> String {
        let mut text = String::new();
        for (name, figures) in crates {
            let mut check = |figure: usize, limits: &BTreeMap<String, usize>, what: &str| {
                let limit = limits.get(*name).copied().unwrap_or_default();
                if figure > limit {
                    text += &format!("{name}: {figure} {what}; the limit is {limit} ({FILE})\n");
                }
            };
            check(figures.product_tokens, &self.tokens, "product tokens");
            check(figures.root_modules, &self.root_modules, "root modules");
        }
        let (lines, function) = &all.longest_function;
        let limit = self.all.lines_of_a_function;
        if *lines > limit {
            text += &format!("{function} has {lines} lines; the limit is {limit} ({FILE})\n");
        }
        let limit = self.all.types_of_one_name;
        for (name, count) in all.type_names.iter().filter(|(_, count)| **count > limit) {
            text += &format!("{count} types are called `{name}`; the limit is {limit} ({FILE})\n");
        }
        text
    }

    /// Returns the names of limits that are higher than before.
    fn raised_since(&self, before: &Budget) -> Vec<String> {
        let now = self.limits();
        let raised = before
            .limits()
            .into_iter()
            .filter(|(name, limit)| now.get(name).is_some_and(|now| now > limit));
        raised.map(|(name, _)| name).collect()
    }

    fn limits(&self) -> BTreeMap<String, usize> {
        let tokens = self
            .tokens
            .iter()
            .map(|(name, limit)| (format!("tokens of {name}"), *limit));
        let modules = self.root_modules.iter();
        let modules = modules.map(|(name, limit)| (format!("root modules of {name}"), *limit));
        let overall = [
            (
                "lines of a function".to_owned(),
                self.all.lines_of_a_function,
            ),
            ("types of one name".to_owned(), self.all.types_of_one_name),
        ];
        tokens.chain(modules).chain(overall).collect()
    }
}

/// Returns a line for each commit that raises a limit and does not say what the growth buys.
pub fn raises_without_reason(root: &Utf8Path) -> Result<String, Error> {
    let mut text = String::new();
    let commits = git(root, &["log", "--first-parent", "--format=%H", "--", FILE])?;
    for commit in commits.lines() {
        let show = |revision: &str| git(root, &["show", &format!("{revision}:{FILE}")]);
        let (Ok(before), Ok(now)) = (show(&format!("{commit}^")), show(commit)) else {
            continue;
        };
        // A form that is not read any more says nothing.
        let (Ok(before), Ok(now)) = (Budget::parse(&before), Budget::parse(&now)) else {
            continue;
        };
        let raised = now.raised_since(&before);
        let message = git(root, &["log", "-1", "--format=%B", commit])?;
        if !raised.is_empty() && !message.lines().any(|line| line.starts_with(REASON)) {
            text += &format!(
                "commit {} raises the limit of {}; its message needs a line \"{REASON}…\" that says what the growth buys\n",
                &commit[..12.min(commit.len())],
                raised.join(", "),
            );
        }
    }
    Ok(text)
}

fn git(root: &Utf8Path, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
