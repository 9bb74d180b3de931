//! What a session has used, from three sources that each know something else.

use std::collections::{BTreeMap, BTreeSet};

use super::wire::{Message, SessionResult, Tokens};
use crate::transcript::{Usage, total};

/// What stands in the place of a model when Claude Code itself speaks.
const NO_MODEL: &str = "<synthetic>";

#[derive(Debug, Default)]
pub(super) struct Figures {
    /// All answers of a model: those in the stream and those that only the transcripts have.
    requests: BTreeSet<String>,
    /// The figures of each answer, from the transcripts. Those in the stream are of its first moment.
    transcripts: BTreeMap<String, Tokens>,
    tools: BTreeSet<String>,
    model: Option<String>,
}

impl Message {
    /// Whether a model said it, not Claude Code in its name.
    pub(super) fn is_from_a_model(&self) -> bool {
        self.model.as_deref().is_some_and(|model| model != NO_MODEL)
    }
}

impl Figures {
    /// An answer in the stream. It comes once for each of its parts.
    pub(super) fn answer(&mut self, message: &Message) {
        if let (true, Some(id)) = (message.is_from_a_model(), &message.id) {
            self.requests.insert(id.clone());
            self.model.clone_from(&message.model);
        }
    }

    /// An answer in a transcript, where the last mention has the final figures.
    pub(super) fn recorded(&mut self, message: Message) {
        if !message.is_from_a_model() {
            return;
        }
        let Some(id) = message.id else { return };
        if let Some(tokens) = message.usage {
            self.transcripts.insert(id.clone(), tokens);
        }
        self.requests.insert(id);
        self.model = self.model.take().or(message.model);
    }

    /// Whether this call was not known yet.
    pub(super) fn tool_call(&mut self, id: &str) -> bool {
        self.tools.insert(id.to_owned())
    }

    /// The result has the totals with everything in them, unless it says nothing; then the transcripts count.
    pub(super) fn usage(&self, result: Option<&SessionResult>) -> Usage {
        let counted = Usage {
            requests: (!self.requests.is_empty()).then_some(self.requests.len() as u64),
            tool_calls: Some(self.tools.len() as u64),
            ..Usage::default()
        };
        result
            .map(totals)
            .unwrap_or_default()
            .or(self.recorded_usage())
            .or(counted)
    }

    fn recorded_usage(&self) -> Usage {
        if self.transcripts.is_empty() {
            return Usage::default();
        }
        let sum = |figure: fn(&Tokens) -> u64| Some(total(self.transcripts.values().map(figure)));
        Usage {
            input_tokens: sum(|tokens| {
                total([
                    tokens.input_tokens,
                    tokens.cache_creation_input_tokens,
                    tokens.cache_read_input_tokens,
                ])
            }),
            cached_input_tokens: sum(|tokens| tokens.cache_read_input_tokens),
            output_tokens: sum(|tokens| tokens.output_tokens),
            ..Usage::default()
        }
    }

    /// The model that wrote most, without the mark of its larger context.
    pub(super) fn model(&self, result: Option<&SessionResult>) -> Option<String> {
        let most = result.and_then(|result| {
            result
                .model_usage
                .iter()
                .max_by_key(|(_, used)| used.output_tokens)
                .map(|(model, _)| model)
        });
        most.or(self.model.as_ref()).map(|model| plain(model))
    }
}

pub(super) fn plain(model: &str) -> String {
    model.strip_suffix("[1m]").unwrap_or(model).to_owned()
}

/// The totals of a result, unless they are the zeros of a session that failed.
fn totals(result: &SessionResult) -> Usage {
    if result.model_usage.is_empty() {
        return Usage::default();
    }
    let used = || result.model_usage.values();
    Usage {
        input_tokens: Some(total(used().flat_map(|model| {
            [
                model.input_tokens,
                model.cache_read_input_tokens,
                model.cache_creation_input_tokens,
            ]
        }))),
        cached_input_tokens: Some(total(used().map(|model| model.cache_read_input_tokens))),
        output_tokens: Some(total(used().map(|model| model.output_tokens))),
        cost_usd: result.total_cost_usd,
        ..Usage::default()
    }
}
