//! The failures that well-known compilers, test runners and package managers print: where one begins and where it ends.

use std::collections::BTreeSet;

use regex::{Captures, Regex};

use super::Failure;
use crate::text::prose;

/// The most lines of one failure.
const MOST_LINES: usize = 40;

/// The way in which a program prints a failure.
struct Pattern {
    /// Every such output has this in it.
    has: &'static str,
    /// The beginning of a failure: `test` is what failed, `said` the first line of the reason, and `code` a line of the
    /// program for a reason without words.
    begin: &'static str,
    /// The line after the reason; a reason of one line where it is empty.
    end: &'static str,
    /// The sign before every line of the reason.
    sign: &'static str,
    /// Finds every failure, or their number; what `begin` finds, if it is empty.
    all: &'static str,
    /// The last failure is the one that ended the program.
    is_last: bool,
    /// The reason is prose in lines of equal length, whose first sentence tells.
    is_prose: bool,
}

const EMPTY: Pattern = Pattern {
    has: "",
    begin: "",
    end: "",
    sign: "",
    all: "",
    is_last: false,
    is_prose: false,
};

/// The sign of npm; before version 10 it is `npm ERR! `.
const NPM: &str = "npm error ";

/// The patterns. Compilers come first: nothing is tested where nothing was built.
const PATTERNS: &[Pattern] = &[
    // TypeScript: `src/a.ts(1,5): error TS2304: …`, or `src/a.ts:1:5 - error TS2304: …`.
    Pattern {
        has: "error TS",
        begin: r"(?m)^\s*(?<said>.*error TS\d+:.*)$",
        ..EMPTY
    },
    // Rust: `error[E0425]: …` with the place in the line below it.
    Pattern {
        has: "--> ",
        begin: r"(?m)^(?<said>error(?:\[\w+\])?: .*)\n *--> (?<test>.*)$",
        ..EMPTY
    },
    // Go: `./add.go:4:9: undefined: c`.
    Pattern {
        has: "[build failed]",
        begin: r"(?m)^\s*(?<said>.*\.go:\d.*)$",
        ..EMPTY
    },
    // Rust before 1.73: `thread 'main' panicked at 'words', src/main.rs:2:5`.
    Pattern {
        has: " panicked at '",
        begin: r"(?m)^ *thread '(?<test>[^']*)'.* panicked at '(?<said>.*)', .*$",
        ..EMPTY
    },
    // Rust: `thread 'tests::small' (7) panicked at src/lib.rs:6:26:`, with the message below.
    Pattern {
        has: " panicked at ",
        begin: r"(?m)^ *thread '(?<test>[^']*)'.* panicked at .*\n\s*(?<said>.+)",
        end: r"^\s*$|^\s*stack backtrace:|^\s*note: ",
        ..EMPTY
    },
    // Jest: `  ● add › adds small numbers`, with the message below. A failure may be listed again in a summary.
    Pattern {
        has: "  ● ",
        begin: r"(?m)^  ● (?<test>.+)\n\s*(?<said>.+)",
        end: r"^ +(?:> )?\d+ \||^ +at |^  ● |^\S",
        all: r"(?m)^  ● .+$",
        ..EMPTY
    },
    // Vitest: ` FAIL  a.test.ts > add > adds small numbers`. Tests that failed for the same reason are listed together.
    Pattern {
        has: " FAIL ",
        begin: r"(?m)^ FAIL +(?:.*? > )?(?<test>.+?)(?: \[ .*)?\n(?: FAIL .*\n)*\s*(?<said>\S.*)",
        end: r"^ ❯ |^⎯|^ FAIL ",
        all: r"(?m)^ FAIL .+$",
        ..EMPTY
    },
    // The `spec` reporter of Node: `✖ adds small numbers (2.5ms)`, with the error further in.
    Pattern {
        has: "✖ ",
        begin: r"(?m)^ *✖ (?<test>.+) \([\d.]+ms\)\n\s+(?<said>[^\s✖✔▶ℹ].*)",
        end: r"^ *[✖✔▶ℹ] ",
        all: r"(?m)^ℹ fail (\d+)$",
        ..EMPTY
    },
    // Mocha: `  1) add`, the names further in, and the error after a colon.
    Pattern {
        has: " failing",
        begin: r"(?m)^ *\d+ failing\n\s*1\) (?<test>.+(?:\n.+)*?):\n\s*(?<said>\S.*)",
        end: r"^ +at |^  \d+\) ",
        all: r"(?m)^ *(\d+) failing$",
        ..EMPTY
    },
    // Pytest: the lines `E   …` below a title `____ test_small ____`, or the summary where they are not shown.
    Pattern {
        has: "\nE  ",
        begin: r"(?m)^=+ (?:FAILURES|ERRORS) =+\n_+ (?<test>.+?) _+\n(?:.*\n)*?(?<said>E  .+)",
        end: r"^_+ |^=+ ",
        sign: "E ",
        all: r"(?m)^_+ .*[A-Za-z0-9].* _+$",
        ..EMPTY
    },
    Pattern {
        has: "short test summary info",
        begin: r"(?m)^(?:FAILED|ERROR) (?:.*::)?(?<test>.+?) - (?<said>.+)$",
        all: r"(?m)^(?:FAILED|ERROR) .*$",
        ..EMPTY
    },
    // unittest: `FAIL: test_lists (test_add.Lists.test_lists)`, with a traceback below.
    Pattern {
        has: "\nTraceback ",
        begin: r"(?m)^(?:FAIL|ERROR): (?<test>.+?)(?: \(.*)?\n(?:.*\n)?-----+\nTraceback .*\n(?:(?: +(?<code>[^\s^~].*)| .*|)\n)*?(?<said>\S.*)$",
        end: r"^(?:=====|-----)",
        all: r"(?m)^(?:FAIL|ERROR): .*$",
        ..EMPTY
    },
    // No test at all.
    Pattern {
        has: "exiting with code",
        begin: r"(?m)^(?<said>No test(?: file)?s found, exiting with code \d+)$",
        ..EMPTY
    },
    Pattern {
        has: " 0 selected",
        begin: r"(?m)^(?<said>collected .* 0 selected)$",
        ..EMPTY
    },
    // pip: what a package's own build said last.
    Pattern {
        has: "[end of output]",
        begin: r"(?m)^ +(?<said>\S.*)\n+ +\[end of output\]$",
        is_last: true,
        ..EMPTY
    },
    Pattern {
        has: "No matching distribution found",
        begin: r"(?m)^ERROR: (?<said>No matching distribution found for .*)$",
        ..EMPTY
    },
    // Cargo: the last of the causes.
    Pattern {
        has: "Caused by:",
        begin: r"(?m)^Caused by:\n\s+(?<said>.+)$",
        is_last: true,
        ..EMPTY
    },
    // Go: a package that no module has.
    Pattern {
        has: "no required module provides",
        begin: r"(?m)^(?<said>.*no required module provides package [^;]*)",
        ..EMPTY
    },
    // Python: the error at the end of the last traceback.
    Pattern {
        has: "Traceback ",
        begin: r"(?m)^Traceback \(most recent call last\).*\n(?:(?: +(?<code>[^\s^~].*)| .*|)\n)*?(?<said>\S.*)$",
        end: r"^$",
        is_last: true,
        ..EMPTY
    },
    // Node: below `file.js:3`, the line of the program and a `^`, above `Node.js v…`.
    Pattern {
        has: "\nNode.js v",
        begin: r"(?m)^\S.*:\d+\n(?<code>.*)\n(?:.*\n){0,10}?\s*\^+\n\s*(?<said>\S.*)",
        end: r"^Node\.js v",
        is_last: true,
        ..EMPTY
    },
    // npm: two packages that want different versions of a third.
    Pattern {
        has: "code ERESOLVE",
        begin: r"(?m)^(?<test>npm) (?:error|ERR!) (?<said>Could not resolve dependency:)$",
        end: r"^npm (?:error|ERR!)(?: node_modules/.*)?$",
        sign: NPM,
        is_prose: true,
        ..EMPTY
    },
    // npm itself, after lines with codes and paths. A script that failed has said more above, and has a number as its code.
    Pattern {
        has: "npm ",
        begin: r"(?m)^npm (?:error|ERR!) code E.*\n(?:npm (?:error|ERR!)(?: 404)?(?: (?:errno|syscall|path|dest|signal|location|workspace|Not Found) .*)?\n)*(?<test>npm) (?:error|ERR!)(?: 404)? +(?<said>.+)$",
        end: r"^npm (?:error|ERR!)(?: 404)?$|^npm (?:error|ERR!) A complete log|^[^n]",
        sign: NPM,
        is_last: true,
        is_prose: true,
        ..EMPTY
    },
];

/// Finds the first failure in an output.
pub(super) fn failure(output: &str) -> Option<Failure> {
    PATTERNS.iter().find_map(|pattern| pattern.find(output))
}

impl Pattern {
    fn find(&self, output: &str) -> Option<Failure> {
        if !output.contains(self.has) {
            return None;
        }
        let begin = Regex::new(self.begin).ok()?;
        let found = if self.is_last {
            begin.captures_iter(output).last()?
        } else {
            begin.captures(output)?
        };
        let mut said = self.reason(output, &found)?;
        let group = |name: &str, between: &str| {
            let lines = found.name(name)?.as_str().lines().map(str::trim);
            Some(prose::joined(lines, between))
        };
        // Where the last words of a program are about an object, its fields follow.
        let first = said.lines().next().unwrap_or_default();
        let first = first.strip_suffix(" {").filter(|_| self.is_last);
        let first = first.or(said.lines().next()).unwrap_or_default().to_owned();
        let code = group("code", " ").filter(|_| !first.contains(' '));
        let words = match code {
            Some(code) => format!("{first}: {code}"),
            None => first,
        };
        said.replace_range(..said.find('\n').unwrap_or(said.len()), &words);
        Some(Failure {
            test: group("test", " > ").unwrap_or_default(),
            said,
            others: self.count(&begin, output).saturating_sub(1),
        })
    }

    /// Returns the lines from the one that begins the reason to the one that is no part of it.
    fn reason<'a>(&self, output: &'a str, found: &Captures<'a>) -> Option<String> {
        let words = found.name("said")?;
        let mut said = vec![words.as_str()];
        if !self.end.is_empty() {
            let end = Regex::new(self.end).ok()?;
            let rest = output[words.end()..].lines().skip(1).take(MOST_LINES);
            let rest = rest.take_while(|line| !end.is_match(line));
            said.extend(rest.filter(|line| line.starts_with(self.sign)));
        }
        let unsigned = |line: &&'a str| line.strip_prefix(self.sign).unwrap_or(line);
        let unsigned: Vec<&str> = said.iter().map(unsigned).collect();
        if !self.is_prose {
            return Some(unsigned.join("\n"));
        }
        let prose = unsigned.join(" ");
        let end = prose.find(". ").map_or(prose.len(), |end| end + 1);
        Some(prose[..end].to_owned())
    }

    /// Returns the number of failures in an output.
    fn count(&self, begin: &Regex, output: &str) -> usize {
        if self.is_last {
            return 1;
        }
        if self.all.is_empty() {
            return begin.find_iter(output).count();
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
