//! The changes of another grading: one line for each trial that is judged differently now.

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::wording;
use terca_core::run::outcome::TrialReport;
use terca_core::text::prose;

use crate::names::Names;
use crate::term::grid::{Grid, Side};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

pub fn regraded(before: &Results, now: &Results, palette: Palette) -> String {
    let graded = now
        .trials
        .iter()
        .filter(|trial| trial.report.grading == now.grading)
        .count();
    let changed: Vec<(&TrialReport, &TrialResult)> = before
        .trials
        .iter()
        .zip(&now.trials)
        .filter(|(old, new)| outcome_text(&old.report) != outcome_text(&new.report))
        .map(|(old, new)| (&*old.report, new))
        .collect();
    let count = match changed.len() {
        0 => "none is judged differently".to_owned(),
        1 => "1 is judged differently".to_owned(),
        number => format!("{number} are judged differently"),
    };
    let head = format!(
        "grading {}: {}, {count}\n",
        now.grading,
        prose::count(graded, "trial")
    );
    if changed.is_empty() {
        return head;
    }
    let names = Names::of(now.trials.iter().map(|trial| &*trial.head));
    let mut grid = Grid::new(&[Side::Left, Side::Left, Side::Left, Side::Left]);
    for (old, new) in changed {
        let role = |report: &TrialReport| Role::of_status(report.status);
        grid.row([
            StyledLine::plain(&names.trial(&new.head)),
            StyledLine::of(role(old), &outcome_text(old)).with(Role::Plain, " →"),
            StyledLine::of(role(&new.report), &outcome_text(&new.report)),
            StyledLine::of(Role::Dim, &reason(&new.report)),
        ]);
    }
    head + &grid.render(0, palette)
}

fn outcome_text(report: &TrialReport) -> String {
    match report.score {
        Some(score) => format!("{} {}", report.status.as_str(), wording::score(score)),
        None => report.status.as_str().to_owned(),
    }
}

/// The first thing that was not right.
fn reason(report: &TrialReport) -> String {
    let error = report.error.as_ref().map(|error| error.message.clone());
    let test = || {
        let failed = report.tests.iter().find(|(_, grade)| grade.score < 1.0);
        failed.map(|(name, grade)| format!("{name}: {}", grade.message))
    };
    error
        .or_else(test)
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
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
            regraded(&before, &script.results(), Palette::new(false))
        );
        let same = regraded(&before, &before, Palette::new(false));
        assert_eq!(same, "grading 1: 4 trials, none is judged differently\n");
    }
}
