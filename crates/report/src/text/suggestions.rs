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
use terca_core::analysis::summary::{Beyond, Outlook, Proposal};
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::stats::CannotTell;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use crate::term::{Answer, dim, pad, width};

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
    /// `terca validate` has checked the evals.
    pub validated: bool,
    /// An earlier run that this one can be compared with.
    pub earlier: Option<&'a str>,
}

/// A command, and what it is for.
type Step = (String, String);

/// Empty when there is nothing to suggest.
pub fn suggestions(results: &Results, around: &Circumstances<'_>, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    let steps = steps(results, around);
    let Some(widest) = steps.iter().map(|(command, _)| width(command)).max() else {
        return answer;
    };
    let line = |(command, purpose): &Step, widest: usize| {
        let line = format!("  {}    # {purpose}", pad(command, widest));
        Some(line).filter(|line| width(line) < columns)
    };
    // A command that goes on in the next line is hard to copy, so what it is for goes first.
    let aligned: Option<Vec<String>> = steps.iter().map(|step| line(step, widest)).collect();
    let lines = aligned.unwrap_or_else(|| {
        let bare = |(command, _): &Step| format!("  {command}");
        let steps = steps.iter();
        steps
            .map(|step| line(step, 0).unwrap_or(bare(step)))
            .collect()
    });
    answer.line(dim("next:"));
    lines.iter().for_each(|line| answer.line(dim(line)));
    answer
}

fn steps(results: &Results, around: &Circumstances<'_>) -> Vec<Step> {
    if results.status != RunStatus::Complete || results.trials.is_empty() {
        return Vec::new();
    }
    let of = |kinds: &[ErrorKind]| {
        let trials = results.trials.iter();
        let mut errors = trials.filter_map(|trial| trial.report.error.as_ref());
        errors.any(|error| kinds.contains(&error.kind))
    };
    let summary = &results.summary;
    let judged = summary.passed + summary.partial + summary.failed;
    let mut steps = Vec::new();
    let mut suggest = |arguments: &str, purpose: &str| {
        steps.push((format!("{} {arguments}", around.terca), purpose.to_owned()));
    };
    if of(&[ErrorKind::AgentMissing, ErrorKind::Auth]) {
        suggest("doctor", "see which agents are installed and signed in");
    }
    // Of a variant that was stopped the closing lines say the same.
    if summary.errors > 0 && results.stopped_variants.is_empty() {
        let trials = prose::count(summary.errors, "trial");
        suggest(
            &format!("resume{} --errors", around.run),
            &format!("after fixing the cause, run {trials} again"),
        );
    }
    if summary.partial + summary.failed > 0 {
        suggest(
            &format!("view{}", around.run),
            "see what the agents did, and why they failed",
        );
    }
    if let Some((arguments, purpose)) = settling(results, around) {
        suggest(&arguments, &purpose);
    }
    if judged > 0 && !around.validated {
        suggest("validate", &unchecked(results));
    }
    if !around.agent.is_empty() {
        let arguments = format!("run{}", around.selection);
        suggest(&arguments, "run with the suite's own agents");
    } else if let Some(earlier) = around.earlier.filter(|_| summary.comparisons.is_empty()) {
        let arguments = format!("compare {earlier} {}", results.run);
        suggest(&arguments, "compare with the previous run");
    }
    if judged > 0 {
        suggest(
            &format!("report{} --html report.html", around.run),
            "make an HTML page to share",
        );
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
    let create = |purpose: &str| Some(("create-eval".to_owned(), purpose.to_owned()));
    let again =
        |repetitions: usize| format!("run -n {repetitions}{}{}", around.selection, around.agent);
    // The first of them decides.
    let one_sided = [CannotTell::AllPassed, CannotTell::AllFailed];
    let reasons = all.iter().filter_map(|one| one.cannot_tell);
    match reasons.clone().find(|reason| one_sided.contains(reason)) {
        Some(CannotTell::AllPassed) => {
            return create("add a harder eval: all trials pass on both sides");
        }
        Some(_) => return create("add an easier eval: all trials fail on both sides"),
        None => {}
    }
    if reasons
        .clone()
        .any(|reason| reason == CannotTell::TooFewTrials)
    {
        let purpose = "more trials: the result is mostly luck so far";
        return Some((again(SEVERAL), purpose.to_owned()));
    }
    // The most that any of them needs does for all.
    let outlooks = all.iter().filter_map(|one| one.outlook.as_ref());
    let most = outlooks.filter_map(proposed);
    if let Some(most) = most.max_by_key(|proposal| proposal.repetitions) {
        let difference = size(most.difference);
        let purpose = format!("enough to detect a difference of {difference}");
        return Some((again(most.repetitions), purpose));
    }
    let is_narrow =
        |beyond: &Option<Beyond>| matches!(beyond, Some(Beyond::TooFewEvals | Beyond::Unclear));
    match all.iter().any(|one| is_narrow(&one.beyond)) {
        true => create("add evals, to learn about other tasks"),
        false => None,
    }
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

/// A reason to check that an eval measures anything.
fn unchecked(results: &Results) -> String {
    let is_solved = |eval: &str| {
        let mut trials = results.trials.iter();
        trials.any(|trial| trial.head.eval == eval && trial.report.status == Status::Passed)
    };
    let is_lost = |status: Status| matches!(status, Status::Partial | Status::Failed);
    let mut trials = results.trials.iter();
    match trials.find(|trial| is_lost(trial.report.status) && !is_solved(&trial.head.eval)) {
        Some(trial) => format!("check that `{}` can be solved", trial.head.eval),
        None => "check that doing nothing does not pass".to_owned(),
    }
}

#[cfg(test)]
mod tests;
