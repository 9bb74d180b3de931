//! How each experiment changed each figure, with its interval: words in cells, and a mark on a line beside them.
//!
//! Differences (pass rate, score) stand on a line from − to + with nought in the middle; ratios (tokens, cost, time)
//! on a logarithmic one with 1 × in the middle. All comparisons share the two scales, so that they can be compared
//! by eye.

use terca_core::analysis::summary::wording::{points, probability, signed, times};
use terca_core::analysis::summary::{Comparison, Effect, EvalEffect, Summary};
use terca_core::stats::{ALPHA, Interval};

use super::markup::{Element, Html, el};

/// The width of a plot, in its own units.
const WIDE: f64 = 400.0;
const TALL: f64 = 24.0;

pub fn effects(summary: &Summary) -> Html {
    if summary.comparisons.is_empty() {
        return Html::new();
    }
    let (differences, ratios) = (Scale::of_differences(summary), Scale::of_ratios(summary));
    let figures = summary
        .comparisons
        .iter()
        .map(|comparison| figure(comparison, summary.margin, &differences, &ratios));
    el("section")
        .attr("aria-labelledby", "effects-title")
        .child(el("h2").attr("id", "effects-title").text("Effects"))
        .child(el("p").class("quiet").text("Each experiment against its baseline, paired by eval, with 95 % intervals. The shaded band is what makes no difference."))
        .child(el("div").class("cards").children(figures))
        .into()
}

fn figure(comparison: &Comparison, margin: f64, differences: &Scale, ratios: &Scale) -> Html {
    let rates = differences.row(
        "pass\u{a0}rate",
        &comparison.pass_rate,
        Some(margin),
        Good::More,
    );
    let score = differences.row("mean\u{a0}score", &comparison.mean_score, None, Good::More);
    let others = [
        ("tokens", &comparison.tokens),
        ("cost", &comparison.cost_usd),
        ("time", &comparison.seconds),
    ]
    .into_iter()
    .filter(|(_, effect)| effect.value.is_some())
    .map(|(name, effect)| ratios.row(name, effect, None, Good::Less));
    let has_ratios = [
        &comparison.tokens,
        &comparison.cost_usd,
        &comparison.seconds,
    ]
    .iter()
    .any(|effect| effect.value.is_some());
    let environment = comparison.place.as_deref().unwrap_or("all environments");
    let caption = el("figcaption")
        .child(el("code").text(&comparison.arm))
        .text(" against ")
        .child(el("code").text(&comparison.baseline))
        .child(el("span").class("quiet").text(format!(" on {environment}")));
    let mut body = el("tbody")
        .child(rates)
        .child(score)
        .child(differences.axis());
    if has_ratios {
        body = body.children(others).child(ratios.axis());
    }
    let table = el("table").class("effects").child(titles()).child(body);
    el("figure")
        .class("card")
        .child(caption)
        .child(table)
        .child(each_eval(&comparison.per_eval, differences))
        .into()
}

fn titles() -> Html {
    let title = |text: &str| el("th").attr("scope", "col").text(text);
    let row = el("tr")
        .child(title("figure"))
        .child(title("effect"))
        .child(title("95 % interval, p"))
        .child(title("plot"));
    el("thead").class("unseen").child(row).into()
}

fn each_eval(evals: &[EvalEffect], scale: &Scale) -> Option<Element> {
    if evals.len() < 2 {
        return None;
    }
    let whole = Scale { end: 1.0, ..*scale };
    let rows = evals.iter().map(|eval| {
        let effect = Effect {
            value: Some(eval.difference),
            interval: eval.interval,
            p: Some(eval.p),
            ..Effect::default()
        };
        whole.row(&eval.eval, &effect, None, Good::More)
    });
    let table = el("table")
        .class("effects")
        .child(titles())
        .child(el("tbody").children(rows).child(whole.axis()));
    let summary = el("summary").text(format!("Each of {} evals by itself", evals.len()));
    Some(el("details").child(summary).child(table))
}

#[derive(Debug, Clone, Copy)]
enum Good {
    More,
    Less,
}

#[derive(Debug, Clone, Copy)]
enum Figure {
    Difference,
    Ratio,
}

/// A line with its middle at no effect.
#[derive(Debug)]
struct Scale {
    figure: Figure,
    /// How far it goes to either side: a difference, or the logarithm of a ratio.
    end: f64,
}

impl Scale {
    fn of_differences(summary: &Summary) -> Self {
        let effects = summary
            .comparisons
            .iter()
            .flat_map(|one| [&one.pass_rate, &one.mean_score]);
        let widest = widest(effects, |value| value);
        Scale {
            figure: Figure::Difference,
            end: ((widest * 10.0).ceil() / 10.0).clamp(0.1, 1.0),
        }
    }

    fn of_ratios(summary: &Summary) -> Self {
        let effects = summary
            .comparisons
            .iter()
            .flat_map(|one| [&one.tokens, &one.cost_usd, &one.seconds]);
        let widest = widest(effects, f64::ln).clamp(1.5_f64.ln(), 16_f64.ln());
        Scale {
            figure: Figure::Ratio,
            end: widest * 1.05,
        }
    }

    fn row(&self, name: &str, effect: &Effect, margin: Option<f64>, good: Good) -> Html {
        let value = effect
            .value
            .map_or_else(|| "–".to_owned(), |value| self.value(value));
        let interval = effect.interval.map(|interval| self.interval(interval));
        let p = effect
            .p_adjusted
            .or(effect.p)
            .map(|p| format!("p {}", with_sign(&probability(p))));
        let why = effect
            .cannot_tell
            .map(|reason| reason.to_string())
            .filter(|_| interval.is_none());
        let detail = [interval, p]
            .into_iter()
            .flatten()
            .map(|text| el("span").text(text));
        let why = why.map(|why| el("span").class("why").text(why));
        el("tr")
            .child(el("th").attr("scope", "row").text(name))
            .child(el("td").class("value").text(value))
            .child(el("td").class("detail").children(detail).child(why))
            .child(
                el("td")
                    .class("plot")
                    .child(self.plot(effect, margin, good)),
            )
            .into()
    }

    fn value(&self, value: f64) -> String {
        match self.figure {
            Figure::Difference => points(value),
            Figure::Ratio => format!("{} ×", times(value)),
        }
    }

    fn interval(&self, interval: Interval) -> String {
        match self.figure {
            Figure::Difference => format!("{} … {}", signed(interval.low), signed(interval.high)),
            Figure::Ratio => format!("{} … {} ×", times(interval.low), times(interval.high)),
        }
    }

    /// Where a value stands on the line.
    fn place(&self, value: f64) -> f64 {
        let along = match self.figure {
            Figure::Difference => value,
            Figure::Ratio => value.max(1e-9).ln(),
        };
        ((along / self.end).clamp(-1.0, 1.0) + 1.0) / 2.0 * WIDE
    }

    fn plot(&self, effect: &Effect, margin: Option<f64>, good: Good) -> Html {
        let middle = TALL / 2.0;
        let nothing = WIDE / 2.0;
        let band = margin.map(|margin| {
            let (low, high) = (self.place(-margin), self.place(margin));
            el("rect")
                .class("band")
                .attr("x", round(low))
                .attr("y", 0)
                .attr("width", round(high - low))
                .attr("height", TALL)
        });
        let interval = effect.interval.map(|interval| {
            line(
                "interval",
                self.place(interval.low),
                middle,
                self.place(interval.high),
                middle,
            )
        });
        let mark = effect
            .value
            .map(|value| line("mark", self.place(value), middle, self.place(value), middle));
        el("svg")
            .class(format!("line {}", self.tone(effect, good)))
            .attr("viewBox", format!("0 0 {WIDE} {TALL}"))
            .attr("preserveAspectRatio", "none")
            .attr("aria-hidden", "true")
            .child(band)
            .child(self::line("nought", nothing, 0.0, nothing, TALL))
            .child(interval)
            .child(mark)
            .into()
    }

    /// A colour only for what is found by the same rule as a verdict.
    fn tone(&self, effect: &Effect, good: Good) -> &'static str {
        let is_found = effect.p_adjusted.or(effect.p).is_some_and(|p| p < ALPHA);
        let Some(interval) = effect.interval.filter(|_| is_found) else {
            return "unknown";
        };
        let none = match self.figure {
            Figure::Difference => 0.0,
            Figure::Ratio => 1.0,
        };
        match (interval.low > none, interval.high < none, good) {
            (true, _, Good::More) | (_, true, Good::Less) => "good",
            (true, _, Good::Less) | (_, true, Good::More) => "bad",
            _ => "unknown",
        }
    }

    /// The ends and the middle, in words.
    fn axis(&self) -> Html {
        let labels = match self.figure {
            Figure::Difference => [signed(-self.end), "0".to_owned(), signed(self.end)],
            Figure::Ratio => {
                [(-self.end).exp(), 1.0, self.end.exp()].map(|ratio| format!("{} ×", times(ratio)))
            }
        };
        let labels = el("div")
            .class("axis")
            .children(labels.map(|label| el("span").text(label)));
        el("tr")
            .class("axis-row")
            .attr("aria-hidden", "true")
            .child(el("td").attr("colspan", 3))
            .child(el("td").class("plot").child(labels))
            .into()
    }
}

fn widest<'a>(effects: impl Iterator<Item = &'a Effect>, along: fn(f64) -> f64) -> f64 {
    let ends = |effect: &Effect| {
        let interval = effect
            .interval
            .map(|interval| [interval.low, interval.high]);
        interval
            .into_iter()
            .flatten()
            .chain(effect.value)
            .collect::<Vec<f64>>()
    };
    effects
        .flat_map(ends)
        .map(|value| along(value).abs())
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max)
}

pub(super) fn line(class: &'static str, x1: f64, y1: f64, x2: f64, y2: f64) -> Element {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(round);
    // A stroke of no length has no round ends in some browsers; the least length has.
    el("path")
        .class(class)
        .attr("d", format!("M{x1} {y1}L{x2} {y2}h.01"))
}

pub(super) fn round(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// `= 0.02`, `< 0.001`.
fn with_sign(p: &str) -> String {
    if p.starts_with('<') {
        p.to_owned()
    } else {
        format!("= {p}")
    }
}
