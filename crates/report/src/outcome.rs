//! A trial's outcome in words and marks.

use terca_core::analysis::summary::wording;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::text::prose;

/// Returns the mark of a status, which says what its colour says.
pub fn mark(status: Status) -> &'static str {
    match status {
        Status::Passed => "✓",
        Status::Partial => "◐",
        Status::Failed => "✗",
        Status::Error => "!",
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

/// `25 passed`, `1 error`, `2 errors`.
pub fn ending(status: Status, number: usize) -> String {
    match status {
        Status::Error => prose::count(number, "error"),
        _ => format!("{number} {}", status.as_str()),
    }
}

/// Returns why the trial ended as it did: empty when it simply passed.
pub fn reason(report: &TrialReport) -> String {
    let mut reasons = Vec::new();
    if report.status == Status::Interrupted {
        reasons.push(report.status.as_str().to_owned());
    }
    if report.timed_out {
        reasons.push("timed out".to_owned());
    }
    if let Some(error) = &report.error {
        reasons.push(format!("{}: {}", error.kind.as_str(), error.message));
    } else if let Some((test, grade)) = report.tests.first_loss() {
        reasons.push(format!("{test}: {}", grade.message));
    } else if let (Status::Failed, Some(code), false) =
        (report.status, report.exit_code, report.timed_out)
    {
        reasons.push(format!("exit status {code}"));
    }
    reasons.extend(report.notes.iter().cloned());
    if report.attempts > 1 {
        reasons.push(format!(
            "after {}",
            prose::count(report.attempts as usize, "attempt")
        ));
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn an_agent_that_merely_failed_says_how() {
        let report = TrialReport {
            tests: Default::default(),
            exit_code: Some(3),
            ..fixture::failed(1.0, "unused", "unused")
        };
        assert_eq!(reason(&report), "exit status 3");
    }
}
