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
    pub(super) shows: Shows,
    pub(super) has_answer: bool,
    /// The number of answers and of beginnings and ends of tools so far.
    progress: u64,
    /// The failed request since the last answer.
    failed_request: Option<TrialError>,
    /// Calls of tools that have not ended, by their ids.
    open_calls: BTreeSet<String>,
}

/// The parts of the talk that an agent shows when they happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shows {
    /// Answers, and the beginnings and ends of tools.
    #[default]
    Everything,
    /// Answers that came, at the end of the session at the latest. A tool may be at work unseen.
    Answers,
    /// Nothing of the model, so that silence says nothing about its service.
    Nothing,
}

/// The end of a trial by its time limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLimit {
    /// The limit.
    pub limit: Duration,
    /// The time before the limit in which there was no [`progress`](Conversation::progress).
    pub silence: Duration,
    /// A tool was at work when the limit was over. An agent that is asked to end may still print the end of it, and
    /// would then seem to have waited for its model.
    pub tool_was_running: bool,
}

impl Conversation {
    pub(super) fn answered(&mut self) {
        self.progress += 1;
        self.has_answer = true;
        self.failed_request = None;
    }

    pub(super) fn request_failed(&mut self, kind: ErrorKind, message: String) {
        self.failed_request = Some(TrialError::new(kind, message));
    }

    /// Notes that a tool begins or ends. Calls without an id are one.
    pub(super) fn tool_at_work(&mut self, id: &str, at_work: bool) {
        self.progress += 1;
        if at_work {
            self.open_calls.insert(id.to_owned());
        } else {
            self.open_calls.remove(id);
        }
    }

    /// Notes that the ends of some tools were left out of what is decoded.
    pub(super) fn tools_ended(&mut self) {
        self.progress += 1;
        self.open_calls.clear();
    }

    /// Returns whether the model is known to have answered, or a tool to have worked.
    pub fn has_begun(&self) -> bool {
        self.shows != Shows::Nothing && (self.has_answer || self.progress > 0)
    }

    /// Returns whether a tool is at work, as far as the agent shows it.
    pub fn is_tool_running(&self) -> bool {
        !self.open_calls.is_empty()
    }

    /// Returns a number that grows with each answer, and with each beginning and end of a tool.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Returns the fault of the model's service in a session that the time limit ended, or `None` if the work until
    /// then is to be judged. `completed` is true if the session came to its end all the same, and `worked` if the agent
    /// has changed something.
    pub fn fault_at_time_limit(
        &self,
        end: TimeLimit,
        completed: bool,
        worked: bool,
    ) -> Option<TrialError> {
        if let Some(failed) = &self.failed_request {
            let message = format!(
                "out of time after a request to the model failed: {}",
                failed.message
            );
            return Some(TrialError::new(failed.kind, message));
        }
        let is_tool_running = self.is_tool_running() || end.tool_was_running;
        if self.shows == Shows::Nothing || is_tool_running {
            return None;
        }
        // Where something was done, the agent has had an answer that it does not show.
        if !self.has_answer && !worked {
            let limit = prose::duration(end.limit.as_secs_f64());
            let message = format!("the model never answered within the time limit of {limit}");
            return Some(TrialError::new(ErrorKind::ModelApi, message));
        }
        let was_silent = end.silence >= end.limit / 2;
        if self.has_answer && was_silent && !completed && self.shows == Shows::Everything {
            let silence = prose::duration(end.silence.as_secs_f64());
            let message =
                format!("out of time after {silence} in which the model did not answer a request");
            return Some(TrialError::new(ErrorKind::ModelApi, message));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Line, find, playback};
    use crate::process::Exit;
    use crate::transcript::{Role, Step};

    const LIMIT: Duration = Duration::from_secs(60);

    /// Returns the kind of the fault after these acts and this many seconds of silence.
    fn fault(acts: &str, silence: u64) -> Option<ErrorKind> {
        let mut conversation = Conversation::default();
        let mut is_tool_stopped = false;
        for act in acts.split_whitespace() {
            match act {
                "stop" => is_tool_stopped = conversation.is_tool_running(),
                "answer" => conversation.answered(),
                "429" => conversation.request_failed(ErrorKind::RateLimit, act.to_owned()),
                "500" => conversation.request_failed(ErrorKind::ModelApi, act.to_owned()),
                "call" => {
                    conversation.answered();
                    conversation.tool_at_work("1", true);
                }
                _ => conversation.tool_at_work("1", false),
            }
        }
        let end = TimeLimit {
            limit: LIMIT,
            silence: Duration::from_secs(silence),
            tool_was_running: is_tool_stopped,
        };
        let fault = conversation.fault_at_time_limit(end, false, false);
        fault.map(|error| error.kind)
    }

    #[test]
    fn a_service_that_does_not_answer_is_told_from_an_agent_that_does_not_finish() {
        use ErrorKind::{ModelApi, RateLimit};
        for (name, acts, silence, expected) in [
            ("no answer at all", "", 60, Some(ModelApi)),
            ("no answer to a second try", "429", 60, Some(RateLimit)),
            ("500 after work", "call result 500", 1, Some(ModelApi)),
            ("the last failure counts", "500 429", 1, Some(RateLimit)),
            ("a failure that was overcome", "500 answer", 10, None),
            ("a tool that hangs", "call", 59, None),
            ("a tool that hangs after trouble", "500 call", 59, None),
            (
                "a tool that hangs and is stopped", "call stop result", 59, None,
            ),
            (
                "a service that falls silent",
                "call result",
                50,
                Some(ModelApi),
            ),
            ("slow but honest work", "call result", 29, None),
            ("still at it", "call result call result answer", 2, None),
        ] {
            assert_eq!(fault(acts, silence), expected, "{name}");
        }
    }

    #[test]
    fn silence_is_no_evidence_where_it_cannot_be_seen() {
        let end = TimeLimit {
            limit: LIMIT,
            silence: LIMIT,
            tool_was_running: false,
        };
        let fault = |shows, has_answer, completed, worked| {
            let conversation = Conversation {
                shows,
                has_answer,
                ..Conversation::default()
            };
            let fault = conversation.fault_at_time_limit(end, completed, worked);
            fault.is_some()
        };
        for (shows, has_answer, completed, worked, expected) in [
            (Shows::Nothing, false, false, false, false),
            (Shows::Answers, false, false, false, true),
            (Shows::Answers, true, false, false, false),
            (Shows::Everything, true, false, false, true),
            (Shows::Everything, true, true, false, false),
            (Shows::Everything, false, false, true, false),
        ] {
            assert_eq!(
                fault(shows, has_answer, completed, worked),
                expected,
                "{shows:?} {has_answer} {completed} {worked}"
            );
        }
    }

    /// The service falls silent after each line of a recorded session in turn. Before the first answer and between the
    /// answers that is its fault; while a tool is at work it is not known to be.
    #[test]
    fn recorded_sessions_show_their_answers_and_tools() {
        let end = TimeLimit {
            limit: LIMIT,
            silence: LIMIT,
            tool_was_running: false,
        };
        for (agent, recording) in [
            ("gemini-cli", "gemini-success.jsonl"),
            ("claude-code", "claude-success.jsonl"),
            ("codex", "codex-success.jsonl"),
            ("opencode", "opencode-fib.jsonl"),
            ("qwen-code", "qwen-success.jsonl"),
            ("copilot", "copilot-fib.jsonl"),
            ("cline", "cline-fib.jsonl"),
            ("pi", "pi-0.87-fib.jsonl"),
            ("kilo", "kilo-fib.jsonl"),
            ("droid", "droid-fib.jsonl"),
            ("goose", "goose-fib.txt"),
        ] {
            let text = playback::recorded(recording);
            let lines: Vec<&str> = text.lines().collect();
            let after = |count: usize| {
                let none = std::collections::BTreeSet::new();
                let inputs = playback::inputs(&[], None, &none);
                let mut decoder = find(agent).unwrap().decoder(&inputs);
                let mut records = Vec::new();
                for line in &lines[..count] {
                    records.append(&mut decoder.stdout(Line::Text(line)));
                }
                let reading = decoder.finish(Exit::Signal(9));
                records.extend(reading.records);
                let fault = reading.conversation.fault_at_time_limit(end, false, false);
                (records, fault.is_some())
            };
            assert!(after(0).1, "{agent}: no line at all");
            let (mut before, mut waiting, mut working) = (0, 0, 0);
            for count in 1..lines.len() {
                let (records, is_fault) = after(count);
                let spoken = |step: &Step| match step {
                    Step::Message { role, .. } => *role == Role::Assistant,
                    Step::Reasoning { .. } | Step::ToolCall { .. } => true,
                    _ => false,
                };
                let Some(last) = records.iter().rposition(|record| spoken(&record.step)) else {
                    before += usize::from(is_fault);
                    continue;
                };
                let calls = |step: &Step| matches!(step, Step::ToolCall { .. });
                let results = |step: &Step| matches!(step, Step::ToolResult { .. });
                let count_of = |is: &dyn Fn(&Step) -> bool| {
                    records.iter().filter(|record| is(&record.step)).count()
                };
                if count_of(&calls) > count_of(&results) {
                    assert!(!is_fault, "{agent}: a tool runs after line {count}");
                    working += 1;
                } else if results(&records[records.len() - 1].step) && last + 1 < records.len() {
                    waiting += usize::from(is_fault);
                }
            }
            assert!(waiting > 0, "{agent}: the time after a tool");
            // Their first line is the beginning of an answer, in which tools are not seen.
            let shows_tools_when_over = ["opencode", "kilo"].contains(&agent);
            assert_eq!(
                before > 0,
                !shows_tools_when_over,
                "{agent}: the time before an answer"
            );
            assert_eq!(
                working > 0,
                !shows_tools_when_over,
                "{agent}: tools at work"
            );
        }
    }
}
