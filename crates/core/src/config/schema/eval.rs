//! Evals.

use serde_json::Value;

use super::terms::{
    about, count, filled_text, list, object, older, one_of, optional, positive, reference,
};
use super::terms::{text, texts};

pub(super) fn eval() -> Value {
    // Nothing under `tests:` is a mistake, not an empty list.
    let tests = || list(reference("test"));
    let schema = object([
        (
            "name",
            about("Default: the directory's name.", optional(filled_text())),
        ),
        ("description", optional(text())),
        (
            "prompt",
            about("What the agent is asked to do.", filled_text()),
        ),
        (
            "promptFile",
            about(
                "A file with the prompt, relative to this one.",
                filled_text(),
            ),
        ),
        (
            "repetitions",
            about(
                "How often it is run in each variant; overrides the suite's.",
                optional(count()),
            ),
        ),
        (
            "timeoutSeconds",
            about(
                "Limit for the agent in one trial, whatever else is set.",
                optional(positive()),
            ),
        ),
        (
            "prepare",
            about(
                "Run once; every trial of the eval starts from a copy of the result.",
                optional(list(reference("action"))),
            ),
        ),
        (
            "before",
            about(
                "Run in every trial, before the agent.",
                optional(list(reference("action"))),
            ),
        ),
        (
            "tests",
            about(
                "What verifies the work. The score is their weighted mean.",
                tests(),
            ),
        ),
        ("env", optional(reference("variables"))),
        (
            "tags",
            about("For selection: `terca -t tag:NAME`.", optional(texts())),
        ),
        ("eval", older("tests", tests())),
        ("evaluate", older("tests", tests())),
    ]);
    one_of(&["prompt", "promptFile"], schema)
}
