//! The requests to models behind the steps of a session.
//!
//! The gateway knows each request, and the transcript each step, but neither names the other. A turn is what the agent says
//! and calls until the next result. Where there is one answer for each turn, they belong together in their order. Otherwise
//! a turn has the requests that were answered since the turn before it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::text::excerpt::beginning;
use terca_core::text::prose;
use terca_core::transcript::tool_use::{UseKind, uses};
use terca_core::transcript::trial_files::{ModelRequest, Numbered, Session};
use terca_core::transcript::{Record, Role, Step};

use crate::groups::grouped;

/// A request that began so many seconds after its step was made did not make it.
const EARLIEST: f64 = 0.05;

/// The requests of one turn.
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
    fn of(requests: &[&ModelRequest]) -> Self {
        // Unknown only where no answer says.
        let sum = |read: fn(&ModelRequest) -> Option<u64>| {
            let known = requests.iter().filter_map(|request| read(request));
            known.reduce(u64::saturating_add)
        };
        Asked {
            requests: requests.len(),
            seconds: requests.iter().map(|request| request.seconds).sum(),
            input_tokens: sum(|request| request.input_tokens),
            output_tokens: sum(|request| request.output_tokens),
        }
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
#[derive(Clone, Copy)]
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
    let turns = turns_of(session, clock);
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

fn turns_of(session: &Session, clock: Clock) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut is_open = false;
    for Numbered { number, record } in session.records() {
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

/// Reads times relative to the beginning of a session.
#[derive(Clone, Copy, Default)]
pub struct Clock {
    /// The first time that the agent tells.
    first: Option<Timestamp>,
    /// The seconds from the beginning of the session to that time.
    ahead: f64,
}

impl Clock {
    /// A clock that the agent tells no times.
    #[cfg(test)]
    pub const NONE: Clock = Clock {
        first: None,
        ahead: 0.0,
    };

    /// Reads the times of a session. `agent_start` is its beginning by Terca's clock.
    pub fn of(session: &Session, agent_start: Option<Timestamp>) -> Self {
        let mut times = session.records().filter_map(|one| told(&one.record));
        let Some(first) = times.next() else {
            return Clock::default();
        };
        // A step is read after it happens. The shortest delay says how the two clocks differ.
        let read = |record: &Record| Some(read_at(record)? - seconds(first, told(record)?));
        let ahead = session.records().filter_map(|one| read(&one.record));
        let ahead = ahead.reduce(f64::min).or_else(|| {
            let ahead = seconds(agent_start?, first);
            // Clocks of two machines may differ by more than a session takes.
            (ahead < 3_600.0).then_some(ahead)
        });
        Clock {
            first: Some(first),
            ahead: ahead.unwrap_or(0.0).max(0.0),
        }
    }

    /// Returns the seconds from the beginning to a record.
    pub fn at(self, record: &Record) -> Option<f64> {
        let by_agent = told(record).zip(self.first);
        let by_agent = by_agent.map(|(time, first)| seconds(first, time) + self.ahead);
        by_agent
            .or_else(|| read_at(record))
            .filter(|seconds| *seconds >= 0.0)
    }

    /// Returns the seconds from a call to its result. Where both came in one line, the time of that line tells nothing.
    pub fn between(self, call: &Record, result: &Record) -> Option<f64> {
        let is_told = told(call).is_some() && told(result).is_some();
        if !is_told && (told(call).is_some() || told(result).is_some() || call.line == result.line)
        {
            return None;
        }
        Some(self.at(result)? - self.at(call)?).filter(|seconds| *seconds >= 0.0)
    }

    /// Returns `+3.2s`.
    pub fn words(self, record: &Record) -> Option<String> {
        self.at(record)
            .map(|seconds| format!("+{}", prose::duration(seconds)))
    }
}

fn told(record: &Record) -> Option<Timestamp> {
    record.time.as_deref()?.parse().ok()
}

fn read_at(record: &Record) -> Option<f64> {
    record.at_ms.map(|at| at as f64 / 1000.0)
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// More entries of a list, and more steps of an entry, are counted.
const MOST_ENTRIES: usize = 60;
const MOST_STEPS: usize = 12;
const LONGEST: usize = 160;

/// Something that was read, written, run or called, with the steps in which it was.
type Entry = (String, Vec<u32>);

/// Returns the lists, or nothing where an agent shows no calls.
pub fn activity(session: &Session, trial: u32) -> Option<Markup> {
    let lists: Vec<(UseKind, Vec<Entry>)> = UseKind::ALL
        .into_iter()
        .map(|kind| (kind, entries(session, kind)))
        .filter(|(_, entries)| !entries.is_empty())
        .collect();
    let markup = html! {
        div.uses {
            @for (kind, entries) in &lists { (list(*kind, entries, trial)) }
        }
        @if session.left_out > 0 {
            p.note { "Calls in steps that are left out are not in these lists." }
        }
    };
    (!lists.is_empty()).then_some(markup)
}

fn entries(session: &Session, wanted: UseKind) -> Vec<Entry> {
    let uses = session.records().flat_map(|one| {
        let uses = uses(&one.record.step).into_iter();
        uses.map(|(kind, about)| (kind, (about, one.number)))
    });
    let wanted = uses.filter(|(kind, _)| *kind == wanted);
    grouped(wanted.map(|(_, entry)| entry))
}

fn list(kind: UseKind, entries: &[Entry], trial: u32) -> Markup {
    html! {
        details open[entries.len() <= MOST_STEPS] {
            summary { (kind.title()) " " span.quiet { (entries.len()) } }
            ul {
                @for (about, steps) in entries.iter().take(MOST_ENTRIES) {
                    li {
                        code { (beginning(about, LONGEST)) }
                        span.steps {
                            @for step in steps.iter().take(MOST_STEPS) {
                                " "
                                a href={ "#trial-" (trial) "/step-" (step) } aria-label={ "step " (step) } {
                                    (step)
                                }
                            }
                            @if steps.len() > MOST_STEPS {
                                " and " (steps.len() - MOST_STEPS) " more"
                            }
                        }
                    }
                }
                @if entries.len() > MOST_ENTRIES {
                    li.quiet { "and " (entries.len() - MOST_ENTRIES) " more" }
                }
            }
        }
    }
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
