//! Reads `task.toml`. Every key is either used or named in a note.

use serde_json::Value;

use crate::new_suite::imported::{Loss, Note, plain};

/// Harbor's limit for tasks that set none.
const DEFAULT_SECONDS: f64 = 600.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub agent_seconds: f64,
    pub tests_seconds: f64,
    /// Variables of the container, which the agent sees too.
    pub env: Vec<(String, String)>,
    pub workdir: Option<String>,
    pub notes: Vec<Note>,
}

/// Keys that do not change how a task runs.
const USED: [&str; 14] = [
    "/version", "/schema_version", "/task/name", "/task/authors", "/task/description",
    "/task/keywords", "/metadata/tags", "/metadata/difficulty", "/metadata/category",
    "/agent/timeout_sec", "/verifier/timeout_sec", "/environment/env", "/environment/workdir",
    "/environment/os",
];

const LOST: [(&str, &str); 14] = [
    (
        "/verifier/env",
        "tests have no separate variables here (the agent also sees an eval's `env`)",
    ),
    ("/verifier/user", "tests run as you"),
    (
        "/verifier/environment_mode",
        "tests run on this machine, on a copy of the workspace",
    ),
    (
        "/verifier/environment",
        "tests run on this machine, on a copy of the workspace",
    ),
    ("/agent/user", "the agent runs as you"),
    (
        "/solution/env",
        "the solution has no separate variables here",
    ),
    (
        "/environment/docker_image", "the Dockerfile is used instead",
    ),
    (
        "/environment/build_timeout_sec", "images are built without a time limit",
    ),
    (
        "/environment/allow_internet",
        "the agent has the network of `network` in terca.yaml",
    ),
    (
        "/environment/mcp_servers",
        "MCP servers belong to environments and experiments in terca.yaml",
    ),
    (
        "/environment/skills_dir",
        "skills belong to environments and experiments in terca.yaml",
    ),
    (
        "/environment/healthcheck", "there is no container that goes on",
    ),
    ("/artifacts", "the whole workspace is kept"),
    ("/metadata", "evals have nothing like it"),
];

/// Those of them without which a task is not the same.
const NEEDED: [(&str, Loss); 5] = [
    ("/verifier/environment_mode", Loss::Tests),
    ("/verifier/env", Loss::Tests),
    ("/verifier/environment", Loss::Tests),
    ("/environment/mcp_servers", Loss::Services),
    ("/environment/skills_dir", Loss::Files),
];

impl Settings {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let document: Value = toml::from_str(text)
            .map_err(|error| format!("task.toml: {}", error.to_string().trim_end()))?;
        if document.get("steps").is_some() || document.get("multi_step_reward_strategy").is_some() {
            return Err("it has several steps (`[[steps]]`), and an eval has one prompt".into());
        }
        if document
            .pointer("/environment/os")
            .is_some_and(|os| os == "windows")
        {
            return Err("it is a task for Windows".into());
        }
        let mut notes = Vec::new();
        let text = |path: &str| {
            document
                .pointer(path)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let agent_seconds = seconds(&document, "/agent/timeout_sec", &mut notes);
        let tests_seconds = seconds(&document, "/verifier/timeout_sec", &mut notes);
        lost(&document, "", &mut notes);
        Ok(Settings {
            description: text("/task/description").filter(|text| !text.trim().is_empty()),
            tags: tags(&document),
            agent_seconds,
            tests_seconds,
            env: variables(&document),
            workdir: text("/environment/workdir"),
            notes,
        })
    }
}

fn seconds(document: &Value, path: &str, notes: &mut Vec<Note>) -> f64 {
    let Some(value) = document.pointer(path) else {
        return DEFAULT_SECONDS;
    };
    match value.as_f64() {
        Some(seconds) if seconds > 0.0 && seconds <= 1e9 => seconds,
        _ => {
            notes.push(Note::change(format!(
                "{}: {value} is not a time limit; {DEFAULT_SECONDS} s is used",
                key(path)
            )));
            DEFAULT_SECONDS
        }
    }
}

fn tags(document: &Value) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for path in [
        "/metadata/tags", "/task/keywords", "/metadata/difficulty", "/metadata/category",
    ] {
        let value = document.pointer(path);
        let list = value.and_then(Value::as_array).into_iter().flatten();
        for tag in list.chain(value).filter_map(Value::as_str) {
            if !tag.trim().is_empty() && !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
    }
    tags
}

fn variables(document: &Value) -> Vec<(String, String)> {
    let env = document.pointer("/environment/env");
    let env = env.and_then(Value::as_object).into_iter().flatten();
    env.map(|(name, value)| (name.clone(), plain(value)))
        .collect()
}

/// Notes everything that is not used, once for the outermost unused table. Values of a table may be secrets; its names are not.
fn lost(value: &Value, path: &str, notes: &mut Vec<Note>) {
    let is_used = |path: &str| USED.contains(&path);
    let holds_used = || {
        USED.iter()
            .any(|used| used.starts_with(&format!("{path}/")))
    };
    let reason = LOST.iter().find(|(lost, _)| *lost == path);
    let told = reason.map_or("Terca has nothing like it", |(_, reason)| reason);
    let mut note = |text| {
        let loss = NEEDED.iter().find(|(needed, _)| *needed == path);
        let loss = loss.filter(|_| value != "shared").map(|(_, loss)| *loss);
        notes.push(Note { loss, text });
    };
    match value {
        _ if is_used(path) => {}
        Value::Object(table) if reason.is_none() && holds_used() => {
            for (name, value) in table {
                lost(value, &format!("{path}/{name}"), notes);
            }
        }
        Value::Object(table) => {
            let names = table.keys().map(String::as_str);
            let names = names.filter(|name| !is_used(&format!("{path}/{name}")));
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                note(format!("{} ({}): {told}", key(path), names.join(", ")));
            }
        }
        Value::Bool(true) if path == "/environment/allow_internet" => {}
        Value::Bool(_) | Value::Number(_) => {
            note(format!("{} = {value}: {told}", key(path)));
        }
        _ => note(format!("{}: {told}", key(path))),
    }
}

fn key(path: &str) -> String {
    path.trim_start_matches('/').replace('/', ".")
}
