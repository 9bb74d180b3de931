//! Writes a session as an ATIF document (Agent Trajectory Interchange Format, v1.7) for other tools.
//!
//! ATIF counts turns, not events. One step is everything that the agent says, thinks and calls until results
//! come back; the results are that step's observation.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::transcript::{Record, Role, Step, Usage};

/// The version of the format.
pub const SCHEMA_VERSION: &str = "ATIF-v1.7";

/// The facts of the document beside its steps.
#[derive(Debug)]
pub struct About<'a> {
    /// An id that is unique to the trial.
    pub session_id: &'a str,
    /// The agent's name.
    pub agent: &'a str,
    /// The agent's version, if known.
    pub agent_version: Option<&'a str>,
    /// The model, if known.
    pub model: Option<&'a str>,
    /// The figures of the whole session.
    pub usage: &'a Usage,
}

/// A session in the making.
#[derive(Debug, Default)]
pub struct Trajectory {
    turns: Vec<Turn>,
    /// The turn in which a call of this id was made last.
    calls: HashMap<String, usize>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    session_id: &'a str,
    agent: Map<String, Value>,
    final_metrics: Map<String, Value>,
    steps: &'a [Turn],
}

/// A step of the document.
#[derive(Debug, Serialize)]
struct Turn {
    step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Observation::is_nothing")]
    observation: Observation,
}

#[derive(Debug, Default, Serialize)]
struct Observation {
    results: Vec<CallResult>,
}

impl Observation {
    fn is_nothing(&self) -> bool {
        self.results.is_empty()
    }
}

#[derive(Debug, Serialize)]
struct CallResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_call_id: Option<String>,
    content: String,
}

impl Trajectory {
    /// Adds a step of the session.
    pub fn add(&mut self, record: Record) {
        let Record {
            time, line, step, ..
        } = record;
        match step {
            Step::Message {
                role: Role::User,
                text,
            } => self.say("user", time, text),
            Step::Message {
                role: Role::Assistant,
                text,
            } => join(&mut self.speaking(time).message, text),
            Step::Reasoning { text } => join(&mut self.speaking(time).reasoning_content, text),
            Step::ToolCall {
                id, tool, input, ..
            } => {
                let tool_call_id = id.unwrap_or_else(|| format!("call_{line}"));
                let arguments = if input.is_object() {
                    input
                } else {
                    json!({ "input": input })
                };
                let turn = self.acting(time);
                let number = turn.step_id;
                turn.tool_calls.push(json!({
                    "tool_call_id": tool_call_id,
                    "function_name": tool,
                    "arguments": arguments,
                }));
                self.calls.insert(tool_call_id, number - 1);
            }
            Step::ToolResult { id, output, .. } => {
                let content = output.unwrap_or_default();
                let known = id.as_ref().and_then(|id| self.calls.get(id)).copied();
                let (turn, source_call_id) = match known {
                    Some(turn) => (&mut self.turns[turn], id),
                    None => (self.acting(time), None),
                };
                turn.observation.results.push(CallResult {
                    source_call_id,
                    content,
                });
            }
            Step::Notice { text } | Step::Error { text } => self.say("system", time, text),
            omitted @ Step::Omitted { .. } => self.say("system", time, omitted.headline()),
        }
    }

    /// Returns the document, ready to be serialized.
    pub fn document<'a>(&'a self, about: &About<'a>) -> impl Serialize + use<'a> {
        let mut final_metrics = metrics(about.usage);
        final_metrics.insert("total_steps".into(), self.turns.len().into());
        // The format wants a version.
        let version = about.agent_version.unwrap_or("unknown");
        let agent = [("name", Some(about.agent)), ("version", Some(version))];
        let agent = agent.into_iter().chain([("model_name", about.model)]);
        Document {
            schema_version: SCHEMA_VERSION,
            session_id: about.session_id,
            agent: agent
                .filter_map(|(key, value)| Some((key.to_owned(), value?.into())))
                .collect(),
            final_metrics,
            steps: &self.turns,
        }
    }

    fn say(&mut self, source: &'static str, time: Option<String>, text: String) {
        self.begin(source, time).message = text;
    }

    /// Returns the agent's turn if it has called nothing yet, else a new one.
    fn speaking(&mut self, time: Option<String>) -> &mut Turn {
        self.continued(|turn| turn.tool_calls.is_empty(), time)
    }

    /// Returns the agent's turn if no result has come back yet, else a new one.
    fn acting(&mut self, time: Option<String>) -> &mut Turn {
        self.continued(|turn| turn.observation.is_nothing(), time)
    }

    fn continued(&mut self, still: fn(&Turn) -> bool, time: Option<String>) -> &mut Turn {
        match self.turns.last() {
            Some(turn) if turn.source == "agent" && still(turn) => {
                let last = self.turns.len() - 1;
                &mut self.turns[last]
            }
            _ => self.begin("agent", time),
        }
    }

    fn begin(&mut self, source: &'static str, time: Option<String>) -> &mut Turn {
        let number = self.turns.len();
        self.turns.push(Turn {
            step_id: number + 1,
            timestamp: time,
            source,
            message: String::new(),
            reasoning_content: String::new(),
            tool_calls: Vec::new(),
            observation: Observation::default(),
        });
        &mut self.turns[number]
    }
}

/// Returns the figures that are known, under the names of the format.
fn metrics(usage: &Usage) -> Map<String, Value> {
    let figures = [
        ("total_prompt_tokens", json!(usage.input_tokens)),
        ("total_completion_tokens", json!(usage.output_tokens)),
        ("total_cached_tokens", json!(usage.cached_input_tokens)),
        ("total_cost_usd", json!(usage.cost_usd)),
    ];
    let known = figures.into_iter().filter(|(_, figure)| !figure.is_null());
    known
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

fn join(text: &mut String, more: String) {
    if text.is_empty() {
        *text = more;
        return;
    }
    text.push('\n');
    text.push_str(&more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(steps: impl IntoIterator<Item = Step>, about: &About<'_>) -> Value {
        let mut trajectory = Trajectory::default();
        for (step, line) in steps.into_iter().zip(1..) {
            trajectory.add(Record {
                time: None,
                at_ms: None,
                line,
                step,
            });
        }
        serde_json::to_value(trajectory.document(about)).unwrap()
    }

    fn call(id: &str, tool: &str) -> Step {
        Step::ToolCall {
            id: Some(id.into()),
            tool: tool.into(),
            input: json!({ "path": "a" }),
            server: None,
            server_tool: None,
        }
    }

    fn result(id: &str) -> Step {
        Step::ToolResult {
            id: Some(id.into()),
            ok: true,
            output: Some(format!("result of {id}")),
        }
    }

    #[test]
    fn a_turn_is_what_was_said_called_and_answered() {
        let text = |role, text: &str| Step::Message {
            role,
            text: text.into(),
        };
        let steps = [
            text(Role::User, "do it"),
            Step::Reasoning {
                text: "first".into(),
            },
            text(Role::Assistant, "Writing."),
            call("c1", "write_file"),
            call("c2", "run"),
            result("c1"),
            result("c2"),
            text(Role::Assistant, "Done."),
        ];
        let usage = Usage {
            input_tokens: Some(3300),
            output_tokens: Some(174),
            ..Usage::default()
        };
        let about = About {
            session_id: "s",
            agent: "gemini-cli",
            agent_version: Some("0.61.0"),
            model: Some("m"),
            usage: &usage,
        };
        insta::assert_snapshot!(format!("{:#}", document(steps, &about)));
    }

    #[test]
    fn every_observation_names_a_call_of_its_own_step() {
        let steps = [
            call("c1", "a"),
            result("c1"),
            call("c2", "b"),
            result("c2"),
            result("lost"),
            Step::Notice { text: "n".into() },
        ];
        let usage = Usage::default();
        let about = About {
            session_id: "s",
            agent: "a",
            agent_version: None,
            model: None,
            usage: &usage,
        };
        let document = document(steps, &about);
        for step in document["steps"].as_array().unwrap() {
            let calls: Vec<&Value> = step["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| &call["tool_call_id"])
                .collect();
            for result in step["observation"]["results"]
                .as_array()
                .into_iter()
                .flatten()
            {
                assert!(
                    result["source_call_id"].is_null()
                        || calls.contains(&&result["source_call_id"]),
                    "{step}"
                );
            }
        }
        assert_eq!(
            document["final_metrics"],
            json!({ "total_steps": 4 }),
            "what is not known is left out"
        );
    }
}
