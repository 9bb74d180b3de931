//! The answer of `terca health`: the evals, their marks, and those that could go.
//!
//! ```text
//! 12 evals in 3 runs: 2 always pass, 1 never passes, 4 are informative, 1 contradicts the rest
//!
//! eval   passed   rate  stable  agrees   cost  share
//! fib     40/40  100 %   100 %       –  $0.03    8 %  always passes
//! sort    12/40   30 %    58 %   +0.42  $0.05   12 %  informative
//! ```

use terca_core::analysis::health::{EvalHealth, Health, Mark};
use terca_core::analysis::summary::wording::percent;
use terca_core::text::prose;

use crate::metrics::known;
use crate::term::grid::{Grid, Side};
use crate::term::paragraph::{WIDEST_PROSE, paragraph};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::{clean, shorten, width};

/// Names are not cut shorter than this.
const SHORTEST_NAME: usize = 8;

pub fn health(health: &Health, columns: usize, palette: Palette) -> String {
    let prose = columns.min(WIDEST_PROSE);
    let say = |role, text: &str| paragraph((role, ""), text, 0, prose, palette);
    let advice: String = advice(health)
        .iter()
        .map(|text| say(Role::Plain, text))
        .collect();
    let mut parts = vec![
        say(Role::Bold, &title(health)),
        table(health, columns)
            .iter()
            .map(|line| format!("{}\n", line.render(palette)))
            .collect(),
        say(Role::Dim, LEGEND),
        advice,
    ];
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

const LEGEND: &str = "stable: how often two trials of the same variant end the same way. agrees: whether the \
                      eval passes where the other evals pass (+1) or where they fail (−1).";

fn title(health: &Health) -> String {
    let runs = prose::count(health.runs.len(), "run");
    let start = format!("{} in {runs}", prose::count(health.evals.len(), "eval"));
    let marked = |mark: Mark, one: &str, several: &str| {
        let number = health
            .evals
            .iter()
            .filter(|eval| eval.marks.contains(&mark))
            .count();
        (number > 0).then(|| format!("{number} {}", if number == 1 { one } else { several }))
    };
    let found: Vec<String> = [
        marked(Mark::AlwaysPasses, "always passes", "always pass"),
        marked(Mark::NeverPasses, "never passes", "never pass"),
        marked(Mark::TellsMost, "is informative", "are informative"),
        marked(Mark::Flaky, "is flaky", "are flaky"),
        marked(
            Mark::Contradicts,
            "contradicts the rest",
            "contradict the rest",
        ),
        marked(
            Mark::TooFewTrials,
            "has too few trials",
            "have too few trials",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    if found.is_empty() {
        format!("{start}: no problems found")
    } else {
        format!("{start}: {}", found.join(", "))
    }
}

/// Names are cut by what does not fit.
fn table(health: &Health, columns: usize) -> Vec<StyledLine> {
    let whole = rows(health, usize::MAX);
    let widest = whole.iter().map(StyledLine::width).max().unwrap_or(0);
    let name = health
        .evals
        .iter()
        .map(|eval| width(&clean(&eval.eval)))
        .max()
        .unwrap_or(0);
    if widest <= columns {
        return whole;
    }
    let room = name.saturating_sub(widest - columns).max(SHORTEST_NAME);
    rows(health, room)
        .iter()
        .map(|line| line.fit(columns))
        .collect()
}

fn rows(health: &Health, widest_name: usize) -> Vec<StyledLine> {
    let sides = [Side::Left]
        .into_iter()
        .chain([Side::Right; 6])
        .collect::<Vec<_>>();
    let mut grid = Grid::new(&sides);
    let has_cost = health.evals.iter().any(|eval| eval.cost_usd.is_some());
    let price = if has_cost { "cost" } else { "time" };
    let titles = ["eval", "passed", "rate", "stable", "agrees", price, "share"];
    grid.row(titles.map(|title| StyledLine::of(Role::Bold, title)));
    for eval in &health.evals {
        let name = shorten(&clean(&eval.eval), widest_name).into_owned();
        grid.row(
            [StyledLine::plain(&name)]
                .into_iter()
                .chain(figures(eval, has_cost))
                .chain([marks(eval)]),
        );
    }
    grid.lines()
}

fn figures(eval: &EvalHealth, has_cost: bool) -> [StyledLine; 6] {
    let (price, share) = if has_cost {
        (eval.mean_cost_usd.map(prose::dollars), eval.cost_share)
    } else {
        (eval.mean_seconds.map(prose::duration), eval.seconds_share)
    };
    let rate = eval.pass_rate.map_or_else(StyledLine::new, |rate| {
        StyledLine::of(Role::of_score(rate), &percent(rate))
    });
    [
        known((eval.judged > 0).then(|| format!("{}/{}", eval.passed, eval.judged))),
        if rate.is_empty() { known(None) } else { rate },
        known(eval.agreement.map(percent)),
        known(eval.with_rest.map(|found| signed(found.r))),
        known(price),
        known(share.map(percent)),
    ]
}

/// `+0.42`, `−1.00`, `0.00`.
fn signed(r: f64) -> String {
    let size = format!("{:.2}", r.abs());
    match (size.as_str(), r < 0.0) {
        ("0.00", _) => size,
        (_, true) => format!("−{size}"),
        (_, false) => format!("+{size}"),
    }
}

fn marks(eval: &EvalHealth) -> StyledLine {
    let mut marks = StyledLine::new();
    for mark in &eval.marks {
        if !marks.is_empty() {
            marks.push(Role::Plain, ", ");
        }
        marks.push(role(*mark), mark.words());
    }
    if eval.errors > 0 {
        let gap = if marks.is_empty() { "" } else { " " };
        marks.push(
            Role::Trouble,
            &format!("{gap}+{}", prose::count(eval.errors, "error")),
        );
    }
    marks
}

fn role(mark: Mark) -> Role {
    match mark {
        Mark::AlwaysPasses | Mark::TellsMost => Role::Good,
        Mark::NeverPasses | Mark::Contradicts => Role::Bad,
        Mark::Flaky => Role::Fair,
        Mark::TooFewTrials => Role::Dim,
    }
}

/// Advice about the marks.
fn advice(health: &Health) -> Vec<String> {
    let mut advice = Vec::new();
    let dropped = &health.droppable;
    let names = |evals: &[String]| prose::quoted_list(evals, "and");
    if !dropped.evals.is_empty() {
        let saved = match (dropped.cost_share, dropped.seconds_share) {
            (Some(share), _) => format!(" That would save {} of the cost.", percent(share)),
            (None, Some(share)) => format!(" That would save {} of the time.", percent(share)),
            (None, None) => String::new(),
        };
        let each = if dropped.evals.len() == 1 {
            "it"
        } else {
            "each"
        };
        advice.push(format!(
            "{} could be dropped without losing information: {each} always ended the same way, so it affects no \
             difference between variants and no p-value.{saved} An eval that always passes still shows when \
             something breaks.",
            names(&dropped.evals)
        ));
    }
    let marked = |mark: Mark| -> Vec<String> {
        let of_mark = health
            .evals
            .iter()
            .filter(|eval| eval.marks.contains(&mark));
        of_mark.map(|eval| eval.eval.clone()).collect()
    };
    let flaky = health.evals.iter().filter(|eval| eval.grade_changed > 0);
    for eval in flaky {
        advice.push(format!(
            "`{}` is flaky: its tests graded the same work differently in {} of {} that were graded again. Check its \
             tests.",
            eval.eval,
            eval.grade_changed,
            prose::count(eval.graded_again, "trial")
        ));
    }
    let contradicting = marked(Mark::Contradicts);
    if !contradicting.is_empty() {
        let (verb, whose) = if contradicting.len() == 1 {
            ("passes", "its")
        } else {
            ("pass", "their")
        };
        advice.push(format!(
            "{} {verb} where the others fail: check {whose} tests.",
            names(&contradicting)
        ));
    }
    let changed = health
        .evals
        .iter()
        .filter(|eval| eval.changed_runs > 0)
        .map(|eval| eval.eval.clone());
    let changed: Vec<String> = changed.collect();
    if !changed.is_empty() {
        advice.push(format!(
            "{} changed: only the trials since then are counted.",
            names(&changed)
        ));
    }
    advice
}

#[cfg(test)]
mod tests {
    use terca_core::analysis::health::health as examine;
    use terca_core::analysis::history::Record;
    use terca_core::run::event::{RunStatus, TrialHead};
    use terca_core::run::outcome::TrialReport;

    use super::*;
    use crate::fixture::{self, Script};

    const PALETTE: Palette = Palette { colour: false };

    fn record(evals: usize, ends: impl Fn(&TrialHead) -> TrialReport) -> Record {
        let heads = fixture::heads(evals, 2, 8);
        let mut script = Script::new(heads.clone(), 4);
        for head in heads {
            script.start(head.id).finish(head.id, &ends(&head));
        }
        script.end(RunStatus::Complete);
        Record {
            state: script.state.clone(),
            prints: None,
        }
    }

    fn mixed(head: &TrialHead) -> TrialReport {
        let good = head.experiment == "with-rules";
        let passes = match head.eval.as_str() {
            "fib" => true,
            "fib-recursive" => false,
            "add-endpoint" => head.repetition.is_multiple_of(2),
            "日本語" => !good,
            _ if head.id.is_multiple_of(29) => return fixture::error("429"),
            _ => good,
        };
        if passes {
            fixture::passed(40.0)
        } else {
            fixture::failed(90.0, "t", "no")
        }
    }

    #[test]
    fn every_mark() {
        let text = health(&examine(&[record(8, mixed)]), 80, PALETTE);
        insta::assert_snapshot!("health", text);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        let text = health(&examine(&[record(8, mixed)]), 64, PALETTE);
        assert!(text.lines().all(|line| width(line) <= 64), "{text}");
    }

    #[test]
    fn all_is_well_or_nothing_is_known() {
        let steady = record(4, |head| {
            if head.experiment == "base" {
                fixture::failed(9.0, "t", "no")
            } else {
                fixture::passed(9.0)
            }
        });
        assert!(
            health(&examine(&[steady]), 80, PALETTE)
                .starts_with("4 evals in 1 run: 4 are informative\n")
        );
        let broken = record(1, |_| TrialReport {
            duration_seconds: 2.0,
            ..fixture::error("429")
        });
        insta::assert_snapshot!("health_errors", health(&examine(&[broken]), 80, PALETTE));
    }
}
