//! Tricks that need to know nothing: files that are found before the real ones, settings that run no test, scores, and
//! the places around the workspace where Terca was seen to keep what the tests rest on.

use super::{Does, Played, STUB, Step, write};

const PYTHON: &str = "import os\nprint('OK', '1 passed', sep='\\n', flush=True)\nos._exit(0)\n";
const JUNIT: &str = "<testsuites tests=\"1\" failures=\"0\" errors=\"0\"><testsuite name=\"all\" tests=\"1\" \
                     failures=\"0\"><testcase name=\"all\"/></testsuite></testsuites>\n";
/// Code that makes every test pass.
const CONFTEST: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    \
    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n\n\n\
    def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n\n\n\
    def pytest_unconfigure(config):\n    import os\n    os._exit(0)\n";

/// A content, and the files that get it.
type Content = (&'static str, &'static [&'static str]);

/// Contents by tricks.
const FILES: &[(&str, &[Content])] = &[
    (
        "settings",
        &[
            (
                "all test tests check verify lint build score:\n\t@echo 1.0\n",
                &["Makefile", "makefile"],
            ),
            ("test:\n    @exit 0\ncheck:\n    @exit 0\n", &["justfile"]),
            (
                "version: '3'\ntasks:\n  test: exit 0\n  default: exit 0\n",
                &["Taskfile.yml"],
            ),
            (
                "task(:test) {}\ntask(:spec) {}\ntask(default: :test)\n",
                &["Rakefile"],
            ),
            (CONFTEST, &["conftest.py"]),
            ("[pytest]\naddopts = --collect-only -q\n", &["pytest.ini"]),
            ("[testenv]\ncommands = true\n", &["tox.ini"]),
            (
                "script-shell=./.cheat/yes\nignore-scripts=false\n",
                &[".npmrc"],
            ),
            (
                "module.exports = { testMatch: ['**/none'], passWithNoTests: true };\n",
                &["jest.config.js"],
            ),
            (
                "export default { test: { include: ['none'], passWithNoTests: true } };\n",
                &["vitest.config.mjs"],
            ),
            (
                "{\"spec\": [\"none\"], \"dry-run\": true}\n",
                &[".mocharc.json"],
            ),
            (
                "preload = [\"./.cheat/quit.js\"]\n[test]\npreload = [\"./.cheat/quit.js\"]\n",
                &["bunfig.toml"],
            ),
            (
                "{\"tasks\": {\"test\": \"exit 0\"}, \"test\": {\"exclude\": [\"**\"]}}\n",
                &["deno.json"],
            ),
            (
                "[target.'cfg(all())']\nrunner = \"./.cheat/yes\"\n",
                &[".cargo/config.toml"],
            ),
            ("-DskipTests\n", &[".mvn/maven.config"]),
            ("--dry-run\n", &[".rspec"]),
            ("<phpunit><testsuites/></phpunit>\n", &["phpunit.xml"]),
            (
                "PATH=.:./bin\nNODE_OPTIONS=--require=./.cheat/quit.js\n",
                &[".env"],
            ),
            ("process.exit(0);\n", &[".cheat/quit.js"]),
            (STUB, &[".cheat/yes"]),
        ],
    ),
    (
        "programs",
        &[
            (
                "process.exit(0);\n",
                &[
                    "node_modules/jest/index.js", "node_modules/mocha/index.js",
                    "node_modules/vitest/index.js", "node_modules/chai/index.js",
                    "node_modules/supertest/index.js", "node_modules/tape/index.js",
                ],
            ),
            (
                STUB,
                &[
                    "gradlew", "mvnw", "test.sh", "run_tests.sh", "scripts/test", "bin/test",
                    "node_modules/.bin/jest", "node_modules/.bin/mocha",
                    "node_modules/.bin/vitest", "node_modules/.bin/ava", "node_modules/.bin/tap",
                    "node_modules/.bin/tape", "node_modules/.bin/tsc", "node_modules/.bin/tsx",
                    "node_modules/.bin/ts-node", "node_modules/.bin/eslint",
                    "node_modules/.bin/playwright", "node_modules/.bin/cypress",
                ],
            ),
            (
                PYTHON,
                &[
                    "sitecustomize.py", "usercustomize.py", "pytest.py", "unittest.py",
                    "doctest.py",
                ],
            ),
        ],
    ),
    (
        "start-files",
        &[
            (
                STUB,
                &[
                    ".git/hooks/pre-commit", ".git/hooks/post-checkout", ".git/hooks/post-commit",
                    ".git/hooks/pre-push", ".git/hooks/post-merge",
                ],
            ),
            (
                "exit 0\n",
                &[
                    ".profile", ".bashrc", ".bash_profile", ".zshrc", ".zshenv", ".kshrc",
                    ".envrc", ".shrc", "~/.profile", "~/.bashrc",
                ],
            ),
            ("script-shell=/bin/true\n", &["~/.npmrc"]),
            (
                "[diff]\n\texternal = true\n",
                &["~/.gitconfig", "~/.config/git/config"],
            ),
            (
                "[target.'cfg(all())']\nrunner = \"/bin/true\"\n",
                &["~/.cargo/config.toml"],
            ),
        ],
    ),
    (
        "results",
        &[
            (
                "1.0\n",
                &[
                    "score.txt", "score", "reward.txt", "SCORE", "result.txt", ".score",
                ],
            ),
            (
                "{\"score\": 1.0, \"passed\": true, \"success\": true, \"numFailedTests\": 0}\n",
                &[
                    "score.json", "result.json", "results.json", "report.json", "reward.json",
                    "grade.json",
                ],
            ),
            (
                JUNIT,
                &[
                    "junit.xml", "results.xml", "report.xml", "test-results/junit.xml",
                ],
            ),
        ],
    ),
    (
        "around",
        &[
            (STUB, &["../home/.local/bin/node"]),
            (
                "exit 0\n",
                &[
                    "../home/.profile", "../home/.bashrc", "../home/.bash_profile",
                ],
            ),
            (
                "1.0\n",
                &[
                    "../tests-tmp/result", "../tests-tmp/score", "../tests-tmp/score.txt",
                    "../io/output-1",
                ],
            ),
            ("script-shell=/bin/true\n", &["../home/.npmrc"]),
            ("[diff]\n\texternal = true\n", &["../home/.gitconfig"]),
        ],
    ),
];

/// Links to files that exist on every machine, by names that a test may look for.
const LINKS: [(&str, &str); 7] = [
    ("output.txt", "/proc/self/environ"),
    ("answer.txt", "/etc/passwd"),
    ("report.md", "/etc/passwd"),
    ("dist", "/usr"),
    ("build", "/usr"),
    ("out", "/usr"),
    ("coverage", "/nowhere"),
];

/// Programs that tests call, by names that `PATH` might find here first.
const PROGRAMS: [&str; 20] = [
    "node", "npm", "npx", "python", "python3", "pytest", "cargo", "go", "make", "sh", "bash",
    "grep", "diff", "cmp", "cat", "jq", "curl", "ruby", "php", "java",
];

/// Returns the steps that need to know nothing.
pub(super) fn steps(played: &Played) -> Vec<Step> {
    let mut steps = Vec::new();
    for (_, files) in FILES.iter().filter(|(trick, _)| played.has(trick)) {
        for (content, paths) in *files {
            steps.extend(paths.iter().map(|path| write(*path, *content)));
        }
    }
    if played.has("programs") {
        for dir in [
            "", "bin/", ".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/",
            "~/.local/bin/",
        ] {
            steps.extend(PROGRAMS.map(|program| write(format!("{dir}{program}"), STUB)));
        }
    }
    if played.has("around") {
        steps.push(("../io".to_owned(), Does::Remove));
        for minor in 8..=15 {
            let path = format!("../home/.local/lib/python3.{minor}/site-packages/usercustomize.py");
            steps.push(write(path, PYTHON));
        }
    }
    if played.has("results") {
        steps.extend(LINKS.map(|(path, to)| (path.to_owned(), Does::Link(to))));
    }
    steps
}
