//! Splits rules into parts, and puts them together without some of them.

use serde::{Deserialize, Serialize};

use super::Part;
use super::scan::{Line, heading, item, lines, mark};
use crate::text::excerpt;
use crate::text::tokens;

/// The characters of an item that are its name.
const NAME: usize = 48;

/// The way in which rules are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Split {
    /// At the headings of the highest level that has several. The text before the first one is no part.
    Headings,
    /// At `<!-- part: NAME -->`, up to the next one or `<!-- /part -->`. Other text is no part.
    Marks,
    /// At the items of lists. Other text is no part.
    Items,
}

impl Split {
    /// Returns the usual way for rules: at marks where they have some, else at headings.
    pub fn usual(texts: &[impl AsRef<str>]) -> Self {
        let mut lines = texts.iter().flat_map(|text| lines(text.as_ref()));
        if lines.any(|line| mark(&line).is_some()) {
            Split::Marks
        } else {
            Split::Headings
        }
    }
}

/// The parts of the rules that a row does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RulesWithout {
    /// The way in which the rules are split.
    pub split: Split,
    /// The number of all parts.
    pub parts: usize,
    /// The positions of those that are left out.
    pub left_out: Vec<usize>,
}

impl RulesWithout {
    /// Returns the texts of the rules without these parts; `None` if they have another number of parts.
    pub fn applied_to(&self, texts: &[impl AsRef<str>]) -> Option<Vec<String>> {
        let rules = Rules::of(texts, self.split);
        let is_kept = |part: usize| !self.left_out.contains(&part);
        (rules.names.len() == self.parts).then(|| rules.with(is_kept))
    }
}

/// Rules in parts.
#[derive(Debug)]
pub struct Rules<'a> {
    names: Vec<String>,
    /// The pieces of each file, in its order.
    files: Vec<Vec<Piece<'a>>>,
}

/// Lines of a file. Those that belong to no part are always kept.
#[derive(Debug)]
struct Piece<'a> {
    part: Option<usize>,
    text: &'a str,
}

impl<'a> Rules<'a> {
    /// Splits the texts of rules files. Headings and items of the same name are told apart by a number; marks of the
    /// same name are one part.
    pub fn of(texts: &'a [impl AsRef<str>], split: Split) -> Self {
        let mut rules = Rules {
            names: Vec::new(),
            files: Vec::new(),
        };
        for text in texts {
            let lines = lines(text.as_ref());
            let starts = match split {
                Split::Headings => at_headings(&lines),
                Split::Marks => lines.iter().map(at_mark).collect(),
                Split::Items => at_items(&lines),
            };
            let mut pieces = Vec::new();
            let mut part = None;
            for (line, start) in lines.iter().zip(starts) {
                match start {
                    Start::Nothing => {}
                    Start::Kept => part = None,
                    Start::Part(name) => part = Some(rules.position(&name, split)),
                }
                pieces.push(Piece {
                    part,
                    text: line.text,
                });
            }
            rules.files.push(pieces);
        }
        rules
    }

    /// Returns the position of a part that starts here.
    fn position(&mut self, name: &str, split: Split) -> usize {
        let known = self.names.iter().position(|known| known == name);
        if let Some(known) = known.filter(|_| split == Split::Marks) {
            return known;
        }
        let mut unique = name.to_owned();
        let mut numbers = 2..;
        while self.names.contains(&unique) {
            unique = format!("{name} ({})", numbers.next().unwrap_or(0));
        }
        self.names.push(unique);
        self.names.len() - 1
    }

    /// Returns the parts with their sizes.
    pub fn parts(&self) -> Vec<Part> {
        let bytes = |part: usize| -> usize {
            let pieces = self.files.iter().flatten();
            let own = pieces.filter(|piece| piece.part == Some(part));
            own.map(|piece| piece.text.len()).sum()
        };
        let named = self.names.iter().enumerate();
        named
            .map(|(part, name)| {
                let tokens = tokens::estimated(bytes(part) as u64);
                Part::new(name.clone(), Some(tokens))
            })
            .collect()
    }

    /// Returns the files with some of the parts.
    pub fn with(&self, is_kept: impl Fn(usize) -> bool) -> Vec<String> {
        let file = |pieces: &Vec<Piece<'_>>| {
            let kept = pieces
                .iter()
                .filter(|piece| piece.part.is_none_or(&is_kept));
            kept.map(|piece| piece.text).collect()
        };
        self.files.iter().map(file).collect()
    }
}

/// What begins at a line.
#[derive(Debug, Clone)]
enum Start {
    Nothing,
    Kept,
    Part(String),
}

fn at_headings(lines: &[Line<'_>]) -> Vec<Start> {
    let levels: Vec<usize> = (lines.iter().filter_map(heading))
        .map(|(level, _)| level)
        .collect();
    let count = |level: usize| levels.iter().filter(|other| **other == level).count();
    let several = (1..=6).find(|level| count(*level) > 1);
    let Some(split) = several.or(levels.iter().copied().min()) else {
        return vec![Start::Nothing; lines.len()];
    };
    let mut has_begun = false;
    let mut start = |line: &Line<'_>| match heading(line) {
        Some((level, name)) if level == split || (has_begun && level < split) => {
            has_begun = true;
            Start::Part(named(name))
        }
        _ => Start::Nothing,
    };
    lines.iter().map(&mut start).collect()
}

fn at_mark(line: &Line<'_>) -> Start {
    match mark(line) {
        Some("/part") => Start::Kept,
        Some(mark) => Start::Part(named(mark.trim_start_matches("part:").trim())),
        None => Start::Nothing,
    }
}

/// An item ends before a heading, and before text that is not indented after a blank line.
fn at_items(lines: &[Line<'_>]) -> Vec<Start> {
    let mut after_blank = false;
    let mut start = |line: &Line<'_>| {
        let is_blank = line.text.trim().is_empty();
        let is_indented = line.text.starts_with([' ', '\t']);
        let found = match item(line) {
            Some(text) => Start::Part(named(text)),
            None if heading(line).is_some() => Start::Kept,
            None if after_blank && !is_blank && !is_indented && !line.is_literal => Start::Kept,
            None => Start::Nothing,
        };
        after_blank = is_blank;
        found
    };
    lines.iter().map(&mut start).collect()
}

fn named(text: &str) -> String {
    match text {
        "" => "(without a name)".to_owned(),
        text => excerpt::beginning(text, NAME),
    }
}
