//! A run as Markdown, for a pull request or the summary of a CI job: what it shows, then the table, then what failed.

use terca_core::analysis::compare::Compared;
use terca_core::analysis::metrics::{COMPARISON_METRICS, METRICS, UNKNOWN};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{percent, score as score_in_words};
use terca_core::analysis::summary::{Comparison, Figures, remarks};
use terca_core::text::prose;

use crate::export::markdown_text::{escaped, row, sentence};
use crate::metrics;
use crate::names::Names;
use crate::outcome::verdict;
use crate::term::Palette;
use crate::text::compared::{ERRORS, errors, remarks as remarks_on, title};
use crate::text::failures::entries;
use crate::text::footer::{counts, stopped};
use crate::text::verdicts::{delivered, no_verdict};
use crate::text::wire;

const MOST_FAILURES: usize = 100;

/// A part that would make the text longer than `limit` bytes is left out, and that is said in its place.
pub fn markdown(results: &Results, limit: usize) -> String {
    let names = Names::of_results(results);
    let mut text = format!("## Terca: {}\n\n", escaped(&results.suite));
    let parts = [
        ("The verdicts", verdicts(results)),
        ("The counts", totals(results)),
        ("The table", table(results, &names)),
        (
            "The list of remarks",
            list(&remarks::sentences(&results.summary.remarks)),
        ),
        (
            "The list of MCP servers",
            list(&wire::mcp_servers(&results.summary)),
        ),
        ("The list of requests to models", list(&wire::wire(results))),
        ("The list of descriptions", descriptions(results)),
        (
            "The list of trials that did not pass",
            failures(results, &names),
        ),
    ];
    // Space for the sentences that replace omitted parts.
    let limit = limit.saturating_sub(1_000);
    for (name, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        if text.len() + part.len() <= limit {
            text += part;
        } else {
            text += &format!(
                "{name} would be too long here; see `terca show {}`.\n\n",
                results.run
            );
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// One sentence for each comparison, with what to know before believing it.
fn verdicts(results: &Results) -> String {
    let summary = &results.summary;
    let mut text = String::new();
    for line in no_verdict(results) {
        text += &format!("{}\n\n", sentence(&line));
    }
    for comparison in &summary.comparisons {
        text += &verdict_item(comparison);
        for line in delivered(comparison, summary) {
            text += &format!("  - {}\n", sentence(&line));
        }
        for line in &comparison.warnings {
            text += &format!("  - ⚠️ {}\n", sentence(line));
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

fn verdict_item(comparison: &Comparison) -> String {
    let word = comparison.verdict.as_str();
    format!("- **{word}** {}\n", sentence(comparison.after_word()))
}

fn list(sentences: &[String]) -> String {
    let mut text = String::new();
    for line in sentences {
        text += &format!("- {}\n", sentence(line));
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// `**24 trials: 16 passed, 5 failed, in 3m 05s** · $0.82`, and the run's name.
fn totals(results: &Results) -> String {
    let counted = counts(results).render(Palette::new(false));
    let used = metrics::spent(&results.summary.spent);
    let used = match used.as_str() {
        "" => String::new(),
        used => format!(" · {}", escaped(used)),
    };
    let (counted, run) = (escaped(&counted), escaped(&results.run));
    let mut text = format!("**{counted}**{used} · run {run}\n\n");
    for said in stopped(results) {
        text += &format!("⚠️ {}.\n\n", escaped(&said));
    }
    text
}

/// Evals by variants; the figures over all evals are below.
fn table(results: &Results, names: &Names) -> String {
    let summary = &results.summary;
    let variants = &summary.variants;
    if variants.is_empty() {
        return String::new();
    }
    let titles = variants.iter().map(|variant| {
        let name = names.variant(&variant.environment, &variant.experiment);
        if name.is_empty() {
            "passed".to_owned()
        } else {
            escaped(&name)
        }
    });
    let mut text = row(["eval".to_owned()].into_iter().chain(titles));
    text += &format!("|---|{}\n", "---:|".repeat(variants.len()));
    let cells = metrics::cells(summary);
    for eval in metrics::evals(summary) {
        let figures = variants.iter().map(|variant| {
            let place = [eval, &variant.environment, &variant.experiment];
            cells
                .get(&place)
                .map(|figures| cell(figures))
                .unwrap_or_default()
        });
        text += &row([escaped(eval)].into_iter().chain(figures));
    }
    for metric in &METRICS {
        let title = format!("**{}**", metric.title);
        let cells = variants.iter().map(|variant| metric.text(&variant.figures));
        text += &row([title].into_iter().chain(cells));
    }
    for (title, shares) in metrics::further_shares(variants.iter().map(|variant| &variant.figures))
    {
        let title = format!("**{}**", escaped(&title));
        let shares = shares.into_iter();
        let shares = shares.map(|share| share.map_or_else(|| UNKNOWN.to_owned(), percent));
        text += &row([title].into_iter().chain(shares));
    }
    text + "\n"
}

/// `✅ 4/4 · 1 retried`, `🟡 2/4 · 0.62`, `❌ 0/3 · 0.00 · 1 error`.
fn cell(figures: &Figures) -> String {
    let errors = (figures.errors > 0).then(|| prose::count(figures.errors, "error"));
    let unfinished = (figures.unfinished > 0).then(|| format!("{} not run", figures.unfinished));
    let told = match (figures.judged, figures.mean_score) {
        (0, _) | (_, None) => (figures.errors > 0).then(|| "⚠️".to_owned()),
        (judged, Some(_)) if figures.passed == judged => Some(format!("✅ {judged}/{judged}")),
        (judged, Some(score)) => {
            let mark = if score > 0.0 { "🟡" } else { "❌" };
            Some(format!(
                "{mark} {}/{judged} · {}",
                figures.passed,
                score_in_words(score)
            ))
        }
    };
    let notes = [told, metrics::retried(figures), errors, unfinished];
    prose::joined(notes.into_iter().flatten(), " · ").replacen("⚠️ · ", "⚠️ ", 1)
}

/// The texts of the suite about itself, folded.
fn descriptions(results: &Results) -> String {
    let about = &results.descriptions;
    let mut rows = String::new();
    if let Some(text) = &about.suite {
        rows += &row(["suite".to_owned(), escaped(&results.suite), escaped(text)]);
    }
    for (kind, texts) in [
        ("eval", &about.evals),
        ("environment", &about.environments),
        ("experiment", &about.experiments),
    ] {
        for (name, text) in texts {
            rows += &row([kind.to_owned(), escaped(name), escaped(text)]);
        }
    }
    for (eval, tests) in &about.tests {
        for (name, text) in tests {
            let name = escaped(&format!("{eval}: {name}"));
            rows += &row(["test".to_owned(), name, escaped(text)]);
        }
    }
    folded("Descriptions", "| | name | description |", &rows)
}

/// A table of three columns that readers open on demand. Nothing without rows.
fn folded(title: &str, head: &str, rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<details>\n<summary>{title}</summary>\n\n{head}\n|---|---|---|\n{rows}\n</details>\n\n"
    )
}

fn failures(results: &Results, names: &Names) -> String {
    let entries = entries(results);
    let number: usize = entries.iter().map(|entry| entry.trials.len()).sum();
    let mut rows = String::new();
    for entry in entries.iter().take(MOST_FAILURES) {
        let score = verdict(&entry.trials[0].report);
        rows += &row([
            escaped(&entry.name(names)),
            score,
            prose::joined(entry.reasons.iter().map(|reason| escaped(reason)), "<br>"),
        ]);
    }
    if entries.len() > MOST_FAILURES {
        rows += &format!("\n… and {} more.\n", entries.len() - MOST_FAILURES);
    }
    let title = format!("{} did not pass", prose::count(number, "trial"));
    folded(&title, "| trial | score | why |", &rows)
}

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
        text += &row(comparison_cells(comparison));
    }
    text.push('\n');
    for comparison in &compared.comparisons {
        text += &verdict_item(comparison);
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
    for (_, label, words) in remarks_on(compared) {
        text += &format!("- {}{}\n", sentence(&label), sentence(&words));
    }
    text.trim_end().to_owned() + "\n"
}

fn comparison_cells(comparison: &Comparison) -> Vec<String> {
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
    use terca_core::run::event::RunStatus;

    use terca_core::analysis::compare::within;
    use terca_core::analysis::summary::By;

    use super::*;
    use crate::fixture::{self, Script, played_of, two_runs};

    const ROOM: usize = 1024 * 1024;

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!("markdown", markdown(&fixture::mixed_run().results(), ROOM));
    }

    #[test]
    fn one_variant_that_nobody_named() {
        let mut script = Script::new(vec![fixture::head(1, "fib", "default", "default", 1)], 1);
        script
            .start(1)
            .pass(3.5)
            .finish(1, &fixture::passed(3.5))
            .end(RunStatus::Complete);
        insta::assert_snapshot!("markdown_one", markdown(&script.results(), ROOM));
    }

    #[test]
    fn hostile_names_and_messages_stay_in_their_cells() {
        let heads = vec![
            fixture::head(1, "a|b\n|x|", "`env`", "<b>x</b>", 1),
            fixture::head(2, "@octocat #1", "`env`", "</details>", 1),
        ];
        let mut script = Script::new(heads, 1);
        script.start(1).finish(
            1,
            &fixture::failed(1.0, "t|", "</details><script>alert(1)</script>\n# hi"),
        );
        script.start(2).finish(2, &fixture::error("@team | look"));
        script.end(RunStatus::Complete);
        let text = markdown(&script.results(), ROOM);
        insta::assert_snapshot!("markdown_hostile", text);
        assert_eq!(text.matches("\n</details>").count(), 1);
    }

    #[test]
    fn names_in_sentences_are_code_and_never_markup() {
        assert_eq!(
            sentence("`a` beats `b_c`."),
            "<code>a</code> beats <code>b\\_c</code>."
        );
        assert_eq!(
            sentence("`a`</code><b>` x"),
            "<code>a</code>\\</code\\>\\<b\\>\\` x"
        );
    }

    #[test]
    fn what_would_be_too_long_is_left_out_and_said() {
        let mut script = Script::new(fixture::heads(2_000, 4, 1), 1);
        for id in 1..=8_000 {
            script.finish(id, &fixture::failed(1.0, "t", &format!("message {id}")));
        }
        let text = markdown(&script.results(), 100_000);
        assert!(text.len() < 100_000, "{}", text.len());
        assert!(
            text.contains("The table would be too long here; see `terca show 2026-11-14-001`.")
        );
        assert!(
            text.contains("8000 trials did not pass") && text.contains("… and 7900 more."),
            "{text}"
        );
    }

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
