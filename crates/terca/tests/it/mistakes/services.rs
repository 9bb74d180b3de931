//! Mistakes about keys, models and services, as Claude Code tells them.

use super::{A, EVAL, File, Mistake, mistake, suite, way};

/// Claude Code that is answered with this error.
macro_rules! claude {
    ($status:literal, $said:literal) => {
        [
            suite("environments: [{name: a, agent: {name: claude-code, program: ./claude}, model: claude-none}]\n"),
            (
                "+x claude",
                concat!(
                    "#!/bin/sh\n[ \"$1\" = --version ] && { echo 2.1.0; exit; }\ncat <<'END'\n",
                    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":",
                    $status,
                    ",\"duration_ms\":1,\"num_turns\":1,\"result\":\"",
                    $said,
                    "\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}\nEND\nexit 1\n"
                ),
            ),
            EVAL,
            ("$ANTHROPIC_API_KEY", "fake-key-for-tests"),
        ]
    };
}

pub fn mistakes() -> Vec<Mistake> {
    let no_key: [File; 3] = [
        suite("environments: [{name: a, agent: {name: claude-code, program: ./claude}}]\n"),
        ("+x claude", "#!/bin/sh\necho 2.1.0\n"),
        EVAL,
    ];
    vec![
        mistake(
            "key missing",
            A,
            [way(
                &no_key,
                "check",
                0,
                ["terca.yaml:1:", "has no credentials", "help: set $"],
            )],
        ),
        mistake(
            "key refused (401)",
            A,
            [way(
                &claude!("401", "Invalid API key · Fix external API key"),
                "run",
                3,
                ["fib a", "Invalid API key", "replace $ANTHROPIC_API_KEY"],
            )],
        ),
        mistake(
            "model does not exist (404)",
            A,
            [way(
                &claude!(
                    "404",
                    "There's an issue with the selected model (claude-none). It may not exist or you may not have access to it."
                ),
                "run",
                3,
                [
                    "fib a",
                    "selected model (claude-none)",
                    "help: model: correct `model` in terca.yaml",
                ],
            )],
        ),
        mistake(
            "no credit (400)",
            A,
            [way(
                &claude!("400", "Credit balance is too low"),
                "run",
                3,
                ["fib a", "credit: Credit balance is too low", "add credit"],
            )],
        ),
        mistake(
            "model server down",
            A,
            [way(
                &claude!("null", "API Error: Unable to connect to API (ECONNREFUSED)"),
                "run",
                3,
                [
                    "fib a", "Unable to connect", "help: modelApi: check the address",
                ],
            )],
        ),
    ]
}
