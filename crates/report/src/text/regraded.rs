//! The changes of another grading: one line for each trial that is judged differently now.

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording;
use terca_core::run::outcome::TrialReport;
use terca_core::text::prose;

use crate::names::Names;
use crate::term::{Answer, Grid, Role, StyledLine, UNLIMITED, dim, plain, styled};

pub fn regraded(before: &Results, now: &Results) -> Answer {
    let graded = now.trials.iter();
    let graded = graded.filter(|trial| trial.report.grading == now.grading);
    let names = Names::of_results(now);
    let mut grid = Grid::default();
    let mut changed = 0;
    for (old, new) in before.trials.iter().zip(&now.trials) {
        let [then, after] = [old, new].map(|trial| outcome(&trial.report));
        if then != after {
            changed += 1;
            let why = reason(&new.report);
            let name = plain(&names.trial(&new.head));
            grid.row([name, then.plain(" →"), after, dim(&why)]);
        }
    }
    let count = match changed {
        0 => "none is judged differently".to_owned(),
        1 => "1 is judged differently".to_owned(),
        number => format!("{number} are judged differently"),
    };
    let trials = prose::count(graded.count(), "trial");
    let mut answer = Answer::new(UNLIMITED);
    answer.line(plain(&format!(
        "grading {}: {trials}, {count}",
        now.grading
    )));
    answer.whole_table(&grid, 0);
    answer
}

fn outcome(report: &TrialReport) -> StyledLine {
    let word = report.status.as_str();
    let role = Role::of_status(report.status);
    match report.score {
        Some(score) => styled(role, &format!("{word} {}", wording::score(score))),
        None => styled(role, word),
    }
}

/// The first thing that was not right.
fn reason(report: &TrialReport) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    match (&report.error, report.losses().next()) {
        (Some(error), _) => first(&error.message),
        (None, Some((name, grade))) => first(&format!("{name}: {}", grade.message)),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::Palette;
    use terca_core::run::event::{EventKind, RegradedTrial, RunStatus};

    #[test]
    fn what_changed_and_what_did_not() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 1);
        for id in 1..=4 {
            script.start(id).finish(id, &fixture::passed(3.0));
        }
        script.end(RunStatus::Complete);
        let before = script.results();
        let again = |trial, report: TrialReport| RegradedTrial {
            trial,
            report: TrialReport {
                grading: 2,
                ..report
            },
        };
        let trials = vec![
            again(1, fixture::passed(3.0)),
            again(
                2,
                fixture::failed(3.0, "check-file", "fib.js does not exist"),
            ),
            again(3, fixture::partial(3.0, 0.5)),
        ];
        script.add(EventKind::Regraded {
            grading: 2,
            other_tests: std::collections::BTreeMap::new(),
            trials,
        });
        insta::assert_snapshot!(
            "regraded",
            regraded(&before, &script.results()).render(Palette::new(false))
        );
        let same = regraded(&before, &before).render(Palette::new(false));
        assert_eq!(same, "grading 1: 4 trials, none is judged differently\n");
    }
}
