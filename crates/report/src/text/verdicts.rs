//! The experiments against the baseline, under the table of a run: a row of figures for each comparison, and then
//! each verdict as a sentence, with what to know before believing it.
//!
//! ```text
//! against control   pass rate  points   interval      p  tokens   cost   time
//! with-rules      60 → 83 %     +23  +11 … +35  0.004   1.31×  1.14×  1.08×  BETTER
//!
//! BETTER: `with-rules` is better than `control`: 83 % against 60 % of trials passed (…), at 1.14 × the cost.
//!   MCP server `firebase`: connected 30/30, used in 11/30
//! ```

use terca_core::analysis::metrics::COMPARISON_METRICS;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Comparison, Summary, Verdict};
use terca_core::text::prose;

use crate::context::Context;
use crate::metrics::known;
use crate::term::grid::{Grid, Side};
use crate::term::paragraph::{INDENT, WIDEST_PROSE, paragraph};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

/// Columns to leave out on a narrow screen; when even the last choice is too wide, the sentences say it all.
pub(crate) const LEFT_OUT: [&[&str]; 4] = [
    &[],
    &["tokens"],
    &["tokens", "time"],
    &["tokens", "time", "cost"],
];

/// So many comparisons have a sentence each at the end of a run.
const FEW: usize = 5;

/// Empty when there is nothing to compare, or not yet.
pub fn verdicts(results: &Results, columns: usize, palette: Palette) -> String {
    let comparisons: Vec<&Comparison> = results.summary.comparisons.iter().collect();
    told_after_figures(results, &comparisons, columns, palette)
}

/// The verdicts for the end of a run. Where there are many, only those that found a difference have a sentence, and
/// only a handful of them.
pub fn brief_verdicts(
    results: &Results,
    here: Context<'_>,
    columns: usize,
    palette: Palette,
) -> String {
    let all = &results.summary.comparisons;
    if all.len() <= FEW {
        return verdicts(results, columns, palette);
    }
    let differences = all.iter().filter(|one| one.verdict.is_difference());
    let told: Vec<&Comparison> = differences.take(FEW).collect();
    let text = told_after_figures(results, &told, columns, palette);
    let is_told = |one: &Comparison| told.iter().any(|other| std::ptr::eq(*other, one));
    let others: Vec<&Comparison> = all.iter().filter(|one| !is_told(one)).collect();
    let doubtful = others.iter().filter(|one| !one.warnings.is_empty()).count();
    let mut rest = prose::count(others.len(), "more comparison");
    if doubtful > 0 {
        rest += &format!(", {doubtful} with warnings");
    }
    rest += &format!(
        ": `{} show {}` has a sentence on each",
        here.terca, results.run
    );
    let columns = columns.min(WIDEST_PROSE);
    text + &paragraph((Role::Plain, ""), &rest, 0, columns, palette)
}

/// The figures of all comparisons, and sentences on these.
fn told_after_figures(
    results: &Results,
    comparisons: &[&Comparison],
    columns: usize,
    palette: Palette,
) -> String {
    let summary = &results.summary;
    let tables = LEFT_OUT.iter().map(|left_out| figures(summary, left_out));
    let fitting = tables
        .into_iter()
        .find(|table| table.iter().all(|line| line.width() <= columns));
    let table: String = fitting
        .iter()
        .flatten()
        .map(|line| format!("{}\n", line.render(palette)))
        .collect();
    let sentences: Vec<String> = comparisons
        .iter()
        .map(|comparison| told(comparison, summary, columns, palette))
        .collect();
    if table.is_empty() {
        sentences.concat()
    } else {
        format!("{table}\n{}", sentences.concat())
    }
}

fn figures(summary: &Summary, left_out: &[&str]) -> Vec<StyledLine> {
    let Some(first) = summary.comparisons.first() else {
        return Vec::new();
    };
    let columns = || {
        COMPARISON_METRICS
            .iter()
            .filter(|metric| !left_out.contains(&metric.title))
    };
    let sides: Vec<Side> = [Side::Left; 2]
        .into_iter()
        .chain(columns().map(|_| Side::Right))
        .collect();
    let mut grid = Grid::new(&sides);
    let against = format!("against {}", first.baseline);
    let titles = [against.as_str(), ""]
        .into_iter()
        .chain(columns().map(|metric| metric.title));
    grid.row(titles.map(|title| StyledLine::of(Role::Bold, title)));
    let several = summary
        .comparisons
        .iter()
        .any(|comparison| comparison.place.is_none());
    for comparison in &summary.comparisons {
        let environment = if several {
            comparison.place.as_deref().unwrap_or("all")
        } else {
            ""
        };
        let names = [
            StyledLine::plain(&comparison.arm),
            StyledLine::of(Role::Dim, environment),
        ];
        let verdict = StyledLine::of(role(comparison.verdict), comparison.verdict.as_str());
        let figures = columns().map(|metric| known((metric.text)(comparison)));
        grid.row(names.into_iter().chain(figures).chain([verdict]));
    }
    grid.lines()
}

pub(crate) fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Better => Role::Good,
        Verdict::Worse => Role::Bad,
        Verdict::Equivalent => Role::Bold,
        Verdict::Inconclusive => Role::Fair,
    }
}

/// The verdict, whether the experiment reached the agent, and the warnings.
fn told(comparison: &Comparison, summary: &Summary, columns: usize, palette: Palette) -> String {
    let columns = columns.min(WIDEST_PROSE);
    let word = comparison.verdict.as_str();
    let mut text = paragraph(
        (role(comparison.verdict), &format!("{word}: ")),
        &comparison.sentence,
        0,
        columns,
        palette,
    );
    for sentence in delivered(comparison, summary) {
        text += &paragraph((Role::Plain, ""), &sentence, INDENT, columns, palette);
    }
    for warning in &comparison.warnings {
        text += &paragraph((Role::Fair, "warning: "), warning, INDENT, columns, palette);
    }
    text
}

/// Told once for every variant, beside the verdict on it.
pub(crate) fn delivered(comparison: &Comparison, summary: &Summary) -> Vec<String> {
    let environment = comparison.place.as_deref();
    let variant = summary.variants.iter().find(|variant| {
        Some(variant.environment.as_str()) == environment && variant.experiment == comparison.arm
    });
    variant.map_or_else(Vec::new, |variant| variant.delivery.sentences())
}

#[cfg(test)]
mod tests {
    use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
    use terca_core::run::event::RunStatus;
    use terca_core::run::outcome::TrialReport;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::width::width;
    use crate::text::failures::brief_failures;
    use crate::text::table::brief_table;

    /// Eight evals, five times each; `helps` says in which trials the rules make the difference.
    fn played(variants: usize, helps: impl Fn(u32) -> bool) -> Script {
        let heads = fixture::heads(8, variants, 5);
        let mut script = Script::new(heads.clone(), 4);
        for head in heads {
            let passes =
                head.id.is_multiple_of(3) || (head.experiment == "with-rules" && helps(head.id));
            let seconds = if head.experiment == "base" {
                40.0
            } else {
                44.0 + f64::from(head.id % 4)
            };
            let mut report = if passes {
                fixture::passed(seconds)
            } else {
                fixture::failed(seconds, "check", "no")
            };
            if head.experiment == "with-rules" {
                report = TrialReport {
                    delivery: delivery(head.id),
                    ..report
                };
            }
            script.start(head.id).finish(head.id, &report);
        }
        script.end(RunStatus::Complete);
        script
    }

    fn delivery(id: u32) -> Delivery {
        let server = McpDelivery {
            status: Some(McpStatus::Connected),
            calls: Some(u64::from(id.is_multiple_of(4))),
            failed_calls: Some(0),
        };
        Delivery {
            rules: vec![Installed {
                path: "GEMINI.md".into(),
                sha256: "…".into(),
                ..Installed::default()
            }],
            mcp_servers: [("firebase".to_owned(), server)].into(),
            ..Delivery::default()
        }
    }

    fn shown(script: &Script, columns: usize) -> String {
        verdicts(&script.results(), columns, Palette::new(false))
    }

    #[test]
    fn one_experiment() {
        let script = played(2, |id| id % 3 == 1);
        insta::assert_snapshot!("verdicts", shown(&script, 100));
        for (columns, titles) in [
            (79, "tokens   cost   time"),
            (78, "p   cost   time"),
            (70, "p   cost"),
            (63, "interval      p"),
        ] {
            let text = shown(&script, columns);
            let title = text.lines().next().unwrap();
            assert!(
                title.ends_with(titles) && width(title) <= columns,
                "{columns}: {text}"
            );
        }
    }

    #[test]
    fn in_two_environments_and_in_colour() {
        let script = played(4, |id| id % 20 < 10 && id % 3 == 1);
        insta::assert_snapshot!("verdicts_environments", shown(&script, 120));
        let coloured = verdicts(&script.results(), 120, Palette::new(true));
        assert!(coloured.contains("\u{1b}["), "{coloured}");
    }

    #[test]
    fn a_narrow_screen_has_the_sentences_alone() {
        let text = shown(&played(2, |_| false), 40);
        insta::assert_snapshot!("verdicts_narrow", text);
        assert!(text.lines().all(|line| width(line) <= 40), "{text}");
    }

    /// Three agents, five experiments, eight evals, three times each. One experiment helps.
    fn typical_of_its_size() -> Script {
        let mut heads = Vec::new();
        for eval in fixture::heads(8, 1, 1) {
            for agent in ["claude", "codex", "gemini"] {
                for experiment in ["base", "with-docs", "with-mcp", "with-rules", "with-skill"] {
                    for repetition in 1..=3 {
                        let id = heads.len() as u32 + 1;
                        heads.push(fixture::head(id, &eval.eval, agent, experiment, repetition));
                    }
                }
            }
        }
        let mut script = Script::new(heads.clone(), 4);
        for head in heads {
            let helps = head.experiment == "with-rules";
            let report = if helps || head.id.is_multiple_of(3) {
                fixture::passed(30.0)
            } else {
                fixture::failed(30.0, "check", "the function returns nothing")
            };
            script.start(head.id).finish(head.id, &report);
        }
        script.end(RunStatus::Complete);
        script
    }

    #[test]
    fn the_end_of_a_run_of_fifteen_variants_and_eight_evals_is_readable() {
        let results = typical_of_its_size().results();
        let here = fixture::here();
        let palette = Palette::new(false);
        let whole = verdicts(&results, 100, palette);
        let parts = [
            brief_table(&results, here, 100, palette),
            brief_failures(&results, here, palette),
            brief_verdicts(&results, here, 100, palette),
        ];
        insta::assert_snapshot!("end_of_fifteen_variants", parts.join("\n"));
        let lines: usize = parts.iter().map(|part| part.lines().count()).sum();
        assert!(lines <= 75, "{lines} lines");
        assert!(whole.lines().count() > parts[2].lines().count());
        assert_eq!(results.summary.comparisons.len(), 16);
        for comparison in &results.summary.comparisons {
            assert!(whole.contains(comparison.verdict.as_str()));
        }
        assert!(
            parts[2].contains("show 2026-11-14-001` has a sentence on each"),
            "{}",
            parts[2]
        );
    }

    #[test]
    fn nothing_to_compare_is_nothing_said() {
        assert_eq!(shown(&played(1, |_| true), 100), "");
        assert_eq!(shown(&fixture::busy_run(), 100), "", "not before the end");
    }
}
