//! Mistakes about the programs that a suite names: agents, tests and steps.

use super::{A, EVAL, Mistake, SUITE, eval, mistake, suite, way};

const WINDOWS: &str = "#!/bin/sh\r\ngrep -q x a.txt\r\n";

pub fn mistakes() -> Vec<Mistake> {
    let agent = suite("environments: [{name: a, agent: {name: command, command: ./agent.sh}}]\n");
    let called = eval("prompt: go\ntests: [{commandSuccess: ./check.sh}]\n");
    let read = eval("prompt: go\ntests: [{commandSuccess: sh check.sh}]\n");
    vec![
        mistake(
            "agent not installed",
            A,
            [
                way(
                    &[suite("environments: [{name: a, agent: codex}]\n"), EVAL],
                    "check",
                    0,
                    [
                        "terca.yaml:1:", "`codex` is not installed", "npm install -g @openai/codex",
                    ],
                ),
                way(
                    &[suite("environments: [{name: a, agent: codex}]\n"), EVAL],
                    "run",
                    3,
                    [
                        "fib a", "`codex` is not installed", "npm install -g @openai/codex",
                    ],
                ),
            ],
        ),
        mistake(
            "agent.sh not executable",
            A,
            ["check", "run"].map(|command| {
                way(
                    &[agent, ("agent.sh", "#!/bin/sh\n"), EVAL],
                    command,
                    2,
                    ["terca.yaml:1:", "error[not-executable]", "`chmod +x "],
                )
            }),
        ),
        mistake(
            "agent.sh missing",
            A,
            [way(
                &[agent, EVAL],
                "check",
                2,
                [
                    "terca.yaml:1:", "program `./agent.sh` does not exist",
                    "help: a relative path is relative",
                ],
            )],
        ),
        mistake(
            "agent.sh with a CRLF shebang",
            A,
            [way(
                &[agent, ("+x agent.sh", WINDOWS), EVAL],
                "run",
                2,
                ["terca.yaml:1:", "has the line ends of Windows", "`sed -i"],
            )],
        ),
        mistake(
            "program of a test not installed",
            A,
            [way(
                &[
                    SUITE,
                    eval("prompt: go\ntests: [{commandSuccess: pytset -q}]\n"),
                ],
                "run",
                3,
                [
                    "`commandSuccess-1`",
                    "`pytset` is not installed on this machine",
                    "called by its path, `./pytset`",
                ],
            )],
        ),
        mistake(
            "test script not executable",
            A,
            ["check", "run"].map(|command| {
                way(
                    &[SUITE, called, ("fib/_tests/check.sh", "#!/bin/sh\n")],
                    command,
                    2,
                    [
                        "eval.terca.yaml:2:",
                        "error[not-executable]",
                        "`chmod +x fib/_tests/check.sh`, or call it as `sh check.sh`",
                    ],
                )
            }),
        ),
        mistake(
            "CRLF in a test script",
            A,
            [
                way(
                    &[SUITE, called, ("+x fib/_tests/check.sh", WINDOWS)],
                    "run",
                    2,
                    [
                        "eval.terca.yaml:2:", "has the line ends of Windows", "`sed -i",
                    ],
                ),
                way(
                    &[SUITE, read, ("fib/_tests/check.sh", WINDOWS)],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:",
                        "has the line ends of Windows",
                        "`sed -i 's/\\r$//' fib/_tests/check.sh`",
                    ],
                ),
            ],
        ),
        mistake(
            "absolute path of a test program",
            A,
            [
                way(
                    &[
                        suite("sandbox: auto\nenvironments: [{name: default, agent: nop}]\n"),
                        eval("prompt: go\ntests: [{commandSuccess: '{home}/check.sh'}]\n"),
                        ("~/check.sh", "#!/bin/sh\n"),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:", "error[hidden-path]", "copy the file into the suite",
                    ],
                ),
                way(
                    &[
                        SUITE,
                        eval("prompt: go\ntests: [{commandSuccess: /srv/nowhere/check.sh}]\n"),
                    ],
                    "run",
                    3,
                    [
                        "`commandSuccess-1`",
                        "`/srv/nowhere/check.sh` is not there",
                        "put the program of a test into `_tests/`",
                    ],
                ),
            ],
        ),
        mistake(
            "commandScore without a number",
            A,
            [way(
                &[
                    SUITE,
                    eval("prompt: go\ntests: [{commandScore: echo well done}]\n"),
                ],
                "run",
                1,
                [
                    "commandScore-1", "\"well done\"", "not a number from 0 to 1",
                ],
            )],
        ),
        mistake(
            "prepare fails",
            A,
            [way(
                &[
                    suite(
                        "environments: [{name: a, agent: nop}]\nprepare: [{command: 'echo no such package >&2; exit 1'}]\n",
                    ),
                    EVAL,
                ],
                "run",
                3,
                [
                    "`echo no such package >&2; exit 1`", "exit status 1: no such package",
                    "help: setup: correct the command",
                ],
            )],
        ),
    ]
}
