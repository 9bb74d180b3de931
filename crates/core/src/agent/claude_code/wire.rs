//! The JSON that Claude Code writes, as far as it matters here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::agent::tokens::Tokens;
use crate::transcript::{Usage, total};

/// The name that Claude Code gives instead of a model when it speaks for itself.
const NO_MODEL: &str = "<synthetic>";

/// The events of `stream-json`, and the lines of a transcript, that matter here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    System(System),
    Assistant {
        message: Message,
        /// The call that started the sub-agent that speaks.
        parent_tool_use_id: Option<String>,
    },
    User {
        message: Message,
    },
    Result(SessionResult),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Stamped {
    pub(super) timestamp: Option<String>,
}

/// All the kinds of `system` events in one: which fields there are depends on `subtype`.
#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) attempt: u64,
    #[serde(default)]
    pub(super) max_retries: u64,
    pub(super) error_status: Option<u16>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) content: Content,
    pub(super) usage: Option<WireTokens>,
}

impl Message {
    /// Returns whether a model said it, not Claude Code in its name.
    pub(super) fn is_from_a_model(&self) -> bool {
        self.model.as_deref().is_some_and(|model| model != NO_MODEL)
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
    Unknown(Value),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Option<Content>,
        is_error: Option<bool>,
    },
    #[serde(other)]
    Other,
}

impl Content {
    /// Returns all text in it.
    pub(super) fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Content::Unknown(value) => value.to_string(),
        }
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        match self {
            Content::Text(text) => vec![Block::Text { text }],
            Content::Blocks(blocks) => blocks,
            Content::Unknown(_) => Vec::new(),
        }
    }
}

/// The tokens of a request, or of all requests to a model, by subagents too. The three kinds of input exclude each
/// other.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireTokens {
    #[serde(alias = "inputTokens")]
    input_tokens: u64,
    #[serde(alias = "cacheCreationInputTokens")]
    cache_creation_input_tokens: u64,
    #[serde(alias = "cacheReadInputTokens")]
    cache_read_input_tokens: u64,
    #[serde(alias = "outputTokens")]
    output_tokens: u64,
}

impl WireTokens {
    pub(super) fn tokens(self) -> Tokens {
        Tokens {
            input: total([
                self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens,
            ]),
            cached: self.cache_read_input_tokens,
            output: self.output_tokens,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SessionResult {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    pub(super) api_error_status: Option<u16>,
    pub(super) num_turns: Option<u64>,
    pub(super) result: Option<String>,
    pub(super) stop_reason: Option<String>,
    total_cost_usd: Option<f64>,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: BTreeMap<String, ModelUsage>,
    #[serde(rename = "costBasis")]
    cost_basis: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    pub(super) permission_denials: Vec<Denial>,
}

/// The use of one model.
#[derive(Debug, Deserialize)]
pub(super) struct ModelUsage {
    #[serde(flatten)]
    tokens: WireTokens,
    #[serde(rename = "costBasis")]
    cost_basis: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Denial {
    #[serde(default)]
    pub(super) tool_name: String,
}

impl SessionResult {
    /// Returns its errors, without those that only its makers can read.
    pub(super) fn errors_for_people(&self) -> String {
        let errors = self
            .errors
            .iter()
            .filter(|error| !error.starts_with("[ede_diagnostic]"));
        errors.map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns the totals, unless they are the zeros of a session that failed.
    pub(super) fn usage(&self) -> Usage {
        if self.model_usage.is_empty() {
            return Usage::default();
        }
        let models = self.model_usage.values();
        Usage {
            cost_usd: self.total_cost_usd.filter(|_| !self.guesses_cost()),
            ..models
                .map(|used| used.tokens.tokens())
                .sum::<Tokens>()
                .usage()
        }
    }

    /// Returns whether its cost is a guess: it has no price for one of the models, and says so.
    pub(super) fn guesses_cost(&self) -> bool {
        let models = self.model_usage.values();
        let mut bases = models
            .map(|used| &used.cost_basis)
            .chain([&self.cost_basis]);
        bases.any(|basis| basis.as_deref() == Some("unknown"))
    }
}
