//! What changed: a row for each eval in each comparison, the worst first, with every repetition as a dot.

use std::cmp::Ordering;

use maud::{Markup, html};
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::wording::{ends, points, probability};
use terca_core::analysis::summary::{Change, Comparison, Effect, EvalEffect, Measure};
use terca_core::run::outcome::Status;

use super::pair::{Ended, pair_address, telling_pair};
use super::scale::Scale;
use super::text::{or_dash, sign, wide_table};
use super::verdicts::marks;
use crate::outcome::of_variant;

/// More rows than this are in the heat map alone.
const MOST_ROWS: usize = 200;
/// More repetitions than this are counted, not drawn.
const MOST_DOTS: usize = 12;

/// The trials of one comparison.
pub struct Sides<'a> {
    /// The comparison, in one place.
    pub comparison: &'a Comparison,
    /// Arm and place in words.
    pub name: String,
    /// The trials of the baseline, and the page that they are on.
    pub baseline: (Vec<&'a TrialResult>, String),
    /// The trials of the arm, and the page that they are on.
    pub arm: (Vec<&'a TrialResult>, String),
}

/// Returns the sides of each comparison of a run in one environment.
pub fn sides(results: &Results) -> Vec<Sides<'_>> {
    let summary = &results.summary;
    let several = summary.comparisons.iter().any(|one| one.place.is_none());
    let of = |environment, experiment| of_variant(results, environment, experiment).collect();
    let mut sides = Vec::new();
    for comparison in &summary.comparisons {
        let Some(place) = &comparison.place else {
            continue;
        };
        let name = if several {
            format!("{} · {place}", comparison.arm)
        } else {
            comparison.arm.clone()
        };
        sides.push(Sides {
            comparison,
            name,
            baseline: (of(place, &comparison.baseline), String::new()),
            arm: (of(place, &comparison.arm), String::new()),
        });
    }
    sides
}

/// An eval in one comparison.
struct Row<'a> {
    effect: &'a EvalEffect,
    sides: &'a Sides<'a>,
    baseline: Vec<&'a TrialResult>,
    arm: Vec<&'a TrialResult>,
}

/// Returns the section. Nothing where nothing is compared.
pub fn what_changed(sides: &[Sides<'_>]) -> Markup {
    let rows = rows(sides);
    let scale = Scale::of_all_differences();
    let count = |kind: &str| rows.iter().filter(|row| row.is(kind)).count();
    let shown = html! { @for row in rows.iter().take(MOST_ROWS) { (row.markup(&scale)) } };
    let caption = "Each eval with the baseline and with the experiment";
    html! {
        @if !rows.is_empty() {
            section #changed aria-labelledby="changed-title" {
                h2 #changed-title { "What changed" }
                div.choices.scripted role="group" aria-label="Rows to show" {
                    @for kind in ["all", "worse", "better", "different"] {
                        button type="button" data-show=(kind) aria-pressed=(kind == "all") {
                            (kind) " " span.quiet { (count(kind)) }
                        }
                    }
                }
                (wide_table("changed", "Table of what changed", caption, &titles(&scale), &shown))
                p.quiet.reading {
                    "● passed, ◐ partial, ○ failed, × error, · not run; first with the baseline, then with the \
                     experiment. p is adjusted for the evals of a comparison."
                    @if rows.len() > MOST_ROWS {
                        " The first " (MOST_ROWS) " of " (rows.len()) " rows are shown; the heat map has every eval."
                    }
                }
            }
        }
    }
}

fn titles(scale: &Scale) -> Markup {
    html! {
        tr {
            th scope="col" { "Eval" }
            th scope="col" { "Repetitions" }
            th.num scope="col" { "Difference" }
            th.num scope="col" { "Interval" }
            th.num scope="col" { "p" }
            th.plot scope="col" { span.unseen { "Plot" } (scale.axis()) }
            th scope="col" { "Commonest failing test" }
        }
    }
}

fn rows<'a>(sides: &'a [Sides<'a>]) -> Vec<Row<'a>> {
    let of_eval = |trials: &[&'a TrialResult], eval: &str| -> Vec<&'a TrialResult> {
        let found = trials.iter().copied();
        found.filter(|trial| trial.head.eval == eval).collect()
    };
    let mut rows = Vec::new();
    for sides in sides {
        for effect in &sides.comparison.per_eval {
            rows.push(Row {
                effect,
                sides,
                baseline: of_eval(&sides.baseline.0, &effect.eval),
                arm: of_eval(&sides.arm.0, &effect.eval),
            });
        }
    }
    rows.sort_by(Row::order);
    rows
}

impl Row<'_> {
    fn kind(&self) -> &'static str {
        match self.effect.difference {
            difference if difference.abs() < 1e-12 => "same",
            ..0.0 => "worse",
            _ => "better",
        }
    }

    fn is(&self, kind: &str) -> bool {
        match kind {
            "all" => true,
            "different" => self.kind() != "same",
            kind => self.kind() == kind,
        }
    }

    /// Puts the largest losses first, then the largest gains, then the rest.
    fn order(&self, other: &Self) -> Ordering {
        let key = |row: &Self| match row.kind() {
            "worse" => 0,
            "better" => 1,
            _ => 2,
        };
        let size = |row: &Self| row.effect.difference.abs();
        key(self)
            .cmp(&key(other))
            .then(size(other).total_cmp(&size(self)))
            .then(self.effect.p.total_cmp(&other.effect.p))
    }

    fn markup(&self, scale: &Scale) -> Markup {
        let effect = self.effect;
        html! {
            tr data-effect=(self.kind()) {
                th scope="row" {
                    @match self.pair() {
                        Some(address) => a href=(address) title="Side by side" { (effect.eval) },
                        None => (effect.eval),
                    }
                    small { (self.sides.name) }
                }
                td.reps {
                    (dots(&self.baseline, &self.sides.baseline.1))
                    span.arrow aria-label="then" role="img" { "→" }
                    (dots(&self.arm, &self.sides.arm.1))
                }
                td.num {
                    (points(effect.difference))
                    @if let Some(word) = effect.word() { small class=(self.tone()) { (word) } }
                }
                td.num { (or_dash(effect.interval.map(|interval| ends(Measure::PassRate, interval)))) }
                td.num { (probability(effect.p_adjusted)) }
                td.plot { (self.plot(scale)) }
                td.failing { (self.failing()) }
            }
        }
    }

    /// Returns the address of two trials side by side. Trials of another run cannot be beside one of this page.
    fn pair(&self) -> Option<String> {
        if !self.sides.baseline.1.is_empty() {
            return None;
        }
        let ended = |trials: &[&TrialResult]| -> Vec<Ended> {
            let trials = trials.iter();
            trials
                .map(|trial| (trial.head.id, trial.report.status))
                .collect()
        };
        telling_pair(&ended(&self.baseline), &ended(&self.arm)).map(pair_address)
    }

    /// Returns a colour only for a change that the rule of the verdicts finds.
    fn tone(&self) -> &'static str {
        match self.effect.change {
            Some(Change::Broke) => "bad",
            Some(Change::Mended) => "good",
            None => "unknown",
        }
    }

    fn plot(&self, scale: &Scale) -> Markup {
        let effect = Effect {
            value: Some(self.effect.difference),
            interval: self.effect.interval,
            ..Effect::default()
        };
        scale.plot(self.tone(), &marks(scale, &effect, 0.0))
    }

    /// Returns the test that lost points most often, with the counts of both sides.
    fn failing(&self) -> Markup {
        let mut tests: Vec<(&str, [usize; 2])> = Vec::new();
        for (side, trials) in [&self.baseline, &self.arm].into_iter().enumerate() {
            for (test, _) in trials.iter().flat_map(|trial| trial.report.losses()) {
                let place = tests.iter().position(|(known, _)| *known == test);
                let place = place.unwrap_or_else(|| {
                    tests.push((test, [0; 2]));
                    tests.len() - 1
                });
                tests[place].1[side] += 1;
            }
        }
        // The first of those that failed as often.
        let most = tests
            .iter()
            .rev()
            .max_by_key(|(_, [one, other])| one + other);
        html! {
            @if let Some((test, [one, other])) = most {
                code { (test) }
                small { "failed " (one) " → " (other) }
            }
        }
    }
}

/// Returns a mark for each trial that leads to it.
fn dots(trials: &[&TrialResult], page: &str) -> Markup {
    let passed = trials
        .iter()
        .filter(|trial| trial.report.status == Status::Passed)
        .count();
    html! {
        span.dots {
            span.unseen { (passed) " of " (trials.len()) " passed: " }
            @for trial in trials.iter().take(MOST_DOTS) {
                @let status = trial.report.status;
                @let label = format!("trial {}: {}", trial.head.id, status.as_str());
                a class={ "rep " (status.as_str()) } href={ (page) "#trial-" (trial.head.id) }
                    aria-label=(label) title=(label) tabindex="-1" { (sign(status)) }
            }
            @if trials.len() > MOST_DOTS {
                small { "+" (trials.len() - MOST_DOTS) }
            }
        }
    }
}
