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

use terca_core::new_suite::mine::Reason;
use terca_core::new_suite::mine::describe::{Described, NoTask};
use terca_core::new_suite::mine::{Mined, MinedCommit};
use terca_core::text::prose;

use crate::term::{Answer, Grid, Palette, Role, StyledLine, bold, dim, styled};

/// The characters of a hash by which people name a commit.
const SHORT: usize = 9;
/// Particulars are below the reason.
const INDENT: &str = "                       ";

pub fn mined(mined: &Mined, columns: usize) -> Answer {
    let mut grid = Grid::default();
    let mut usual: BTreeMap<Reason, usize> = BTreeMap::new();
    for commit in &mined.commits {
        match commit.reason.filter(|reason| reason.is_usual()) {
            Some(reason) => *usual.entry(reason).or_default() += 1,
            None => {
                grid.row(row(commit));
                let described = commit.described.iter().flat_map(prompt_lines);
                for line in commit.detail.iter().cloned().chain(described) {
                    grid.line(dim(&format!("{INDENT}{line}")));
                }
            }
        }
    }
    let mut answer = Answer::new(columns);
    answer.table([grid]);
    answer.end_part();
    for (reason, number) in usual {
        let commits = prose::count(number, "commit");
        answer.cut_line(&dim(&format!("{commits} refused: {}", reason.words())));
    }
    let mut total = format!(
        "{} written, {} refused",
        prose::count(mined.written, "eval"),
        prose::count(mined.refused, "commit")
    );
    if let Some(cost) = mined.cost_usd {
        total += &format!("; the prompts cost {}", prose::dollars(cost));
    }
    answer.cut_line(&bold(&total));
    answer
}

/// Tells in a line what became of a draft, for those who wait.
pub fn mined_line(commit: &MinedCommit) -> String {
    let [id, _, end] = row(commit).map(|part| part.render(Palette { colour: false }));
    let detail = commit.detail.as_deref().map(|detail| format!(": {detail}"));
    format!("{id} {end}{}", detail.unwrap_or_default())
}

/// Says who wrote the prompt, or why the agent did not.
fn prompt_lines(described: &Described) -> Vec<String> {
    let cost = described.cost_usd.map(prose::dollars);
    let cost = cost.map_or(String::new(), |cost| format!(", {cost}"));
    let Some(reason) = described.reason else {
        return vec![format!("prompt by {}{cost}", described.by.words())];
    };
    let kind = match reason {
        NoTask::Error(kind) => format!(" ({})", kind.as_str()),
        _ => String::new(),
    };
    let (agent, words) = (&described.by.agent, reason.words());
    let mut lines = vec![format!("prompt not by {agent}: {words}{kind}{cost}")];
    lines.extend(described.detail.clone());
    lines
}

fn row(commit: &MinedCommit) -> [StyledLine; 3] {
    let id: String = commit.commit.chars().take(SHORT).collect();
    let end = match &commit.eval {
        Some(eval) => styled(Role::Good, "written: ").plain(eval),
        None => styled(Role::Bad, "refused: ").plain(commit.reason.map_or("", Reason::words)),
    };
    [bold(&id), dim(&commit.date), end]
}

#[cfg(test)]
mod tests {
    use terca_core::new_suite::mine::Refusal;
    use terca_core::new_suite::mine::commit::Commit;
    use terca_core::new_suite::mine::describe::Writer;
    use terca_core::trial_error::ErrorKind;

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
        assert_eq!(
            [&commits[0], &commits[2]].map(mined_line),
            [
                "111111111 written: fix-it-111111111",
                "333333333 refused: its tests fail after the commit, too: 2 failed\u{1b}[1m",
            ]
        );
        let text = mined(&Mined::new("evals".into(), commits, None), 100)
            .render(Palette { colour: false });
        insta::assert_snapshot!(text, @r"
        111111111  2023-11-14  written: fix-it-111111111
        333333333  2023-11-14  refused: its tests fail after the commit, too
                               2 failed␛[1m

        1 commit refused: it is a merge
        2 commits refused: it adds or changes no tests
        1 eval written, 4 commits refused
        ");
    }

    #[test]
    fn the_writer_of_a_prompt_is_named() {
        let commit = |digit: &str| Commit {
            id: digit.repeat(40),
            parents: Vec::new(),
            seconds: 1_700_000_000,
            message: "Fix it".into(),
        };
        let by = |model: Option<&str>| Writer {
            agent: "claude-code".into(),
            model: model.map(str::to_owned),
        };
        let taken = Described {
            by: by(Some("opus")),
            cost_usd: Some(0.25),
            reason: None,
            detail: None,
        };
        let leaking = Described {
            by: by(None),
            cost_usd: Some(0.5),
            reason: Some(NoTask::Leak),
            detail: Some("it repeats a line of a.py".into()),
        };
        let failed = Described {
            by: by(None),
            cost_usd: None,
            reason: Some(NoTask::Error(ErrorKind::Auth)),
            detail: Some("HTTP 401".into()),
        };
        let written = |digit: &str, described| MinedCommit {
            described: Some(described),
            ..MinedCommit::written(&commit(digit), &format!("fix-it-{}", digit.repeat(9)))
        };
        let commits = vec![
            written("1", taken),
            written("2", leaking),
            written("3", failed),
        ];
        let text = mined(&Mined::new("evals".into(), commits, Some(0.75)), 120)
            .render(Palette { colour: false });
        insta::assert_snapshot!(text, @r"
        111111111  2023-11-14  written: fix-it-111111111
                               prompt by claude-code (opus), $0.250
        222222222  2023-11-14  written: fix-it-222222222
                               prompt not by claude-code: it leaks the answer, $0.500
                               it repeats a line of a.py
        333333333  2023-11-14  written: fix-it-333333333
                               prompt not by claude-code: an error (auth)
                               HTTP 401

        3 evals written, 0 commits refused; the prompts cost $0.750
        ");
    }
}
