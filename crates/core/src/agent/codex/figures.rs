//! What a session has used: from its rollout files, or else from its stream.

use std::collections::{BTreeMap, BTreeSet};

use super::wire::{ResponseItem, RolloutLine, Tokens};
use crate::transcript::{Usage, total};

#[derive(Debug, Default)]
pub(super) struct Figures {
    /// What each answer of the model used.
    answers: BTreeMap<String, Tokens>,
    /// The calls that the model asked for.
    asked: BTreeSet<String>,
    /// The calls that the stream shows.
    seen: BTreeSet<String>,
    /// What the main thread used, according to the stream.
    turn: Option<Tokens>,
    model: Option<String>,
}

impl Figures {
    pub(super) fn recorded(&mut self, line: RolloutLine) {
        match line {
            RolloutLine::TokenUsageRecord { response_id, usage } => {
                self.answers.insert(response_id, usage);
            }
            // The main thread begins before any that it starts.
            RolloutLine::TurnContext { model } => self.model = self.model.take().or(model),
            RolloutLine::ResponseItem(ResponseItem {
                kind,
                call_id: Some(id),
            }) if ["function_call", "custom_tool_call"].contains(&kind.as_str()) => {
                self.asked.insert(id);
            }
            RolloutLine::ResponseItem(_) | RolloutLine::Other => {}
        }
    }

    pub(super) fn turn(&mut self, tokens: Option<Tokens>) {
        self.turn = tokens.or(self.turn);
    }

    /// Whether this call was not known yet.
    pub(super) fn tool_call(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned())
    }

    pub(super) fn usage(&self) -> Usage {
        // The stream lacks what subagents and refused calls did, the rollout what a script of the model's did.
        let calls = self.seen.len().max(self.asked.len());
        let counted = Usage {
            tool_calls: Some(calls as u64),
            ..Usage::default()
        };
        self.recorded_usage()
            .or(self.turn.map(of_turn).unwrap_or_default())
            .or(counted)
    }

    fn recorded_usage(&self) -> Usage {
        if self.answers.is_empty() {
            return Usage::default();
        }
        let sum = |figure: fn(&Tokens) -> u64| total(self.answers.values().map(figure));
        let all = Tokens {
            input_tokens: sum(|tokens| tokens.input_tokens),
            cached_input_tokens: sum(|tokens| tokens.cached_input_tokens),
            output_tokens: sum(|tokens| tokens.output_tokens),
        };
        Usage {
            requests: Some(self.answers.len() as u64),
            ..of_turn(all)
        }
    }

    pub(super) fn model(&self) -> Option<String> {
        self.model.clone()
    }
}

fn of_turn(tokens: Tokens) -> Usage {
    Usage {
        input_tokens: Some(tokens.input_tokens),
        cached_input_tokens: Some(tokens.cached_input_tokens),
        output_tokens: Some(tokens.output_tokens),
        ..Usage::default()
    }
}
