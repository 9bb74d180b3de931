//! The answer of `terca mine`: the commits that became evals, and why the others did not.
//!
//! ```text
//! 3f2a1b9c0  2026-01-02  parse-empty-lines-3f2a1b9c0
//! 8d7e6f5a4  2026-01-01  refused: its tests fail after the commit, too
//!                        error: no such host
//!
//! 12 commits: it adds or changes no tests
//! 1 eval written to parser-evals, 13 commits refused
//! ```

use std::collections::BTreeMap;

use terca_core::mine::Reason;
use terca_core::mine::mined::{Mined, MinedCommit};
use terca_core::text::prose;

use crate::term::grid::{Grid, Side};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::clean;

/// The characters of a hash by which people name a commit.
const SHORT: usize = 9;
/// Particulars are below the reason.
const INDENT: &str = "                       ";

pub fn mined(mined: &Mined, columns: usize, palette: Palette) -> String {
    let mut grid = Grid::new(&[Side::Left]);
    let mut usual: BTreeMap<Reason, usize> = BTreeMap::new();
    for commit in &mined.commits {
        match commit.reason.filter(|reason| reason.is_usual()) {
            Some(reason) => *usual.entry(reason).or_default() += 1,
            None => {
                grid.row(row(commit));
                if let Some(detail) = &commit.detail {
                    let detail = format!("{INDENT}{}", clean(detail));
                    grid.line(StyledLine::of(Role::Dim, &detail));
                }
            }
        }
    }
    let mut text = String::new();
    for line in grid.lines() {
        text += &format!("{}\n", line.fit(columns).render(palette));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    for (reason, number) in usual {
        let line = format!(
            "{} refused: {}",
            prose::count(number, "commit"),
            reason.words()
        );
        text += &format!("{}\n", StyledLine::of(Role::Dim, &line).render(palette));
    }
    let total = format!(
        "{} written, {} refused",
        prose::count(mined.written, "eval"),
        prose::count(mined.refused, "commit")
    );
    text + &format!("{}\n", StyledLine::of(Role::Bold, &total).render(palette))
}

fn row(commit: &MinedCommit) -> Vec<StyledLine> {
    let id: String = commit.commit.chars().take(SHORT).collect();
    let end = match (&commit.eval, commit.reason) {
        (Some(eval), _) => StyledLine::of(Role::Good, "written: ").with(Role::Plain, &clean(eval)),
        (None, reason) => {
            let words = reason.map_or("", Reason::words);
            StyledLine::of(Role::Bad, "refused: ").with(Role::Plain, words)
        }
    };
    vec![
        StyledLine::of(Role::Bold, &id),
        StyledLine::of(Role::Dim, &commit.date),
        end,
    ]
}

#[cfg(test)]
mod tests {
    use terca_core::mine::Refusal;
    use terca_core::mine::commit::Commit;

    use super::*;

    #[test]
    fn usual_reasons_are_counted_and_others_are_listed() {
        let commit = |digit: &str| Commit {
            id: digit.repeat(40),
            parents: Vec::new(),
            seconds: 1_700_000_000,
            message: "Fix it".into(),
        };
        let commits = vec![
            MinedCommit::written(&commit("1"), "fix-it-111111111"),
            MinedCommit::refused(&commit("2"), Reason::NoTests.into()),
            MinedCommit::refused(
                &commit("3"),
                Refusal::with(Reason::Broken, "2 failed\u{1b}[1m"),
            ),
            MinedCommit::refused(&commit("4"), Reason::NoTests.into()),
            MinedCommit::refused(&commit("5"), Reason::Merge.into()),
        ];
        let text = mined(
            &Mined::new("evals".into(), commits),
            100,
            Palette { colour: false },
        );
        insta::assert_snapshot!(text, @r"
        111111111  2023-11-14  written: fix-it-111111111
        333333333  2023-11-14  refused: its tests fail after the commit, too
                               2 failed␛[1m

        1 commit refused: it is a merge
        2 commits refused: it adds or changes no tests
        1 eval written, 4 commits refused
        ");
    }
}
