//! Mistakes in evals.

use super::{A, EVAL, Mistake, SUITE, eval, mistake, way};

pub fn mistakes() -> Vec<Mistake> {
    let hidden = eval("prompt: go\ntests: [{commandSuccess: sh hidden/check.sh}]\n");
    vec![
        mistake(
            "eval.terca.yaml empty",
            A,
            [way(
                &[SUITE, eval("")],
                "check",
                2,
                ["eval.terca.yaml:1:1", "the file is empty", "such as `"],
            )],
        ),
        mistake(
            "eval.yaml",
            A,
            [
                way(
                    &[SUITE, ("fib/eval.yaml", EVAL.1)],
                    "check",
                    2,
                    [
                        "fib/eval.yaml", "warning[skipped-eval]", "rename it to eval.terca.yaml",
                    ],
                ),
                way(
                    &[SUITE, ("fib/eval.terca.yml", EVAL.1)],
                    "check",
                    2,
                    [
                        "fib/eval.terca.yml", "warning[skipped-eval]",
                        "rename it to eval.terca.yaml",
                    ],
                ),
            ],
        ),
        mistake(
            "eval without tests",
            A,
            [("check", 0), ("run", 0), ("validate", 1)].map(|(command, status)| {
                way(
                    &[SUITE, eval("prompt: go\n")],
                    command,
                    status,
                    [
                        "eval.terca.yaml:1:", "warning[no-tests]", "help: add `tests`",
                    ],
                )
            }),
        ),
        mistake(
            "no prompt",
            A,
            [way(
                &[SUITE, eval("tests: [fileExists: a]\n")],
                "check",
                2,
                [
                    "eval.terca.yaml:1:",
                    "missing key `prompt`",
                    "an eval needs a `prompt` (or a `promptFile`)",
                ],
            )],
        ),
        mistake(
            "prompt is a file name",
            A,
            [
                way(
                    &[
                        SUITE,
                        eval("prompt: prompt.md\ntests: [fileExists: a]\n"),
                        ("fib/prompt.md", "Write fib.\n"),
                    ],
                    "check",
                    0,
                    [
                        "eval.terca.yaml:1:", "warning[prompt-is-a-file]",
                        "write `promptFile: prompt.md`",
                    ],
                ),
                way(
                    &[SUITE, eval("prompt: ./task.md\ntests: [fileExists: a]\n")],
                    "check",
                    0,
                    [
                        "eval.terca.yaml:1:",
                        "warning[prompt-is-a-file]",
                        "help: make the file and write `promptFile: ./task.md`",
                    ],
                ),
            ],
        ),
        mistake(
            "unquoted colon in a prompt",
            A,
            [way(
                &[
                    SUITE,
                    eval("prompt: Do this: write fib\ntests: [fileExists: a]\n"),
                ],
                "check",
                2,
                [
                    "eval.terca.yaml:1:", "`: ` in the middle of a text", "needs quotes",
                ],
            )],
        ),
        mistake(
            "spaces and other letters in names",
            A,
            [way(
                &[
                    SUITE,
                    (
                        "größe ✓/eval.terca.yaml",
                        "prompt: go\ntests: [{commandSuccess: 'true'}]\n",
                    ),
                ],
                "run",
                0,
                ["größe ✓", "1 passed", "results.json"],
            )],
        ),
        mistake(
            "symlinked eval",
            A,
            [way(
                &[
                    SUITE,
                    EVAL,
                    ("elsewhere/_slug/eval.terca.yaml", EVAL.1),
                    ("slug -> elsewhere/_slug", ""),
                ],
                "check",
                0,
                [
                    "`slug` is not read",
                    "links are not followed",
                    "help: replace the link with the directory",
                ],
            )],
        ),
        mistake(
            "copy source missing or leaves the workspace",
            A,
            [
                way(
                    &[
                        SUITE,
                        eval("prompt: go\nbefore: [{copy: {data: x}}]\ntests: [fileExists: a]\n"),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:",
                        "does not exist",
                        "help: a relative path is relative to the file that names it",
                    ],
                ),
                way(
                    &[
                        SUITE,
                        eval(
                            "prompt: go\nbefore: [{copy: {data: ../x}}]\ntests: [fileExists: a]\n",
                        ),
                        ("fib/data", ""),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:",
                        "path `../x` is outside the workspace",
                        "help: write a path inside the workspace",
                    ],
                ),
            ],
        ),
        mistake(
            "bad regex",
            A,
            [way(
                &[
                    SUITE,
                    eval("prompt: go\ntests: [{fileContains: {path: a, matches: '('}}]\n"),
                ],
                "check",
                2,
                [
                    "eval.terca.yaml:2:", "unclosed group", "help: put a `\\` before a character",
                ],
            )],
        ),
        mistake(
            "tests/ for _tests/",
            A,
            [
                way(
                    &[SUITE, hidden, ("fib/tests/hidden/check.sh", "true\n")],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:", "the directory `tests` is not used",
                        "`mv fib/tests fib/_tests`",
                    ],
                ),
                way(
                    &[SUITE, hidden, ("fib/_test/hidden/check.sh", "true\n")],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:", "the directory `_test` is not used",
                        "`mv fib/_test fib/_tests`",
                    ],
                ),
                way(
                    &[SUITE, EVAL, ("fib/base/a", "")],
                    "check",
                    0,
                    [
                        "fib/base", "warning[misspelt-directory]", "`mv fib/base fib/_base`",
                    ],
                ),
            ],
        ),
        mistake(
            "command as a list",
            A,
            [
                way(
                    &[
                        SUITE,
                        eval("prompt: go\ntests: [{commandSuccess: [pytest, -q]}]\n"),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:",
                        "found a list",
                        "help: write it as one text: `pytest -q`",
                    ],
                ),
                way(
                    &[
                        SUITE,
                        eval(
                            "prompt: go\nbefore: [{command: [npm, ci]}]\ntests: [fileExists: a]\n",
                        ),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:", "found a list",
                        "help: write it as one text: `npm ci`",
                    ],
                ),
            ],
        ),
        mistake(
            "time limit too small",
            A,
            [way(
                &[
                    (
                        "terca.yaml",
                        "environments: [{name: a, agent: {name: command, command: sleep 20}}]\n",
                    ),
                    eval("prompt: go\ntimeoutSeconds: 0.2\ntests: [fileExists: a]\n"),
                ],
                "run",
                1,
                ["fib a", "timed out", "`timeoutSeconds` sets the limit"],
            )],
        ),
    ]
}
