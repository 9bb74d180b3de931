//! The suite.

use serde_json::{Value, json};

use super::setup::known_agents;
use super::terms::{
    about, boolean, count, filled_text, list, map_of, object, older, optional, positive,
};
use super::terms::{reference, requiring, text, times, with};

pub(super) fn suite() -> Value {
    // An eval in a file is named by its directory; these have none.
    let inline = || list(requiring(&["name"], reference("eval")));
    object([
        (
            "name",
            about("Default: the directory's name.", optional(filled_text())),
        ),
        ("description", optional(text())),
        ("repetitions", repetitions()),
        ("concurrency", concurrency()),
        (
            "retries",
            about(
                "How often a trial that ended in an error is tried again; never one that was judged.",
                optional(times()),
            ),
        ),
        (
            "timeoutSeconds",
            about(
                "Limit for the agent in one trial (default 300).",
                optional(positive()),
            ),
        ),
        (
            "preamble",
            about("Put before every prompt.", optional(text())),
        ),
        (
            "postamble",
            about("Put after every prompt.", optional(text())),
        ),
        (
            "prepare",
            about(
                "Run once; every trial starts from a copy of the result.",
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
            "evals",
            about(
                "Evals written here. Those in directories are found.",
                inline(),
            ),
        ),
        ("tests", older("evals", inline())),
        (
            "environments",
            about(
                "What the evals run in (default: one, named `default`).",
                optional(list(reference("environment"))),
            ),
        ),
        (
            "experiments",
            about(
                "Changes laid over every environment, to be compared.",
                optional(list(reference("experiment"))),
            ),
        ),
        ("env", optional(reference("variables"))),
        ("sandbox", sandbox()),
        (
            "workspaceDir",
            about(
                "A directory copied into every workspace, after `_base`.",
                optional(filled_text()),
            ),
        ),
        (
            "trackIgnored",
            about(
                "Whether `changes.diff` and `changedFiles` also see what the workspace's .gitignore ignores.",
                optional(boolean()),
            ),
        ),
    ])
}

fn repetitions() -> Value {
    let adaptive = object([
        ("min", about("The fewest (default 1).", optional(count()))),
        ("max", count()),
        ("until", json!({ "enum": ["conclusive"] })),
    ]);
    about(
        "How often each eval is run in each variant (default 1); or `{min, max, until: conclusive}`, for as many as it takes to decide.",
        optional(json!({ "anyOf": [count(), requiring(&["max", "until"], adaptive)] })),
    )
}

fn concurrency() -> Value {
    let names: Vec<&str> = std::iter::once("default").chain(known_agents()).collect();
    let by_agent = with(
        map_of(optional(count())),
        "propertyNames",
        json!({ "enum": names }),
    );
    about(
        "Trials in flight at once (default: the number of CPUs); or one number for each agent, and `default` for the others.",
        optional(json!({ "anyOf": [count(), by_agent] })),
    )
}

fn sandbox() -> Value {
    let container = json!({
        "type": "object",
        "anyOf": [{ "required": ["docker"] }, { "required": ["podman"] }],
    });
    about(
        "What the agent may reach (default `none`).",
        optional(json!({ "anyOf": [{ "enum": ["none", "bwrap"] }, container] })),
    )
}
