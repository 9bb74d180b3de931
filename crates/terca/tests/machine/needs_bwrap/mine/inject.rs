//! `terca mine --inject`: bugs in the newest commit, which the project's tests notice.

use crate::common::history::History;
use crate::common::project;
use crate::mined::assert_mined_evals_hold;

use super::{mine, names};

const CODE: &str = "import os\n\n\ndef larger(a, b):\n    if a > b:\n        return a\n    return b\n\n\ndef total(numbers):\n    all = 0\n    \
                    for number in numbers:\n        all += number\n    return all\n";
const TESTS: &str = "import unittest\nfrom count import larger, total\n\n\nclass Count(unittest.TestCase):\n    def test_larger(self):\n        \
                     self.assertEqual(larger(1, 2), 2)\n\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n";
/// It fails as it is, so that no bug is proven by it.
const BROKEN: &str = "import unittest\nfrom count import total\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        \
                      self.assertEqual(total([]), 1)\n";

#[test]
#[ignore = "needs bubblewrap"]
fn bugs_that_tests_notice_become_evals() {
    let project = project();
    let mut history = History::new(&project);
    let files = [
        ("count.py", CODE),
        ("tests/test_count.py", TESTS),
        ("tests/test_old.py", BROKEN),
    ];
    history.commit("Start the whole project", &files);
    let args = ["--inject", "--limit", "9", "--setup", "touch prepared"];
    let (outcome, answer) = mine(&project, &args);
    assert_eq!(outcome.status, 0, "{answer:#}{}", outcome.stderr);
    let reasons: Vec<&str> = answer["commits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|bug| bug["reason"].as_str())
        .collect();
    assert!(reasons.contains(&"unnoticed"), "{answer:#}");
    let all = names(&project, "repository-bugs");
    let evals: Vec<&String> = all
        .iter()
        .filter(|name| name.starts_with("injected-bug-"))
        .collect();
    assert_eq!(answer["written"], evals.len(), "{all:?}");
    assert!(evals.len() >= 3, "{answer:#}");
    for eval in &evals {
        let dir = format!("repository-bugs/{eval}");
        let prompt = project.read(&format!("{dir}/prompt.md"));
        assert!(
            prompt.contains("has a bug. These of its tests fail:\n\n- `test_"),
            "{prompt}"
        );
        assert!(
            !prompt.contains("count.py") && !prompt.contains("test_old"),
            "{prompt}"
        );
        assert_eq!(names(&project, &format!("{dir}/_base")), ["count.py"]);
        assert_ne!(project.read(&format!("{dir}/_base/count.py")), CODE);
        assert_eq!(project.read(&format!("{dir}/_solution/count.py")), CODE);
    }
    assert_eq!(project.read("repository-bugs/_base/count.py"), CODE);
    project
        .terca(&["-C", "repository-bugs", "check"])
        .expect_status(0);
    assert_mined_evals_hold(
        &project.terca(&["-C", "repository-bugs", "validate", "--format", "plain"]),
    );
    // The same seed gives the same bugs, which are there already.
    let (_, answer) = mine(&project, &args);
    assert_eq!(answer["written"], 0, "{answer:#}");
    // Another commit is another suite, and so is a history.
    project
        .terca(&["mine", "repository", "--into", "repository-bugs"])
        .expect_status(2);
    history.commit("Change something", &[("more.py", "x = 1\n")]);
    project
        .terca(&["mine", "repository", "--inject"])
        .expect_status(2);
}
