//! The reason why experiments that ended have no verdict, in at most three lines, or what is told in its place.

use std::collections::BTreeMap;

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::NoVerdict;
use terca_core::text::prose;

use super::ablation::in_sentences;

/// Empty when there is a verdict, or nothing to compare.
pub(crate) fn no_verdict(results: &Results) -> Vec<String> {
    match results.summary.no_verdict {
        None => Vec::new(),
        Some(NoVerdict::Controls) => vec![
            "no verdict: `oracle`, `nop` and `cheat` check evals, and say nothing about experiments"
                .to_owned(),
        ],
        Some(NoVerdict::NothingJudged) => nothing_judged(results),
        Some(NoVerdict::Ablation) => {
            let parts = results.summary.ablation.as_ref();
            parts.map(in_sentences).unwrap_or_default()
        }
        Some(NoVerdict::OnlyFailed) => vec![
            "no verdict: only earlier failures were run, and more of those pass by chance alone"
                .to_owned(),
        ],
    }
}

fn nothing_judged(results: &Results) -> Vec<String> {
    let mut lines = vec!["no verdict: no trial was judged".to_owned()];
    let errors = || {
        let trials = results.trials.iter();
        trials.filter_map(|trial| Some((trial, trial.report.error.as_ref()?)))
    };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, error) in errors() {
        *kinds.entry(error.kind.as_str()).or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, number)| format!("{number} × `{kind}`"))
        .collect();
    if let Some((trial, error)) = errors().next() {
        lines.push(format!(
            "{} ended in errors: {}",
            prose::count(results.summary.errors, "trial"),
            prose::list(&kinds, "and")
        ));
        let message = error.message.lines().next().unwrap_or_default();
        lines.push(format!("the first, of `{}`: {message}", trial.head.eval));
    }
    lines
}
