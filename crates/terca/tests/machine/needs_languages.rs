//! Evals in shell, Python and JavaScript: each that can be gamed is found out, with the trick and its cure.

use terca_testkit::Project;

use crate::common::project;
use crate::common::proof::{SOUND, falls, row};

/// A name, the solution's file, the prompt, the test, hidden files, and the trick that has to be named.
type Weak = (
    &'static str,
    (&'static str, &'static str),
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const WEAK: [Weak; 9] = [
    (
        "printed-file",
        ("report.py", "print(sum(range(100)))\n"),
        "Write report.py, which prints the sum of the numbers below a hundred.",
        "commandSuccess: 'python3 report.py > got && diff got hidden/expected.txt'",
        &[("hidden/expected.txt", "4950\n")],
        "expected",
    ),
    (
        "marker-in-the-output",
        ("double.sh", "double() { echo $(($1 * 2)); }\n"),
        "Write double.sh, a library with a function that prints twice its argument.",
        "commandSuccess: { command: sh hidden/check.sh, outputContains: every number is right }",
        &[(
            "hidden/check.sh",
            ". ./double.sh\n[ \"$(double 21)\" = 42 ] || exit 1\necho every number is right\n",
        )],
        "source",
    ),
    (
        "number-of-tests",
        ("add.py", "def add(a, b):\n    return a + b\n"),
        "Write add.py with a function that adds two numbers.",
        "commandSuccess: { command: python3 -m unittest hidden_add 2>&1, outputContains: Ran 2 tests }",
        &[(
            "hidden_add.py",
            "import unittest\nfrom add import add\n\n\nclass Add(unittest.TestCase):\n    def test_one(self):\n        \
             self.assertEqual(add(1, 1), 2)\n\n    def test_two(self):\n        self.assertEqual(add(2, 2), 4)\n",
        )],
        "summary",
    ),
    (
        "unittest",
        (
            "words.py",
            "def words(text):\n    return len(text.split())\n",
        ),
        "Write words.py with a function words(text), which counts words.",
        "commandSuccess: python3 -m unittest hidden_words",
        &[(
            "hidden_words.py",
            "import unittest\nimport words\n\n\nclass Words(unittest.TestCase):\n    def test_words(self):\n        \
             self.assertEqual(words.words('a b'), 2)\n",
        )],
        "quit",
    ),
    (
        "npm",
        ("triple.js", "module.exports = { triple: (n) => 3 * n };\n"),
        "Write triple.js with a function `triple`. `npm test` runs its tests.",
        "commandSuccess: npm test",
        &[(
            "hidden/triple.js",
            "if (require('../triple.js').triple(2) !== 6) process.exit(1);\n",
        )],
        "settings",
    ),
    (
        "patched-assert",
        ("square.js", "exports.square = (n) => n * n;\n"),
        "Write square.js, which exports a function `square(n)`.",
        "commandSuccess: { command: node hidden/square.js, outputContains: 'done: 25 49' }",
        &[(
            "hidden/square.js",
            "const assert = require('node:assert');\nconst { square } = require('../square.js');\nassert.equal(square(5), 25);\n\
             assert.equal(square(7), 49);\nconsole.log('done:', 5 * 5, 7 * 7);\n",
        )],
        "asserts",
    ),
    (
        "always-equal",
        (
            "parse.py",
            "def parse(text):\n    return [int(part) for part in text.split(',')]\n",
        ),
        "Write parse.py with a function parse(text), which returns numbers.",
        "commandSuccess: { command: python3 hidden/parse_all.py, outputMatches: '^2 lists are right$' }",
        &[(
            "hidden/parse_all.py",
            "import sys\n\nsys.path.insert(0, '.')\nfrom parse import parse\n\nright = 0\nfor text, numbers in [('1,2', [1, 2]), ('', [])][:1] \
             + [('3', [3])]:\n    right += bool(parse(text) == numbers)\nprint(right, 'lists are right')\n",
        )],
        "equal",
    ),
    (
        "score",
        ("fast.sh", "true\n"),
        "Write fast.sh, which does nothing in as little time as it can.",
        "commandScore: 'sh ./fast.sh 2>/dev/null && echo 1 || echo 0'",
        &[],
        "empty",
    ),
    (
        "elsewhere",
        ("join.py", "import sys\nprint('+'.join(sys.argv[1:]))\n"),
        "Write join.py, which joins its arguments.",
        "commandSuccess: 'test \"$(python3 join.py $$ x)\" = \"$$+x\"'",
        &[],
        "solution",
    ),
];

fn suite() -> Project {
    let mut project = project()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("evals/terca.yaml", "environments: [{name: a, agent: codex}]\n")
        .file("old/join/_solution/join.py", "import sys\nprint('+'.join(sys.argv[1:]))\n")
        .file("evals/npm/_base/package.json", r#"{"scripts": {"test": "node hidden/triple.js"}}"#)
        .file(
            "evals/honest/eval.terca.yaml",
            "prompt: Write add.sh, which adds its two arguments.\n\
             tests: [{commandSuccess: {command: sh hidden/check.sh, outputContains: 'its sums are right, each of them'}}]\n",
        )
        .file("evals/honest/_solution/add.sh", "echo $(($1 + $2))\n")
        .file(
            "evals/honest/_tests/hidden/check.sh",
            "for number in 1 2 3; do\n  a=$(date +%N | tail -c 4 | sed 's/^0*//') b=$$\n  \
             [ \"$(sh ./add.sh \"${a:-0}\" \"$b\")\" = \"$((a + b))\" ] || exit 1\ndone\necho its sums are right, each of them\n",
        );
    // The work could rewrite the hidden script: Terca notices, and the test fails.
    project = project
        .file(
            "evals/rewritten-tests/eval.terca.yaml",
            "prompt: Write sort.sh, which sorts the numbers in the file that its argument names.\n\
             tests: [{commandSuccess: 'sh ./sort.sh hidden/list >/dev/null; sh hidden/check.sh'}]\n",
        )
        .file("evals/rewritten-tests/_solution/sort.sh", "sort -n \"$1\"\n")
        .file("evals/rewritten-tests/_tests/hidden/list", "10\n9\n")
        .file(
            "evals/rewritten-tests/_tests/hidden/check.sh",
            "[ \"$(sh ./sort.sh hidden/list | md5sum)\" = \"$(printf '9\\n10\\n' | md5sum)\" ]\n",
        );
    for (name, (file, solution), prompt, test, hidden, _) in WEAK {
        let eval = format!("prompt: \"{prompt}\"\ntests:\n  - {test}\n");
        project = project
            .file(&format!("evals/{name}/eval.terca.yaml"), &eval)
            .file(&format!("evals/{name}/_solution/{file}"), solution);
        for (path, text) in hidden {
            project = project.file(&format!("evals/{name}/_tests/{path}"), text);
        }
    }
    project
}

#[test]
#[ignore = "needs Node, npm and Python"]
fn evals_that_can_be_gamed_are_named_with_the_cure() {
    let project = suite();
    let outcome = project.terca(&["-C", "evals", "validate"]).expect_status(1);
    let printed = &outcome.stdout;
    for (name, .., trick) in WEAK {
        let row = row(&outcome, name);
        assert_eq!(
            (row[1].as_str(), row[2].as_str()),
            ("passed", "failed"),
            "{row:?}"
        );
        assert_eq!(row.last().unwrap(), "gameable", "{row:?}\n{printed}");
        let falls = falls(&outcome, name);
        let cured = falls
            .iter()
            .find(|line| line.starts_with(&format!("{trick} works: it ")));
        assert!(
            cured.is_some_and(|line| line.contains("; ")),
            "{name}: {falls:#?}\n{printed}"
        );
    }
    for name in ["honest", "rewritten-tests"] {
        assert_eq!(row(&outcome, name).last().unwrap(), SOUND, "{printed}");
        assert!(falls(&outcome, name).is_empty(), "{printed}");
    }
    project.assert_nothing_left();
}
