//! A trial's outcome in words and marks.

use std::collections::HashMap;

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::{Summary, wording};
use terca_core::run::event::TrialHead;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::text::prose;

/// Returns the trials of a variant.
pub fn of_variant<'a>(
    results: &'a Results,
    environment: &'a str,
    experiment: &'a str,
) -> impl Iterator<Item = &'a TrialResult> {
    results.trials.iter().filter(move |trial| {
        trial.head.environment == environment && trial.head.experiment == experiment
    })
}

/// Returns the trials of each eval in each variant, in the order of the first ones.
pub fn by_case(results: &Results) -> Vec<Vec<&TrialResult>> {
    let mut cases: Vec<Vec<&TrialResult>> = Vec::new();
    let mut places: HashMap<[&str; 3], usize> = HashMap::new();
    for trial in &results.trials {
        let head = &trial.head;
        let case = [&*head.eval, &*head.environment, &*head.experiment];
        let place = *places.entry(case).or_insert(cases.len());
        match cases.get_mut(place) {
            Some(trials) => trials.push(trial),
            None => cases.push(vec![trial]),
        }
    }
    cases
}

/// Returns the mark of a status, which says what its colour says.
pub fn mark(status: Status) -> &'static str {
    match status {
        Status::Passed => "✓",
        Status::Partial => "◐",
        Status::Failed => "✗",
        Status::Error => "!",
        Status::Unverified => "?",
        Status::Interrupted | Status::Pending => "-",
    }
}

/// Returns the score, or the status of a trial that was not judged.
pub fn verdict(report: &TrialReport) -> String {
    match report.score {
        Some(score) if report.status.is_judged() => wording::score(score),
        _ => report.status.as_str().to_owned(),
    }
}

/// Returns the agent with its version, where it is known.
pub fn agent(head: &TrialHead, report: &TrialReport) -> String {
    match &report.agent_version {
        Some(version) => format!("{} {version}", head.agent),
        None => head.agent.clone(),
    }
}

/// Returns the model that answered, or else the one that was asked for.
pub fn model<'a>(head: &'a TrialHead, report: &'a TrialReport) -> Option<&'a String> {
    let observed = report.delivery.model_observed.as_ref();
    observed.or(head.model.as_ref())
}

/// Returns the statuses of trials with their numbers.
pub fn endings(summary: &Summary) -> [(Status, usize); 7] {
    [
        (Status::Passed, summary.passed),
        (Status::Partial, summary.partial),
        (Status::Failed, summary.failed),
        (Status::Unverified, summary.unverified),
        (Status::Error, summary.errors),
        (Status::Interrupted, summary.interrupted),
        (Status::Pending, summary.pending),
    ]
}

/// `25 passed`, `1 error`, `2 errors`.
pub fn ending(status: Status, number: usize) -> String {
    match status {
        Status::Error => prose::count(number, "error"),
        _ => format!("{number} {}", status.as_str()),
    }
}

/// Returns why the trial ended as it did in one short line: the first test that lost points, and the number of others.
/// Empty when it simply passed.
pub fn reason(report: &TrialReport) -> String {
    let losses = first_loss(report).into_iter().collect();
    told(report, "timed out", losses).join("; ")
}

/// Returns the first test that lost points, and the number of others.
pub fn first_loss(report: &TrialReport) -> Option<String> {
    let (test, grade) = report.losses().next()?;
    let more = match report.losses().count() - 1 {
        0 => String::new(),
        more => format!(" (+{})", prose::count(more, "more test")),
    };
    Some(format!("{test}: {}{more}", grade.message))
}

/// Returns why the trial ended as it did: every test that lost points, and whatever else is to be said.
pub fn reasons(report: &TrialReport) -> Vec<String> {
    let losses = report.losses();
    let losses = losses.map(|(test, grade)| format!("{test}: {}", grade.message));
    let timed_out = "timed out (`timeoutSeconds` sets the limit)";
    told(report, timed_out, losses.collect())
}

/// Puts what else there is to say around the tests that lost points.
fn told(report: &TrialReport, timed_out: &str, losses: Vec<String>) -> Vec<String> {
    let mut reasons = Vec::new();
    if report.status == Status::Interrupted {
        reasons.push(report.status.as_str().to_owned());
    }
    if report.timed_out {
        reasons.push(timed_out.to_owned());
    }
    if let Some(error) = &report.error {
        reasons.push(format!("{}: {}", error.kind.as_str(), error.message));
    } else if !losses.is_empty() {
        reasons.extend(losses);
    } else if report.status == Status::Unverified {
        reasons.push(match report.exit_code {
            _ if report.timed_out => "nothing verified".to_owned(),
            None | Some(0) => "completed, nothing verified".to_owned(),
            Some(code) => format!("exit status {code}, nothing verified"),
        });
    }
    reasons.extend(report.notes.iter().cloned());
    if report.attempts > 1 {
        reasons.push(format!(
            "after {}",
            prose::count(report.attempts as usize, "attempt")
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use terca_core::grade::Grade;

    use super::*;
    use crate::fixture;

    #[test]
    fn a_trial_without_tests_says_how_its_agent_ended() {
        for (exit_code, timed_out, said) in [
            (Some(0), false, "completed, nothing verified"),
            (Some(3), false, "exit status 3, nothing verified"),
            (Some(143), true, "timed out; nothing verified"),
        ] {
            let report = TrialReport {
                status: Status::Unverified,
                tests: Default::default(),
                exit_code,
                timed_out,
                ..fixture::failed(1.0, "unused", "unused")
            };
            assert_eq!(reason(&report), said);
        }
    }

    #[test]
    fn every_test_that_lost_points_is_a_reason() {
        let mut report = fixture::failed(1.0, "one", "one.txt does not exist");
        for (test, score) in [("two", 0.5), ("three", 1.0), ("four", 0.0)] {
            let grade = Grade {
                score,
                message: format!("about {test}"),
                ..Grade::default()
            };
            report.tests.push((test.into(), grade));
        }
        assert_eq!(
            reasons(&report),
            [
                "one: one.txt does not exist", "two: about two", "four: about four"
            ]
        );
        assert_eq!(
            reason(&report),
            "one: one.txt does not exist (+2 more tests)"
        );
    }
}
