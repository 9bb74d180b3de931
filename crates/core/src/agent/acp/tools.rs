//! The tool calls of an ACP session.
//!
//! A call comes in parts: announced with a title, then with its arguments, then with its result. It becomes a step when its
//! arguments are there, when it is at work, or when something else follows.

use crate::agent::prelude::*;
use std::collections::BTreeMap;

/// The most ids of calls that are kept. Parts of later calls that have no beginning are left out.
const MOST_CALLS: usize = 50_000;
/// The most calls that wait for their arguments. Agents announce those of one answer together.
const MOST_HELD: usize = 32;
/// The longest id that is kept, in bytes.
const LONGEST_ID: usize = 1_000;

/// The calls of a session so far.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    /// The calls that were announced and are no steps yet, in their order. The later parts of a call are merged into its
    /// first.
    held: Vec<Value>,
    /// The calls that are steps, and whether they are at work.
    steps: BTreeMap<String, bool>,
}

impl ToolCalls {
    /// Reads an announcement, or another part of a call.
    pub(super) fn update(&mut self, update: Value, session: &mut Session) {
        let id = update.owned("toolCallId");
        let Some(id) = id.filter(|id| id.len() <= LONGEST_ID) else {
            return;
        };
        let status = update.text("status").to_owned();
        let is_over = matches!(status.as_str(), "completed" | "failed");
        let output = is_over.then(|| output(&update));
        if !self.steps.contains_key(&id) {
            let index = self.hold(&id, update, session);
            let is_told = has_arguments(&self.held[index]);
            if is_over || is_told || status == "in_progress" {
                let held = self.held.remove(index);
                self.make_step(&held, session);
            }
        }
        if let Some(output) = output
            && let Some(at_work) = self.steps.get_mut(&id)
            && std::mem::take(at_work)
        {
            session.result(Some(id), status == "completed", output);
        }
    }

    /// Holds a call until more is known of it. Returns its place.
    fn hold(&mut self, id: &str, parts: Value, session: &mut Session) -> usize {
        let mut held = self.held.iter();
        if let Some(index) = held.position(|held| held["toolCallId"] == id) {
            // What is `null` now may have been told before.
            if let (Value::Object(parts), Value::Object(known)) = (parts, &mut self.held[index]) {
                known.extend(parts.into_iter().filter(|(_, value)| !value.is_null()));
            }
            return index;
        }
        if self.held.len() >= MOST_HELD {
            self.release(session);
        }
        self.held.push(parts);
        self.held.len() - 1
    }

    /// Makes steps of the calls that are held.
    pub(super) fn release(&mut self, session: &mut Session) {
        for held in std::mem::take(&mut self.held) {
            self.make_step(&held, session);
        }
    }

    fn make_step(&mut self, call: &Value, session: &mut Session) {
        if self.steps.len() >= MOST_CALLS {
            return;
        }
        let id = call.text("toolCallId");
        self.steps.insert(id.to_owned(), true);
        let tool = tool(call);
        let server = server_of(&tool, call.text("title"), session);
        session.call(Some(id.to_owned()), tool, input(call), server);
    }
}

fn has_arguments(call: &Value) -> bool {
    let arguments = call["rawInput"].as_object();
    arguments.is_some_and(|arguments| !arguments.is_empty())
}

/// Returns the name of the tool. The protocol has none, so that some agents put it into `_meta` or the id; for the
/// others, the kind is the name.
fn tool(call: &Value) -> String {
    let meta = &call["_meta"];
    let own = meta.as_object().into_iter().flat_map(Map::values);
    let named = std::iter::once(meta).chain(own).find_map(|part| {
        let mut names = ["toolName", "tool_name"].iter();
        names.find_map(|name| part[name].as_str())
    });
    let named = named.or_else(|| name_in_id(call.text("toolCallId")));
    match (named, call.text("kind")) {
        (Some(name), _) => name.to_owned(),
        (None, "") => "other".to_owned(),
        (None, kind) => kind.to_owned(),
    }
}

/// Returns the arguments; where the agent does not show them, what it shows of the call instead.
fn input(parts: &Value) -> Value {
    if has_arguments(parts) {
        return parts["rawInput"].clone();
    }
    // The title of a command is the command.
    let title = match parts.text("kind") {
        "execute" => "command",
        _ => "title",
    };
    let mut shown = vec![(title, &parts["title"])];
    let mut content = parts.list("content").iter();
    if let Some(diff) = content.find(|part| part["type"] == "diff") {
        shown.extend(["path", "oldText", "newText"].map(|name| (name, &diff[name])));
    } else {
        shown.push(("path", &parts["locations"][0]["path"]));
    }
    let told = shown.into_iter().filter(|(_, value)| !value.is_null());
    told.map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// Returns the name in an id of Gemini CLI: `write_file__write_file_1794912122715_0`.
fn name_in_id(id: &str) -> Option<&str> {
    let (name, rest) = id.split_once("__")?;
    let is_repeated = rest.strip_prefix(name)?.starts_with('_');
    (is_repeated && !name.is_empty()).then_some(name)
}

/// Returns the MCP server of a tool, by the ways in which agents name its tools.
fn server_of(tool: &str, title: &str, session: &Session) -> Option<ServerTool> {
    // Gemini CLI: `look (docs MCP Server)`, with the name of the tool.
    let titled = title.split_once(" (").and_then(|(tool, rest)| {
        let server = rest.split_once(" MCP Server)")?.0;
        let is_known = session.servers.iter().any(|known| known == server);
        is_known.then(|| ServerTool {
            server: server.to_owned(),
            tool: tool.trim_end_matches(':').to_owned(),
        })
    });
    titled.or_else(|| {
        let bare = tool.strip_prefix("mcp__").or(tool.strip_prefix("mcp_"));
        let bare = bare.unwrap_or(tool);
        session
            .server_of(bare, "__")
            .or_else(|| session.server_of(bare, "_"))
    })
}

/// Returns the text that a call ended with: its content, or what the agent gives in a form of its own.
fn output(parts: &Value) -> Option<String> {
    let content = parts.list("content").iter();
    let texts: Vec<String> = content.filter_map(shown).collect();
    if !texts.is_empty() {
        return Some(texts.join("\n"));
    }
    match &parts["rawOutput"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Returns a part of the content as text. A diff is a patch without context.
fn shown(part: &Value) -> Option<String> {
    match part["type"].as_str()? {
        "content" => part["content"]["text"].as_str().map(str::to_owned),
        "diff" => {
            let lines = |sign: char, text: &Value| {
                let lines = text.as_str().unwrap_or_default().lines();
                lines
                    .map(|line| format!("\n{sign}{line}"))
                    .collect::<String>()
            };
            let (before, after) = (lines('-', &part["oldText"]), lines('+', &part["newText"]));
            Some(format!("{}{before}{after}", part["path"].as_str()?))
        }
        "terminal" => Some(format!("terminal {}", part["terminalId"].as_str()?)),
        _ => None,
    }
}
