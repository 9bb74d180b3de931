//! The answer of `terca validate`: one line for each eval, and what to do about those that prove nothing.

use camino::Utf8Path;
use terca_core::analysis::results::TrialResult;
use terca_core::analysis::summary::wording;
use terca_core::analysis::validation::{Flaw, Proof};
use terca_core::run::outcome::Status;

use crate::term::grid::{Grid, Side};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

/// Evals by the three agents, with the verdict.
pub fn validation_table(proofs: &[Proof<'_>], palette: Palette) -> String {
    let mut grid = Grid::new(&[Side::Left]);
    grid.row(["", "oracle", "nop", "cheat"].map(|title| StyledLine::of(Role::Bold, title)));
    for proof in proofs {
        grid.row([
            StyledLine::plain(proof.eval),
            cell(proof.oracle, Role::Good, Role::Bad),
            cell(proof.nop, Role::Bad, Role::Good),
            cell(proof.cheat, Role::Bad, Role::Good),
            verdict(&proof.flaws()),
        ]);
    }
    grid.render(0, palette)
}

/// Passing is what the oracle should do and the others should not.
fn cell(trial: Option<&TrialResult>, passed: Role, not_passed: Role) -> StyledLine {
    let Some(trial) = trial else {
        return StyledLine::of(Role::Dim, "–");
    };
    let status = trial.report.status;
    let role = match status {
        Status::Passed => passed,
        status if status.is_judged() => not_passed,
        status => Role::of_status(status),
    };
    let text = match trial.report.score {
        Some(score) if status == Status::Partial => {
            format!("{} {}", status.as_str(), wording::score(score))
        }
        _ => status.as_str().to_owned(),
    };
    StyledLine::of(role, &text)
}

fn verdict(flaws: &[Flaw]) -> StyledLine {
    if flaws.is_empty() {
        return StyledLine::of(Role::Good, "proven");
    }
    let words: Vec<&str> = flaws.iter().map(|flaw| flaw.as_str()).collect();
    StyledLine::of(Role::Bad, &words.join(", "))
}

/// A line for every flaw: what it means, and which log to look at.
pub fn flaws(proofs: &[Proof<'_>], run_dir: &Utf8Path, palette: Palette) -> String {
    let mut text = String::new();
    for proof in proofs {
        for flaw in proof.flaws() {
            let mut line = StyledLine::of(Role::Bold, proof.eval).with(Role::Plain, " is ");
            line = match flaw {
                Flaw::NoSolution => {
                    StyledLine::of(Role::Bold, proof.eval).with(Role::Plain, " has ")
                }
                Flaw::Unknown => line.with(Role::Plain, "not checked: "),
                _ => line,
            };
            line = match flaw {
                Flaw::Unknown => line,
                flaw => line.with(Role::Bad, flaw.as_str()).with(Role::Plain, ": "),
            };
            text += &line
                .with(Role::Plain, &explained(proof, flaw, run_dir))
                .render(palette);
            text.push('\n');
        }
    }
    text
}

fn explained(proof: &Proof<'_>, flaw: Flaw, run_dir: &Utf8Path) -> String {
    let log = |trial: Option<&TrialResult>| {
        trial.map_or_else(String::new, |trial| {
            format!(" ({})", run_dir.join(&trial.head.dir).join("run.log"))
        })
    };
    match flaw {
        Flaw::NoSolution => {
            "it is not known whether it can be passed; add a `_solution` directory".into()
        }
        Flaw::Broken => format!(
            "its own solution does not pass{}{}",
            loss(proof.oracle),
            log(proof.oracle)
        ),
        Flaw::Trivial => format!(
            "it passes when the agent does nothing; tighten its tests{}",
            log(proof.nop)
        ),
        Flaw::Gameable => {
            format!(
                "it passes when the agent only cheats; make its tests independent of files that the agent can change{}",
                log(proof.cheat)
            )
        }
        Flaw::Unknown => {
            let undecided = |trial: &&TrialResult| !trial.report.status.is_judged();
            let trial = [proof.oracle, proof.nop, proof.cheat]
                .into_iter()
                .flatten()
                .find(undecided);
            let error = trial.and_then(|trial| trial.report.error.as_ref());
            let reason = error.map_or("a trial did not finish", |error| error.message.as_str());
            format!("{reason}{}", log(trial))
        }
    }
}

/// The first test that lost points, with its reason.
fn loss(trial: Option<&TrialResult>) -> String {
    let lost = trial.and_then(|trial| trial.report.tests.first_loss());
    lost.map_or_else(String::new, |(test, grade)| {
        format!(": {test}: {}", grade.message)
    })
}

#[cfg(test)]
mod tests {
    use terca_core::analysis::results::Results;
    use terca_core::analysis::validation::proofs;

    use super::*;
    use crate::fixture;

    fn results() -> Results {
        let mut results = Results::of(&Default::default());
        let rows = [
            (
                "fib",
                [
                    Some(Status::Passed),
                    Some(Status::Failed),
                    Some(Status::Partial),
                ],
            ),
            (
                "sort",
                [
                    Some(Status::Failed),
                    Some(Status::Failed),
                    Some(Status::Passed),
                ],
            ),
            ("empty", [None, Some(Status::Passed), Some(Status::Passed)]),
        ];
        for (eval, statuses) in rows {
            for (agent, status) in ["oracle", "nop", "cheat"].into_iter().zip(statuses) {
                let Some(status) = status else { continue };
                let mut report = terca_core::run::outcome::TrialReport::pending();
                (report.status, report.score) = (status, Some(0.5));
                results.trials.push(TrialResult {
                    head: fixture::head(1, eval, agent, "default", 1).into(),
                    report: report.into(),
                    earlier: Vec::new(),
                    spent: Default::default(),
                    remark: None,
                });
            }
        }
        results
    }

    #[test]
    fn the_table_and_what_it_means() {
        let results = results();
        let proofs = proofs(&results);
        let palette = Palette { colour: false };
        let text = format!(
            "{}\n{}",
            validation_table(&proofs, palette),
            flaws(&proofs, Utf8Path::new(".terca/runs/1"), palette)
        );
        insta::assert_snapshot!("proofs", text);
    }

    #[test]
    fn passing_is_good_for_the_oracle_alone() {
        let results = results();
        let table = validation_table(&proofs(&results), Palette { colour: true });
        let line = |eval: &str| {
            table
                .lines()
                .find(|line| line.contains(eval))
                .unwrap_or_default()
                .to_owned()
        };
        assert_eq!(
            line("fib").matches("\u{1b}[32m").count(),
            4,
            "{:?}",
            line("fib")
        );
        assert_eq!(
            line("sort").matches("\u{1b}[31m").count(),
            3,
            "{:?}",
            line("sort")
        );
    }
}
