#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]
//! The telling line of outputs that real runners wrote (`tests/outputs`; those of Go are from its documentation), and
//! the cases of their reports.

use terca_core::grade::failure_line;
use terca_core::grade::test_report::{CaseEnd, read};
use terca_core::text::mask::Masked;

fn recorded(name: &str) -> String {
    let path = format!("{}/tests/outputs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn line(output: &str) -> String {
    failure_line(&Masked::already(output)).unwrap_or_default()
}

#[test]
fn real_outputs() {
    let mut seen = Vec::new();
    for (name, expected) in [
        (
            "cargo-compile.txt",
            "src/lib.rs:1:29: error[E0425]: cannot find value `b` in this scope",
        ),
        ("cargo-test.txt", "tests::asked: a value (and 2 more)"),
        ("go-build.txt", "./add.go:4:9: undefined: c"),
        ("go-test-json.txt", "TestAdd/small: Add(1, 2) = -1; want 3"),
        ("go-test-v.txt", "TestSmall: Add(1, 2) = -1; want 3"),
        (
            "go-test.txt",
            "TestAdd/small: Add(1, 2) = -1; want 3 (and 1 more)",
        ),
        (
            "jest-import.txt",
            "Test suite failed to run: Cannot find module './nowhere' from 'b.test.js'",
        ),
        (
            "jest-json.txt",
            "add adds small numbers: Error: expect(received).toBe(expected): Expected: 3, Received: -1 (and 1 more)",
        ),
        (
            "jest.txt",
            "add › adds small numbers: expect(received).toBe(expected): Expected: 3, Received: -1 (and 1 more)",
        ),
        (
            "mocha.txt",
            "add > adds small numbers: AssertionError: Expected values to be strictly equal: -1 !== 3",
        ),
        (
            "nextest.txt",
            "tests::even: assertion failed: add(1, 1) == 2 (and 1 more)",
        ),
        (
            "node-test-spec.txt",
            "adds small numbers: AssertionError: Expected values to be strictly equal: -1 !== 3 (and 1 more)",
        ),
        (
            "node-test-tap.txt",
            "adds small numbers: Expected values to be strictly equal: -1 !== 3 (and 1 more)",
        ),
        ("node-throw.txt", "Error: boom: expected 3"),
        (
            "npm-install.txt",
            "npm: request to https://registry.example/nothing-here-at-all failed: cache mode is 'only-if-cached' but no cached response is available.",
        ),
        (
            "npm-test.txt",
            "adds small numbers: Expected values to be strictly equal: -1 !== 3 (and 1 more)",
        ),
        (
            "pytest-import.txt",
            "ERROR collecting test_broken.py: ModuleNotFoundError: No module named 'nowhere'",
        ),
        (
            "pytest-line.txt",
            "test_small: AssertionError: small numbers (and 2 more)",
        ),
        (
            "pytest-q.txt",
            "test_small: AssertionError: small numbers: assert -1 == 3 (and 2 more)",
        ),
        (
            "pytest.txt",
            "test_small: AssertionError: small numbers: assert -1 == 3 (and 2 more)",
        ),
        ("python-assert.txt", "AssertionError: small numbers"),
        (
            "python-bare-assert.txt", "AssertionError: assert total == 3",
        ),
        (
            "python-missing.txt",
            "py/bin/python: No module named nothing_here",
        ),
        (
            "tsc-pretty.txt",
            "bad.ts:1:53 - error TS2322: Type 'string' is not assignable to type 'number'. (and 2 more)",
        ),
        (
            "tsc.txt",
            "bad.ts(1,53): error TS2322: Type 'string' is not assignable to type 'number'. (and 2 more)",
        ),
        (
            "unittest.txt",
            "test_lists: AssertionError: Lists differ: [0] != [2]",
        ),
        (
            "vitest-colour.txt",
            "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
        ),
        (
            "vitest-import.txt",
            "broken.test.ts: Error: No test suite found in file /w/broken.test.ts",
        ),
        (
            "vitest-json.txt",
            "add adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
        ),
        (
            "vitest-tap.txt",
            "adds small numbers: expected -1 to be 3 (and 1 more)",
        ),
        (
            "vitest.txt",
            "add > adds small numbers: AssertionError: expected -1 to be 3 (and 1 more)",
        ),
    ] {
        let told = line(&recorded(name));
        if told != expected {
            seen.push(format!("{name}\n  {told}\n  {expected}"));
        }
    }
    assert!(seen.is_empty(), "{}", seen.join("\n"));
}

#[test]
fn outputs_of_no_runner() {
    for (output, expected) in [
        ("", ""),
        ("\n \n", ""),
        ("a\nboom\n\n", "boom"),
        (
            "checking\nexpected 3 but got 4\n2 checks failed\nbye",
            "expected 3 but got 4",
        ),
        (
            "make: entering\nerror: no such file: a.c\nmake: leaving",
            "error: no such file: a.c",
        ),
        (
            "\u{1b}[31mfatal: not a git repository\u{1b}[0m\nsee the log",
            "fatal: not a git repository",
        ),
        (
            "no slug.sh\nnpm notice\nnpm notice New version\n",
            "no slug.sh",
        ),
        ("npm notice only", "npm notice only"),
        ("sh: 1: ./x: not found", "sh: 1: ./x: not found"),
        (
            "thread 'main' panicked at 'old words', src/main.rs:2:5",
            "main: old words",
        ),
        (
            "TAP version 13\n1..3\nok 1 - a\n", "the plan: 3 were planned, and 1 ran",
        ),
        (
            "1..2\nok 1 - a\nnot ok 2 - b\n# (in test file t.bats, line 3)\n#   `[ 1 -eq 2 ]' failed\n",
            "b: (in test file t.bats, line 3) `[ 1 -eq 2 ]' failed",
        ),
    ] {
        assert_eq!(line(output), expected, "{output:?}");
    }
}

/// Node ends a crash with its version, which tells nothing.
#[test]
fn crashes_of_node() {
    let end = "    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n";
    for (above, expected) in [
        (
            "start\n/w/a.js:3\nthrow new Error()\n^\n\nError\n    at /w/a.js:3:7\n",
            "Error: throw new Error()",
        ),
        (
            "/w/a.js:3\n  throw new Timeout('too slow')\n  ^\n\nTimeout: too slow\n    at /w/a.js:3:7 {\n  code: 4\n}\n",
            "Timeout: too slow",
        ),
        (
            "/w/a.js:1\nthrow 'nothing here'\n^\nnothing here\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n",
            "nothing here",
        ),
        (
            "node:assert:127\n  throw new AssertionError(obj);\n  ^\n\nAssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n",
            "AssertionError: Expected values to be strictly equal: 1 !== 2",
        ),
        (
            "node:internal/process/promises:394\n      triggerUncaughtException(err, true /* fromPromise */);\n      ^\n\n[UnhandledPromiseRejection: This error originated here. The promise rejected with the reason \"no\".] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}\n",
            "[UnhandledPromiseRejection: This error originated here. The promise rejected with the reason \"no\".]",
        ),
    ] {
        assert_eq!(line(&format!("{above}{end}")), expected, "{above}");
    }
}

#[test]
fn a_line_is_never_long() {
    let long = "Error: ".to_owned() + &"ä".repeat(5_000);
    for output in [
        long.clone(),
        format!(" FAIL  a > {long}\n{long}\n FAIL  b"),
        format!("--- FAIL: T\n    a.go:1: {long}"),
    ] {
        assert!(line(&output).chars().count() <= 301, "{output}");
    }
    // The middle of a very long output is not looked at.
    let filler = "x\n".repeat(800_000);
    assert_eq!(
        line(&format!("{filler}Error: in the middle\n{filler}last")),
        "last"
    );
}

#[test]
fn reports_of_real_runners() {
    for (name, passed, failed, skipped, first) in [
        (
            "pytest-junit.xml",
            1,
            3,
            0,
            "test_add > test_small: AssertionError: small numbers: assert -1 == 3",
        ),
        (
            "vitest-junit.xml",
            1,
            2,
            0,
            "v.test.ts > add > adds small numbers: expected -1 to be 3",
        ),
        (
            "vitest-json.txt",
            1,
            2,
            0,
            "add adds small numbers: AssertionError: expected -1 to be 3",
        ),
        (
            "vitest-tap.txt",
            1,
            2,
            0,
            "adds small numbers: expected -1 to be 3",
        ),
        (
            "node-test-tap.txt",
            1,
            2,
            0,
            "adds small numbers: Expected values to be strictly equal: -1 !== 3",
        ),
        (
            "go-test-json.txt", 1, 1, 1, "TestAdd/small: Add(1, 2) = -1; want 3",
        ),
    ] {
        let cases = read(&recorded(name)).unwrap();
        assert_eq!(
            (cases.passed, cases.failed, cases.skipped),
            (passed, failed, skipped),
            "{name}"
        );
        let case = cases.first_failure().unwrap();
        assert_eq!(format!("{}: {}", case.name, case.message), first, "{name}");
    }
}

#[test]
fn reports_that_are_none() {
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><testsuite name='&b;'/>";
    let deep = "<testsuite>".repeat(100);
    for (text, reason) in [
        ("", "it is empty"),
        (
            "hello",
            "it is not JUnit XML, TAP, the JSON of vitest or jest, `go test -json`, or the output of `cargo test`",
        ),
        (
            "<html></html>",
            "it is XML, but not of JUnit: it has no `testsuite`",
        ),
        ("<testsuite><testcase name='a'>", "it is not valid XML"),
        ("<testsuite><testcase></testsuite>", "it is not valid XML"),
        (bomb, "it declares a document type, which no report needs"),
        (&deep, "its XML is deeper than 64 levels"),
        ("{\"a\": 1}", "it is not the JSON of vitest or jest"),
        (
            "{\"testResults\": [", "it is not the JSON of vitest or jest",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(reason), "{text}: {error}");
    }
}

#[test]
fn of_a_long_report_the_failures_are_kept() {
    let case = |number: usize| match number % 4 {
        0 => "<testcase name='bad'><error>no <![CDATA[<words>]]> &amp; so on</error></testcase>"
            .to_owned(),
        1 => "<testcase name='later'><skipped/></testcase>".to_owned(),
        _ => format!("<testcase name='good &lt;{number}&gt;'/>"),
    };
    let text: String = (0..4_000).map(case).collect();
    let cases = read(&format!(
        "<testsuites><testsuite>{text}</testsuite></testsuites>"
    ))
    .unwrap()
    .shortened();
    assert_eq!(
        (cases.passed, cases.failed, cases.skipped),
        (2_000, 1_000, 1_000)
    );
    assert_eq!(cases.share(), Some(2.0 / 3.0));
    let kept = |end| cases.cases.iter().filter(|case| case.end == end).count();
    assert_eq!(kept(CaseEnd::Failed), 100);
    assert_eq!(kept(CaseEnd::Passed) + kept(CaseEnd::Skipped), 100);
    assert_eq!(cases.first_failure().unwrap().message, "no <words> & so on");
    assert_eq!(cases.cases[2].name, "good <2>");
}
