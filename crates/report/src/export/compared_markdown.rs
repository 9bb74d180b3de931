//! A comparison as Markdown, for a pull request.

use terca_core::analysis::compare::Compared;
use terca_core::analysis::metrics::{COMPARISON_METRICS, UNKNOWN};
use terca_core::analysis::summary::Comparison;

use super::markdown_text::{escaped, row, sentence};
use crate::text::compared::{ERRORS, errors, remarks, title};

/// Shows what `terca compare` found.
pub fn compared_markdown(compared: &Compared) -> String {
    let titles = COMPARISON_METRICS.iter().map(|metric| metric.title);
    let mut text = format!("### {}\n\n", sentence(&title(compared)));
    text += &row([compared.by.as_str(), compared.by.place()]
        .into_iter()
        .chain(titles)
        .chain(["errors", "verdict"]));
    let numbers = "---:|".repeat(COMPARISON_METRICS.len() + 1);
    text += &format!("|---|---|{numbers}---|\n");
    for comparison in &compared.comparisons {
        text += &row(cells(comparison));
    }
    text.push('\n');
    for comparison in &compared.comparisons {
        text += &format!(
            "- **{}** {}\n",
            comparison.verdict.as_str(),
            sentence(comparison.after_word())
        );
        let errors = errors(comparison).map(|errors| format!("{ERRORS}{errors}"));
        let warnings = comparison
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}"));
        for line in errors.into_iter().chain(warnings) {
            text += &format!("  - {}\n", sentence(&line));
        }
    }
    text.push('\n');
    for (_, label, words) in remarks(compared) {
        text += &format!("- {}{}\n", sentence(&label), sentence(&words));
    }
    text.trim_end().to_owned() + "\n"
}

fn cells(comparison: &Comparison) -> Vec<String> {
    let figures = &comparison.figures;
    let mut cells = vec![
        escaped(&comparison.arm),
        escaped(comparison.place.as_deref().unwrap_or("all")),
    ];
    for metric in &COMPARISON_METRICS {
        cells.push((metric.text)(comparison).unwrap_or_else(|| UNKNOWN.to_owned()));
    }
    cells.push(format!(
        "{} → {}",
        figures.baseline.errors, figures.arm.errors
    ));
    cells.push(format!("**{}**", comparison.verdict.as_str()));
    cells
}

#[cfg(test)]
mod tests {
    use terca_core::analysis::compare::within;
    use terca_core::analysis::summary::By;

    use super::*;
    use crate::fixture::{self, played_of, two_runs};

    #[test]
    fn markdown_for_a_pull_request() {
        insta::assert_snapshot!("compared_markdown", compared_markdown(&two_runs()));
    }

    #[test]
    fn names_are_not_markdown() {
        let mut heads = fixture::heads(8, 2, 5);
        for head in &mut heads {
            head.experiment = head.experiment.replace("with-rules", "a|b <b>*x*");
        }
        let state = played_of("2026-11-14-001", heads, |id, _| id % 3 == 0);
        let text = compared_markdown(&within(&state, By::Experiment, None, 0.05).unwrap());
        assert!(text.contains("| a\\|b \\<b\\>\\*x\\* |"), "{text}");
    }
}
