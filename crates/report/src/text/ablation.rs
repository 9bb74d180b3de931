//! The answer of `terca ablate`: the parts of an experiment before a run, and what each earned after it.
//!
//! ```text
//! part       size  pass rate     points   interval  per 1,000  tokens   cost
//! Testing     120  41 → 63 %        +22  +8 … +35        +183  1.03×  1.02×  earns its place
//! Style       310  52 → 52 %          0  −13 … +13           0  1.08×  1.07×  no effect shown (could be removed; …)
//! ```

use terca_core::ablation::Kind;
use terca_core::analysis::forecast::AblationForecast;
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::{self, signed, size, thousands};
use terca_core::analysis::summary::{
    AblationSummary, Finding, Measure, PairHint, PartEffect, Summary,
};
use terca_core::text::prose;

use crate::metrics::known;
use crate::term::{Answer, Grid, Role, Side, plain, shorten, styled};
use crate::text::comparison_table::shown_metrics;
use crate::text::forecast::expense_words;

/// Figures to leave out on a narrow screen.
const LEFT_OUT: [&[&str]; 5] = [
    &["time"],
    &["time", "tokens"],
    &["time", "tokens", "p"],
    &["time", "tokens", "p", "cost"],
    &["time", "tokens", "p", "cost", "pass rate"],
];
const HINT: &str = "note: ";
const WARNING: &str = "warning: ";
const WIDEST_NAME: usize = 36;

/// The parts, the rows, what it takes and what it can show.
pub fn ablation_plan(plan: &AblationForecast, columns: usize) -> Answer {
    let mut grid = Grid::titled([(plan.kind.noun(), Side::Left), ("tokens", Side::Right)]);
    for part in &plan.parts {
        let name = plain(&shorten(&part.name, columns.saturating_sub(12).max(12)));
        let size = part.tokens.map(|tokens| format!("~{}", thousands(tokens)));
        grid.row([name, known(size)]);
    }
    let mut answer = Answer::new(columns);
    answer.table([grid]);
    answer.end_part();
    for line in plan_lines(plan) {
        answer.say(Role::Plain, "", &line);
    }
    for line in notes(plan) {
        answer.note(Role::Dim, "", &line);
    }
    answer
}

fn plan_lines(plan: &AblationForecast) -> Vec<String> {
    let trials = prose::count(plan.trials, "trial");
    let of_eval = format!(
        "{trials}: {} × {} rows of the design for {}",
        prose::count(plan.evals, "eval"),
        plan.trials_of_eval,
        prose::count(plan.parts.len(), plan.kind.noun()),
    );
    let rows = if plan.trials_of_eval == plan.rows {
        String::new()
    } else {
        format!(" (it has {})", plan.rows)
    };
    let runs = prose::count(plan.history.runs, "earlier run");
    let expense = match expense_words(plan.expense.cost_usd, plan.expense.seconds) {
        Some(expense) => format!("about {expense} (based on {runs})"),
        None => {
            "cost and time are not known, because no earlier run has this experiment".to_owned()
        }
    };
    let detects = match plan.precision.detectable {
        Some(difference) if difference < 1.0 => format!(
            "detects an effect of {} of one {} on these evals (80 % power, allowing for {} of them)",
            size(difference),
            plan.kind.noun(),
            plan.parts.len(),
        ),
        _ => "there are too few trials to detect even the largest effect: give a higher `-n`"
            .to_owned(),
    };
    vec![format!("{of_eval}{rows}"), expense, detects]
}

fn notes(plan: &AblationForecast) -> Vec<String> {
    let assumed = plan.precision.variances.assumed.first();
    let assumed = assumed.map(|assumption| format!("assumed: {}", assumption.words()));
    let sizes = plan.parts.iter().any(|part| part.tokens.is_some());
    let estimate = sizes.then(|| "tokens are estimates: four bytes for each".to_owned());
    let kept = (plan.kind == Kind::Rules)
        .then(|| "text that belongs to no part is in every trial".to_owned());
    [assumed, estimate, kept].into_iter().flatten().collect()
}

/// What each part earned; empty while the run goes on, and for runs of another kind.
pub fn ablation(results: &Results, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    let Some(summary) = &results.summary.ablation else {
        return answer;
    };
    answer.table(LEFT_OUT.map(|left_out| table(summary, left_out)));
    answer.end_part();
    for (label, line) in in_words(&results.summary, summary) {
        let role = match label {
            HINT => Role::Dim,
            WARNING => Role::Fair,
            _ => Role::Plain,
        };
        answer.say(role, label, &line);
    }
    answer
}

/// Returns what is to be said beside the table, each with its label: what could be removed, hints, and warnings.
pub(crate) fn in_words(all: &Summary, summary: &AblationSummary) -> Vec<(&'static str, String)> {
    let closing = closing(all, summary).into_iter().map(|line| ("", line));
    let hints = summary.hints.iter().map(|hint| (HINT, hint_words(hint)));
    let warnings = warnings(summary).into_iter().map(|text| (WARNING, text));
    closing.chain(hints).chain(warnings).collect()
}

fn table(summary: &AblationSummary, left_out: &[&str]) -> Grid {
    let comparisons = summary.parts.iter().map(|part| &part.comparison);
    let metrics = shown_metrics(&comparisons, left_out);
    let has_sizes = summary.parts.iter().any(|part| part.tokens.is_some());
    let mut titles = vec![(summary.kind.noun(), Side::Left)];
    titles.extend(metrics.iter().map(|metric| (metric.title, Side::Right)));
    if has_sizes {
        titles.insert(1, ("size", Side::Right));
        titles.push(("per 1,000", Side::Right));
    }
    let mut grid = Grid::titled(titles);
    for part in &summary.parts {
        let mut cells = vec![plain(&shorten(&part.name, WIDEST_NAME))];
        let figures = metrics.iter();
        cells.extend(figures.map(|metric| known((metric.text)(&part.comparison))));
        if has_sizes {
            cells.insert(1, known(part.tokens.map(thousands)));
            let value = part.per_thousand_tokens;
            cells.push(known(value.map(|value| per_thousand(part, value))));
        }
        cells.push(styled(role(part.finding), part.finding.as_str()));
        grid.row(cells);
    }
    grid
}

/// Returns the effect for each 1,000 tokens.
pub(crate) fn per_thousand(part: &PartEffect, value: f64) -> String {
    match part.comparison.measure {
        Measure::PassRate => signed(value),
        Measure::Score => wording::signed_score(value),
    }
}

fn role(finding: Finding) -> Role {
    match finding {
        Finding::EarnsItsPlace => Role::Good,
        Finding::NoEffectShown | Finding::NotCompared => Role::Dim,
        Finding::Hurts => Role::Bad,
    }
}

/// What could be removed, in how many trials it was seen, and what it is not.
fn closing(all: &Summary, summary: &AblationSummary) -> Vec<String> {
    let mut lines = Vec::new();
    let without_effect = || summary.with(Finding::NoEffectShown);
    let names: Vec<&str> = without_effect().map(|part| part.name.as_str()).collect();
    if !names.is_empty() {
        let parts = prose::quoted_list(&names, "and");
        let tokens = without_effect().filter_map(|part| part.tokens).sum();
        let saves = match tokens {
            0 => String::new(),
            tokens => format!("; saves {} tokens a request", thousands(tokens)),
        };
        lines.push(format!(
            "no effect shown: {parts} (could be removed{saves}). That is no proof of no effect: it may be \
             anywhere in the interval"
        ));
    }
    let judged = all.passed + all.partial + all.failed;
    if judged < all.trials {
        lines.push(format!(
            "from {judged} of {} trials: the others were not judged",
            all.trials
        ));
    }
    lines
}

fn hint_words(hint: &PairHint) -> String {
    let pair = |pair: &[String; 2]| format!("`{}` and `{}`", pair[0], pair[1]);
    let pairs: Vec<String> = hint.pairs.iter().map(pair).collect();
    let which = match pairs.as_slice() {
        [one] => {
            let difference = wording::points(hint.difference);
            format!(
                "{one} may act together ({difference} where both or neither is there, against one of them)"
            )
        }
        several => {
            let several = several.join("; ");
            format!("one of these pairs may act together: {several}")
        }
    };
    format!("{which}; a run of its own would have to show it")
}

/// Each warning once.
fn warnings(summary: &AblationSummary) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let parts = summary.parts.iter();
    for warning in parts.flat_map(|part| &part.comparison.warnings) {
        if !told.contains(warning) {
            told.push(warning.clone());
        }
    }
    told
}

/// The parts in sentences, for documents without a table of their own.
pub(crate) fn in_sentences(summary: &AblationSummary) -> Vec<String> {
    let parts = summary.parts.iter();
    let parts = parts.map(|part| part.comparison.sentence.clone());
    std::iter::once(opening(summary)).chain(parts).collect()
}

/// Returns what kind of run it is.
pub(crate) fn opening(summary: &AblationSummary) -> String {
    format!(
        "an ablation of the {} of `{}`: its experiments are rows of the design, and the parts are compared",
        summary.kind.as_str(),
        summary.experiment
    )
}
