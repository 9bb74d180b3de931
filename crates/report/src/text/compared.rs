//! The answer of `terca compare`: the two sides, a row of figures for each place, and the verdicts.
//!
//! ```text
//! 2026-11-14-002 against 2026-11-14-001: 12 evals; margin 10 points
//!
//!                    pass rate  points   interval      p   cost   time
//! gemini.with-rules  60 → 83 %     +23  +11 … +35  0.004  1.14×  1.08×  BETTER
//!
//! BETTER on these 12 evals (gemini.with-rules): …
//!   errors, counted separately: 2 of 60 with `2026-11-14-002`, none of 60 with `2026-11-14-001`
//!
//! changed: the prompt and tests of `fib`
//! only in 2026-11-14-001: the eval `sort`
//! ```

use terca_core::analysis::compare::Compared;
use terca_core::analysis::summary::{ArmFigures, By, Comparison};
use terca_core::config::verdict::margin_in_points;
use terca_core::text::prose;

use crate::term::{Answer, Grid, Role};
use crate::text::comparison_table::{ComparisonTable, LEFT_OUT};
use crate::text::verdicts::{tell_verdict, tell_warnings};

/// Names are cut to this where the screen would not hold them whole.
const SHORT_NAME: usize = 16;

pub fn compared(compared: &Compared, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    answer.say(Role::Bold, "", &title(compared));
    answer.end_part();
    answer.table(tables(compared));
    answer.end_part();
    for comparison in &compared.comparisons {
        tell_verdict(comparison, &mut answer);
        if let Some(errors) = errors(comparison) {
            answer.note(Role::Trouble, ERRORS, &errors);
        }
        tell_warnings(comparison, &mut answer);
    }
    answer.end_part();
    for (role, label, text) in remarks(compared) {
        answer.say(role, &label, &text);
    }
    answer
}

/// `2026-11-14-002 against 2026-11-14-001: 12 evals; margin 10 points`.
pub(crate) fn title(compared: &Compared) -> String {
    let what = match (compared.by, compared.runs.as_slice()) {
        (By::Run, [baseline, other]) => {
            let evals = compared
                .matching
                .as_ref()
                .map_or(0, |matching| matching.evals.len());
            format!(
                "{other} against {baseline}: {}",
                prose::count(evals, "eval")
            )
        }
        (by, runs) => format!(
            "{}: {}s against {}",
            runs.join(", "),
            by.as_str(),
            compared.baseline
        ),
    };
    format!("{what}; margin {}", margin_in_points(compared.margin))
}

/// All columns if there is room, else fewer, else shorter names.
fn tables(compared: &Compared) -> Vec<Grid> {
    let comparisons = &compared.comparisons;
    let first = comparisons.first().map(|one| &one.place);
    let is_shared = comparisons
        .iter()
        .all(|one| one.place.is_some() && Some(&one.place) == first);
    // Arm and place, without what is the same in every row.
    let names = |comparison: &Comparison| {
        let place = comparison.place.as_deref().unwrap_or("all").to_owned();
        match compared.by {
            By::Run => [place, String::new()],
            _ if is_shared => [comparison.arm.clone(), String::new()],
            _ => [comparison.arm.clone(), place],
        }
    };
    let table = ComparisonTable {
        title: String::new(),
        names: comparisons.iter().map(names).collect(),
        comparisons,
    };
    let ways = [usize::MAX, SHORT_NAME].into_iter();
    let ways = ways.filter(|_| first.is_some());
    ways.flat_map(|name| LEFT_OUT.map(|left_out| table.grid(name, left_out)))
        .collect()
}

/// The label before [`errors`].
pub(crate) const ERRORS: &str = "errors, counted separately: ";

/// `2 of 60 with `rules`, none of 60 with `control``; nothing where there are none.
pub(crate) fn errors(comparison: &Comparison) -> Option<String> {
    let ArmFigures { arm, baseline } = &comparison.figures;
    let share = |name: &str, errors: usize, judged: usize| {
        let number = match errors {
            0 => "none".to_owned(),
            errors => errors.to_string(),
        };
        format!("{number} of {} with `{name}`", errors + judged)
    };
    let of_arm = share(&comparison.arm, arm.errors, arm.judged);
    let of_baseline = share(&comparison.baseline, baseline.errors, baseline.judged);
    (arm.errors + baseline.errors > 0).then(|| format!("{of_arm}, {of_baseline}"))
}

/// Remarks about two runs: the changes between them, and the parts that only one of them has.
pub(crate) fn remarks(compared: &Compared) -> Vec<(Role, String, String)> {
    let Some(matching) = &compared.matching else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    let mut warn = |label: &str, text: String| remarks.push((Role::Fair, label.to_owned(), text));
    let [baseline, other] = [0, 1].map(|index| compared.runs.get(index).map_or("", String::as_str));
    const WARNING: &str = "warning: ";
    match &matching.changes {
        None => warn(
            WARNING,
            "a run has no fingerprints of its evals, so it is not known whether they changed"
                .to_owned(),
        ),
        Some(changes) => {
            for (whose, parts) in changes.evals.iter().chain(&changes.variants) {
                let parts: Vec<&String> = parts.iter().collect();
                let parts = prose::list(&parts, "and");
                warn("changed: ", format!("the {parts} of `{whose}`"));
            }
            let evals = changes.evals.len();
            let number = prose::count(evals, "eval");
            let (verb, them) = if evals == 1 {
                ("is", "it")
            } else {
                ("are", "them")
            };
            match evals {
                0 => {}
                _ if matching.changed_left_out => {
                    warn(WARNING, format!("{number} that changed {verb} left out"));
                }
                _ => warn(
                    WARNING,
                    format!(
                        "{number} changed between the runs, which may explain a difference; `--only-unchanged` \
                         leaves {them} out"
                    ),
                ),
            }
        }
    }
    for change in &matching.access {
        let text = format!(
            "`{}` used other services or credentials: {baseline} with {}; {other} with {}",
            change.variant,
            change.baseline.join(" or "),
            change.other.join(" or "),
        );
        warn(WARNING, text);
    }
    let only = [&matching.only_in_baseline, &matching.only_in_other];
    for (run, only) in [baseline, other].into_iter().zip(only) {
        if !only.is_empty() {
            remarks.push((Role::Dim, format!("only in {run}: "), only.words()));
        }
    }
    remarks
}

#[cfg(test)]
mod tests;
