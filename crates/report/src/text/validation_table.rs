//! The answer of `terca validate`: one line for each eval, and what to do about those that measure nothing.

use camino::Utf8Path;
use terca_core::agent::cheat::TRICKS;
use terca_core::analysis::results::TrialResult;
use terca_core::analysis::summary::wording;
use terca_core::analysis::validation::{Fall, Flaw, Proof};
use terca_core::run::outcome::Status;
use terca_core::text::prose;

use crate::term::{Answer, Grid, Role, Side, StyledLine, UNLIMITED, bold, dim, plain, styled};

/// Evals by the three agents, with the verdict.
pub fn validation_table(proofs: &[Proof<'_>]) -> Answer {
    let titles = ["", "oracle", "nop", "cheat"];
    let mut grid = Grid::titled(titles.map(|title| (title, Side::Left)));
    for proof in proofs {
        let flaws = proof.flaws();
        let role = if flaws.is_empty() {
            Role::Good
        } else {
            Role::Bad
        };
        grid.row([
            plain(proof.eval),
            cell(proof.oracle, Role::Good, Role::Bad),
            cell(proof.nop, Role::Bad, Role::Good),
            cell(proof.cheat, Role::Bad, Role::Good),
            styled(role, &verdict_words(&flaws)),
        ]);
    }
    let mut answer = Answer::new(UNLIMITED);
    answer.whole_table(&grid, 0);
    answer
}

/// Passing is what the oracle should do and the others should not.
fn cell(trial: Option<&TrialResult>, passed: Role, not_passed: Role) -> StyledLine {
    let Some(trial) = trial else {
        return dim("–");
    };
    let status = trial.report.status;
    let role = match status {
        Status::Passed => passed,
        status if status.is_judged() => not_passed,
        status => Role::of_status(status),
    };
    styled(role, &outcome(trial))
}

/// `passed`, or `partial 0.50`.
pub(crate) fn outcome(trial: &TrialResult) -> String {
    let status = trial.report.status;
    match trial.report.score {
        Some(score) if status == Status::Partial => {
            format!("{} {}", status.as_str(), wording::score(score))
        }
        _ => status.as_str().to_owned(),
    }
}

/// `withstood 16 tricks`, or the flaws.
pub(crate) fn verdict_words(flaws: &[Flaw]) -> String {
    if flaws.is_empty() {
        return format!("withstood {} tricks", TRICKS.len());
    }
    prose::joined(flaws.iter().map(|flaw| flaw.as_str()), ", ")
}

/// Returns the words between the eval and the explanation of a flaw: before the flaw, the flaw, and after it.
pub(crate) fn opening(flaw: Flaw) -> (&'static str, &'static str, &'static str) {
    match flaw {
        Flaw::NoSolution => (" has ", flaw.as_str(), ": "),
        Flaw::Unknown => (" is not checked: ", "", ""),
        _ => (" is ", flaw.as_str(), ": "),
    }
}

/// The tricks, each with what it does.
pub fn tricks_tried() -> Answer {
    let mut grid = Grid::titled([("trick", Side::Left), ("the cheat …", Side::Left)]);
    for trick in &TRICKS {
        grid.row([bold(trick.name), plain(trick.does)]);
    }
    let mut answer = Answer::new(UNLIMITED);
    answer.whole_table(&grid, 0);
    answer
}

/// A line for every flaw and every trick that works: what it means, and which log to look at.
pub fn flaws(proofs: &[Proof<'_>], run_dir: &Utf8Path) -> Answer {
    let mut answer = Answer::new(UNLIMITED);
    for proof in proofs {
        for flaw in proof.flaws() {
            let (before, word, after) = opening(flaw);
            let (mut told, trial) = explained(proof, flaw);
            if let Some(trial) = trial {
                told += &format!(" ({})", run_dir.join(&trial.head.dir).join("run.log"));
            }
            let title = bold(proof.eval).plain(before).with(Role::Bad, word);
            answer.line(title.plain(after).plain(&told));
            for fall in proof.falls().iter().filter(|_| flaw == Flaw::Gameable) {
                let (names, text) = fallen(fall);
                answer.line(bold(&format!("  {names}")).plain(&text));
            }
        }
    }
    answer
}

/// Returns what a flaw means, and the trial that shows it.
pub(crate) fn explained<'a>(proof: &Proof<'a>, flaw: Flaw) -> (String, Option<&'a TrialResult>) {
    match flaw {
        Flaw::Incomplete => (
            format!(
                "{}; add what is missing, then remove `incomplete` from the eval",
                proof.lacks.join("; ")
            ),
            None,
        ),
        Flaw::NoSolution => (
            "it is not known whether it can be passed; add a `_solution` directory".into(),
            None,
        ),
        Flaw::Broken => (
            format!("its own solution does not pass{}", loss(proof.oracle)),
            proof.oracle,
        ),
        Flaw::Trivial => (
            "it passes when the agent does nothing; tighten its tests".to_owned(),
            proof.nop,
        ),
        Flaw::Gameable => ("it passes without the work".to_owned(), proof.cheat),
        Flaw::Unknown => {
            let undecided = |trial: &&TrialResult| !trial.report.status.is_judged();
            let trial = [proof.oracle, proof.nop, proof.cheat]
                .into_iter()
                .flatten()
                .find(undecided);
            let error = trial.and_then(|trial| trial.report.error.as_ref());
            let reason = error.map_or("a trial did not finish", |error| error.message.as_str());
            (reason.to_owned(), trial)
        }
    }
}

/// Returns the names of tricks that work, and the words about them.
pub(crate) fn fallen(fall: &Fall<'_>) -> (String, String) {
    let tricks = fall.tricks.iter();
    let names = prose::joined(tricks.map(|trick| trick.name), ", ");
    match fall.tricks.as_slice() {
        [trick] => (names, format!(" works: it {}; {}", trick.does, trick.cure)),
        _ => (
            names,
            " work together, and none of them by itself".to_owned(),
        ),
    }
}

/// The first test that lost points, with its reason.
fn loss(trial: Option<&TrialResult>) -> String {
    let lost = trial.and_then(|trial| trial.report.losses().next());
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
    use crate::term::Palette;

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
            validation_table(&proofs).render(palette),
            flaws(&proofs, Utf8Path::new(".terca/runs/1")).render(palette)
        );
        insta::assert_snapshot!("proofs", text);
    }

    #[test]
    fn passing_is_good_for_the_oracle_alone() {
        let results = results();
        let table = validation_table(&proofs(&results)).render(Palette { colour: true });
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
