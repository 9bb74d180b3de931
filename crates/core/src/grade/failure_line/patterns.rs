//! The failures that well-known compilers and test runners print, as patterns.

use std::collections::BTreeSet;

use regex::Regex;

use crate::grade::test_report;

/// The way in which a program prints a failure.
struct Pattern {
    /// Every such output has this in it.
    has: &'static str,
    /// A failure: `test` is what failed, `said` the reason, `also` more of it, and `code` a line of the program for a
    /// reason without words.
    failure: &'static str,
    /// Finds every failure, or their number; what `failure` finds, if it is empty.
    all: &'static str,
    /// The last failure is the one that ended the program.
    is_last: bool,
}

const fn pattern(has: &'static str, failure: &'static str, all: &'static str) -> Pattern {
    Pattern {
        has,
        failure,
        all,
        is_last: false,
    }
}

const fn last(has: &'static str, failure: &'static str) -> Pattern {
    Pattern {
        is_last: true,
        ..pattern(has, failure, "")
    }
}

/// The patterns. Compilers come first: nothing is tested where nothing was built.
const PATTERNS: [Pattern; 18] = [
    // TypeScript: `src/a.ts(1,5): error TS2304: …`, or `src/a.ts:1:5 - error TS2304: …`.
    pattern("error TS", r"(?m)^\s*(?<said>.*error TS\d+:.*)$", ""),
    // Rust: `error[E0425]: …` with the place in the line below it.
    pattern(
        "--> ",
        r"(?m)^(?<said>error(?:\[\w+\])?: .*)\n *--> (?<test>.*)$",
        "",
    ),
    // Go: `./add.go:4:9: undefined: c`.
    pattern("[build failed]", r"(?m)^\s*(?<said>.*\.go:\d.*)$", ""),
    // Rust before 1.73: `thread 'main' panicked at 'words', src/main.rs:2:5`.
    pattern(
        " panicked at '",
        r"(?m)^ *thread '(?<test>[^']*)'.* panicked at '(?<said>.*)', .*$",
        "",
    ),
    // Rust: `thread 'tests::small' (7) panicked at src/lib.rs:6:26:`, with the message below.
    pattern(
        " panicked at ",
        r"(?m)^ *thread '(?<test>[^']*)'.* panicked at .*\n\s*(?<said>.+)(?:\n *(?<also>left: .*\n *right: .*))?",
        "",
    ),
    // Jest: `  ● add › adds small numbers`, with the message below. A failure may be listed again in a summary.
    pattern(
        "  ● ",
        r"(?m)^  ● (?<test>.+)\n\s*(?<said>.+?)(?: // .*)?(?:\n\s*(?<also>Expected: .*\n *Received: .*))?$",
        r"(?m)^  ● .+$",
    ),
    // Vitest: ` FAIL  a.test.ts > add > adds small numbers`. Tests that failed for the same reason are listed together.
    pattern(
        " FAIL ",
        r"(?m)^ FAIL +(?:.*? > )?(?<test>.+?)(?: \[ .*)?\n(?: FAIL .*\n)*\s*(?<said>\S(?:.*\n?){1,12})",
        r"(?m)^ FAIL .+$",
    ),
    // The `spec` reporter of Node: `✖ adds small numbers (2.5ms)`, with the error further in.
    pattern(
        "✖ ",
        r"(?m)^ *✖ (?<test>.+) \([\d.]+ms\)\n\s+(?<said>[^\s✖✔▶ℹ](?:.*\n?){1,12})",
        r"(?m)^ℹ fail (\d+)$",
    ),
    // Mocha: `  1) add`, the names further in, and the error after a colon.
    pattern(
        " failing",
        r"(?m)^ *\d+ failing\n\s*1\) (?<test>.+(?:\n.+)*?):\n\s*(?<said>\S(?:.*\n?){1,12})",
        r"(?m)^ *(\d+) failing$",
    ),
    // Pytest: the lines `E   …` below a title `____ test_small ____`, or the summary where they are not shown.
    pattern(
        "\nE  ",
        r"(?m)^=+ (?:FAILURES|ERRORS) =+\n_+ (?<test>.+?) _+\n(?:.*\n)*?E  +(?<said>.+)(?:\nE  +(?<also>assert .*))?",
        r"(?m)^_+ .+ _+$",
    ),
    pattern(
        "short test summary info",
        r"(?m)^(?:FAILED|ERROR) (?:.*::)?(?<test>.+?) - (?<said>.+)$",
        r"(?m)^(?:FAILED|ERROR) .*$",
    ),
    // unittest: `FAIL: test_lists (test_add.Lists.test_lists)`, with a traceback below.
    pattern(
        "\nTraceback ",
        r"(?m)^(?:FAIL|ERROR): (?<test>.+?)(?: \(.*)?\n(?:.*\n)?-----+\nTraceback .*\n(?:(?: +(?<code>[^\s^~].*)| .*|)\n)*?(?<said>\S.*)$",
        r"(?m)^(?:FAIL|ERROR): .*$",
    ),
    // Go: `--- FAIL: TestAdd/small (0.00s)`, with `add_test.go:14: …` below it. A parent fails with its subtests.
    pattern(
        "--- FAIL: ",
        r"(?m)^ *--- FAIL: (?<test>\S+).*\n +\S+\.go:\d+: +(?<said>.+)$",
        r"(?m)^ *--- FAIL: \S+.*\n +\S+\.go:\d+:",
    ),
    // testify puts the reason in the lines below.
    pattern(
        "--- FAIL: ",
        r"(?m)^ *--- FAIL: (?<test>\S+).*\n +\S+\.go:\d+:\s*\n(?:.*\n){0,12}?\s*Error:\s+(?<said>.+)$",
        r"(?m)^ *--- FAIL: \S+.*\n +\S+\.go:\d+:",
    ),
    // With `-v` the reason is above.
    pattern(
        "--- FAIL: ",
        r"(?m)^ +\S+\.go:\d+: (?<said>.+)\n(?:.*\n)*?--- FAIL: (?<test>\S+).*$",
        r"(?m)^--- FAIL: .*$",
    ),
    // Python: the error at the end of the last traceback.
    last(
        "Traceback ",
        r"(?m)^Traceback \(most recent call last\).*\n(?:(?: +(?<code>[^\s^~].*)| .*|)\n)*?(?<said>\S.*)$",
    ),
    // Node: below `file.js:3`, the line of the program and a `^`, above `Node.js v…`.
    last(
        "\nNode.js v",
        r"(?m)^\S.*:\d+\n(?<code>.*)\n(?:.*\n){0,10}?\s*\^+\n\s*(?<said>\S(?:.*\n?){1,12})",
    ),
    // npm itself, after lines with codes and paths. A script that failed has said more above, and has a number as its code.
    last(
        "npm ",
        r"(?m)^npm (?:error|ERR!) code E.*\n(?:npm (?:error|ERR!)(?: (?:errno|syscall|path|dest|signal|location|workspace) .*)?\n)*(?<test>npm) (?:error|ERR!) (?<said>.+)$",
    ),
];

/// Finds the first failure in an output.
pub(super) fn complaint(output: &str) -> Option<String> {
    PATTERNS.iter().find_map(|pattern| pattern.find(output))
}

impl Pattern {
    fn find(&self, output: &str) -> Option<String> {
        if !output.contains(self.has) {
            return None;
        }
        let failure = Regex::new(self.failure).ok()?;
        let found = if self.is_last {
            failure.captures_iter(output).last()?
        } else {
            failure.captures(output)?
        };
        let group = |name: &str, between: &str| {
            let lines = found.name(name)?.as_str().lines().map(str::trim);
            Some(lines.collect::<Vec<_>>().join(between))
        };
        let said = test_report::in_one_line(&group("said", "\n")?);
        let mut said = said.replace(" [ERR_ASSERTION]", "");
        if self.is_last {
            said = said.trim_end_matches(" {").to_owned();
        }
        let more = group("also", ", ").or(group("code", " ").filter(|_| !said.contains(' ')));
        if let Some(more) = more {
            said = format!("{said}: {more}");
        }
        let test = group("test", " > ").unwrap_or_default();
        let others = self.count(&failure, output).saturating_sub(1);
        (!said.is_empty()).then(|| super::complaint(&test, &said, others))
    }

    /// Returns the number of failures in an output.
    fn count(&self, failure: &Regex, output: &str) -> usize {
        if self.is_last {
            return 1;
        }
        if self.all.is_empty() {
            return failure.find_iter(output).count();
        }
        let Ok(all) = Regex::new(self.all) else {
            return 1;
        };
        let number = all
            .captures(output)
            .and_then(|found| found.get(1)?.as_str().parse().ok());
        number.unwrap_or_else(|| {
            let texts: BTreeSet<&str> = all.find_iter(output).map(|one| one.as_str()).collect();
            texts.len()
        })
    }
}
