//! What was written is what is judged: paths with brackets, copies that would remove something, tests that cannot tell.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::Project;

/// One eval with these tests and an agent that runs this script.
fn judged(agent: &str, eval: &str) -> Project {
    project()
        .agent(agent)
        .file("fib/eval.terca.yaml", format!("prompt: go\n{eval}"))
}

/// The names of the tests that scored 1.
fn passed(trial: &Value) -> Vec<&str> {
    let tests = trial["tests"].as_object().unwrap();
    tests
        .iter()
        .filter(|(_, grade)| grade["score"] == 1.0)
        .map(|(name, _)| name.as_str())
        .collect()
}

const ROUTES: &str = "tests:
  - {name: route, fileExists: 'app/[id]/page.tsx'}
  - {name: rest, fileExists: 'app/[...slug]/page.tsx'}
  - {name: optional, fileExists: 'app/[[...all]]/page.tsx'}
  - {name: template, fileExists: 'tpl/{name}.txt'}
  - {name: below, fileExists: 'app/[id]/*.tsx'}
  - {name: beside, fileExists: 'app/[id].*'}
  - {name: anywhere, fileExists: '**/[id]/page.tsx'}
";

#[test]
fn brackets_in_the_names_of_routes_are_names() {
    let project = judged(
        "mkdir -p 'app/[id]' 'app/[...slug]' 'app/[[...all]]' tpl\n\
         touch 'app/[id]/page.tsx' 'app/[...slug]/page.tsx' 'app/[[...all]]/page.tsx' 'tpl/{name}.txt' 'app/[id].css'",
        &format!(
            "{ROUTES}  - {{name: changes, changedFiles: {{only: ['app/[[]*/**', 'app/[id]/**', 'app/[...slug]/*', 'app/[[...all]]/page.tsx', 'tpl/{{name}}.txt', 'app/[id].css']}}}}\n"
        ),
    );
    project.terca(&[]).expect_status(0);
    assert_eq!(
        project.only_trial()["score"],
        1.0,
        "{}",
        project.only_trial()
    );
}

#[test]
fn a_file_that_only_a_class_would_match_is_another_file() {
    let project = judged(
        "mkdir -p app/i app/s tpl; touch app/i/page.tsx app/s/page.tsx tpl/name.txt",
        &format!(
            "{ROUTES}  - {{name: changes, changedFiles: {{only: ['app/[is]/**', 'tpl/{{name}}.txt']}}}}\n"
        ),
    );
    project.terca(&[]).expect_status(1);
    let trial = project.only_trial();
    assert_eq!(passed(&trial), [""; 0], "{trial}");
    assert_eq!(
        trial["tests"]["route"]["message"],
        "app/[id]/page.tsx does not exist"
    );
}

#[test]
fn wildcards_are_still_wildcards() {
    let project = judged(
        "mkdir -p src/deep '[0-9]'; touch src/deep/a.ts log7.txt b.md '[0-9]/x.txt' 'a[1].txt'",
        "tests:
  - {name: star, fileExists: 'src/**/*.[jt]s'}
  - {name: range, fileExists: 'log[0-9].txt'}
  - {name: alternatives, fileExists: '{a,b}.md'}
  - {name: escaped, fileExists: 'a[[]1].*'}
  - {name: literal, fileExists: '[0-9]/x.txt'}
  - {name: mixed, fileExists: '[0-9]/*.txt'}
",
    );
    project.terca(&[]).expect_status(0);
}

/// Runs an eval whose set-up cannot be done. Returns the error.
fn refused(project: &Project) -> String {
    project.terca(&["--keep", "all"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    trial["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_copy_removes_neither_a_directory_nor_a_file() {
    for (copy, both) in [
        ("{seed.sql: data}", ["seed.sql", "`data`"]),
        ("{tree: taken}", ["tree", "`taken`"]),
        ("{tree: .}", ["tree/data", "data`"]),
        ("{other: .}", ["other/taken", "taken`"]),
    ] {
        let project = judged("true", &format!("before: [{{copy: {copy}}}]\n"))
            .file("_base/data/important.txt", "kept")
            .file("_base/taken", "kept")
            .file("fib/seed.sql", "x")
            .file(
                "fib/tree/data",
                "a file where the workspace has a directory",
            )
            .file("fib/other/taken/file", "a directory where it has a file");
        let message = refused(&project);
        for path in both {
            assert!(message.contains(path), "{copy}: {message}");
        }
        assert_eq!(
            (
                project.trial_file("workspace/data/important.txt").as_str(),
                project.trial_file("workspace/taken").as_str()
            ),
            ("kept", "kept"),
            "{copy}"
        );
    }
}

#[test]
fn a_copy_joins_directories_and_replaces_files() {
    let project = judged(
        "true",
        "before: [{copy: {tree: ., seed.sql: data/, 'tree/data/old': plain}}]
tests: [{fileContains: {path: data/old, text: new}}, {fileExists: [data/important.txt, data/seed.sql]},
  {fileContains: {path: plain, text: new}}]
",
    )
    .file("_base/data/important.txt", "kept")
    .file("_base/data/old", "old")
    .file("_base/plain", "old")
    .file("fib/seed.sql", "x")
    .file("fib/tree/data/old", "new");
    project.terca(&[]).expect_status(0);
    assert_eq!(project.only_trial()["score"], json!(1.0));
}
