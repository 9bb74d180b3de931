//! The files of a trial that people read (its transcript, changes and log), in limited size.
//!
//! Agents write as much as they like. A page asks for a size and gets the beginning, the end, and the size of
//! the part between. Of a session, long texts are cut first; steps are left out only where their headlines alone are too
//! much.

use std::collections::HashMap;

use serde_json::Value;

use crate::text::excerpt::{Excerpt, without_middle};
use crate::transcript::{Record, Step};

/// The readable files of one trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrialFiles {
    /// The agent's session.
    pub transcript: Session,
    /// The diff of the workspace.
    pub changes: Excerpt,
    /// `run.log`.
    pub log: Excerpt,
    /// The requests to models that passed through the gateway.
    pub requests: Vec<ModelRequest>,
    /// The rules as the agent found them, where the trial has kept them.
    pub rules: Option<String>,
}

/// A request to a model, as people look at it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRequest {
    /// The model that answered, or else the one that was asked for.
    pub model: Option<String>,
    /// The seconds from the beginning of the session to the request.
    pub started: f64,
    /// The seconds from the request to the end of the answer.
    pub seconds: f64,
    /// Tokens sent.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// The status of a request that was not answered as a whole, or `no answer`.
    pub failure: Option<String>,
}

/// A transcript, or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// The first records, or all of them.
    pub head: Vec<Numbered>,
    /// The number of steps between the two.
    pub left_out: usize,
    /// The last records; empty when nothing was left out.
    pub tail: Vec<Numbered>,
}

/// A record with the number of its step.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// The number of the step that the record belongs to, from 1. It is 0 before the first step.
    pub number: u32,
    /// The record.
    pub record: Record,
}

impl Session {
    /// Makes a session that leaves nothing out.
    pub fn whole(records: impl IntoIterator<Item = Record>) -> Self {
        let mut numbering = Numbering::default();
        let head = records.into_iter().map(|record| Numbered {
            number: numbering.number(&record.step),
            record,
        });
        Session {
            head: head.collect(),
            ..Session::default()
        }
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Returns all records that are there, in their order.
    pub fn records(&self) -> impl Iterator<Item = &Numbered> {
        self.head.iter().chain(&self.tail)
    }
}

/// Numbers the steps of a session. The result of a call belongs to the step of the call.
#[derive(Debug, Default)]
pub struct Numbering {
    calls: HashMap<String, u32>,
    last: u32,
}

impl Numbering {
    /// Returns the number of the step that the next record belongs to.
    pub fn number(&mut self, step: &Step) -> u32 {
        if let Step::ToolResult { id: Some(id), .. } = step
            && let Some(number) = self.calls.get(id)
        {
            return *number;
        }
        self.last += 1;
        if let Step::ToolCall { id: Some(id), .. } = step {
            self.calls.insert(id.clone(), self.last);
        }
        self.last
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u32 {
        self.last
    }
}

/// Returns the largest size to cut to, so that all sizes together keep to a limit. `None`: all fit as they are.
pub fn even_cut(sizes: impl IntoIterator<Item = usize>, limit: usize) -> Option<usize> {
    let mut sizes: Vec<usize> = sizes.into_iter().collect();
    if sizes.iter().sum::<usize>() <= limit {
        return None;
    }
    sizes.sort_unstable();
    let mut room = limit;
    for (index, size) in sizes.iter().enumerate() {
        let share = room / (sizes.len() - index);
        if *size > share {
            return Some(share);
        }
        room -= size;
    }
    None
}

/// Shortens every text of a record to about `limit` bytes.
pub fn with_short_texts(mut record: Record, limit: usize) -> Record {
    let (texts, input) = record.step.texts_mut();
    for text in texts {
        *text = without_middle(text, limit);
    }
    if let Some(input) = input {
        *input = short_value(std::mem::take(input), limit);
    }
    record
}

/// Shortens an input whose JSON is too long. Its short arguments stay, since they tell what was done.
fn short_value(value: Value, limit: usize) -> Value {
    const MOST_ARGUMENTS: usize = 20;
    let size = |value: &Value| value.to_string().len();
    match value {
        Value::Object(arguments) if arguments.len() <= MOST_ARGUMENTS => {
            let share = even_cut(arguments.values().map(size), limit).unwrap_or(limit);
            let arguments = arguments.iter();
            arguments
                .map(|(name, value)| (without_middle(name, limit), short_text(value, share)))
                .collect()
        }
        other => short_text(&other, limit),
    }
}

/// Shortens a value whose JSON is too long to a text.
fn short_text(value: &Value, limit: usize) -> Value {
    let json = value.to_string();
    if json.len() <= limit {
        return value.clone();
    }
    without_middle(value.as_str().unwrap_or(&json), limit).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_belong_to_a_step() {
        let steps = [
            (json!({"type": "message", "role": "user", "text": "a"}), 1),
            (
                json!({"type": "toolCall", "id": "x", "tool": "t", "input": {}}),
                2,
            ),
            (
                json!({"type": "toolCall", "id": "y", "tool": "t", "input": {}}),
                3,
            ),
            (json!({"type": "toolResult", "id": "x", "ok": true}), 2),
            (json!({"type": "toolResult", "id": "z", "ok": true}), 4),
            (json!({"type": "toolResult", "id": null, "ok": true}), 5),
        ];
        let mut numbering = Numbering::default();
        for (step, number) in steps {
            let step: Step = serde_json::from_value(step).unwrap();
            assert_eq!(numbering.number(&step), number, "{step:?}");
        }
        assert_eq!(numbering.steps(), 5);
    }

    #[test]
    fn a_cut_takes_from_the_longest() {
        assert_eq!(even_cut([1, 2, 3], 6), None);
        assert_eq!(even_cut([1, 2, 30], 13), Some(10));
        assert_eq!(even_cut([1, 20, 30], 13), Some(6));
        assert_eq!(even_cut([9, 9], 0), Some(0));
        assert_eq!(even_cut([], 0), None);
    }

    #[test]
    fn a_long_argument_leaves_the_short_ones() {
        let input = json!({"content": "x".repeat(9_000), "file_path": "src/a.rs"});
        let short = short_value(input, 300);
        assert_eq!(short["file_path"], "src/a.rs");
        assert!(short.to_string().len() < 400, "{short}");
    }
}
