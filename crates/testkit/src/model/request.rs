//! What an agent has asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::gemini::Gemini;
use super::responses::Responses;
use super::script::Usage;
use super::wire::{View, Wire};

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Gemini,
    Anthropic,
    Responses,
    Chat,
    /// None of them: a check whether anyone is there, a list of models.
    Other,
}

impl Dialect {
    pub(super) fn of(method: &str, path: &str) -> Self {
        let bare = path.split('?').next().unwrap_or_default();
        match method {
            "POST" if bare.ends_with("enerateContent") => Dialect::Gemini,
            "POST" if bare.ends_with("/v1/messages") => Dialect::Anthropic,
            "POST" if bare.ends_with("/responses") => Dialect::Responses,
            "POST" if bare.ends_with("/chat/completions") => Dialect::Chat,
            _ => Dialect::Other,
        }
    }

    pub(super) fn wire(self) -> Option<&'static dyn Wire> {
        match self {
            Dialect::Gemini => Some(&Gemini),
            Dialect::Anthropic => Some(&Anthropic),
            Dialect::Responses => Some(&Responses),
            Dialect::Chat => Some(&Chat),
            Dialect::Other => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub dialect: Dialect,
    pub method: String,
    /// With its query.
    pub path: String,
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    /// The scenario that its prompt names; none for what is asked on the side.
    pub scenario: Option<String>,
    /// The HTTP status it was answered with; 0 when it was not.
    pub status: u16,
    /// The answer, if it was no error.
    pub served: Option<Served>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The model that it claims to come from.
    pub model: String,
    pub usage: Usage,
    /// Whether all of it was sent. What was sent may have figures in it even if it broke off.
    pub whole: bool,
}

impl Request {
    /// Returns whether this is anywhere in it: in the path, a header, or a text at any depth of the body.
    pub fn mentions(&self, needle: &str) -> bool {
        self.path.contains(needle)
            || self.headers.values().any(|value| value.contains(needle))
            || stands_in(&self.body, needle)
    }

    /// The texts of the user's messages, with what the agent itself adds there.
    pub fn said(&self) -> Vec<String> {
        self.view().said
    }

    /// The names of the tools that the model may call.
    pub fn tools(&self) -> Vec<String> {
        self.view().tools
    }

    pub fn model(&self) -> String {
        self.view().model
    }

    pub(super) fn view(&self) -> View {
        self.dialect
            .wire()
            .map(|wire| wire.view(&self.path, &self.body))
            .unwrap_or_default()
    }
}

fn stands_in(value: &Value, needle: &str) -> bool {
    match value {
        Value::String(text) => text.contains(needle),
        Value::Array(values) => values.iter().any(|value| stands_in(value, needle)),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains(needle) || stands_in(value, needle)),
        _ => false,
    }
}

/// All texts of a request, in order.
pub(super) fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts_in).collect(),
        Value::Object(fields) => fields.values().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

/// The last `scenario:NAME` in what was said.
pub(super) fn scenario_of(said: &[String]) -> Option<&str> {
    const MARK: &str = "scenario:";
    let (_, rest) = said.iter().rev().find_map(|text| text.rsplit_once(MARK))?;
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The agent's workspace, which it tells its model somewhere in the request. Terca calls the directory so.
pub(super) fn workspace_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => workspace_in(text),
        Value::Array(values) => values.iter().find_map(workspace_of),
        Value::Object(fields) => fields.values().find_map(workspace_of),
        _ => None,
    }
}

fn workspace_in(text: &str) -> Option<&str> {
    const NAME: &str = "/workspace";
    text.match_indices(NAME).find_map(|(at, _)| {
        let outside = |c: char| c.is_whitespace() || "\"'`<>()[],;".contains(c);
        let start = text[..at].rfind(outside).map_or(0, |before| before + 1);
        // A character outside is one byte long unless it is an unusual space.
        let path = text.get(start..at + NAME.len())?;
        let ends = text[at + NAME.len()..]
            .chars()
            .next()
            .is_none_or(|c| !c.is_alphanumeric() && c != '-');
        (path.starts_with('/') && at > start && ends).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dialects_are_told_by_their_paths() {
        let of = |path: &str| Dialect::of("POST", path);
        assert_eq!(
            of("/v1beta/models/x:streamGenerateContent?alt=sse"),
            Dialect::Gemini
        );
        assert_eq!(of("/v1/messages?beta=true"), Dialect::Anthropic);
        assert_eq!(of("/v1/responses"), Dialect::Responses);
        assert_eq!(of("/v1/chat/completions"), Dialect::Chat);
        assert_eq!(Dialect::of("HEAD", "/v1/messages"), Dialect::Other);
    }

    #[test]
    fn the_last_scenario_named_counts() {
        let said = [
            "scenario:old".to_owned(),
            "do scenario:a-1, then scenario:b2. Please".to_owned(),
        ];
        assert_eq!(scenario_of(&said), Some("b2"));
        assert_eq!(scenario_of(&["nothing".to_owned()]), None);
    }

    #[test]
    fn the_workspace_is_found_in_the_request() {
        let body = json!({"system": [{"text": "the /workspace, in /var/x/1/workspaces but cwd: `/var/x/1/workspace`."}]});
        assert_eq!(workspace_of(&body), Some("/var/x/1/workspace"));
    }
}
