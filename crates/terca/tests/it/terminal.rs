//! Nothing that is printed can give orders to a terminal, wherever the text in it comes from.

use crate::common::project;
use terca_testkit::{Project, Terminal};

/// Writes the clipboard, clears the screen, sets the title (with C1 characters too), and turns letters around.
const EVIL: &str =
    "\u{1b}]52;c;UFdORUQ=\u{7}\u{1b}[2J\u{9b}2J\u{9d}0;t\u{9c}\u{202e}\u{2066}\u{200f}\u{61c}\u{8}";
/// The same in a string of YAML.
const EVIL_YAML: &str =
    "\\e]52;c;UFdORUQ=\\a\\e[2J\\x9b2J\\x9d0;t\\x9c\\u202e\\u2066\\u200f\\u061c\\b";

/// Returns the first character or sequence that a terminal would obey, with the text before it. With colour, Terca's own
/// colours do not count.
fn order(text: &str, colour: bool) -> Option<String> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let sequence = rest.strip_prefix("\u{1b}[").filter(|_| colour);
        let end = sequence.and_then(|after| after.find(|c: char| !c.is_ascii_digit() && c != ';'));
        if let (Some(after), Some(end)) = (sequence, end)
            && after[end..].starts_with('m')
        {
            rest = &after[end + 1..];
            continue;
        }
        let is_control = c.is_control() && !matches!(c, '\n' | '\t');
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
        if is_control || turns {
            let at = text.len() - rest.len();
            let before: String = text[..at].chars().rev().take(60).collect();
            return Some(format!(
                "{c:?} after {:?}",
                before.chars().rev().collect::<String>()
            ));
        }
        rest = &rest[c.len_utf8()..];
    }
    None
}

/// Runs a command with and without colour, and checks what it prints. Returns what it printed without.
fn check(project: &Project, args: &[&str]) -> String {
    let mut printed = String::new();
    for colour in ["always", "never"] {
        let mut args = args.to_vec();
        args.extend(["--color", colour]);
        let outcome = project.terca(&args);
        printed = outcome.stdout + &outcome.stderr;
        assert_eq!(
            order(&printed, colour == "always"),
            None,
            "{args:?}: {printed:?}"
        );
        assert!(!printed.trim().is_empty(), "{args:?}");
    }
    printed
}

fn suite(text: &str) -> Project {
    project().file("terca.yaml", text.replace("EVIL", EVIL_YAML))
}

/// A suite in which everything has an evil name.
fn evil_suite() -> Project {
    suite(
        "environments:\n  - name: \"e EVIL\"\n    agent: {name: command, command: 'true'}\n\
         experiments:\n  - name: \"x EVIL\"\n\
         evals:\n  - name: \"n EVIL\"\n    prompt: x\n    tests:\n      - name: \"t EVIL\"\n        commandSuccess: \
         {command: 'printf \"\\033]52;c;eA==\\007\\n\"; exit 1'}\n",
    )
}

#[test]
fn names_that_are_offered_instead_of_an_unknown_one_are_shown() {
    let project = evil_suite();
    for flag in ["-t", "-e", "-x"] {
        let printed = check(&project, &[flag, "nope"]);
        assert!(printed.contains("␛]52"), "{flag}: {printed}");
        check(&project, &[flag, EVIL]);
    }
    for args in [
        &["check"][..],
        &["plan"],
        &["plan", "--format", "json"],
        &["run", "--dry-run"],
        &["explain", EVIL],
        &[EVIL],
        &["--agent", EVIL],
        &["--format", EVIL],
        &["--shard", EVIL],
        &["create", EVIL, "--yes", "--agent", EVIL],
    ] {
        check(&project, args);
    }
}

#[test]
fn runs_with_evil_names_are_shown_compared_and_exported() {
    let project = evil_suite();
    for format in ["plain", "json"] {
        check(&project, &["run", "--format", format]);
    }
    for args in [
        &["show"][..],
        &["list"],
        &["compare"],
        &["compare", "--by", "environment"],
        &["compare", "--baseline", EVIL],
        &["compare", "--format", "json"],
        &["compare", "1", "2"],
        &["compare", "1", "2", "--format", "markdown"],
        &["regrade"],
        &["resume"],
        &["show", EVIL],
        &["report", EVIL],
        &["report", "--html", &format!("terca.yaml/{EVIL}")],
        &["merge", EVIL, EVIL],
        &["view", EVIL],
    ] {
        check(&project, args);
    }
}

#[test]
fn documents_on_a_terminal_are_shown_too() {
    let project = evil_suite();
    project.terca(&[]);
    for format in ["--csv", "--markdown", "--html", "--jsonl"] {
        let terminal = Terminal::start(project.command(&["report", format, "-"]));
        let (status, printed) = terminal.finish();
        assert_eq!(status, 0);
        // The terminal's own driver ends lines with it.
        let printed = printed.replace("\r\n", "\n");
        assert!(printed.len() > 100, "{printed:?}");
        assert_eq!(order(&printed, false), None, "{format}: {printed:?}");
    }
}

#[test]
fn damaged_runs_say_so_without_giving_orders() {
    let project = evil_suite();
    project.terca(&[]);
    let dir = project.run_dir();
    let journal = std::fs::read_to_string(dir.join("events.jsonl")).unwrap();
    for file in ["events.jsonl", "run.json"] {
        let whole = std::fs::read(dir.join(file)).unwrap();
        for damage in [
            format!("{EVIL}\n{journal}"),
            format!("{{\"{EVIL}\": \"{EVIL}\"}}\n"),
            format!("{{\"event\": \"{EVIL}\", \"version\": \"{EVIL}\"}}\n{{}}\n"),
        ] {
            std::fs::write(dir.join(file), damage).unwrap();
            for args in [
                &["show"][..],
                &["list"],
                &["resume"],
                &["regrade"],
                &["compare"],
            ] {
                let outcome = project.terca(args);
                let printed = outcome.stdout + &outcome.stderr;
                assert_eq!(order(&printed, false), None, "{args:?}: {printed:?}");
            }
        }
        std::fs::write(dir.join(file), whole).unwrap();
    }
    std::fs::rename(&dir, dir.with_file_name(format!("2026-{EVIL}"))).unwrap();
    for args in [&["show"][..], &["list"], &["resume"], &["show", "nope"]] {
        let outcome = project.terca(args);
        let printed = outcome.stdout + &outcome.stderr;
        assert_eq!(order(&printed, false), None, "{args:?}: {printed:?}");
    }
}

#[test]
fn diagnostics_show_what_is_in_files_names_and_variables() {
    let evals = "evals:\n  - {name: a, prompt: x, allowWarnings: no-tests}\n";
    for text in [
        // Names, kinds and values that are wrong.
        "\"k EVIL\": 1\n".to_owned(),
        format!("{evals}environments:\n  - {{name: e, agent: \"EVIL\"}}\n"),
        format!("{evals}repetitions: \"EVIL\"\n"),
        "evals:\n  - {name: \"EVIL\", prompt: x, allowWarnings: no-tests}\n  - {name: \"EVIL\", prompt: x, allowWarnings: no-tests}\n".to_owned(),
        // Files and variables that are not there.
        "evals:\n  - {name: a, promptFile: \"EVIL.md\"}\n".to_owned(),
        format!("{evals}environments:\n  - {{name: e, agent: gemini, rules: \"no EVIL.md\"}}\n"),
        format!("{evals}env: {{A: \"${{NOT_SET}} EVIL\"}}\n"),
        format!("{evals}env: {{A: \"${{EVIL}}\"}}\n"),
        format!("{evals}env: {{\"EVIL\": x}}\n"),
        // Patterns that are none.
        "evals:\n  - name: a\n    prompt: x\n    tests: [{commandSuccess: {command: x, outputMatches: \"( EVIL\"}}]\n".to_owned(),
        "evals:\n  - name: a\n    prompt: x\n    tests: [{fileExists: \"[ EVIL\"}]\n".to_owned(),
        // A file that is no YAML at all.
        "a: b: EVIL\n".to_owned(),
    ] {
        check(&suite(&text), &["check"]);
    }
    // As it is, and not in a string: C1 characters, marks and turns are no control characters to YAML.
    for raw in ["\u{9b}2J", "\u{202e}x", "\u{1b}[2J", "\u{85}", "\u{7}"] {
        let project = project().file(
            "terca.yaml",
            format!("evals:\n  - {{name: a, promt: \"{raw}\"}}\n'{raw}': {raw}\n"),
        );
        check(&project, &["check"]);
    }
}

#[test]
fn directories_and_imported_tasks_have_their_names_shown() {
    let project = evil_suite()
        .file(&format!("d {EVIL}/terca.yaml"), "evals: 1\n")
        .file(&format!("f{EVIL}"), "x")
        .file(&format!("tasks/{EVIL}/task.toml"), "version = 1\nbroken")
        .file(&format!("tasks/{EVIL}/instruction.md"), "x")
        .file(
            &format!("tasks/whole {EVIL}/task.toml"),
            "version = \"1.0\"\n[environment]\nbuild_timeout_sec = 1.0\n",
        )
        .file(&format!("tasks/whole {EVIL}/instruction.md"), EVIL)
        .file(
            &format!("tasks/whole {EVIL}/environment/Dockerfile"),
            format!("FROM x{EVIL}\nRUN {EVIL}\n"),
        )
        .file(&format!("tasks/whole {EVIL}/tests/test.sh"), "exit 0\n");
    for args in [
        &["check", "-C", &format!("d {EVIL}")][..],
        &["check", "-C", &format!("f{EVIL}")],
        &["check", "-C", &format!("none {EVIL}")],
        &["import", "harbor", &format!("tasks/{EVIL}"), "--to", "one"],
        &["import", "harbor", "tasks", "--to", "imported"],
        &["import", "harbor", EVIL],
        &["import", EVIL],
    ] {
        let outcome = project.terca(args);
        let printed = outcome.stdout + &outcome.stderr;
        assert_eq!(order(&printed, false), None, "{args:?}: {printed:?}");
        assert!(!printed.is_empty(), "{args:?}");
    }
}

#[test]
fn names_in_diagnostics_have_no_colours() {
    let project = project().agent("true").file(
        "\u{1b}[31mred/eval.terca.yaml",
        "prompt: x\n\"\\e[8mhidden\": 1\ntests: [{fileExists: a}]\n",
    );
    for colour in ["never", "always"] {
        let outcome = project.terca(&["check", "--color", colour]);
        assert_eq!(outcome.status, 2, "{}", outcome.stderr);
        for shown in ["\u{241b}[31mred/eval.terca.yaml", "\u{241b}[8mhidden"] {
            assert!(
                outcome.stderr.contains(shown),
                "{shown}: {}",
                outcome.stderr
            );
        }
        for raw in ["\u{1b}[31mred", "\u{1b}[8m"] {
            assert!(!outcome.stderr.contains(raw), "{:?}", outcome.stderr);
        }
    }
}
