//! The rule by which a trial that ended in an error is tried again, and after how long.
//!
//! Only errors are: a trial that was judged has its result, and trying it again until it passes would be a lie.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::SignedDuration;
use regex::Regex;

use crate::trial_error::{ErrorKind, TrialError};

/// The first wait for a provider; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(4);
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// The first wait for another worker; each further one is twice as long.
const FIRST_WAIT_FOR_WORKER: Duration = Duration::from_secs(1);
const LONGEST_WAIT_FOR_WORKER: Duration = Duration::from_secs(30);
/// Further attempts at a trial that has lost its worker, also where fewer are asked for.
const LOST_RETRIES: u32 = 2;
/// A provider that says "tomorrow" is not waited for.
const LONGEST_TOLD: Duration = Duration::from_secs(3600);

/// Returns whether a trial that ended in an error has another attempt. So many `attempts` have been made; of those before
/// the last one, `lost` have lost their worker. They are counted apart: a broken machine uses up no attempt that the user
/// asked for.
pub fn is_left(kind: ErrorKind, attempts: u32, lost: u32, retries: u32) -> bool {
    match kind {
        ErrorKind::Lost => lost < retries.max(LOST_RETRIES),
        _ => attempts.saturating_sub(lost) <= retries,
    }
}

/// Returns how long to wait before the next attempt; `None` when another would end the same way.
///
/// `attempts` have been made, `draw` is a number from 0 to 1 that keeps trials which failed together from coming
/// back together.
pub fn wait(error: &TrialError, attempts: u32, draw: f64) -> Option<Duration> {
    match error.kind {
        ErrorKind::Setup
        | ErrorKind::Auth
        | ErrorKind::Credit
        | ErrorKind::Model
        | ErrorKind::AgentMissing
        | ErrorKind::Delivery
        | ErrorKind::Replay => None,
        ErrorKind::Mcp | ErrorKind::Agent | ErrorKind::Internal => Some(Duration::ZERO),
        ErrorKind::RateLimit | ErrorKind::ModelApi => match told(&error.message) {
            Some(wait) if wait > LONGEST_TOLD => None,
            Some(wait) => Some(wait.mul_f64(1.0 + 0.1 * draw)),
            None => Some(doubled(FIRST_WAIT, LONGEST_WAIT, attempts, draw)),
        },
        ErrorKind::Lost => Some(doubled(
            FIRST_WAIT_FOR_WORKER, LONGEST_WAIT_FOR_WORKER, attempts, draw,
        )),
    }
}

/// Returns a wait that doubles with each attempt, less a random part.
fn doubled(first: Duration, longest: Duration, attempts: u32, draw: f64) -> Duration {
    let doubled = first.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    doubled.min(longest).mul_f64(0.5 + 0.5 * draw)
}

/// Returns whether every further trial of the variant would end in the same error.
pub fn is_hopeless(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Auth | ErrorKind::Credit | ErrorKind::Model | ErrorKind::AgentMissing
    )
}

/// The delay that a provider asks for in its message: "Please retry in 34.07s", `"retryDelay": "34s"`,
/// "try again in 1m2.5s", "Retry-After: 30", "retry after 30 seconds", "try again in 250ms".
fn told(message: &str) -> Option<Duration> {
    static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let lead = r#"(?:re)?try[ _-]?(?:again )?(?:in|after)(?:_seconds)?|retry_?delay"#;
        let amount =
            r"\d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|s|seconds?|m|min|minutes?|h|hours?)?\b";
        Regex::new(&format!(
            r#"(?i)(?:{lead})["' :=]{{1,4}}((?:{amount} ?)+|\d[\dmsh.]*)"#
        ))
        .ok()
    });
    let asked = ASKED.as_ref()?.captures(message)?;
    let amount = asked[1].trim_end_matches([' ', '.']).to_ascii_lowercase();
    match amount.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => amount.parse::<SignedDuration>().ok()?.try_into().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_that_providers_ask_for() {
        for (message, seconds) in [
            (
                "429: You exceeded your quota. Please retry in 34.074824224s.",
                Some(34.074_824),
            ),
            (r#"{"@type": "RetryInfo", "retryDelay": "34s"}"#, Some(34.0)),
            (
                "Rate limit reached. Please try again in 6s. Visit the docs",
                Some(6.0),
            ),
            ("Rate limit reached. Please try again in 250ms.", Some(0.25)),
            ("Please try again in 1m2.5s.", Some(62.5)),
            ("please retry after 30 seconds", Some(30.0)),
            ("Retry-After: 12", Some(12.0)),
            ("retry_after=7", Some(7.0)),
            ("try again in 2 minutes", Some(120.0)),
            ("try again in 5 hours", Some(18_000.0)),
            ("429 Too Many Requests", None),
            ("please try again later", None),
            ("retry 3 of 5 failed", None),
        ] {
            let told = told(message).map(|wait| (wait.as_secs_f64() * 1e6).round() / 1e6);
            assert_eq!(told, seconds, "{message}");
        }
    }

    #[test]
    fn waits_by_kind() {
        let wait = |kind, message: &str, attempts| {
            wait(&TrialError::new(kind, message), attempts, 1.0).map(|wait| wait.as_secs_f64())
        };
        for kind in [
            ErrorKind::Setup,
            ErrorKind::Auth,
            ErrorKind::Model,
            ErrorKind::AgentMissing,
            ErrorKind::Delivery,
            ErrorKind::Replay,
        ] {
            assert_eq!(wait(kind, "try again in 1s", 1), None, "{kind:?}");
        }
        for kind in [ErrorKind::Mcp, ErrorKind::Agent, ErrorKind::Internal] {
            assert_eq!(wait(kind, "try again in 1s", 1), Some(0.0), "{kind:?}");
        }
        for kind in [ErrorKind::RateLimit, ErrorKind::ModelApi] {
            let waits: Vec<_> = (1..=7)
                .map(|attempts| wait(kind, "500", attempts).unwrap())
                .collect();
            assert_eq!(
                waits,
                [4.0, 8.0, 16.0, 32.0, 64.0, 120.0, 120.0],
                "{kind:?}"
            );
            assert_eq!(wait(kind, "try again in 10s", 5), Some(11.0));
            assert_eq!(wait(kind, "try again in 5 hours", 1), None);
            assert!(wait(kind, "500", u32::MAX).is_some());
        }
    }

    #[test]
    fn a_lost_worker_is_waited_for_a_short_time() {
        let error = TrialError::new(ErrorKind::Lost, "try again in 5 hours");
        let waits = [1, 2, 3, 10].map(|attempts| wait(&error, attempts, 1.0).unwrap().as_secs());
        assert_eq!(waits, [1, 2, 4, 30]);
        assert!(!is_hopeless(ErrorKind::Lost));
    }

    #[test]
    fn lost_workers_are_counted_apart() {
        use ErrorKind::{Agent, Lost};
        for (kind, attempts, lost, retries, expected) in [
            (Agent, 1, 0, 0, false),
            (Agent, 1, 0, 1, true),
            (Agent, 2, 0, 1, false),
            (Agent, 3, 2, 1, true),
            (Agent, 4, 2, 1, false),
            (Lost, 1, 0, 0, true),
            (Lost, 2, 1, 0, true),
            (Lost, 3, 2, 0, false),
            (Lost, 4, 1, 0, true),
            (Lost, 3, 2, 3, true),
        ] {
            assert_eq!(
                is_left(kind, attempts, lost, retries),
                expected,
                "{kind:?} {attempts} {lost} {retries}"
            );
        }
    }

    #[test]
    fn those_that_failed_together_come_back_apart() {
        let error = TrialError::new(ErrorKind::RateLimit, "429");
        let (early, late) = (wait(&error, 1, 0.0).unwrap(), wait(&error, 1, 1.0).unwrap());
        assert_eq!((early.as_secs_f64(), late.as_secs_f64()), (2.0, 4.0));
    }
}
