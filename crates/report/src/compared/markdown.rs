//! The same as Markdown, for a pull request.

use terca_core::analysis::compare::Compared;
use terca_core::analysis::summary::wording::{probability, signed, times};
use terca_core::analysis::summary::{By, Comparison, Effect};

use super::{errors, remarks, title};
use crate::figure::UNKNOWN;
use crate::verdicts::{interval, rates};
use crate::width::clean;

pub fn compared_markdown(compared: &Compared) -> String {
    let (arm, place) = (compared.by.word(), compared.by.place());
    let mut text = format!("### {}\n\n", escaped(&title(compared)));
    text += &row(&[
        arm,
        place,
        "pass rate",
        "points",
        "95 % interval",
        "p",
        "tokens",
        "cost",
        "time",
        "errors",
        "verdict",
    ]);
    text += "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for comparison in &compared.comparisons {
        text += &figures(comparison);
    }
    text.push('\n');
    for comparison in &compared.comparisons {
        text += &format!(
            "- **{}**: {}\n",
            comparison.verdict.word(),
            quoted(&comparison.sentence)
        );
        let errors = errors(comparison).map(|errors| format!("errors, counted apart: {errors}"));
        let warnings = comparison
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}"));
        for line in errors.into_iter().chain(warnings) {
            text += &format!("  - {}\n", quoted(&line));
        }
    }
    let remarks = compared
        .matching
        .iter()
        .flat_map(|matching| remarks(matching, compared));
    let remarks: String = remarks
        .map(|(_, label, words)| format!("- {label}{}\n", quoted(&words)))
        .collect();
    if compared.by == By::Run && !remarks.is_empty() {
        text += &format!("\n{remarks}");
    }
    text
}

fn figures(comparison: &Comparison) -> String {
    let effect = &comparison.pass_rate;
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let ratio = |effect: &Effect| known(effect.value.map(|ratio| format!("{} ×", times(ratio))));
    let arms = &comparison.arms;
    let cells = [
        escaped(&comparison.experiment),
        escaped(comparison.environment.as_deref().unwrap_or("all")),
        known(rates(comparison)),
        known(effect.value.map(signed)),
        known(interval(effect)),
        known(effect.p_adjusted.map(probability)),
        ratio(&comparison.tokens),
        ratio(&comparison.cost_usd),
        ratio(&comparison.seconds),
        format!("{} → {}", arms.baseline.errors, arms.experiment.errors),
        format!("**{}**", comparison.verdict.word()),
    ];
    row(&cells.each_ref().map(String::as_str))
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A name is only a name: it makes no cell, no emphasis and no tag.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in clean(text).chars() {
        if "\\`*_[]<>|#&~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A sentence, in which names stand in back-quotes: there they need no more than to stay on their line.
fn quoted(text: &str) -> String {
    let text = clean(text);
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| {
        if index % 2 == 1 {
            part.to_owned()
        } else {
            escaped_prose(part)
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn escaped_prose(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('<', "\\<")
        .replace('*', "\\*")
        .replace('_', "\\_")
        .replace('[', "\\[")
}
