//! Warnings to read before believing a comparison.

use super::DeliveryCounts;
use super::comparison::{ArmFigures, Comparison};
use crate::stats::ALPHA;
use crate::text::prose;

pub(super) fn of(comparison: &Comparison, delivery: &DeliveryCounts) -> Vec<String> {
    let mut warnings: Vec<String> = [errors(comparison), left_out(comparison)]
        .into_iter()
        .flatten()
        .collect();
    warnings.extend(without_figures(comparison));
    warnings.extend(undelivered(comparison, delivery));
    warnings
}

/// Two arms that are the same: a difference between them is luck.
pub(super) fn identical(comparison: &Comparison) -> String {
    let Comparison { arm, baseline, .. } = comparison;
    format!("`{arm}` is the same as `{baseline}` except for its name: any difference is luck")
}

/// Trials that are missing in a ratio that is told.
fn without_figures(comparison: &Comparison) -> Vec<String> {
    let known = [
        (&comparison.cost_usd, "cost"),
        (&comparison.tokens, "tokens"),
        (&comparison.seconds, "time"),
    ];
    let mut warnings = Vec::new();
    for (effect, noun) in known {
        let of_zero = (effect.zeros, "reported 0 for the");
        let of_unknown = (effect.unknown, "did not report the");
        for (number, did) in [of_zero, of_unknown] {
            if number > 0 && effect.value.is_some() {
                let trials = prose::count(number, "trial");
                let is = if number == 1 { "is" } else { "are" };
                warnings.push(format!(
                    "{trials} {did} {noun}, and {is} not part of its ratio"
                ));
            }
        }
    }
    warnings
}

/// Errors that hit one arm more than the other leave a sample that is not fair.
fn errors(comparison: &Comparison) -> Option<String> {
    let ArmFigures { arm, baseline } = &comparison.figures;
    let share = |name: &str, errors: usize, judged: usize| {
        format!("{errors} of {} with `{name}`", errors + judged)
    };
    (comparison.errors_p < ALPHA).then(|| {
        format!(
            "trials ended in errors more often on one side than luck can explain: {}, {}; errors are not counted as \
             failures, so do not trust this verdict before their cause is fixed",
            share(&comparison.arm, arm.errors, arm.judged),
            share(&comparison.baseline, baseline.errors, baseline.judged),
        )
    })
}

fn left_out(comparison: &Comparison) -> Option<String> {
    let names = &comparison.left_out;
    let (was, is) = if names.len() == 1 {
        ("was", "is")
    } else {
        ("were", "are")
    };
    (!names.is_empty()).then(|| {
        let evals = prose::count(names.len(), "eval");
        let names = prose::quoted_list(names, "and");
        format!("{evals} {was} not judged on both sides and {is} left out: {names}")
    })
}

fn undelivered(comparison: &Comparison, delivery: &DeliveryCounts) -> Vec<String> {
    let arm = &comparison.arm;
    let of_server = |(name, counts): (&String, &super::McpCounts)| {
        let never = |number: usize, known: usize| {
            counts.trials > 0 && known == counts.trials && number == 0
        };
        if never(counts.connected, counts.status_known) {
            Some(format!("MCP server `{name}` never connected with `{arm}`"))
        } else if never(counts.used, counts.calls_known) {
            Some(format!("MCP server `{name}` was never used with `{arm}`"))
        } else {
            None
        }
    };
    let mut warnings = delivery.undelivered(arm);
    warnings.extend(delivery.mcp_servers.iter().filter_map(of_server));
    warnings
}
