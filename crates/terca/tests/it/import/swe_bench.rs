//! `terca import swe-bench`: instances become evals, with the trees of a local clone.

use crate::common::history::History;
use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::Project;

const PATCH: &str = "diff --git a/twice.sh b/twice.sh\n--- a/twice.sh\n+++ b/twice.sh\n@@ -1 +1 @@\n-echo $1\n+echo $(($1 * 2))\n";
const TEST_PATCH: &str = "diff --git a/tests/test_twice.sh b/tests/test_twice.sh\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_twice.sh\n\
                          @@ -0,0 +1 @@\n+[ \"$(sh twice.sh 2)\" = 4 ]\n";

/// A clone with two commits, and an instance of the first.
fn instance() -> (Project, Value) {
    let project = project();
    let mut history = History::new(&project);
    let base = history.commit(
        "Begin",
        &[("twice.sh", "echo $1\n"), ("notes/a.txt", "a\n")],
    );
    history.commit("Go on", &[("twice.sh", "echo later\n")]);
    let row = json!({
        "instance_id": "me__twice-1", "repo": "me/twice", "base_commit": base, "problem_statement": "Double it.\n",
        "hints_text": "Multiply.", "patch": PATCH, "test_patch": TEST_PATCH, "version": "1.0",
        "FAIL_TO_PASS": "[\"tests/test_twice.sh\"]", "PASS_TO_PASS": "[]",
    });
    (project, row)
}

const COMMAND: [&str; 5] = [
    "import", "swe-bench", "rows.jsonl", "--repository", "repository",
];

#[test]
fn an_instance_is_solved_by_its_patch() {
    let (project, row) = instance();
    let mut other = row.clone();
    other["repo"] = json!("somebody/else");
    other["base_commit"] = json!("1".repeat(40));
    let project = project.file("rows.jsonl", format!("{row}\n{other}\n"));
    let command = [COMMAND.as_slice(), &["--test-command", "sh {files}"]].concat();
    let outcome = project.terca(&command).expect_status(0);
    assert_eq!(outcome.stdout, "me__twice-1\n1 eval imported\n");
    assert_eq!(project.read("me__twice-1/_base/notes/a.txt"), "a\n");
    assert_eq!(project.read("me__twice-1/prompt.md"), "Double it.\n");
    project.terca(&["--agent", "oracle"]).expect_status(0);
    project.terca(&["--agent", "nop"]).expect_status(1);
    project.assert_nothing_left();
}

#[test]
fn a_diff_has_to_fit_and_what_is_not_text_is_left_out() {
    let (project, row) = instance();
    let mut other = row.clone();
    other["instance_id"] = json!("me__twice-2");
    other["patch"] = json!(PATCH.replace("-echo", "-print"));
    let image = "diff --git a/a.png b/a.png\nnew file mode 100644\nBinary files /dev/null and b/a.png differ\n";
    let mut with_image = row;
    with_image["patch"] = json!(format!("{image}{}", PATCH.trim_end()));
    let project = project.file("rows.jsonl", format!("{with_image}\n{other}\n"));
    let command = [COMMAND.as_slice(), &["-v", "--test-command", "sh {files}"]].concat();
    let outcome = project.terca(&command).expect_status(1);
    assert_eq!(
        project.read("me__twice-1/_solution/twice.sh"),
        "echo $(($1 * 2))\n"
    );
    let changed = "  changed: patch: a.png is not text, so the solution lacks it\n";
    assert!(outcome.stdout.contains(changed), "{}", outcome.stdout);
    let error = "me__twice-2 cannot become an eval: one of its diffs does not fit the base commit";
    assert!(outcome.stderr.contains(error), "{}", outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn tests_that_pytest_does_not_know_make_it_incomplete() {
    let (project, row) = instance();
    let project = project.file("rows.jsonl", row.to_string());
    let outcome = project.terca(&COMMAND).expect_status(1);
    for part in [
        "  lost: the tests are not those of Python; `--test-command` runs them with another runner\n",
        "1 eval imported: 1 needs more for the tests; 1 is incomplete",
    ] {
        assert!(outcome.stdout.contains(part), "{}", outcome.stdout);
    }
}

#[test]
fn a_wrong_clone_a_wrong_file_and_a_lost_commit_are_told() {
    let (project, row) = instance();
    let mut other = row.clone();
    other["instance_id"] = json!("me__twice-2");
    other["base_commit"] = json!("1".repeat(40));
    let project = project.file("rows.jsonl", other.to_string());
    let outcome = project.terca(&COMMAND).expect_status(2);
    for part in [
        "repository has no base commit of rows.jsonl",
        "help: its instances are of: me/twice",
    ] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let project = project.file("rows.jsonl", format!("{row}\n{other}\n{{}}\n"));
    let outcome = project.terca(&COMMAND).expect_status(1);
    for part in [
        "me__twice-2: the base commit is not in repository",
        "an instance has no `instance_id`",
    ] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let project = project.file("rows.jsonl", "a,b\n");
    let outcome = project.terca(&COMMAND).expect_status(2);
    assert!(
        outcome.stderr.contains("rows.jsonl: it is neither JSON"),
        "{}",
        outcome.stderr
    );
}
