//! Mistakes in `terca.yaml`, and about where it is.

use super::{A, EVAL, File, Mistake, SUITE, eval, mistake, suite, way};

/// A suite whose second experiment has these rules.
macro_rules! rules {
    ($rules:literal) => {
        suite(concat!(
            "environments: [{name: a, agent: codex}]\nexperiments:\n- name: x\n- name: y\n  rules: ",
            $rules,
            "\n"
        ))
    };
}

const RULES: File = ("rules/AGENTS.md", "Be kind.\n");

pub fn mistakes() -> Vec<Mistake> {
    let mut all = of_text();
    all.extend(of_values());
    all.extend(of_rules());
    all.extend(of_places());
    all
}

/// Files that cannot be read as they are.
fn of_text() -> Vec<Mistake> {
    vec![
        mistake(
            "wrong indent",
            A,
            [way(
                &[suite("environments:\n  - name: a\n   agent: nop\n"), EVAL],
                "check",
                2,
                [
                    "terca.yaml:3:4", "the indentation is wrong", "help: put the ",
                ],
            )],
        ),
        mistake(
            "tab before `-`",
            A,
            [way(
                &[suite("environments:\n\t- name: a\n"), EVAL],
                "check",
                2,
                ["terca.yaml:2:", "tab", "help: YAML is indented with spaces"],
            )],
        ),
        mistake(
            "tab under `- name:`",
            A,
            [
                way(
                    &[suite("environments:\n  - name: a\n\t  agent: nop\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:3:1", "a tab", "help: YAML is indented with spaces",
                    ],
                ),
                way(
                    &[
                        SUITE,
                        eval("prompt: go\ntests:\n  - name: a\n\tfileExists: a\n"),
                    ],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:4:1", "a tab", "help: YAML is indented with spaces",
                    ],
                ),
            ],
        ),
        mistake(
            "BOM",
            A,
            [way(
                &[
                    (
                        "terca.yaml",
                        "\u{feff}environments: [{name: default, agent: nop}]\n",
                    ),
                    EVAL,
                ],
                "check",
                0,
                ["fib", "default", "1 trial"],
            )],
        ),
        mistake(
            "CRLF in YAML",
            A,
            [way(
                &[
                    suite("environments:\r\n  - name: default\r\n    agent: nop\r\n"),
                    EVAL,
                ],
                "check",
                0,
                ["fib", "default", "1 trial"],
            )],
        ),
        mistake(
            "UTF-16 file",
            A,
            [way(
                &[("utf-16 terca.yaml", SUITE.1), EVAL],
                "check",
                2,
                [
                    "terca.yaml:1:1", "the file is UTF-16", "help: save it as UTF-8",
                ],
            )],
        ),
        mistake(
            "unclosed quote",
            A,
            [
                way(
                    &[
                        suite("name: \"a\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:1:7", "this quote is not closed", "help: add the closing `\"`",
                    ],
                ),
                way(
                    &[
                        suite("name: 'a\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:1:7", "this quote is not closed", "help: add the closing `'`",
                    ],
                ),
            ],
        ),
        mistake(
            "unknown alias",
            A,
            [way(
                &[
                    suite("env: *shared\nenvironments: [{name: a, agent: nop}]\n"),
                    EVAL,
                ],
                "check",
                2,
                [
                    "terca.yaml:1:6",
                    "no `&anchor` of this name",
                    "help: text that begins with `*` needs quotes",
                ],
            )],
        ),
        mistake(
            "broken flow map",
            A,
            [
                way(
                    &[suite("environments: [{name: a, agent: nop]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:16", "is not closed", "help: add the closing `}`",
                    ],
                ),
                way(
                    &[
                        suite("environments: [{name: a, agent: nop}\nrepetitions: 2\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:1:15", "is not closed", "help: add the closing `]`",
                    ],
                ),
                way(
                    &[suite("environments: [{name: a agent: nop}]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:", "a comma is missing", "help: put `, ` between the entries",
                    ],
                ),
            ],
        ),
        mistake(
            "smart quotes",
            A,
            [
                way(
                    &[suite("environments: [{name: a, agent: “nop”}]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:33",
                        "curly quotes",
                        "help: replace `“` and `”` with `\"`",
                    ],
                ),
                way(
                    &[
                        suite("name: “a: b”\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:1:",
                        "curly quotes",
                        "help: replace `“` and `”` with `\"`",
                    ],
                ),
            ],
        ),
        mistake(
            "terca.yaml empty",
            A,
            [way(
                &[suite("# nothing\n"), EVAL],
                "check",
                2,
                [
                    "terca.yaml:1:1", "this file is empty", "help: add `environments: ",
                ],
            )],
        ),
        mistake(
            "duplicate names, keys",
            A,
            [
                way(
                    &[
                        suite("environments:\n- {name: a, agent: nop}\n- {name: a, agent: nop}\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:3:10", "two environments are named `a`",
                        "help: rename or remove one",
                    ],
                ),
                way(
                    &[
                        suite("name: a\nname: b\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:2:1", "duplicate key `name`", "help: keep one of them",
                    ],
                ),
            ],
        ),
        mistake(
            "older spelling",
            A,
            [way(
                &[SUITE, eval("prompt: go\nevaluate: [fileExists: a]\n")],
                "check",
                0,
                [
                    "eval.terca.yaml:2:1", "warning[older-spelling]", "write `tests` here",
                ],
            )],
        ),
    ]
}

/// Values that are wrong.
fn of_values() -> Vec<Mistake> {
    vec![
        mistake(
            "three misspelt keys",
            A,
            [
                way(
                    &[suite("enviroments: [{name: a, agent: nop}]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:1", "unknown key `enviroments`",
                        "did you mean `environments`?",
                    ],
                ),
                way(
                    &[SUITE, eval("promt: go\ntests: [fileExists: a]\n")],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:1:1", "unknown key `promt`", "did you mean `prompt`?",
                    ],
                ),
                way(
                    &[SUITE, eval("prompt: go\ntests: [fileExist: a]\n")],
                    "check",
                    2,
                    [
                        "eval.terca.yaml:2:", "`fileExist`", "did you mean `fileExists`?",
                    ],
                ),
            ],
        ),
        mistake(
            "agent name misspelt",
            A,
            [way(
                &[
                    suite("environments: [{name: a, agent: cluade-code}]\n"),
                    EVAL,
                ],
                "check",
                2,
                [
                    "terca.yaml:1:", "unknown agent `cluade-code`", "did you mean `claude-code`?",
                ],
            )],
        ),
        mistake(
            "agent not supported",
            A,
            [
                way(
                    &[suite("environments: [{name: a, agent: cursor}]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:33",
                        "unknown agent `cursor`",
                        "help: any program can be run with `agent: {name: command",
                    ],
                ),
                way(
                    &[suite("environments: [{name: a, agent: GPT-5}]\n"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:1:33",
                        "unknown agent `GPT-5`",
                        "help: any program can be run with `agent: {name: command",
                    ],
                ),
            ],
        ),
        mistake(
            "${VAR} unset",
            A,
            [way(
                &[
                    suite("env: {A: '${NOT_SET_HERE}'}\nenvironments: [{name: a, agent: nop}]\n"),
                    EVAL,
                ],
                "check",
                2,
                [
                    "terca.yaml:1:",
                    "the variable `NOT_SET_HERE` is not set",
                    "help: set it, or write `${NOT_SET_HERE:-default}`",
                ],
            )],
        ),
        mistake(
            "two baselines",
            A,
            [way(
                &[
                    suite(
                        "environments: [{name: a, agent: nop}]\nexperiments:\n- {name: x, baseline: true}\n- {name: y, baseline: true}\n",
                    ),
                    EVAL,
                ],
                "check",
                2,
                [
                    "terca.yaml:4:",
                    "two experiments are marked `baseline: true`",
                    "help: keep the mark on the experiment",
                ],
            )],
        ),
        mistake(
            "experiment equal to baseline",
            A,
            [way(
                &[
                    suite(
                        "environments: [{name: a, agent: nop}]\nexperiments:\n- name: x\n- name: y\n",
                    ),
                    EVAL,
                ],
                "check",
                0,
                [
                    "terca.yaml:4:9", "the experiment `y` changes nothing",
                    "help: give it a setting",
                ],
            )],
        ),
        mistake(
            "`5m` or a quoted number in YAML",
            A,
            [
                way(
                    &[
                        suite("timeoutSeconds: 5m\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    ["terca.yaml:1:17", "`5m`", "help: write `300`"],
                ),
                way(
                    &[
                        suite("repetitions: \"3\"\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    ["terca.yaml:1:14", "text", "help: remove the quotes"],
                ),
            ],
        ),
        mistake(
            "API key written into YAML",
            A,
            [way(
                &[
                    suite(
                        "env: {ANTHROPIC_API_KEY: sk-ant-api03-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789}\nenvironments: [{name: a, agent: nop}]\n",
                    ),
                    EVAL,
                ],
                "check",
                0,
                [
                    "terca.yaml:1:26", "warning[key-in-file]", "${ANTHROPIC_API_KEY}",
                ],
            )],
        ),
        mistake(
            "MCP server not installed",
            A,
            [way(
                &[
                    suite(
                        "environments: [{name: a, agent: codex}]\nexperiments:\n- name: x\n- name: y\n  mcpServers: {docs: {command: no-such-server}}\n",
                    ),
                    EVAL,
                ],
                "check",
                0,
                [
                    "terca.yaml:5:",
                    "no program `no-such-server` was found",
                    "help: install it, or put it into `PATH`",
                ],
            )],
        ),
        mistake(
            "skill without SKILL.md",
            A,
            [way(
                &[
                    suite(
                        "environments: [{name: a, agent: codex}]\nexperiments:\n- name: x\n- name: y\n  skills: [skills/a]\n",
                    ),
                    ("skills/a/notes.md", "x\n"),
                    EVAL,
                ],
                "check",
                2,
                [
                    "terca.yaml:5:",
                    "has no SKILL.md",
                    "help: a skill is a directory with a SKILL.md in it",
                ],
            )],
        ),
        mistake(
            "wrong sandbox, wrong shard",
            A,
            [
                way(
                    &[
                        suite("sandbox: dokcer\nenvironments: [{name: a, agent: nop}]\n"),
                        EVAL,
                    ],
                    "check",
                    2,
                    [
                        "terca.yaml:1:",
                        "expected `none`, `bwrap`, `landlock` or `auto`",
                        "help: `none` runs commands without a sandbox",
                    ],
                ),
                way(
                    &[SUITE, EVAL],
                    "run --shard 4/3",
                    2,
                    ["--shard", "4/3", "such as"],
                ),
                way(
                    &[SUITE, EVAL],
                    "run --sandbox dokcer",
                    2,
                    ["--sandbox", "dokcer", "expected"],
                ),
            ],
        ),
    ]
}

fn of_rules() -> Vec<Mistake> {
    vec![
        mistake(
            "rules file missing or misspelt",
            A,
            [
                way(
                    &[rules!("rules/AGENT.md"), RULES, EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:5:", "does not exist", "did you mean `rules/AGENTS.md`?",
                    ],
                ),
                way(
                    &[rules!("notes.md"), EVAL],
                    "check",
                    2,
                    [
                        "terca.yaml:5:",
                        "does not exist",
                        "help: a relative path is relative to the file that names it",
                    ],
                ),
            ],
        ),
        mistake(
            "rules with ~",
            A,
            [way(
                &[rules!("~/AGENTS.md"), RULES, EVAL],
                "check",
                2,
                [
                    "terca.yaml:5:", "`~/AGENTS.md`", "write `${HOME}/AGENTS.md`",
                ],
            )],
        ),
        mistake(
            "rules empty",
            A,
            [way(
                &[rules!("rules/AGENTS.md"), ("rules/AGENTS.md", " \n"), EVAL],
                "check",
                0,
                [
                    "terca.yaml:5:",
                    "`rules/AGENTS.md` is empty",
                    "help: write the rules, or remove `rules`",
                ],
            )],
        ),
        mistake(
            "rules is a directory",
            A,
            [way(
                &[rules!("rules"), RULES, EVAL],
                "check",
                2,
                [
                    "terca.yaml:5:", "is a directory", "such as `rules/AGENTS.md`",
                ],
            )],
        ),
        mistake(
            "rules is inline text",
            A,
            [way(
                &[rules!("Always write tests before the code."), RULES, EVAL],
                "check",
                2,
                [
                    "terca.yaml:5:", "is not a path, but text", "put the text into a file",
                ],
            )],
        ),
    ]
}

fn of_places() -> Vec<Mistake> {
    let below: [File; 2] = [
        ("evals/terca.yaml", SUITE.1),
        ("evals/fib/eval.terca.yaml", EVAL.1),
    ];
    vec![
        mistake(
            "terca.yml",
            A,
            [way(
                &[("terca.yml", SUITE.1), EVAL],
                "check",
                2,
                ["terca.yml", "error[no-suite]", "rename it to terca.yaml"],
            )],
        ),
        mistake(
            "one level above the suite",
            A,
            ["run", "validate", "check"].map(|command| {
                way(
                    &below,
                    command,
                    2,
                    [
                        "no suite here", "error[no-suite]", "did you mean `cd evals`?",
                    ],
                )
            }),
        ),
        mistake(
            "inside an eval",
            A,
            [way(
                &[SUITE, EVAL],
                "-C fib check",
                0,
                ["note: using the suite in ", "fib", "1 trial"],
            )],
        ),
        mistake(
            "empty directory",
            A,
            [way(
                &[],
                "check",
                2,
                [
                    "no suite here", "error[no-suite]", "`terca init` makes a suite",
                ],
            )],
        ),
        mistake(
            "-C to nowhere or a file",
            A,
            [
                way(
                    &[SUITE, EVAL],
                    "-C fibb check",
                    2,
                    ["fibb", "error[no-directory]", "did you mean "],
                ),
                way(
                    &[SUITE, EVAL],
                    "-C terca.yaml check",
                    2,
                    [
                        "terca.yaml", "error[no-directory]", "name the directory it is in",
                    ],
                ),
            ],
        ),
        mistake(
            "read-only directory",
            A,
            [way(
                &[SUITE, EVAL, ("mode 555 .", "")],
                "run",
                3,
                [
                    ".terca",
                    "error[cannot-write]",
                    "help: check the disk space and the permissions",
                ],
            )],
        ),
        mistake(
            "unreadable file",
            A,
            [way(
                &[SUITE, EVAL, ("mode 000 fib/eval.terca.yaml", "")],
                "check",
                2,
                [
                    "eval.terca.yaml",
                    "the file cannot be read: Permission denied",
                    "`ls -l` shows those of the file",
                ],
            )],
        ),
    ]
}
