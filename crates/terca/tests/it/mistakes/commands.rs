//! Mistakes on the command line.

use super::{A, EVAL, Mistake, SUITE, mistake, suite, way};

pub fn mistakes() -> Vec<Mistake> {
    let experiments = suite(
        "environments: [{name: a, agent: nop}]\nexperiments: [{name: plain}, {name: rules}]\n",
    );
    let ran = [SUITE, EVAL, ("> run", "")];
    vec![
        mistake(
            "eval or experiment not there",
            A,
            [
                way(
                    &[experiments, EVAL],
                    "run -t fibb",
                    2,
                    ["`fibb`", "error[no-match]", "did you mean `fib`?"],
                ),
                way(
                    &[experiments, EVAL],
                    "run -x ruls",
                    2,
                    ["ruls", "error[no-match]", "did you mean `rules`?"],
                ),
            ],
        ),
        mistake(
            "unknown subcommand",
            A,
            [way(
                &[SUITE, EVAL],
                "chek",
                2,
                ["chek", "error[usage]", "`terca check`"],
            )],
        ),
        mistake(
            "unknown flag",
            A,
            [
                way(
                    &[SUITE, EVAL],
                    "--reps 3",
                    2,
                    ["'--reps'", "unexpected argument", "'--repetitions' (-n)"],
                ),
                way(
                    &[SUITE, EVAL],
                    "run --runs 3",
                    2,
                    ["'--runs'", "unexpected argument", "'--repetitions' (-n)"],
                ),
                way(
                    &[SUITE, EVAL],
                    "--verbose",
                    2,
                    ["'--verbose'", "unexpected argument", "`terca logs`"],
                ),
                way(
                    &[SUITE, EVAL],
                    "--parallel 3",
                    2,
                    [
                        "'--parallel'", "unexpected argument", "'--concurrency' (-c)",
                    ],
                ),
                way(
                    &[SUITE, EVAL],
                    "--filter fib",
                    2,
                    ["'--filter'", "unexpected argument", "'--eval' (-t)"],
                ),
            ],
        ),
        mistake(
            "--fail-under 80, --timeout 5m, --budget-usd $5",
            A,
            [
                way(
                    &[SUITE, EVAL],
                    "--fail-under 80",
                    2,
                    ["--fail-under", "'80'", "share from 0 to 1"],
                ),
                way(
                    &[SUITE, EVAL],
                    "--timeout 5m",
                    2,
                    ["--timeout", "'5m'", "number of seconds"],
                ),
                way(
                    &[SUITE, EVAL],
                    "--budget-usd $5",
                    2,
                    ["--budget-usd", "'$5'", "expected"],
                ),
            ],
        ),
        mistake(
            "-n many, -n 0",
            A,
            [
                way(
                    &[SUITE, EVAL],
                    "-n many",
                    2,
                    [
                        "--repetitions", "'many'", "expected a whole number from 1 to",
                    ],
                ),
                way(
                    &[SUITE, EVAL],
                    "-n 0",
                    2,
                    ["--repetitions", "'0'", "expected a whole number from 1 to"],
                ),
            ],
        ),
        mistake(
            "wrong run or trial name",
            A,
            [
                way(
                    &ran,
                    "show 7",
                    2,
                    ["`7`", "error[unknown-run]", "`terca list`"],
                ),
                way(
                    &ran,
                    "show 1 fbi",
                    2,
                    ["`fbi`", "no trial of the run", "help: name one of these"],
                ),
            ],
        ),
        mistake(
            "no disk space",
            A,
            [way(
                &ran,
                "report --csv /dev/full",
                3,
                [
                    "/dev/full", "No space left on device",
                    "help: choose a file that you can write",
                ],
            )],
        ),
        mistake(
            "init over a suite, without a terminal, unknown agent",
            A,
            [
                way(
                    &[SUITE, EVAL],
                    "init --yes",
                    2,
                    [
                        "terca.yaml", "error[already-there]",
                        "help: `terca create-eval` adds an eval",
                    ],
                ),
                way(
                    &[],
                    "init",
                    2,
                    ["init", "error[nobody-to-ask]", "--yes` asks nothing"],
                ),
                way(
                    &[],
                    "init --yes --agent cluade",
                    2,
                    ["cluade", "error[unknown-agent]", "did you mean "],
                ),
            ],
        ),
        mistake(
            "results.json damaged",
            A,
            [way(
                &[SUITE, EVAL, ("> run", ""), ("run/results.json", "{")],
                "show",
                0,
                ["fib", "1 trial", "not passed"],
            )],
        ),
    ]
}
