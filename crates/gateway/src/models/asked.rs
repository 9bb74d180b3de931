//! What a request asks of a model: its parameters, its tools and its system prompt.

use serde::Deserialize;
use serde_json::Value;
use terca_core::text::excerpt::beginning;
use terca_core::transcript::total;
use terca_core::wire::Parameters;

use crate::http::LONGEST_TEXT;

/// The most tools whose names are kept.
const MOST_TOOLS: usize = 300;

/// Takes the beginning of a text, if the value is one.
pub(crate) fn set(text: &mut Option<String>, value: &Value) {
    if let Some(value) = value.as_str().filter(|value| !value.is_empty()) {
        *text = Some(beginning(value, LONGEST_TEXT));
    }
}

/// The parts of a request that are read. A part that has another shape than expected counts as missing.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    model: Value,
    tools: Value,
    temperature: Value,
    max_tokens: Value,
    max_completion_tokens: Value,
    max_output_tokens: Value,
    /// Chat Completions.
    messages: Value,
    /// Chat Completions.
    reasoning_effort: Value,
    /// Responses.
    input: Value,
    /// Responses.
    instructions: Value,
    /// Responses.
    reasoning: Value,
    /// Anthropic.
    system: Value,
    /// Anthropic.
    thinking: Value,
    /// Anthropic.
    output_config: Value,
    /// Gemini.
    #[serde(rename = "systemInstruction")]
    system_instruction: Value,
    /// Gemini.
    #[serde(rename = "generationConfig")]
    generation_config: Value,
}

impl Asked {
    /// Reads the body of a request. Returns the model that it names, and its parameters.
    pub(crate) fn read(body: &[u8]) -> (Option<String>, Parameters) {
        let asked: Asked = serde_json::from_slice(body).unwrap_or_default();
        let model = asked.model.as_str().map(str::to_owned);
        (model, asked.parameters())
    }

    fn parameters(&self) -> Parameters {
        let of_gemini = &self.generation_config;
        let thinking = &of_gemini["thinkingConfig"];
        let mut effort = None;
        for named in [
            &self.reasoning_effort, &self.reasoning["effort"], &self.output_config["effort"],
            &thinking["thinkingLevel"],
        ] {
            set(&mut effort, named);
        }
        let budget = self.thinking["budget_tokens"].as_i64();
        let most = [
            &self.max_tokens, &self.max_completion_tokens, &self.max_output_tokens,
            &of_gemini["maxOutputTokens"],
        ];
        let temperature = self.temperature.as_f64();
        let tools = self.tools();
        let mut names: Vec<String> = tools.iter().filter_map(|tool| name(tool)).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(MOST_TOOLS);
        Parameters {
            tools: tools.len() as u64,
            tool_names: names.into(),
            system_bytes: Some(self.system_bytes()).filter(|bytes| *bytes > 0),
            temperature: temperature.or(of_gemini["temperature"].as_f64()),
            effort,
            thinking_budget: budget.or(thinking["thinkingBudget"].as_i64()),
            max_tokens: most.into_iter().find_map(Value::as_u64),
        }
    }

    /// Returns the tools that the model is offered.
    fn tools(&self) -> Vec<&Value> {
        // Responses may have tools among the messages, too.
        let added = entries(&self.input).filter(|entry| entry["type"] == "additional_tools");
        let added = added.flat_map(|entry| entries(&entry["tools"]));
        let mut tools = Vec::new();
        for tool in entries(&self.tools).chain(added) {
            // Gemini has lists of functions in its list of tools.
            match &tool["functionDeclarations"] {
                Value::Array(functions) => tools.extend(functions),
                _ => tools.push(tool),
            }
        }
        tools
    }

    fn system_bytes(&self) -> u64 {
        let is_system =
            |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
        let messages = entries(&self.messages).chain(entries(&self.input));
        let messages = messages
            .filter(is_system)
            .map(|message| &message["content"]);
        let apart = [
            &self.system, &self.instructions, &self.system_instruction["parts"],
        ];
        total(apart.into_iter().chain(messages).map(text_bytes))
    }
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the name of a tool. One that the service has itself is named by its type, or by its key in Gemini's protocol.
fn name(tool: &Value) -> Option<String> {
    let named = [&tool["name"], &tool["function"]["name"], &tool["type"]];
    let mut named = named.into_iter().filter_map(Value::as_str);
    let key = || tool.as_object()?.keys().next().map(String::as_str);
    named
        .next()
        .or_else(key)
        .map(|name| beginning(name, LONGEST_TEXT))
}

/// Returns the length of a text, or of the texts in a list of parts.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(parts) => total(parts.iter().map(text_bytes)),
        Value::Object(part) => part.get("text").map_or(0, text_bytes),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_every_protocol() {
        for (body, tools, [system, thinking, most], temperature, effort) in [
            (
                r#"{"system": [{"type": "text", "text": "Be good."}], "tools": [{"name": "b"}, {"name": "a"}], "temperature": 1,
                   "max_tokens": 8, "thinking": {"budget_tokens": 5}, "output_config": {"effort": "high"}}"#,
                &["a", "b"][..],
                [8, 5, 8],
                Some(1.0),
                Some("high"),
            ),
            (
                r#"{"tools": [{"type": "web_search"}], "max_output_tokens": 8, "reasoning": {"effort": "low"}, "instructions": "Be",
                   "input": [{"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]},
                             {"role": "developer", "content": [{"text": "good"}]}, {"role": "user", "content": "no"}]}"#,
                &["exec", "web_search"],
                [6, 0, 8],
                None,
                Some("low"),
            ),
            (
                r#"{"max_completion_tokens": 8, "temperature": 0.3, "reasoning_effort": "medium", "messages":
                   [{"role": "system", "content": "Be good."}, {"role": "user", "content": "no"}],
                   "tools": [{"type": "function", "function": {"name": "a"}}]}"#,
                &["a"],
                [8, 0, 8],
                Some(0.3),
                Some("medium"),
            ),
            (
                r#"{"tools": [{"functionDeclarations": [{"name": "b"}, {"name": "a"}]}, {"googleSearch": {}}], "generationConfig":
                   {"temperature": 0, "maxOutputTokens": 8, "thinkingConfig": {"thinkingBudget": 5}},
                   "systemInstruction": {"parts": [{"text": "Be"}]}}"#,
                &["a", "b", "googleSearch"],
                [2, 5, 8],
                Some(0.0),
                None,
            ),
        ] {
            let (_, found) = Asked::read(body.as_bytes());
            let expected = Parameters {
                tools: tools.len() as u64,
                tool_names: tools.iter().map(|name| (*name).to_owned()).collect(),
                system_bytes: Some(system),
                temperature,
                effort: effort.map(str::to_owned),
                thinking_budget: Some(thinking as i64).filter(|budget| *budget > 0),
                max_tokens: Some(most),
            };
            assert_eq!(found, expected, "{body}");
        }
    }
}
