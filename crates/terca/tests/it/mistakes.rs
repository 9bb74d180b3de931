//! The mistakes that newcomers make, and the answer that each gets. `crates/core/tests/diagnostics.rs` has those that can be
//! told from the text of a file alone.

use crate::common::project;
use terca_testkit::Project;

const SUITE: (&str, &str) = (
    "terca.yaml",
    "environments: [{name: default, agent: nop}]\n",
);
const EVAL: (&str, &str) = (
    "fib/eval.terca.yaml", "prompt: go\ntests: [fileExists: a]\n",
);

/// A mistake, by its number in the list of the first review.
struct Mistake {
    number: u32,
    /// Paths and texts: `+x file` is executable, `link -> target` a symbolic link, `dir/` a directory.
    files: Vec<(&'static str, &'static str)>,
    /// Arguments, with spaces between.
    command: &'static str,
    status: i32,
    /// Words of the answer.
    said: &'static [&'static str],
}

fn mistake(
    number: u32,
    files: &[(&'static str, &'static str)],
    command: &'static str,
    status: i32,
    said: &'static [&'static str],
) -> Mistake {
    Mistake {
        number,
        files: files.to_vec(),
        command,
        status,
        said,
    }
}

/// A suite whose experiment has this line.
fn with_rules(text: &'static str) -> (&'static str, &'static str) {
    ("terca.yaml", text)
}

fn made(files: &[(&str, &str)]) -> Project {
    // No agent of this machine is found.
    let mut project = project().env("PATH", "/usr/bin:/bin");
    for (path, text) in files {
        project = match (path.strip_prefix("+x "), path.split_once(" -> ")) {
            (Some(path), _) => project.executable(path, text),
            (None, Some((link, target))) => project.symlink(link, target),
            (None, None) if path.ends_with('/') => project.directory(path),
            (None, None) => project.file(path, text),
        };
    }
    project
}

/// Returns what is wrong with the answer to a mistake.
fn faults(mistake: &Mistake) -> Vec<String> {
    let project = made(&mistake.files);
    let args: Vec<&str> = mistake.command.split_whitespace().collect();
    let outcome = project.terca(&args);
    let answer = format!("{}{}", outcome.stdout, outcome.stderr);
    let mut faults = Vec::new();
    if outcome.status != mistake.status {
        faults.push(format!("exit status {}", outcome.status));
    }
    let missing = mistake
        .said
        .iter()
        .filter(|words| !answer.contains(**words));
    faults.extend(missing.map(|words| format!("{words:?} is not said")));
    let number = mistake.number;
    faults
        .iter()
        .map(|fault| format!("mistake {number}, {}: {fault}\n{answer}", mistake.command))
        .collect()
}

#[track_caller]
fn all_are_answered(mistakes: &[Mistake]) {
    let found: Vec<String> = mistakes.iter().flat_map(faults).collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

#[test]
fn mistakes_about_agents() {
    let agent = "environments: [{name: a, agent: {name: command, command: ./agent.sh}}]\n";
    let codex = "environments: [{name: a, agent: codex, model: no-such-model}]\n";
    let own = "environments: [{name: a, agent: {name: codex, program: ./codex}}]\n";
    all_are_answered(&[
        mistake(
            6,
            &[("terca.yaml", codex), EVAL],
            "check",
            0,
            &[
                "warning[agent-not-ready]", "terca.yaml:1:", "`codex` is not installed",
                "npm install -g @openai/codex",
            ],
        ),
        mistake(
            6,
            &[("terca.yaml", codex), EVAL],
            "doctor",
            1,
            &["agents of this suite:\n✗ codex: not installed"],
        ),
        mistake(
            7,
            &[("terca.yaml", own), ("+x codex", "#!/bin/sh\n"), EVAL],
            "check",
            0,
            &[
                "warning[agent-not-ready]", "has no credentials", "help: set $",
            ],
        ),
        // Nobody but the service knows which models there are.
        mistake(
            9,
            &[("terca.yaml", codex), EVAL],
            "check",
            0,
            &["no-such-model"],
        ),
        mistake(
            17,
            &[("terca.yaml", agent), ("agent.sh", "#!/bin/sh\n"), EVAL],
            "check",
            2,
            &["error[not-executable]", "terca.yaml:1:", "`chmod +x "],
        ),
        mistake(
            17,
            &[("terca.yaml", agent), ("agent.sh", "#!/bin/sh\n"), EVAL],
            "run",
            2,
            &["error[not-executable]", "nothing was run"],
        ),
    ]);
}

#[test]
fn mistakes_about_rules() {
    macro_rules! rules {
        ($rules:literal) => {
            with_rules(concat!(
                "environments: [{name: a, agent: codex}]\nexperiments:\n- name: x\n- name: y\n  rules: ",
                $rules,
                "\n"
            ))
        };
    }
    let file = ("rules/AGENTS.md", "Be kind.\n");
    all_are_answered(&[
        mistake(
            10,
            &[rules!("rules/AGENT.md"), file, EVAL],
            "check",
            2,
            &["terca.yaml:5:", "did you mean `rules/AGENTS.md`?"],
        ),
        mistake(
            11,
            &[rules!("rules"), file, EVAL],
            "check",
            2,
            &["is a directory", "such as `rules/AGENTS.md`"],
        ),
        mistake(
            11,
            &[rules!("~/AGENTS.md"), file, EVAL],
            "check",
            2,
            &["write `${HOME}/AGENTS.md`"],
        ),
        mistake(
            11,
            &[rules!("https://example.org/AGENTS.md"), file, EVAL],
            "check",
            2,
            &["Terca does not download files"],
        ),
        mistake(
            11,
            &[rules!("Always write tests before the code."), file, EVAL],
            "check",
            2,
            &["is not a path, but text", "put the text into a file"],
        ),
        mistake(
            12,
            &[rules!("rules/AGENTS.md"), ("rules/AGENTS.md", " \n"), EVAL],
            "check",
            0,
            &[
                "warning[empty-rules]", "terca.yaml:5:", "`rules/AGENTS.md` is empty",
            ],
        ),
    ]);
}

#[test]
fn mistakes_about_places() {
    all_are_answered(&[
        mistake(
            13,
            &[],
            "check",
            2,
            &["error[no-suite]", "`terca init` makes a suite"],
        ),
        mistake(
            14,
            &[
                ("evals/terca.yaml", SUITE.1),
                ("evals/fib/eval.terca.yaml", EVAL.1),
            ],
            "run",
            2,
            &["error[no-suite]", "did you mean `cd evals`?"],
        ),
        mistake(
            14,
            &[
                ("evals/terca.yaml", SUITE.1),
                ("evals/fib/eval.terca.yaml", EVAL.1),
            ],
            "validate",
            2,
            &["did you mean `cd evals`?"],
        ),
        mistake(
            15,
            &[SUITE, EVAL],
            "-C fib check",
            0,
            &["1 trial", "note: using the suite in "],
        ),
        mistake(
            16,
            &[("terca.yml", SUITE.1), EVAL],
            "check",
            2,
            &["error[no-suite]", "rename it to terca.yaml"],
        ),
        mistake(
            16,
            &[SUITE, ("fib/eval.yaml", EVAL.1)],
            "check",
            2,
            &[
                "error[no-evals]", "warning[skipped-eval]", "fib/eval.yaml",
                "rename it to eval.terca.yaml",
            ],
        ),
        mistake(
            16,
            &[SUITE, ("fib/eval.terca.yml", EVAL.1)],
            "check",
            2,
            &[
                "error[no-evals]", "warning[skipped-eval]", "fib/eval.terca.yml",
            ],
        ),
        mistake(
            29,
            &[
                SUITE,
                EVAL,
                ("elsewhere/_slug/eval.terca.yaml", EVAL.1),
                ("slug -> elsewhere/_slug", ""),
            ],
            "check",
            0,
            &[
                "warning[skipped-eval]",
                "the eval `slug` is not read: links are not followed",
            ],
        ),
        mistake(
            29,
            &[SUITE, EVAL, ("slug -> fib", "")],
            "check",
            0,
            &[
                "warning[skipped-eval]",
                "the eval `slug` is not read: links are not followed",
            ],
        ),
        mistake(
            29,
            &[SUITE, EVAL, ("_slug/eval.terca.yaml", EVAL.1)],
            "check",
            0,
            &["warning[skipped-eval]", "remove the `_` to run it"],
        ),
    ]);
}

#[test]
fn mistakes_about_evals() {
    let script = "prompt: go\ntests: [{commandSuccess: ./check.sh}]\n";
    let hidden = "prompt: go\ntests: [{commandSuccess: sh hidden/check.sh}]\n";
    let trivial = "prompt: go\ntests: [{commandSuccess: 'true'}]\n";
    all_are_answered(&[
        mistake(
            18,
            &[
                SUITE,
                ("fib/eval.terca.yaml", script),
                ("fib/_tests/check.sh", "#!/bin/sh\n"),
            ],
            "check",
            2,
            &[
                "error[not-executable]",
                "eval.terca.yaml:2:",
                "`chmod +x fib/_tests/check.sh`, or call it as `sh check.sh`",
            ],
        ),
        mistake(
            19,
            &[
                SUITE,
                ("fib/eval.terca.yaml", trivial),
                ("fib/_solution.sh", "true\n"),
            ],
            "validate",
            1,
            &["fib", "trivial"],
        ),
        mistake(
            20,
            &[SUITE, ("fib/eval.terca.yaml", "prompt: go\n")],
            "check",
            0,
            &[
                "warning[no-tests]", "eval.terca.yaml:1:", "help: add `tests`",
            ],
        ),
        mistake(
            20,
            &[SUITE, ("fib/eval.terca.yaml", "prompt: go\n")],
            "run",
            0,
            &["warning[no-tests]", "completed, nothing verified"],
        ),
        mistake(
            20,
            &[SUITE, ("fib/eval.terca.yaml", "prompt: go\n")],
            "validate",
            1,
            &["warning[no-tests]", "trivial"],
        ),
        mistake(
            21,
            &[
                SUITE,
                (
                    "fib/eval.terca.yaml",
                    "prompt: prompt.md\ntests: [fileExists: a]\n",
                ),
                ("fib/prompt.md", "Write fib.\n"),
            ],
            "check",
            0,
            &[
                "warning[prompt-is-a-file]", "eval.terca.yaml:1:", "write `promptFile: prompt.md`",
            ],
        ),
        mistake(
            22,
            &[
                SUITE,
                (
                    "fib/eval.terca.yaml",
                    "promptFile: promt.md\ntests: [fileExists: a]\n",
                ),
                ("fib/prompt.md", "Write fib.\n"),
            ],
            "check",
            2,
            &["error[missing-file]", "did you mean `prompt.md`?"],
        ),
        mistake(
            22,
            &[
                SUITE,
                (
                    "fib/eval.terca.yaml",
                    "prompt: go\npromptFile: prompt.md\ntests: [fileExists: a]\n",
                ),
                ("fib/prompt.md", "Write fib.\n"),
            ],
            "check",
            2,
            &["error[conflicting-keys]"],
        ),
        mistake(
            24,
            &[
                SUITE,
                ("fib/eval.terca.yaml", hidden),
                ("fib/tests/hidden/check.sh", "true\n"),
            ],
            "check",
            2,
            &[
                "error[misspelt-directory]", "eval.terca.yaml:2:",
                "the directory `tests` is not used", "`mv fib/tests fib/_tests`",
            ],
        ),
        mistake(
            24,
            &[
                SUITE,
                ("fib/eval.terca.yaml", hidden),
                ("fib/_test/hidden/check.sh", "true\n"),
            ],
            "check",
            2,
            &["`mv fib/_test fib/_tests`"],
        ),
        mistake(
            24,
            &[SUITE, EVAL, ("fib/_solutions/a", "")],
            "check",
            0,
            &["`mv fib/_solutions fib/_solution`"],
        ),
        mistake(
            24,
            &[SUITE, EVAL, ("fib/base/a", "")],
            "check",
            0,
            &["`mv fib/base fib/_base`"],
        ),
        mistake(
            24,
            &[SUITE, EVAL, ("base/a", "")],
            "check",
            0,
            &["`mv base _base`"],
        ),
    ]);
}

/// Mistake 27.
#[test]
fn a_huge_base_is_told() {
    let project = made(&[SUITE, EVAL]).file("_base/huge.bin", vec![1; 210_000_000]);
    let outcome = project.terca(&["check"]).expect_status(0);
    let said = &outcome.stderr;
    assert!(
        said.contains("warning[large-base]: `_base` has 210 MB"),
        "{said}"
    );
    // A run that is cheap to start is not held up to measure it.
    let outcome = project.terca(&["--dry-run"]).expect_status(0);
    assert!(!outcome.stderr.contains("large-base"), "{}", outcome.stderr);
}

/// Mistake 28.
#[test]
fn spaces_and_other_letters_in_names_work() {
    let project = made(&[
        ("my evals/terca.yaml", SUITE.1),
        (
            "my evals/größe ✓/eval.terca.yaml",
            "prompt: go\ntests: [{commandSuccess: 'true'}]\n",
        ),
    ]);
    let outcome = project.terca(&["-C", "my evals"]).expect_status(0);
    assert!(outcome.stdout.contains("größe ✓"), "{}", outcome.stdout);
}

/// Mistake 30.
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let project = made(&[SUITE, EVAL]);
    let set = |mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(project.dir(), PermissionsExt::from_mode(mode)).unwrap();
    };
    let mut prepared = project.command_without_privileges(&["run"]);
    set(0o555);
    let output = prepared.output().unwrap();
    set(0o755);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("error[cannot-write]"), "{said}");
    assert!(said.contains(project.path(".terca").as_str()), "{said}");
    assert!(said.contains("help: "), "{said}");
}

/// Mistake 31.
#[test]
fn git_is_not_needed() {
    let project = made(&[
        SUITE,
        (
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{commandSuccess: 'true'}]\n",
        ),
    ])
    .symlink("bin/sh", "/bin/sh");
    let path = project.path("bin").to_string();
    let mut command = project.command(&["run"]);
    let output = command.env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// Programs that could be started in no trial are found before anything is paid.
#[test]
fn mistakes_about_programs() {
    const LINE_ENDS: &str = "has the line ends of Windows";
    let agent = "environments: [{name: a, agent: {name: command, command: ./agent.sh}}]\n";
    let setup = "environments: [{name: a, agent: nop}]\nexperiments: [{name: b, command: setup_context.sh}]\n";
    let called = "prompt: go\ntests: [{commandSuccess: ./check.sh}]\n";
    let read = "prompt: go\ntests: [{commandSuccess: sh check.sh}]\n";
    let allowed =
        "prompt: go\nallowWarnings: [not-executable]\ntests: [{commandSuccess: ./check.sh}]\n";
    let windows = "#!/bin/sh\r\ngrep -q x a.txt\r\n";
    all_are_answered(&[
        mistake(
            101,
            &[("terca.yaml", agent), ("+x agent.sh", windows), EVAL],
            "run",
            2,
            &[
                "error[not-executable]", "terca.yaml:1:", LINE_ENDS, "`sed -i",
            ],
        ),
        mistake(
            102,
            &[
                SUITE,
                ("fib/eval.terca.yaml", called),
                ("+x fib/_tests/check.sh", windows),
            ],
            "run",
            2,
            &[
                "error[not-executable]", "eval.terca.yaml:2:", LINE_ENDS, "nothing was run",
            ],
        ),
        mistake(
            102,
            &[
                SUITE,
                ("fib/eval.terca.yaml", read),
                ("fib/_tests/check.sh", windows),
            ],
            "check",
            2,
            &[
                "error[not-executable]",
                LINE_ENDS,
                "`sed -i 's/\\r$//' fib/_tests/check.sh`",
            ],
        ),
        mistake(
            102,
            &[
                SUITE,
                ("fib/eval.terca.yaml", allowed),
                ("+x fib/_tests/check.sh", windows),
            ],
            "check",
            0,
            &[],
        ),
        mistake(
            103,
            &[("terca.yaml", setup), EVAL],
            "check",
            2,
            &[
                "error[missing-file]", "terca.yaml:2:", "`setup_context.sh` is not there",
            ],
        ),
        mistake(
            103,
            &[
                ("terca.yaml", setup),
                EVAL,
                ("setup_context.sh", "#!/bin/sh\n"),
            ],
            "check",
            2,
            &[
                "error[not-executable]", "terca.yaml:2:", "`chmod +x setup_context.sh`",
            ],
        ),
        mistake(
            103,
            &[
                ("terca.yaml", setup),
                EVAL,
                ("+x setup_context.sh", "#!/bin/sh\n"),
            ],
            "check",
            0,
            &[],
        ),
    ]);
}

/// Every error has a place.
#[test]
fn mistakes_of_the_whole_suite_have_a_place() {
    let no_agent = "# nothing\n";
    let no_proof = "requireDelivery: true\ngateway: off\nenvironments: [{name: a, agent: nop}]\n";
    let allow = "sandbox: auto\nnetwork: off\nallow: [example.com]\nenvironments: [{name: a, agent: nop}]\n";
    let many = "repetitions: 120000\nenvironments: [{name: a, agent: nop}]\n";
    all_are_answered(&[
        mistake(
            111,
            &[("terca.yaml", no_agent), EVAL],
            "check",
            2,
            &["error[no-agent]", "terca.yaml:1:1", "this file is empty"],
        ),
        mistake(
            112,
            &[("terca.yaml", no_proof), EVAL],
            "check",
            2,
            &[
                "error[wrong-value]", "terca.yaml:1:1", "`requireDelivery` needs",
            ],
        ),
        mistake(
            113,
            &[("terca.yaml", allow), EVAL],
            "check",
            0,
            &["warning[doubtful-value]", "terca.yaml:3:1"],
        ),
        mistake(
            114,
            &[("terca.yaml", many), EVAL],
            "check",
            2,
            &["error[out-of-range]", "terca.yaml:1:"],
        ),
    ]);
}

/// A test's program that the sandbox hides is an error of the suite, and one that is nowhere is no failure of the agent.
#[test]
fn absolute_programs_of_tests() {
    let elsewhere = project().executable("check.sh", "#!/bin/sh\n");
    let program = elsewhere.path("check.sh");
    let with = |program: &str| {
        made(&[SUITE]).file(
            "fib/eval.terca.yaml",
            format!("prompt: go\ntests: [{{commandSuccess: {program}}}]\n"),
        )
    };
    let suite = "sandbox: auto\nenvironments: [{name: default, agent: nop}]\n";
    let hidden = with(program.as_str())
        .file("terca.yaml", suite)
        .terca(&["check"])
        .expect_status(2)
        .stderr;
    for words in [
        "error[hidden-path]", "eval.terca.yaml:2:", "copy the file into the suite",
    ] {
        assert!(hidden.contains(words), "{words}:\n{hidden}");
    }
    let nowhere = with("/srv/nowhere/check.sh");
    nowhere.terca(&["--format", "plain"]).expect_status(3);
    let error = &nowhere.only_trial()["error"];
    assert_eq!(error["kind"], "setup");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("`/srv/nowhere/check.sh` is not there"),
        "{message}"
    );
}
