//! The errors, notes and last words of a session, and its end.

use serde_json::Value;

use super::{Session, failed};
use crate::agent::delivery::McpDelivery;
use crate::agent::errors::{classify, is_context_overflow, is_wrong_model};
use crate::agent::{Ending, Reading};
use crate::process::Exit;
use crate::transcript::{CostSource, Usage};
use crate::trial_error::{ErrorKind, TrialError};

/// The longest part of an agent's last words that is kept, in characters.
const LONGEST_WORDS: usize = 300;
/// Parts of lines that say nothing about the session.
const NOISE: [&str; 3] = ["256-color", "Ripgrep", "AI SDK Warning"];
/// The most notes that are kept. The first ones say what went wrong.
pub(super) const MOST_NOTES: usize = 50;

impl Session {
    /// Returns the document of a side file. One that cannot be read is a note.
    pub fn read_document(&mut self, name: &str) -> Option<Value> {
        let text = std::mem::take(&mut self.document);
        if text.is_empty() {
            return None;
        }
        let document = serde_json::from_str(&text);
        if let Err(error) = &document {
            self.final_note(format!("the {name} could not be read: {error}"));
        }
        document.ok()
    }

    /// Notes an error that ends the session, unless something follows.
    pub fn fail(&mut self, kind: ErrorKind, message: impl Into<String>) {
        let error = TrialError::new(kind, message);
        if matches!(kind, ErrorKind::RateLimit | ErrorKind::ModelApi) {
            self.request_failed(kind, error.message.clone());
        }
        self.failure = Some(error);
    }

    /// Notes that the session went on after its last error.
    pub fn recovered(&mut self) {
        if let Some(failure) = self.failure.take() {
            self.note(failure.message);
        }
    }

    /// Adds a note, up to a limit: an agent may complain for ever.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Adds a note about the whole session, in any case.
    pub fn final_note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Keeps these words as the last ones, unless earlier words tell more: often advice follows.
    pub fn remember(&mut self, text: &str) {
        let is_noise = NOISE.iter().any(|noise| text.contains(noise));
        let is_known = classify(None, &self.last_words).is_some();
        let tells_more = self.last_words.is_empty() || classify(None, text).is_some();
        if tells_more && !is_known && !is_noise {
            self.remember_last(text);
        }
    }

    /// Keeps these words as the last ones.
    pub fn remember_last(&mut self, text: &str) {
        if !text.is_empty() {
            self.last_words = text.chars().take(LONGEST_WORDS).collect();
        }
    }

    /// Adds words to the last ones, for agents whose errors have several lines.
    pub fn remember_more(&mut self, text: &str) {
        let longer = format!("{} {text}", self.last_words);
        self.remember_last(longer.trim_start());
    }

    /// Returns the last words, or how the process ended where there are none.
    pub fn last_words(&self, exit: Exit) -> String {
        if self.last_words.is_empty() {
            exit.describe()
        } else {
            self.last_words.clone()
        }
    }

    /// Tells a wrong model and an overflow of the context from other trouble, for all agents by the same words. An
    /// overflow is the end of a session that can be judged: long rules and tools cause it.
    pub(super) fn told_apart(&mut self, ending: Ending) -> Ending {
        let (Ending::Failed(error) | Ending::Crashed(error)) = &ending else {
            return ending;
        };
        let may_be_model = matches!(
            error.kind,
            ErrorKind::ModelApi | ErrorKind::Agent | ErrorKind::Auth
        );
        if may_be_model && is_wrong_model(&error.message) {
            return failed(ErrorKind::Model, error.message.clone());
        }
        let may_be_overflow = matches!(error.kind, ErrorKind::ModelApi | ErrorKind::Agent);
        if may_be_overflow && is_context_overflow(&error.message) {
            let note = format!(
                "the conversation outgrew the model's context: {}",
                error.message
            );
            self.final_note(note);
            return Ending::Completed;
        }
        ending
    }

    /// Returns the ending of a session without any tokens. If the model spoke and called no tool, its answer broke off:
    /// some agents take that for a good end.
    pub(super) fn without_tokens(&self, ending: Ending) -> Ending {
        if ending == Ending::Completed && self.tool_calls == 0 {
            return failed(
                ErrorKind::ModelApi,
                "the model's answer broke off: the session ended without any tokens (or the service reports none)",
            );
        }
        ending
    }

    /// Returns the ending of a session that breaks off. The last words say why.
    pub fn no_end(&self, exit: Exit) -> Ending {
        let kind = classify(None, &self.last_words).unwrap_or(ErrorKind::Agent);
        failed(kind, self.broke_off(exit))
    }

    /// Says that the session broke off, with its last words.
    pub fn broke_off(&self, exit: Exit) -> String {
        format!("the session broke off: {}", self.last_words(exit))
    }

    pub(super) fn reading(mut self, usage: Usage, ending: Ending) -> Reading {
        self.flush();
        self.notes.extend(self.models.note());
        // Only the taps between the agent and its servers know more.
        let mcp_servers = self.servers.into_iter();
        Reading {
            mcp_servers: mcp_servers
                .map(|server| (server, McpDelivery::default()))
                .collect(),
            skill_uses: self.skill_tool.map(|_| self.skill_uses),
            records: self.records,
            reported: None,
            usage,
            model: self.models.most(),
            several_models: self.models.are_several(),
            cost_source: usage.cost_usd.map(|_| CostSource::Agent),
            version: self.version,
            ending,
            conversation: self.conversation,
            notes: self.notes,
        }
    }
}
