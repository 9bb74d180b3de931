//! Tests by variants: which test is the one that is lost, and where.
//!
//! ```text
//! tests that lost points   without-rules  with-rules
//! 001-slug  behaves                  1/4         4/4
//!           documented               0/4         3/4
//! ```
//!
//! Only evals with several tests, one of which lost points: for the others the table of results says the same.

use std::collections::HashMap;
use std::ops::Range;

use terca_core::analysis::results::{Results, TrialResult};

use crate::names::Names;
use crate::term::{Answer, Grid, Role, Side, StyledLine, dim, plain, shorten, styled, width};

const WIDEST_TITLE: usize = 24;
const WIDEST_NAME: usize = 32;
const GAP: usize = 2;
const MOST_ROWS: usize = 200;

/// The trials of a cell that passed a test, the trials that were graded by it, and the sum of their scores.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    graded: usize,
    score: f64,
}

/// A test of an eval, with its counts by variant.
struct Row<'a> {
    eval: &'a str,
    test: &'a str,
    counts: Vec<Count>,
}

/// The table; empty where it would say no more than the results.
pub fn tests_table(results: &Results, columns: usize) -> Answer {
    let variants = results.summary.variants.iter();
    let variants: Vec<(&str, &str)> = variants
        .map(|variant| (&*variant.environment, &*variant.experiment))
        .collect();
    let rows = rows(results, &variants);
    let mut answer = Answer::new(columns);
    if rows.is_empty() {
        return answer;
    }
    let names = Names::of_results(results);
    let titles: Vec<String> = variants
        .iter()
        .map(|(environment, experiment)| {
            let name = names.variant(environment, experiment);
            let name = if name.is_empty() { "passed" } else { &name };
            shorten(name, WIDEST_TITLE).into_owned()
        })
        .collect();
    for panel in panels(&rows, &titles, columns) {
        answer.end_part();
        answer.whole_table(&table(&rows, &titles, panel), 0);
    }
    answer
}

fn rows<'a>(results: &'a Results, variants: &[(&str, &str)]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for TrialResult { head, report, .. } in &results.trials {
        let variant = (head.environment.as_str(), head.experiment.as_str());
        let Some(column) = variants.iter().position(|known| *known == variant) else {
            continue;
        };
        for (test, grade) in &report.tests {
            let place = *places.entry((&head.eval, test)).or_insert_with(|| {
                rows.push(Row {
                    eval: &head.eval,
                    test,
                    counts: vec![Count::default(); variants.len()],
                });
                rows.len() - 1
            });
            let count = &mut rows[place].counts[column];
            count.passed += usize::from(grade.score >= 1.0);
            count.graded += 1;
            count.score += grade.score;
        }
    }
    // The place of each eval, its number of tests, and whether one of them lost points.
    let mut evals: HashMap<&str, (usize, usize, bool)> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        let (_, tests, is_lost) = evals.entry(row.eval).or_insert((place, 0, false));
        *tests += 1;
        *is_lost |= row.counts.iter().any(|count| count.passed < count.graded);
    }
    rows.retain(|row| evals[row.eval].1 > 1 && evals[row.eval].2);
    // Trials run in any order; the tests of an eval belong together.
    rows.sort_by_key(|row| evals[row.eval].0);
    rows.truncate(MOST_ROWS);
    rows
}

/// Divides the columns so that each table fits.
fn panels(rows: &[Row<'_>], titles: &[String], columns: usize) -> Vec<Range<usize>> {
    let widest = |name: fn(&Row<'_>) -> usize| rows.iter().map(name).max().unwrap_or(0);
    let labels = widest(|row| width(&shorten(row.eval, WIDEST_NAME)))
        + GAP
        + widest(|row| width(&shorten(row.test, WIDEST_NAME)));
    let mut panels = Vec::new();
    let (mut start, mut used) = (0, labels);
    for (column, title) in titles.iter().enumerate() {
        let needed = GAP + width(title).max("10/10  0.50".len());
        if column > start && used + needed > columns {
            panels.push(start..column);
            (start, used) = (column, labels);
        }
        used += needed;
    }
    panels.push(start..titles.len());
    panels
}

fn table(rows: &[Row<'_>], titles: &[String], panel: Range<usize>) -> Grid {
    let labels = ["eval", "test"].map(|title| (title, Side::Left));
    let variants = titles[panel.clone()].iter();
    let variants = variants.map(|title| (title.as_str(), Side::Right));
    let mut grid = Grid::titled(labels.into_iter().chain(variants));
    let mut last = "";
    for row in rows {
        let eval = if row.eval == last { "" } else { row.eval };
        last = row.eval;
        let names = [eval, row.test].map(|name| plain(&shorten(name, WIDEST_NAME)));
        let cells = row.counts[panel.clone()].iter().map(cell);
        grid.row(names.into_iter().chain(cells));
    }
    grid
}

/// `3/4`, with the mean score where some trials have a part of it.
fn cell(count: &Count) -> StyledLine {
    if count.graded == 0 {
        return dim("–");
    }
    let mean = count.score / count.graded as f64;
    let share = count.passed as f64 / count.graded as f64;
    let mut text = format!("{}/{}", count.passed, count.graded);
    if (mean - share).abs() > 1e-9 {
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
