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

use crate::term::paragraph::{INDENT, WIDEST_PROSE, paragraph};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::text::comparison_table::{ComparisonTable, LEFT_OUT};
use crate::text::verdicts::verdict;

/// Names are cut to this where the screen would not hold them whole.
const SHORT_NAME: usize = 16;

pub fn compared(compared: &Compared, columns: usize, palette: Palette) -> String {
    let prose = columns.min(WIDEST_PROSE);
    let mut parts = vec![
        paragraph((Role::Bold, ""), &title(compared), 0, prose, palette),
        table(compared, columns)
            .iter()
            .map(|line| format!("{}\n", line.render(palette)))
            .collect(),
        compared
            .comparisons
            .iter()
            .map(|comparison| told(comparison, prose, palette))
            .collect::<String>(),
    ];
    if let Some(matching) = &compared.matching {
        let remarks = remarks(matching, compared);
        parts.push(
            remarks
                .iter()
                .map(|(role, label, text)| paragraph((*role, label), text, 0, prose, palette))
                .collect(),
        );
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
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

/// All columns if there is room, else fewer, else shorter names: the widest that fits, or the narrowest.
fn table(compared: &Compared, columns: usize) -> Vec<StyledLine> {
    let table = ComparisonTable {
        title: String::new(),
        names: compared
            .comparisons
            .iter()
            .map(|comparison| names(comparison, compared))
            .collect(),
        comparisons: &compared.comparisons,
    };
    let fits = |table: &Vec<StyledLine>| table.iter().all(|line| line.width() <= columns);
    let ways = [usize::MAX, SHORT_NAME]
        .into_iter()
        .flat_map(|name| LEFT_OUT.map(|left_out| (name, left_out)));
    let mut tables = ways.map(|(name, left_out)| table.lines(name, left_out));
    let narrowest = || table.lines(SHORT_NAME, LEFT_OUT[LEFT_OUT.len() - 1]);
    tables
        .find(fits)
        .unwrap_or_else(|| narrowest().iter().map(|line| line.fit(columns)).collect())
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

fn told(comparison: &Comparison, columns: usize, palette: Palette) -> String {
    let mut text = verdict(comparison, columns, palette);
    if let Some(errors) = errors(comparison) {
        text += &paragraph(
            (Role::Trouble, "errors, counted separately: "),
            &errors,
            INDENT,
            columns,
            palette,
        );
    }
    for warning in &comparison.warnings {
        text += &paragraph((Role::Fair, "warning: "), warning, INDENT, columns, palette);
    }
    text
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
