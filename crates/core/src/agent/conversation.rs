//! The talk between an agent and its model, and the rule by which a service that does not answer is told from an agent
//! that does not finish.
//!
//! The rule is here once, for all agents. An adapter only says what its agent shows: answers, calls of tools and their
//! ends, requests that failed. A trial that its time limit ends is judged as a rule, because most agents wait for their
//! model at any moment. It is the service's fault only on evidence:
//!
//! - a request failed, and no answer came after it;
//! - no answer ever came;
//! - the agent waited for the model, and not for a tool, for at least half of the limit.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::text::prose;
use crate::trial_error::{ErrorKind, TrialError};

/// The talk between an agent and its model, as far as the agent's output shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    pub(super) hides_answers: bool,
    has_answer: bool,
    /// The failed request since the last answer.
    failed_request: Option<TrialError>,
    /// Calls of tools that have not ended, by their ids.
    open_calls: BTreeSet<String>,
    /// Calls without an id that have not ended.
    open_calls_without_id: u64,
}

/// The end of a trial by its time limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLimit {
    /// The limit.
    pub limit: Duration,
    /// The time since the agent last showed anything.
    pub silence: Duration,
}

impl Conversation {
    pub(super) fn answered(&mut self) {
        self.has_answer = true;
        self.failed_request = None;
    }

    pub(super) fn request_failed(&mut self, kind: ErrorKind, message: String) {
        self.failed_request = Some(TrialError::new(kind, message));
    }

    pub(super) fn tool_started(&mut self, id: Option<&str>) {
        match id {
            Some(id) => {
                self.open_calls.insert(id.to_owned());
            }
            None => self.open_calls_without_id += 1,
        }
    }

    pub(super) fn tool_ended(&mut self, id: Option<&str>) {
        match id {
            Some(id) => {
                self.open_calls.remove(id);
            }
            None => self.open_calls_without_id = self.open_calls_without_id.saturating_sub(1),
        }
    }

    /// Notes that the ends of some tools were left out of what is decoded.
    pub(super) fn tools_ended(&mut self) {
        self.open_calls.clear();
        self.open_calls_without_id = 0;
    }

    fn is_tool_running(&self) -> bool {
        !self.open_calls.is_empty() || self.open_calls_without_id > 0
    }

    /// Returns the fault of the model's service in a session that the time limit ended, or `None` if the work until
    /// then is to be judged.
    pub fn fault_at_time_limit(&self, end: TimeLimit) -> Option<TrialError> {
        if let Some(failed) = &self.failed_request {
            let message = format!(
                "out of time after a request to the model failed: {}",
                failed.message
            );
            return Some(TrialError::new(failed.kind, message));
        }
        if self.hides_answers || self.is_tool_running() {
            return None;
        }
        if !self.has_answer {
            let limit = prose::duration(end.limit.as_secs_f64());
            let message = format!("the model never answered within the time limit of {limit}");
            return Some(TrialError::new(ErrorKind::ModelApi, message));
        }
        if end.silence >= end.limit / 2 {
            let silence = prose::duration(end.silence.as_secs_f64());
            let message = format!("out of time after {silence} without an answer of the model");
            return Some(TrialError::new(ErrorKind::ModelApi, message));
        }
        None
    }
}
