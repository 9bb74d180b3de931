#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]
//! Failed tests whose outputs real runners wrote (`tests/outputs/values`): the message has the value that was expected and
//! the one that was found.

use terca_core::grade::failure_line;
use terca_core::text::mask::Masked;

fn line(name: &str) -> String {
    let path = format!("{}/tests/outputs/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let output = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    failure_line(&Masked::already(output)).unwrap_or_default()
}

/// The outputs, and the lines that tell of them.
const SAMPLES: &[(&str, &str)] = &[
    (
        "cargo-compile",
        "src/lib.rs:1:41: error[E0425]: cannot find value `c` in this scope",
    ),
    (
        "cargo-test-q",
        "tests::named: assertion `left == right` failed: all names of add: left: [\"add\", \"sum\"], right: [\"add\", \"subtract\"] (and 1 more)",
    ),
    (
        "cargo-test",
        "tests::named: assertion `left == right` failed: all names of add: left: [\"add\", \"sum\"], right: [\"add\", \"subtract\"] (and 1 more)",
    ),
    ("go-compile", "./add.go:3:37: undefined: c"),
    ("go-panic", "TestZero: panic: index 5, want below 3"),
    ("go-sub-v", "TestAll/small: got -1, want 3 (and 3 more)"),
    ("go-sub", "TestAll/small: got -1, want 3 (and 3 more)"),
    ("go-test-v", "TestOne: Add(1, 2) = -1; want 3 (and 1 more)"),
    ("go-test", "TestOne: Add(1, 2) = -1; want 3 (and 1 more)"),
    (
        "jest-assert-deep",
        "names: assert.deepStrictEqual(received, expected): expected \"subtract\", got \"sum\"",
    ),
    (
        "jest-assert",
        "adds small numbers: assert.equal(received, expected): Expected value to be equal to: 3, Received: -1",
    ),
    (
        "jest-deep",
        "deep: expect(received).toEqual(expected): expected \"subtract\", got \"sum\"",
    ),
    (
        "jest-json",
        "add adds small numbers: Error: expect(received).toBe(expected): Expected: 3, Received: -1 (and 1 more)",
    ),
    (
        "jest-missing",
        "Test suite failed to run: Cannot find module './nowhere' from 'jt/missing.test.js'",
    ),
    ("jest-no-files", "No tests found, exiting with code 1"),
    (
        "jest-verbose",
        "add › adds small numbers: expect(received).toBe(expected): Expected: 3, Received: -1 (and 1 more)",
    ),
    (
        "jest",
        "add › adds small numbers: expect(received).toBe(expected): Expected: 3, Received: -1 (and 1 more)",
    ),
    (
        "mocha",
        "all > names: AssertionError: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    ("node-custom", "sums: the sum is wrong: -1 !== 3"),
    (
        "node-deep-spec",
        "every export is listed: AssertionError: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "node-deep",
        "every export is listed: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "node-junit",
        "test > every export is listed: Error: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "node-spec",
        "adds small numbers: AssertionError: Expected values to be strictly equal: -1 !== 3",
    ),
    (
        "node-tap",
        "adds small numbers: Expected values to be strictly equal: -1 !== 3",
    ),
    (
        "node-throw",
        "AssertionError: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "npm-test",
        "adds small numbers: Expected values to be strictly equal: -1 !== 3",
    ),
    (
        "npx-vitest",
        "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
    ),
    ("pytest-absent", "/usr/bin/python3: No module named pytest"),
    (
        "pytest-deselected",
        "collected 3 items / 3 deselected / 0 selected",
    ),
    (
        "pytest-import",
        "ERROR collecting test_import.py: ModuleNotFoundError: No module named 'nowhere'",
    ),
    (
        "pytest-junit",
        "test_add > test_small: assert -1 == 3 (and 4 more)",
    ),
    (
        "pytest-long",
        "test_rows: AssertionError: At index 0 diff: {'item': 'cake', 'total': 8, 'tax': 1, 'discount': 0} != {'item': 'cake', 'total': 9, 'tax': 1, 'discount': 0}",
    ),
    (
        "pytest-message",
        "test_text: AssertionError: the total of the basket: assert 8 == 9 (and 2 more)",
    ),
    ("pytest-no", "test_small: assert -1 == 3 (and 1 more)"),
    ("pytest-q", "test_small: assert -1 == 3 (and 1 more)"),
    (
        "pytest-raise",
        "test_parse: ValueError: expected a number, got 'x'",
    ),
    ("pytest-short", "test_small: assert -1 == 3 (and 1 more)"),
    ("pytest-v", "test_small: assert -1 == 3 (and 1 more)"),
    ("pytest", "test_small: assert -1 == 3 (and 1 more)"),
    (
        "sh-diff-u",
        "line 2: \"b\" in expected.txt, \"c\" in out.txt",
    ),
    (
        "sh-diff",
        "line 2: \"b\" in the first file, \"c\" in the second",
    ),
    ("sh-make", "expected hello, got helo"),
    ("sh-set-x", "+ test helo = hello"),
    ("traceback", "AssertionError: total is -1, expected 3"),
    (
        "unittest-lists",
        "test_dict: AssertionError: {'item': 'cake', 'total': 8} != {'item': 'cake', 'total': 9} (and 2 more)",
    ),
    (
        "unittest-long",
        "test_rows: AssertionError: {'item': 'cake', 'total': 8, 'tax': 1, 'discount': 0} != {'item': 'cake', 'total': 9, 'tax': 1, 'discount': 0}",
    ),
    ("unittest", "test_small: AssertionError: -1 != 3"),
    (
        "vitest-assert-deep-json",
        "names: AssertionError: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "vitest-assert-deep-tap",
        "vt/assertdeep.test.ts > names: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "vitest-assert-deep",
        "names: AssertionError: Expected values to be strictly deep-equal: expected 'subtract', got 'sum'",
    ),
    (
        "vitest-assert",
        "adds small numbers: AssertionError: -1 == 3",
    ),
    (
        "vitest-deep",
        "names: AssertionError: expected [ 'add', 'sum' ] to deeply equal [ 'add', 'subtract' ]",
    ),
    (
        "vitest-dot",
        "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
    ),
    (
        "vitest-json",
        "add adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
    ),
    (
        "vitest-junit",
        "vt/equal.test.ts > add > adds small numbers: expected -1 to be 3 (and 1 more)",
    ),
    (
        "vitest-long",
        "rows: AssertionError: expected \"total\": 9, got \"total\": 8",
    ),
    (
        "vitest-no-files",
        "No test files found, exiting with code 1",
    ),
    (
        "vitest-object",
        "totals: AssertionError: expected { item: 'cake', total: 8 } to deeply equal { item: 'cake', total: 9 }",
    ),
    (
        "vitest-tap-flat",
        "vt/equal.test.ts > add > adds small numbers: expected -1 to be 3 (and 1 more)",
    ),
    (
        "vitest-verbose",
        "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
    ),
    (
        "vitest",
        "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
    ),
];

/// Outputs of a setup that failed, and the lines that tell of them.
const SETUPS: &[(&str, &str)] = &[
    (
        "cargo-no-crate",
        "error: no matching package named `nothing-of-this-name-here-9` found",
    ),
    ("cargo-workspace", "failed to find a workspace root"),
    (
        "go-module",
        "main.go:2:8: no required module provides package example.com/nothing/here",
    ),
    (
        "go-module-proxy",
        "go: example.com/nothing/here: module lookup disabled by GOPROXY=off",
    ),
    (
        "npm-404",
        "npm: The requested resource 'nothing-of-this-name-here-9@1' could not be found or you do not have permission to access it.",
    ),
    (
        "npm-ci",
        "npm: The `npm ci` command can only install with an existing package-lock.json or npm-shrinkwrap.json with lockfileVersion >= 1.",
    ),
    (
        "npm-eresolve",
        "npm: Could not resolve dependency: peer react@\"17.0.2\" from react-dom@17.0.2",
    ),
    ("npm-tsc", "sh: 1: tsc: not found"),
    (
        "pip-module",
        "ModuleNotFoundError: No module named 'nowhere'",
    ),
    (
        "pip-no-match",
        "No matching distribution found for nothing-of-this-name-here==9.9",
    ),
    (
        "pip-read-only",
        "error: could not create 'build': Read-only file system",
    ),
];

#[test]
fn messages_have_both_values() {
    all_tell("values", SAMPLES);
}

#[test]
fn messages_of_setups_tell() {
    all_tell("setup", SETUPS);
}

fn all_tell(dir: &str, samples: &[(&str, &str)]) {
    let wrong: Vec<String> = samples
        .iter()
        .map(|(name, expected)| (name, line(&format!("{dir}/{name}")), expected))
        .filter(|(_, told, expected)| told != *expected)
        .map(|(name, told, expected)| format!("{name}\n  {told}\n  {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
