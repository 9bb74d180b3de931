//! The experiments against the baseline, under the table of a run: a row of figures for each comparison, and then
//! each verdict as a sentence, with what to know before believing it; or the reason why there is none.
//!
//! ```text
//! BETTER on these 12 evals: 83 % of trials passed with `with-rules`, 60 % with `control` (…). 1.14 × the cost (…).
//!   MCP server `firebase`: connected 30/30, used in 11/30
//! ```

use std::collections::BTreeMap;

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Change, Comparison, NoVerdict, Summary};
use terca_core::text::prose;

use super::ablation::in_sentences;
use crate::context::Context;
use crate::groups::first_few;
use crate::term::{Answer, Role};
use crate::text::comparison_table::{ComparisonTable, LEFT_OUT, role};

/// So many comparisons have a sentence each at the end of a run.
const FEW: usize = 3;
/// So many evals that changed are named at the end of a run.
const MOST_NAMED: usize = 4;

/// Empty when there is nothing to compare, or not yet.
pub fn verdicts(results: &Results, columns: usize) -> Answer {
    let reason = no_verdict(results);
    let summary = &results.summary;
    let mut answer = match reason.is_empty() {
        true => figures(summary, columns),
        false => Answer::new(columns),
    };
    for line in &reason {
        answer.say(Role::Fair, "", line);
    }
    if reason.is_empty() {
        answer.end_part();
        for comparison in &summary.comparisons {
            tell_verdict(comparison, &mut answer);
            for sentence in delivered(comparison, summary) {
                answer.note(Role::Plain, "", &sentence);
            }
            tell_warnings(comparison, &mut answer);
        }
    }
    answer
}

/// The verdicts for the end of a run. Where there are many, the table has them all, and the sentences are left for `show`.
pub fn brief_verdicts(results: &Results, here: Context<'_>, columns: usize) -> Answer {
    let all = &results.summary.comparisons;
    if all.len() <= FEW {
        return verdicts(results, columns);
    }
    let mut answer = figures(&results.summary, columns);
    for line in changed(all) {
        answer.say(Role::Plain, "", &line);
    }
    let doubtful = all.iter().filter(|one| !one.warnings.is_empty()).count();
    let warnings = match doubtful {
        0 => String::new(),
        number => format!(", and warnings on {number}"),
    };
    let (terca, run) = (here.terca, &results.run);
    let number = all.len();
    let rest =
        format!("`{terca} show {run}` has sentences on each of the {number} comparisons{warnings}");
    answer.say(Role::Dim, "", &rest);
    answer
}

/// The evals that broke or were fixed anywhere, each once.
fn changed(comparisons: &[Comparison]) -> Vec<String> {
    let mut lines = Vec::new();
    for (change, word) in [(Change::Broke, "broke"), (Change::Mended, "fixed")] {
        let mut named: Vec<String> = Vec::new();
        for comparison in comparisons {
            let Some(place) = &comparison.place else {
                continue;
            };
            let evals = comparison.per_eval.iter();
            for eval in evals.filter(|eval| eval.change == Some(change)) {
                named.push(format!("`{}` ({place}, {})", eval.eval, comparison.arm));
            }
        }
        if !named.is_empty() {
            lines.push(format!("{word}: {}", first_few(&named, MOST_NAMED)));
        }
    }
    lines
}

/// Begins with the figures of all comparisons; where even the narrowest table is too wide, the sentences say it all.
fn figures(summary: &Summary, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    let comparisons = &summary.comparisons;
    let Some(first) = comparisons.first() else {
        return answer;
    };
    let several = comparisons.iter().any(|one| one.place.is_none());
    let place = |comparison: &Comparison| match &comparison.place {
        _ if !several => String::new(),
        Some(place) => place.clone(),
        None => "all".to_owned(),
    };
    let names = comparisons.iter().map(|one| [one.arm.clone(), place(one)]);
    let table = ComparisonTable {
        title: format!("against {}", first.baseline),
        names: names.collect(),
        comparisons,
    };
    let tables = LEFT_OUT.map(|left_out| table.grid(usize::MAX, left_out));
    answer.table(tables.into_iter().filter(|table| table.fits(columns)));
    answer
}

/// Tells the word in its colour, and the sentences after it.
pub(crate) fn tell_verdict(comparison: &Comparison, answer: &mut Answer) {
    let word = format!("{} ", comparison.verdict.as_str());
    answer.say(role(comparison.verdict), &word, comparison.after_word());
}

/// Tells what to know before believing a verdict.
pub(crate) fn tell_warnings(comparison: &Comparison, answer: &mut Answer) {
    for warning in &comparison.warnings {
        answer.note(Role::Fair, "warning: ", warning);
    }
}

/// Told once for every variant, beside the verdict on it.
pub(crate) fn delivered(comparison: &Comparison, summary: &Summary) -> Vec<String> {
    let environment = comparison.place.as_deref();
    let variant = summary.variants.iter().find(|variant| {
        Some(variant.environment.as_str()) == environment && variant.experiment == comparison.arm
    });
    variant.map_or_else(Vec::new, |variant| variant.delivery.sentences())
}

/// Empty when there is a verdict, or nothing to compare.
pub(crate) fn no_verdict(results: &Results) -> Vec<String> {
    let reason = match results.summary.no_verdict {
        None => return Vec::new(),
        Some(NoVerdict::Controls) => {
            "no verdict: `oracle`, `nop` and `cheat` check evals, and say nothing about experiments"
        }
        Some(NoVerdict::NothingJudged) => return nothing_judged(results),
        Some(NoVerdict::Ablation) => {
            let parts = results.summary.ablation.as_ref();
            return parts.map(in_sentences).unwrap_or_default();
        }
        Some(NoVerdict::OnlyFailed) => {
            "no verdict: only earlier failures were run, and more of those pass by chance alone"
        }
    };
    vec![reason.to_owned()]
}

fn nothing_judged(results: &Results) -> Vec<String> {
    let mut lines = vec!["no verdict: no trial was judged".to_owned()];
    let trials = results.trials.iter();
    let errors = trials.filter_map(|trial| Some((trial, trial.report.error.as_ref()?)));
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, error) in errors.clone() {
        *kinds.entry(error.kind.as_str()).or_default() += 1;
    }
    let kinds = kinds.iter();
    let kinds: Vec<String> = kinds
        .map(|(kind, number)| format!("{number} × `{kind}`"))
        .collect();
    if let Some((trial, error)) = errors.clone().next() {
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

#[cfg(test)]
mod tests {
    use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
    use terca_core::run::event::RunStatus;
    use terca_core::run::outcome::TrialReport;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::{Palette, width};
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
            tap: None,
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
        verdicts(&script.results(), columns).render(Palette::new(false))
    }

    #[test]
    fn one_experiment() {
        let script = played(2, |id| id % 3 == 1);
        insta::assert_snapshot!("verdicts", shown(&script, 100));
        let mut before = usize::MAX;
        for columns in [110, 100, 90, 80, 70, 60] {
            let text = shown(&script, columns);
            let title = text.lines().next().unwrap();
            assert!(width(title) <= columns, "{columns}: {text}");
            let shown = title.split_whitespace().count();
            assert!(shown <= before, "{columns}: {text}");
            before = shown;
        }
    }

    #[test]
    fn in_two_environments_and_in_colour() {
        let script = played(4, |id| id % 20 < 10 && id % 3 == 1);
        insta::assert_snapshot!("verdicts_environments", shown(&script, 120));
        let coloured = verdicts(&script.results(), 120).render(Palette::new(true));
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
        let whole = verdicts(&results, 100).render(palette);
        let parts = [
            brief_table(&results, here, 100).render(palette),
            brief_failures(&results, here).render(palette),
            brief_verdicts(&results, here, 100).render(palette),
        ];
        insta::assert_snapshot!("end_of_fifteen_variants", parts.join("\n"));
        let lines: usize = parts.iter().map(|part| part.lines().count()).sum();
        assert!(lines <= 52, "{lines} lines");
        assert!(whole.lines().count() > parts[2].lines().count());
        assert_eq!(results.summary.comparisons.len(), 16);
        for comparison in &results.summary.comparisons {
            assert!(whole.contains(comparison.verdict.as_str()));
        }
        assert!(
            parts[2].contains("show 2026-11-14-001` has sentences on each of the 16 comparisons"),
            "{}",
            parts[2]
        );
    }

    #[test]
    fn a_run_without_a_verdict_says_why() {
        let heads = fixture::heads(3, 2, 2);
        let mut script = Script::new(heads.clone(), 4);
        for head in &heads {
            let error = fixture::error("401: the key is not valid\nmore");
            script.start(head.id).finish(head.id, &error);
        }
        script.end(RunStatus::Complete);
        insta::assert_snapshot!("no_verdict", shown(&script, 80));
        let mut proof = heads;
        for head in &mut proof {
            head.agent = "oracle".into();
        }
        let mut script = Script::new(proof.clone(), 4);
        for head in &proof {
            script.start(head.id).finish(head.id, &fixture::passed(1.0));
        }
        script.end(RunStatus::Complete);
        insta::assert_snapshot!("no_verdict_of_controls", shown(&script, 80));
    }

    /// Trials that did not run say nothing about the evals.
    #[test]
    fn an_interrupted_run_does_not_call_its_evals_too_easy() {
        let said = |ended: usize| {
            let heads = fixture::heads(2, 2, 6);
            let mut script = Script::new(heads.clone(), 4);
            for head in heads
                .iter()
                .filter(|head| head.repetition as usize <= ended)
            {
                script.start(head.id).finish(head.id, &fixture::passed(1.0));
            }
            script.end(RunStatus::Interrupted);
            let text = shown(&script, 400);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let half = said(3);
        assert!(half.contains("from 12 of 24 trials"), "{half}");
        assert!(!half.contains("too easy"), "{half}");
        assert!(said(6).contains("too easy"), "{}", said(6));
    }

    #[test]
    fn nothing_to_compare_is_nothing_said() {
        assert_eq!(shown(&played(1, |_| true), 100), "");
        assert_eq!(shown(&fixture::busy_run(), 100), "", "not before the end");
    }
}
