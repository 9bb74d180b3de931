//! The answer of `terca plan`: what a run takes, what it can see, and what it would take to see more.
//!
//! ```text
//! 80 trials: 8 evals × 2 variants × 5 repetitions
//!
//! arm                trials  before   cost    time
//! gemini.control         40    58 %  $1.20  26m 40s
//! gemini.with-rules      40    85 %  $1.37  28m 00s
//! all, 4 at a time       80          $2.57  13m 40s
//!
//! detects (80 % power)          evals  on these evals  for other tasks
//! with-rules against control  gemini      8       28 points        35 points
//!   from 80 trials of 8 evals in earlier runs
//!
//! To see 10 points it takes …
//! ```

use terca_core::analysis::forecast::{Detect, Expense, Forecast};
use terca_core::analysis::summary::wording::{percent, size};
use terca_core::analysis::summary::{MOST_EVALS, Proposal};
use terca_core::run::event::TrialHead;
use terca_core::stats::CannotTell;
use terca_core::text::prose;

use crate::metrics::known;
use crate::names::Names;
use crate::term::{Answer, Grid, Role, Side, StyledLine, bold, dim, plain, shorten, styled};
use crate::text::plan::plan_title;

/// `heads` are the trials that the forecast is of.
pub fn forecast(forecast: &Forecast, heads: &[TrialHead], columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    answer.cut_line(&plan_title(heads));
    answer.end_part();
    answer.table([table(forecast, heads, columns)]);
    answer.note(Role::Dim, "", &source(forecast));
    answer.end_part();
    answer.table(sees(forecast, columns));
    for (role, label, text) in basis(forecast) {
        answer.note(role, label, &text);
    }
    answer.end_part();
    match &forecast.detect {
        None => answer.say(Role::Dim, "", HOW_TO_ASK),
        Some(detect) => answer.say(Role::Plain, "", &ways(detect)),
    }
    answer
}

const HOW_TO_ASK: &str =
    "`--detect 10` estimates the evals and repetitions needed to detect 10 points";

fn table(forecast: &Forecast, heads: &[TrialHead], columns: usize) -> Grid {
    let names = Names::of(heads);
    let room = columns.saturating_sub(44).max(12);
    let figures = ["trials", "before", "cost", "time"].map(|title| (title, Side::Right));
    let mut grid = Grid::titled([("variant", Side::Left)].into_iter().chain(figures));
    for arm in &forecast.arms {
        let name = names.variant_or_default(&arm.environment, &arm.experiment);
        let before = known(arm.pass_rate.map(percent));
        let name = plain(&shorten(&name, room));
        grid.row(row(name, arm.trials, before, arm.expense));
    }
    let at_once = forecast.concurrency.min(forecast.trials).max(1);
    let all = bold(&format!("all, {at_once} at a time"));
    let before = StyledLine::default();
    grid.row(row(all, forecast.trials, before, forecast.expense));
    grid
}

fn row(name: StyledLine, trials: usize, before: StyledLine, expense: Expense) -> [StyledLine; 5] {
    [
        name,
        plain(&trials.to_string()),
        before,
        known(expense.cost_usd.map(prose::dollars)),
        known(expense.seconds.map(prose::duration)),
    ]
}

/// The source of cost and time.
fn source(forecast: &Forecast) -> String {
    let known = forecast.history;
    if known.trials == 0 {
        return "cost and time are not known, because no earlier run has these evals in these variants"
            .to_owned();
    }
    let trials = prose::count(known.trials, "trial");
    let runs = prose::count(known.runs, "earlier run");
    let never = forecast.arms.iter().filter(|arm| arm.known_trials == 0);
    let never: Vec<String> = never
        .map(|arm| format!("{}.{}", arm.environment, arm.experiment))
        .collect();
    let but = match never.is_empty() {
        true => String::new(),
        false => format!("; {} never ran", prose::quoted_list(&never, "and")),
    };
    format!("based on {trials} of {runs}{but}")
}

fn sees(forecast: &Forecast, columns: usize) -> Option<Grid> {
    if forecast.precision.is_empty() {
        return None;
    }
    let names = ["detects (80 % power)", ""].map(|title| (title, Side::Left));
    let figures = ["evals", "on these evals", "for other tasks"];
    let figures = figures.map(|title| (title, Side::Right));
    let mut grid = Grid::titled(names.into_iter().chain(figures));
    let room = columns.saturating_sub(53).max(12);
    for precision in &forecast.precision {
        let against = match &precision.baseline {
            Some(baseline) => format!("{} against {baseline}", precision.experiment),
            None => format!("{}, two runs", precision.experiment),
        };
        grid.row([
            plain(&shorten(&against, room)),
            dim(&shorten(&precision.environment, 16)),
            plain(&precision.evals.to_string()),
            found(precision.detectable),
            found(precision.beyond),
        ]);
    }
    Some(grid)
}

/// The smallest difference that is found.
fn found(difference: Option<f64>) -> StyledLine {
    match difference {
        Some(difference) if difference < 1.0 => bold(&size(difference)),
        _ => styled(Role::Bad, "none"),
    }
}

/// The sources, the assumptions and the obstacles, each once.
fn basis(forecast: &Forecast) -> Vec<(Role, &'static str, String)> {
    let mut lines: Vec<(Role, &'static str, String)> = Vec::new();
    let mut add = |line| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for precision in &forecast.precision {
        let variances = &precision.variances;
        if variances.trials > 0 {
            let trials = prose::count(variances.trials, "trial");
            let evals = prose::count(variances.evals, "eval");
            let text = format!("based on the variation of {trials} of {evals}");
            add((Role::Dim, "", text));
        }
        for assumption in &variances.assumed {
            add((Role::Dim, "assumed: ", assumption.words().to_owned()));
        }
        match (precision.cannot_tell, precision.detectable) {
            (Some(reason), _) => add((Role::Fair, "none: ", reason.to_string())),
            (None, Some(difference)) if difference >= 1.0 => {
                let text = "there are too few trials to detect even the largest difference with 80 % power";
                add((Role::Fair, "none: ", text.to_owned()));
            }
            _ => {}
        }
        if precision.beyond.is_none() {
            let reason = CannotTell::TooFewEvals.to_string();
            add((Role::Fair, "other tasks: ", reason));
        }
    }
    lines
}

/// The answer to `--detect`.
fn ways(detect: &Detect) -> String {
    let difference = size(detect.difference);
    let here = match &detect.with_these_evals {
        _ if detect.is_seen => format!("This plan can detect {difference} on these evals."),
        here => format!(
            "Detecting {difference} on these evals needs {}.",
            here.as_ref()
                .map_or("more trials than is practical".to_owned(), way)
        ),
    };
    let beyond = match &detect.beyond {
        Some(proposal) => format!("Detecting it for other tasks needs {}.", way(proposal)),
        None => format!(
            "To detect {difference} on other tasks you would need more than {MOST_EVALS} evals."
        ),
    };
    format!("{here} {beyond}")
}

/// `8 evals × 45 repetitions (720 trials, about $23.10 and 1h 04m)`.
fn way(proposal: &Proposal) -> String {
    let about = match expense_words(proposal.cost_usd, proposal.seconds) {
        Some(expense) => format!(", about {expense}"),
        None => String::new(),
    };
    format!(
        "{} × {} ({}{about})",
        prose::count(proposal.evals, "eval"),
        prose::count(proposal.repetitions, "repetition"),
        prose::count(proposal.trials, "trial")
    )
}

/// `$23.10 and 1h 04m`; nothing where neither is known.
pub(crate) fn expense_words(cost_usd: Option<f64>, seconds: Option<f64>) -> Option<String> {
    let known = [cost_usd.map(prose::dollars), seconds.map(prose::duration)];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| prose::list(&known, "and"))
}

#[cfg(test)]
mod tests {
    use terca_core::analysis::forecast::{Question, forecast as reckon};
    use terca_core::analysis::history::{History, Record};
    use terca_core::run::event::RunStatus;

    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::{Palette, width};

    fn shown(
        heads: &[TrialHead],
        records: &[Record],
        detect: Option<f64>,
        columns: usize,
    ) -> String {
        let history = History::of(records, heads, &[]);
        let question = Question {
            suite: "basic-js",
            baseline: "base",
            plan: heads,
            concurrency: 4,
            detect,
        };
        forecast(&reckon(&question, &history), heads, columns).render(Palette { colour: false })
    }

    fn past(variants: usize) -> Record {
        let heads = fixture::heads(12, variants, 3);
        let mut script = Script::new(heads.clone(), 4);
        for head in heads {
            let report = if head.id % 3 == 0 {
                fixture::passed(40.0)
            } else {
                fixture::failed(44.0, "t", "no")
            };
            script.start(head.id).finish(head.id, &report);
        }
        script.end(RunStatus::Complete);
        Record {
            state: script.state.clone(),
            prints: None,
        }
    }

    #[test]
    fn with_history() {
        let heads = fixture::heads(12, 2, 5);
        let text = shown(&heads, &[past(2)], Some(0.1), 80);
        insta::assert_snapshot!("forecast", text);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    }

    #[test]
    fn without_history() {
        insta::assert_snapshot!(
            "forecast_assumed",
            shown(&fixture::heads(8, 4, 5), &[], None, 80)
        );
    }

    #[test]
    fn with_an_arm_that_never_ran() {
        insta::assert_snapshot!(
            "forecast_new_arm",
            shown(&fixture::heads(12, 2, 5), &[past(1)], Some(0.4), 80)
        );
    }

    #[test]
    fn of_very_little() {
        insta::assert_snapshot!(
            "forecast_little",
            shown(&fixture::heads(2, 1, 1), &[], Some(0.1), 80)
        );
        let text = shown(&fixture::heads(1, 2, 4), &[], None, 40);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("none: there are too few trials to detect even"),
            "{text}"
        );
    }
}
