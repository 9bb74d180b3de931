//! Tests by variants: which test is the one that is lost, and where.
//!
//! ```text
//! tests that lost points   without-rules  with-rules
//! 001-slug  behaves                  1/4         4/4
//!           documented               0/4         3/4
//! ```
//!
//! Only evals with several tests, one of which lost points: for the others the table of results says the same.

use terca_core::analysis::results::Results;
use terca_core::stats::sample::mean;

use crate::groups::grouped;
use crate::names::Names;
use crate::term::{Answer, Grid, Role, Side, StyledLine, bold, dim, plain, shorten, styled};

const WIDEST_TITLE: usize = 24;
const WIDEST_NAME: usize = 32;
const MOST_ROWS: usize = 200;

/// The environment and the experiment of a variant.
type Variant<'a> = (&'a str, &'a str);
/// A test of an eval, with the scores that it gave, by variant.
type Row<'a> = (&'a str, &'a str, Vec<(Variant<'a>, f64)>);

/// The table; empty where it would say no more than the results.
pub fn tests_table(results: &Results, columns: usize) -> Answer {
    let rows = rows(results);
    let mut answer = Answer::new(columns);
    if !rows.is_empty() {
        answer.panels(&table(results, &rows).panels(2, 1, columns));
    }
    answer
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let graded = results.trials.iter().flat_map(|trial| {
        let head = &*trial.head;
        let variant = (&*head.environment, &*head.experiment);
        let tests = trial.report.tests.iter();
        tests.map(move |(test, grade)| (&*head.eval, (test.as_str(), (variant, grade.score))))
    });
    let mut rows = Vec::new();
    for (eval, graded) in grouped(graded) {
        let is_lost = graded.iter().any(|(_, (_, score))| *score < 1.0);
        let tests = grouped(graded);
        if tests.len() > 1 && is_lost {
            rows.extend(tests.into_iter().map(|(test, scores)| (eval, test, scores)));
        }
    }
    rows.truncate(MOST_ROWS);
    rows
}

fn table(results: &Results, rows: &[Row<'_>]) -> Grid {
    let names = Names::of_results(results);
    let variants = results.summary.variants.iter();
    let variants: Vec<Variant<'_>> = variants
        .map(|variant| (&*variant.environment, &*variant.experiment))
        .collect();
    let titles = variants.iter().map(|(environment, experiment)| {
        let name = names.variant(environment, experiment);
        let name = if name.is_empty() { "passed" } else { &name };
        (bold(&shorten(name, WIDEST_TITLE)), Side::Right)
    });
    let labels = ["eval", "test"].map(|title| (bold(title), Side::Left));
    let mut grid = Grid::headed(labels.into_iter().chain(titles));
    let mut last = "";
    for (eval, test, scores) in rows {
        let shown = if *eval == last { "" } else { eval };
        last = eval;
        let names = [shown, test].map(|name| plain(&shorten(name, WIDEST_NAME)));
        let cells = variants.iter().map(|variant| cell(*variant, scores));
        grid.row(names.into_iter().chain(cells));
    }
    grid
}

/// `3/4`, with the mean score where some trials have a part of it.
fn cell(variant: Variant<'_>, scores: &[(Variant<'_>, f64)]) -> StyledLine {
    let own = scores.iter().filter(|(other, _)| *other == variant);
    let scores: Vec<f64> = own.map(|(_, score)| *score).collect();
    let Some(mean) = mean(&scores) else {
        return dim("–");
    };
    let passed = scores.iter().filter(|score| **score >= 1.0).count();
    let graded = scores.len();
    let mut text = format!("{passed}/{graded}");
    if (mean - passed as f64 / graded as f64).abs() > 1e-9 {
        text += &format!("  {mean:.2}");
    }
    styled(Role::of_score(mean), &text)
}

#[cfg(test)]
mod tests {
    use terca_core::grade::Grade;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::Palette;

    #[test]
    fn tests_by_variants() {
        let mut script = Script::new(fixture::heads(2, 2, 2), 1);
        for id in 1..=8 {
            let mut report = fixture::passed(1.0);
            // Of the first eval one test is lost, and one in part.
            if id <= 4 {
                for (test, score) in [("documented", f64::from(id % 2)), ("fast", 0.5)] {
                    let grade = Grade {
                        score,
                        ..Grade::default()
                    };
                    report.tests.push((test.into(), grade));
                }
            }
            script.finish(id, &report);
        }
        let results = script.results();
        insta::assert_snapshot!(
            "tests_table",
            tests_table(&results, 80).render(Palette::new(false))
        );
        let narrow = tests_table(&results, 30).render(Palette::new(false));
        assert_eq!(narrow.matches("documented").count(), 2, "{narrow}");
    }

    #[test]
    fn nothing_where_the_results_say_it() {
        let mut script = Script::new(fixture::heads(1, 1, 1), 1);
        script.finish(1, &fixture::failed(1.0, "only", "no"));
        assert_eq!(
            tests_table(&script.results(), 80).render(Palette::new(false)),
            ""
        );
    }
}
