//! Actions: what is copied, written or run before the agent starts.

use serde_json::{Value, json};

use super::terms::{
    about, command_line, filled_text, map_of, object, optional, plain_text, positive, reference,
};
use super::terms::{one_of, requiring};

pub(super) fn action() -> Value {
    let schema = object([
        (
            "copy",
            about(
                "Source → destination. A source is relative to this file, and may be a directory; a destination is relative to the workspace.",
                map_of(filled_text()),
            ),
        ),
        ("files", about("File name → content.", map_of(plain_text()))),
        ("command", reference("command")),
    ]);
    one_of(
        &["copy", "files", "command"],
        about("One of `copy`, `files` and `command`.", schema),
    )
}

pub(super) fn command() -> Value {
    let long = object([
        ("command", command_line()),
        (
            "timeoutSeconds",
            about("Default 600.", optional(positive())),
        ),
    ]);
    about(
        "A shell command, run in the workspace with `sh -c`; or `{command, timeoutSeconds}`. Scripts beside this file are found by their bare names.",
        json!({ "anyOf": [command_line(), requiring(&["command"], long)] }),
    )
}
