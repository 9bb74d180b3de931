//! The requests to models behind the steps of a session.
//!
//! The gateway knows each request, and the transcript each step, but neither names the other. A turn is what the agent says
//! and calls until the next result. Where there is one answer for each turn, they belong together in their order. Otherwise
//! a turn has the requests that were answered since the turn before it.

use std::collections::BTreeMap;

use terca_core::text::prose;
use terca_core::transcript::trial_files::{ModelRequest, Numbered, Session};
use terca_core::transcript::{Role, Step};

use super::moments::Clock;

/// A request that began so many seconds after its step was made did not make it.
const EARLIEST: f64 = 0.05;

/// The requests of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Asked {
    /// Their number.
    pub requests: usize,
    /// The time that they took together.
    pub seconds: f64,
    /// Tokens sent, where the answers say.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, where the answers say.
    pub output_tokens: Option<u64>,
}

impl Asked {
    fn add(&mut self, request: &ModelRequest) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            _ => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        self.requests += 1;
        self.seconds += request.seconds;
        self.input_tokens = sum(self.input_tokens, request.input_tokens);
        self.output_tokens = sum(self.output_tokens, request.output_tokens);
    }

    fn of(requests: &[&ModelRequest]) -> Self {
        let mut asked = Asked::default();
        for request in requests {
            asked.add(request);
        }
        asked
    }
}

/// Returns `9.0k in, 240 out`, as far as the numbers are known.
pub fn in_and_out(input: Option<u64>, output: Option<u64>) -> Option<String> {
    let part = |number: Option<u64>, word: &str| {
        number.map(|number| format!("{} {word}", prose::compact(number)))
    };
    let parts = [part(input, "in"), part(output, "out")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What an agent said and called between two results.
#[derive(Debug, Clone, Copy)]
struct Turn {
    last_step: u32,
    /// The seconds from the beginning to its last step.
    at: Option<f64>,
}

/// Returns the requests behind the last step of each turn, by the number of that step.
pub fn requests_of_steps(
    session: &Session,
    requests: &[ModelRequest],
    clock: Clock,
) -> BTreeMap<u32, Asked> {
    let answered: Vec<&ModelRequest> = requests
        .iter()
        .filter(|request| request.failure.is_none())
        .collect();
    let mut turns = turns_of(&session.head, clock);
    turns.extend(turns_of(&session.tail, clock));
    let pairs = turns.iter().zip(&answered);
    let is_possible = pairs
        .clone()
        .all(|(turn, request)| turn.at.is_none_or(|at| request.started - EARLIEST <= at));
    if session.left_out == 0 && turns.len() == answered.len() && is_possible {
        return pairs
            .map(|(turn, request)| (turn.last_step, Asked::of(&[request])))
            .collect();
    }
    by_time(&turns, &answered)
}

fn turns_of(records: &[Numbered], clock: Clock) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut is_open = false;
    for Numbered { number, record } in records {
        match &record.step {
            Step::Message {
                role: Role::Assistant,
                ..
            }
            | Step::Reasoning { .. }
            | Step::ToolCall { .. } => {
                let turn = Turn {
                    last_step: *number,
                    at: clock.at(record),
                };
                match turns.last_mut() {
                    Some(last) if is_open => *last = turn,
                    _ => turns.push(turn),
                }
                is_open = true;
            }
            Step::Message { .. } | Step::ToolResult { .. } => is_open = false,
            _ => {}
        }
    }
    turns
}

fn by_time(turns: &[Turn], answered: &[&ModelRequest]) -> BTreeMap<u32, Asked> {
    let mut left = answered;
    let mut found = BTreeMap::new();
    for turn in turns {
        let Some(at) = turn.at else { continue };
        let over = left
            .iter()
            .take_while(|request| request.started + request.seconds <= at)
            .count();
        // A step may be read while its answer is still on the way.
        let is_begun = left.first().is_some_and(|request| request.started <= at);
        let (taken, rest) = left.split_at(over.max(usize::from(is_begun)));
        if !taken.is_empty() {
            found.insert(turn.last_step, Asked::of(taken));
        }
        left = rest;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use terca_core::transcript::Record;

    /// A session of calls and a last message. Each is read so many milliseconds after the beginning.
    fn session(times: &[u64]) -> Session {
        let record = |line: usize, at: u64, step: Value| -> Record {
            let mut value = step;
            value["line"] = json!(line);
            value["atMs"] = json!(at);
            serde_json::from_value(value).unwrap()
        };
        let mut records = Vec::new();
        let (last, calls) = times.split_last().unwrap();
        for (number, at) in calls.iter().enumerate() {
            let id = number.to_string();
            records.push(record(
                number,
                *at,
                json!({"type": "reasoning", "text": "Hm."}),
            ));
            records.push(record(
                number,
                *at,
                json!({"type": "toolCall", "id": id, "tool": "Bash", "input": {}}),
            ));
            records.push(record(
                number,
                at + 10,
                json!({"type": "toolResult", "id": id, "ok": true}),
            ));
        }
        records.push(record(
            9,
            *last,
            json!({"type": "message", "role": "assistant", "text": "Done."}),
        ));
        Session::whole(records)
    }

    fn request(started: f64, seconds: f64, output: u64) -> ModelRequest {
        ModelRequest {
            started,
            seconds,
            output_tokens: Some(output),
            ..ModelRequest::default()
        }
    }

    fn outputs(session: &Session, requests: &[ModelRequest]) -> Vec<(u32, usize, Option<u64>)> {
        let clock = Clock::of(session, None);
        let mut found: Vec<_> = requests_of_steps(session, requests, clock)
            .into_iter()
            .map(|(step, asked)| (step, asked.requests, asked.output_tokens))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_request_for_each_turn_belongs_to_its_last_step() {
        // The second request is over before the first call is read: the model is faster than Terca looks.
        let requests = [
            request(0.0, 1.0, 11),
            request(1.1, 0.1, 22),
            request(3.0, 1.0, 33),
        ];
        let found = outputs(&session(&[1_300, 2_000, 4_000]), &requests);
        assert_eq!(
            found,
            [(2, 1, Some(11)), (4, 1, Some(22)), (5, 1, Some(33))]
        );
    }

    #[test]
    fn other_requests_count_for_the_turn_that_follows_them() {
        let mut failed = request(1.2, 0.1, 0);
        failed.failure = Some("429".to_owned());
        let requests = [
            request(0.0, 0.5, 5),
            request(0.1, 0.9, 11),
            failed,
            request(1.5, 1.0, 22),
            // Its words are read before it is over.
            request(3.0, 9.0, 33),
        ];
        let found = outputs(&session(&[1_100, 2_600, 4_000]), &requests);
        assert_eq!(
            found,
            [(2, 2, Some(16)), (4, 1, Some(22)), (5, 1, Some(33))]
        );
    }

    #[test]
    fn a_request_after_the_last_step_belongs_to_none() {
        let requests = [request(0.0, 0.5, 5), request(9.0, 1.0, 7)];
        assert_eq!(outputs(&session(&[600, 700]), &requests), [(2, 1, Some(5))]);
    }
}
