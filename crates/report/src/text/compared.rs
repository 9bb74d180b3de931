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

use terca_core::analysis::compare::{Compared, Matching};
use terca_core::analysis::summary::{ArmFigures, By, Comparison};
use terca_core::config::verdict::margin_in_points;
use terca_core::text::prose;

use crate::term::answer::Answer;
use crate::term::grid::Grid;
use crate::term::style::{Palette, Role};
use crate::text::comparison_table::{ComparisonTable, LEFT_OUT};
use crate::text::verdicts::verdict;

/// Names are cut to this where the screen would not hold them whole.
const SHORT_NAME: usize = 16;

pub fn compared(compared: &Compared, columns: usize, palette: Palette) -> String {
    let mut answer = Answer::new(columns, palette);
    answer.say(Role::Bold, "", &title(compared));
    answer.end_part();
    answer.table(tables(compared));
    answer.end_part();
    for comparison in &compared.comparisons {
        told(comparison, &mut answer);
    }
    answer.end_part();
    if let Some(matching) = &compared.matching {
        for (role, label, text) in remarks(matching, compared) {
            answer.say(role, &label, &text);
        }
    }
    answer.into_text()
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
    let table = ComparisonTable {
        title: String::new(),
        names: compared
            .comparisons
            .iter()
            .map(|comparison| names(comparison, compared))
            .collect(),
        comparisons: &compared.comparisons,
    };
    if compared.comparisons.is_empty() {
        return Vec::new();
    }
    let ways = [usize::MAX, SHORT_NAME].into_iter();
    ways.flat_map(|name| LEFT_OUT.map(|left_out| table.grid(name, left_out)))
        .collect()
}

/// Arm and place, without what is the same in every row.
fn names(comparison: &Comparison, compared: &Compared) -> [String; 2] {
    let is_shared = compared
        .comparisons
        .iter()
        .all(|other| other.place.is_some())
        && compared
            .comparisons
            .windows(2)
            .all(|two| two[0].place == two[1].place);
    let place = comparison.place.as_deref().unwrap_or("all");
    match compared.by {
        By::Run => [place.to_owned(), String::new()],
        By::Experiment | By::Environment if is_shared => [comparison.arm.clone(), String::new()],
        By::Experiment | By::Environment => [comparison.arm.clone(), place.to_owned()],
    }
}

fn told(comparison: &Comparison, answer: &mut Answer) {
    verdict(comparison, answer);
    if let Some(errors) = errors(comparison) {
        answer.note(Role::Trouble, "errors, counted separately: ", &errors);
    }
    for warning in &comparison.warnings {
        answer.note(Role::Fair, "warning: ", warning);
    }
}

/// `2 of 60 with `rules`, none of 60 with `control``; nothing where there are none.
pub(crate) fn errors(comparison: &Comparison) -> Option<String> {
    let ArmFigures { arm, baseline } = &comparison.figures;
    let share = |name: &str, errors: usize, trials: usize| match errors {
        0 => format!("none of {trials} with `{name}`"),
        errors => format!("{errors} of {trials} with `{name}`"),
    };
    (arm.errors + baseline.errors > 0).then(|| {
        format!(
            "{}, {}",
            share(&comparison.arm, arm.errors, arm.errors + arm.judged),
            share(
                &comparison.baseline,
                baseline.errors,
                baseline.errors + baseline.judged
            )
        )
    })
}

/// Remarks about two runs: the changes between them, and the parts that only one of them has.
pub(crate) fn remarks(matching: &Matching, compared: &Compared) -> Vec<(Role, String, String)> {
    let mut remarks = Vec::new();
    let mut remark = |role, label: String, text: String| remarks.push((role, label, text));
    let [baseline, other] = [0, 1].map(|index| compared.runs.get(index).map_or("", String::as_str));
    match &matching.changes {
        None => remark(
            Role::Fair,
            "warning: ".to_owned(),
            "a run has no fingerprints of its evals, so it is not known whether they changed"
                .to_owned(),
        ),
        Some(changes) => {
            for (whose, parts) in changes.evals.iter().chain(&changes.variants) {
                let parts: Vec<&String> = parts.iter().collect();
                let text = format!("the {} of `{whose}`", prose::list(&parts, "and"));
                remark(Role::Fair, "changed: ".to_owned(), text);
            }
            let evals = changes.evals.len();
            if evals > 0 {
                let number = prose::count(evals, "eval");
                let verb = if evals == 1 { "is" } else { "are" };
                let text = if matching.changed_left_out {
                    format!("{number} that changed {verb} left out")
                } else {
                    format!(
                        "{number} changed between the runs, which may explain a difference; `--only-unchanged` \
                         leaves {} out",
                        if evals == 1 { "it" } else { "them" }
                    )
                };
                remark(Role::Fair, "warning: ".to_owned(), text);
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
        remark(Role::Fair, "warning: ".to_owned(), text);
    }
    for (run, only) in [
        (baseline, &matching.only_in_baseline),
        (other, &matching.only_in_other),
    ] {
        if !only.is_empty() {
            remark(Role::Dim, format!("only in {run}: "), only.words());
        }
    }
    remarks
}

#[cfg(test)]
mod tests;
