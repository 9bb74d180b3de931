//! What `terca validate` found: one line for each eval, and what to do about those that prove nothing.

use camino::Utf8Path;
use terca_core::analysis::results::TrialResult;
use terca_core::analysis::summary::wording;
use terca_core::analysis::validation::{Flaw, Proof};
use terca_core::run::outcome::Status;

use crate::grid::{Grid, Side};
use crate::spans::Spans;
use crate::style::{Palette, Tone};

/// Evals by the three agents, with the verdict.
pub fn proofs_table(proofs: &[Proof<'_>], palette: Palette) -> String {
    let mut grid = Grid::new(&[Side::Left]);
    grid.row(["", "oracle", "nop", "cheat"].map(|title| Spans::of(Tone::Bold, title)));
    for proof in proofs {
        grid.row([
            Spans::plain(proof.eval),
            cell(proof.oracle, Tone::Good, Tone::Bad),
            cell(proof.nop, Tone::Bad, Tone::Good),
            cell(proof.cheat, Tone::Bad, Tone::Good),
            verdict(&proof.flaws()),
        ]);
    }
    grid.render(0, palette)
}

/// Passing is what the oracle should do and the others should not.
fn cell(trial: Option<&TrialResult>, passed: Tone, not_passed: Tone) -> Spans {
    let Some(trial) = trial else {
        return Spans::of(Tone::Dim, "–");
    };
    let status = trial.report.status;
    let tone = match status {
        Status::Passed => passed,
        status if status.is_judged() => not_passed,
        status => Tone::of_status(status),
    };
    let text = match trial.report.score {
        Some(score) if status == Status::Partial => {
            format!("{} {}", status.word(), wording::score(score))
        }
        _ => status.word().to_owned(),
    };
    Spans::of(tone, &text)
}

fn verdict(flaws: &[Flaw]) -> Spans {
    if flaws.is_empty() {
        return Spans::of(Tone::Good, "proven");
    }
    let words: Vec<&str> = flaws.iter().map(|flaw| flaw.word()).collect();
    Spans::of(Tone::Bad, &words.join(", "))
}

/// A line for every flaw: what it means, and which log to look at.
pub fn flaws(proofs: &[Proof<'_>], run_dir: &Utf8Path, palette: Palette) -> String {
    let mut text = String::new();
    for proof in proofs {
        for flaw in proof.flaws() {
            let mut line = Spans::of(Tone::Bold, proof.eval).with(Tone::Plain, " is ");
            line = match flaw {
                Flaw::NoSolution => Spans::of(Tone::Bold, proof.eval).with(Tone::Plain, " has "),
                Flaw::Unknown => line.with(Tone::Plain, "not known to be proven: "),
                _ => line,
            };
            line = match flaw {
                Flaw::Unknown => line,
                flaw => line.with(Tone::Bad, flaw.word()).with(Tone::Plain, ": "),
            };
            text += &line
                .with(Tone::Plain, &explained(proof, flaw, run_dir))
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
            "nothing shows that it can be passed; add a _solution/ directory".into()
        }
        Flaw::Broken => format!(
            "its own solution does not pass{}{}",
            loss(proof.oracle),
            log(proof.oracle)
        ),
        Flaw::Trivial => format!(
            "it passes when nothing is done; ask for more{}",
            log(proof.nop)
        ),
        Flaw::Gameable => {
            format!(
                "it passes without the work; put its tests out of reach{}",
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
            let reason = error.map_or("a trial did not come to its end", |error| {
                error.message.as_str()
            });
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
                    head: fixture::head(1, eval, agent, "default", 1),
                    report,
                    earlier: Vec::new(),
                    spent: Default::default(),
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
            proofs_table(&proofs, palette),
            flaws(&proofs, Utf8Path::new(".terca/runs/1"), palette)
        );
        insta::assert_snapshot!("proofs", text);
    }

    #[test]
    fn passing_is_good_for_the_oracle_alone() {
        let results = results();
        let table = proofs_table(&proofs(&results), Palette { colour: true });
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
