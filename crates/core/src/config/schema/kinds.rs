//! Tests: one kind each.

use serde_json::{Value, json};

use super::terms::{
    about, command_line, filled_text, list, not_negative, object, one_of, optional, plain_text,
};
use super::terms::{positive, reference, requiring, texts, whole, with};
use crate::config::raw::RawTestKind;

pub(super) fn test() -> Value {
    let schema = object([
        (
            "name",
            about("Default: its kind and position.", optional(filled_text())),
        ),
        (
            "weight",
            about("In the score (default 1).", optional(positive())),
        ),
        (
            "timeoutSeconds",
            about("Default 120.", optional(positive())),
        ),
        ("commandSuccess", command_success()),
        ("fileExists", file_exists()),
        ("fileContains", file_contains()),
        (
            "commandScore",
            about(
                "A shell command whose last line of output is a score from 0 to 1, or `{\"score\": 0.5, \"message\": \"…\"}`.",
                command_line(),
            ),
        ),
        ("transcript", transcript()),
        ("changedFiles", changed_files()),
        ("budget", budget()),
        ("judge", judge()),
    ]);
    one_of(
        &RawTestKind::KEYS,
        about(
            "One kind, and optionally a name, a weight and a time limit.",
            schema,
        ),
    )
}

fn command_success() -> Value {
    let long = object([
        ("command", command_line()),
        ("outputContains", optional(plain_text())),
        (
            "outputMatches",
            about("A regular expression.", optional(filled_text())),
        ),
    ]);
    about(
        "A shell command that must exit with status 0, and whose output must have the text or match.",
        json!({ "anyOf": [command_line(), requiring(&["command"], long)] }),
    )
}

fn file_exists() -> Value {
    let some = with(list(filled_text()), "minItems", 1.into());
    about(
        "A path or a list of paths, globs allowed.",
        json!({ "anyOf": [filled_text(), some] }),
    )
}

fn file_contains() -> Value {
    let schema = object([
        ("path", filled_text()),
        ("text", optional(plain_text())),
        (
            "matches",
            about("A regular expression.", optional(filled_text())),
        ),
    ]);
    let asked = json!([{ "required": ["text"] }, { "required": ["matches"] }]);
    about(
        "A file must have the text, or match.",
        with(requiring(&["path"], schema), "anyOf", asked),
    )
}

fn transcript() -> Value {
    asking(
        "What the agent did and said.",
        object([
            (
                "usedTool",
                about(
                    "Globs of tools that must have been used.",
                    optional(texts()),
                ),
            ),
            (
                "notUsedTool",
                about("Globs of tools that must not.", optional(texts())),
            ),
            ("outputContains", optional(plain_text())),
            ("maxToolCalls", optional(whole())),
        ]),
    )
}

fn changed_files() -> Value {
    asking(
        "What the agent changed must stay within these globs.",
        object([
            (
                "only",
                about(
                    "Everything must match one; `[]` allows nothing.",
                    optional(texts()),
                ),
            ),
            ("never", about("Nothing may match one.", optional(texts()))),
        ]),
    )
}

fn budget() -> Value {
    asking(
        "What the trial may take.",
        object([
            ("maxTokens", optional(whole())),
            ("maxCostUsd", optional(not_negative())),
            ("maxSeconds", optional(positive())),
            ("maxRequests", optional(whole())),
        ]),
    )
}

fn judge() -> Value {
    let schema = object([
        (
            "rubric",
            about("What the work is judged by.", filled_text()),
        ),
        (
            "agent",
            about(
                "Who judges (default: the trial's own agent).",
                optional(reference("agent")),
            ),
        ),
        ("model", optional(filled_text())),
        (
            "config",
            about(
                "The judge's own settings.",
                optional(json!({ "type": "object" })),
            ),
        ),
        (
            "passScore",
            about(
                "A score from here on is as good as 1.",
                optional(pass_score()),
            ),
        ),
    ]);
    about("A model judges the work.", requiring(&["rubric"], schema))
}

/// With 0 any work would pass.
fn pass_score() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 })
}

/// A test that asks for nothing would always pass.
fn asking(words: &str, schema: Value) -> Value {
    about(words, with(schema, "minProperties", 1.into()))
}
