//! Suggestions after a run, by how it went: a few commands that can be typed as they are printed.
//!
//! ```text
//! next:
//!   terca view         # see what the agents did, and why they failed
//!   terca run -n 12    # enough to detect a difference of 5 points
//! ```
//!
//! A run that was cut short has none of this: the closing lines say how it goes on.

use terca_core::analysis::results::Results;
use terca_core::analysis::summary::wording::size;
use terca_core::analysis::summary::{Beyond, Comparison, Outlook, Proposal};
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::stats::CannotTell;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::{pad, width};

const MOST: usize = 3;
/// More repetitions than this are no advice.
const MOST_REPETITIONS: usize = 200;
/// Repetitions for a start: one eval alone can show a difference with them.
const SEVERAL: usize = 5;
/// So many repetitions are gladly run to see a smaller difference.
const SENSIBLE_REPETITIONS: usize = 30;

/// The facts that matter besides the results.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The command that starts Terca from here: `terca`, or `terca -C elsewhere`.
    pub terca: &'a str,
    /// The run's name with a space before it, unless it is the latest.
    pub run: &'a str,
    /// The flags that chose what was run, each with a space before it: ` -t fib`.
    pub selection: &'a str,
    /// The flag that put another agent in the place of the suite's own: ` --agent oracle`.
    pub agent: &'a str,
    /// `terca validate` has proven or disproven the evals.
    pub validated: bool,
    /// An earlier run that this one can be compared with.
    pub earlier: Option<&'a str>,
}

/// A command, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub purpose: String,
}

impl Step {
    fn line(&self, columns: usize) -> String {
        format!("  {}    # {}", pad(&self.command, columns), self.purpose)
    }
}

/// Empty when there is nothing to suggest.
pub fn suggestions(
    results: &Results,
    around: &Circumstances<'_>,
    columns: usize,
    palette: Palette,
) -> String {
    let steps = steps(results, around);
    if steps.is_empty() {
        return String::new();
    }
    let widest = steps
        .iter()
        .map(|step| width(&step.command))
        .max()
        .unwrap_or(0);
    let fits = |line: &String| width(line) < columns;
    let aligned = || steps.iter().map(|step| step.line(widest));
    // A command that goes on in the next line is hard to copy, so what it is for goes first.
    let lines: Vec<String> = if aligned().all(|line| fits(&line)) {
        aligned().collect()
    } else {
        steps
            .iter()
            .map(|step| {
                Some(step.line(0))
                    .filter(fits)
                    .unwrap_or(format!("  {}", step.command))
            })
            .collect()
    };
    let lines = ["next:".to_owned()].into_iter().chain(lines);
    lines
        .map(|line| StyledLine::of(Role::Dim, &line).render(palette) + "\n")
        .collect()
}

pub fn steps(results: &Results, around: &Circumstances<'_>) -> Vec<Step> {
    if results.status != RunStatus::Complete || results.trials.is_empty() {
        return Vec::new();
    }
    let step = |arguments: &str, purpose: String| Step {
        command: format!("{} {arguments}", around.terca),
        purpose,
    };
    let of = |kinds: &[ErrorKind]| {
        results
            .trials
            .iter()
            .filter_map(|trial| trial.report.error.as_ref())
            .any(|error| kinds.contains(&error.kind))
    };
    let summary = &results.summary;
    let judged = summary.passed + summary.partial + summary.failed;
    let mut steps = Vec::new();
    if of(&[ErrorKind::AgentMissing, ErrorKind::Auth]) {
        steps.push(step(
            "doctor",
            "see which agents are installed and signed in".to_owned(),
        ));
    }
    // Of a variant that was stopped the closing lines say the same.
    if summary.errors > 0 && results.stopped_variants.is_empty() {
        let trials = prose::count(summary.errors, "trial");
        steps.push(step(
            &format!("resume{} --errors", around.run),
            format!("after fixing the cause, run {trials} again"),
        ));
    }
    if summary.partial + summary.failed > 0 {
        steps.push(step(
            &format!("view{}", around.run),
            "see what the agents did, and why they failed".to_owned(),
        ));
    }
    steps.extend(settling(results, around).map(|(arguments, purpose)| step(&arguments, purpose)));
    if judged > 0 && !around.validated {
        steps.push(step("validate", unproven(results)));
    }
    if !around.agent.is_empty() {
        let arguments = format!("run{}", around.selection);
        steps.push(step(
            &arguments,
            "run with the suite's own agents".to_owned(),
        ));
    } else if let Some(earlier) = around.earlier.filter(|_| summary.comparisons.is_empty()) {
        let arguments = format!("compare {earlier} {}", results.run);
        steps.push(step(&arguments, "compare with the previous run".to_owned()));
    }
    if judged > 0 {
        steps.push(step(
            &format!("report{} --html report.html", around.run),
            "make an HTML page to share".to_owned(),
        ));
    }
    steps.truncate(MOST);
    steps
}

/// A command that would turn an open question into an answer.
fn settling(results: &Results, around: &Circumstances<'_>) -> Option<(String, String)> {
    // An adaptive run has asked for more by itself, as long as that could help.
    if results.adaptive.is_some() {
        return None;
    }
    let all = &results.summary.comparisons;
    let create = |purpose: &str| ("create-eval".to_owned(), purpose.to_owned());
    for comparison in all {
        match comparison.cannot_tell {
            Some(CannotTell::AllPassed) => {
                return Some(create("add a harder eval: all trials pass on both sides"));
            }
            Some(CannotTell::AllFailed) => {
                return Some(create("add an easier eval: all trials fail on both sides"));
            }
            _ => {}
        }
    }
    let too_few = |one: &Comparison| one.cannot_tell == Some(CannotTell::TooFewTrials);
    if all.iter().any(too_few) {
        let again = format!("run -n {SEVERAL}{}{}", around.selection, around.agent);
        return Some((
            again,
            "more trials: the result is mostly luck so far".to_owned(),
        ));
    }
    // The most that any of them needs does for all.
    let outlooks = all
        .iter()
        .filter_map(|comparison| comparison.outlook.as_ref());
    let most = outlooks
        .filter_map(proposed)
        .max_by_key(|proposal| proposal.repetitions);
    if let Some(Proposal {
        repetitions,
        difference,
        ..
    }) = most
    {
        let again = format!("run -n {repetitions}{}{}", around.selection, around.agent);
        let difference = size(*difference);
        return Some((
            again,
            format!("enough to detect a difference of {difference}"),
        ));
    }
    let is_narrow = |comparison: &Comparison| {
        matches!(
            comparison.beyond,
            Some(Beyond::TooFewEvals | Beyond::Unclear)
        )
    };
    all.iter()
        .any(is_narrow)
        .then(|| create("add evals, to learn about other tasks"))
}

/// The smallest difference that a sensible number of repetitions shows, else the largest.
fn proposed(outlook: &Outlook) -> Option<&Proposal> {
    let within = |most: usize| {
        let few = move |proposal: &&Proposal| proposal.repetitions <= most;
        outlook.repetitions.iter().filter(few)
    };
    within(SENSIBLE_REPETITIONS)
        .next_back()
        .or_else(|| within(MOST_REPETITIONS).next())
}

/// A reason to prove that an eval measures anything.
fn unproven(results: &Results) -> String {
    let is_solved = |eval: &str| {
        results
            .trials
            .iter()
            .any(|trial| trial.head.eval == eval && trial.report.status == Status::Passed)
    };
    let judged = |status: Status| matches!(status, Status::Partial | Status::Failed);
    let unsolved = results
        .trials
        .iter()
        .find(|trial| judged(trial.report.status) && !is_solved(&trial.head.eval));
    match unsolved {
        Some(trial) => format!("check that `{}` can be solved", trial.head.eval),
        None => "check that doing nothing does not pass".to_owned(),
    }
}

#[cfg(test)]
mod tests;
