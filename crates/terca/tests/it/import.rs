//! `terca import harbor`: three tasks in Harbor's format become evals that prove themselves.

mod exercism;
mod suites;
mod swe_bench;
mod terminal_bench;

use crate::common::project;
use crate::common::proof::SOUND;
use serde_json::Value;
use terca_testkit::Project;

/// A reward in `reward.txt`, files beside the scripts, and scripts that go elsewhere.
fn hello(project: Project) -> Project {
    project
        .file(
            "tasks/hello/task.toml",
            "version = \"1.0\"\n[metadata]\nauthor_name = \"A\"\ndifficulty = \"easy\"\ntags = [\"files\"]\n\
             [verifier]\ntimeout_sec = 60.0\n[agent]\ntimeout_sec = 45.5\n",
        )
        .file("tasks/hello/instruction.md", "Create /app/out/hello.txt with the greeting that /app/who.txt asks for.\n")
        .file("tasks/hello/environment/Dockerfile", "FROM alpine:3.22\nWORKDIR /app\nCOPY . .\n")
        .file("tasks/hello/environment/who.txt", "world\n")
        .file(
            "tasks/hello/tests/test.sh",
            "#!/bin/sh\nset -e\ncd /tests\n. ./expected.env\n\
             if [ \"$(cat /app/out/hello.txt 2>/dev/null)\" = \"$EXPECTED $(cat '/app/who.txt')\" ]; then\n\
             echo 1 > /logs/verifier/reward.txt\nelse\necho 0 >/logs/verifier/reward.txt\nfi\n",
        )
        .file("tasks/hello/tests/expected.env", "EXPECTED=Hello,\n")
        .file(
            "tasks/hello/solution/solve.sh",
            "#!/bin/sh\nmkdir -p /app/out\ncd /\n\
             { cat /solution/words; cat \"/app/who.txt\"; } | tr '\\n' ' ' | sed 's/ $//' > /app/out/hello.txt\n",
        )
        .file("tasks/hello/solution/words", "Hello,\n")
}

/// A reward between 0 and 1 in `reward.json`, and another place to work in.
fn table(project: Project) -> Project {
    project
        .file(
            "tasks/table/task.toml",
            "schema_version = \"1.3\"\n[task]\nname = \"org/table\"\ndescription = \"Sort: a table\"\n\
             [environment]\ncpus = 2\nenv = { ORDER = \"reverse\" }\n",
        )
        .file("tasks/table/instruction.md", "Sort /work/in.csv into /work/sorted.csv, biggest first.\n")
        .file("tasks/table/environment/Dockerfile", "FROM debian\nWORKDIR /work\nCOPY data/in.csv ./\n")
        .file("tasks/table/environment/data/in.csv", "1\n3\n2\n")
        .file(
            "tasks/table/tests/test.sh",
            "#!/bin/bash\nshare=0.0\n[[ -f /work/sorted.csv ]] && share=0.25\n\
             if [[ \"$ORDER\" = reverse ]] && diff <(printf '3\\n2\\n1\\n') /work/sorted.csv; then share=1.0; fi\n\
             cat > /logs/verifier/reward.json <<END\n{\n  \"lines\": 3,\n  \"reward\": $share\n}\nEND\nexit 1\n",
        )
        .file("tasks/table/solution/solve.sh", "#!/bin/sh\nsort -r /work/in.csv > /work/sorted.csv\n")
}

/// Much that has no place here, and one figure under another name.
fn service(project: Project) -> Project {
    project
        .file(
            "tasks/more/service/task.toml",
            "version = \"1.0\"\n[verifier]\ntimeout_sec = 30\nenv = { API_KEY = \"sk-very-secret\" }\n\
             [environment]\nallow_internet = false\n",
        )
        .file("tasks/more/service/instruction.md", "Write the port into /app/port\n")
        .file(
            "tasks/more/service/environment/Dockerfile",
            "FROM python:3.12\nWORKDIR /app\nCOPY service.db ./\n",
        )
        .file("tasks/more/service/environment/conf/service.conf", "port=8080\n")
        .file("tasks/more/service/environment/docker-compose.yaml", "services: {}\n")
        .file(
            "tasks/more/service/tests/test.sh",
            "#!/bin/sh\ntest -z \"$NEVER\" || apt-get install -y curl\nport=$(cat /app/port 2>/dev/null)\n\
             case $port in 8080) accuracy=1;; *) accuracy=0;; esac\n\
             printf '{\"accuracy\": %s}' \"$accuracy\" > /logs/verifier/reward.json\n",
        )
        .file("tasks/more/service/solution/solve.sh", "#!/bin/sh\necho 8080 > /app/port\n")
}

fn tasks() -> Project {
    service(table(hello(project())))
}

fn statuses(project: &Project) -> Vec<(String, String, String)> {
    let results = project.results();
    let text = |trial: &Value, key: &str| trial[key].as_str().unwrap_or_default().to_owned();
    let trials = results["trials"].as_array().unwrap();
    trials
        .iter()
        .map(|trial| {
            (
                text(trial, "eval"),
                text(trial, "environment"),
                text(trial, "status"),
            )
        })
        .collect()
}

#[test]
fn imported_tasks_are_proven() {
    let project = table(hello(project()));
    let outcome = project
        .terca(&["import", "harbor", "tasks", "--to", "evals"])
        .expect_status(0);
    assert!(
        outcome.stdout.ends_with("\n2 evals imported\n"),
        "{}",
        outcome.stdout
    );
    project
        .terca(&["-C", "evals", "check", "--agent", "oracle"])
        .expect_status(0);
    let outcome = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    for eval in ["hello", "table"] {
        assert!(verdict(&outcome.stdout, eval).ends_with(SOUND));
    }
    project.assert_nothing_left();
}

/// Returns the line of an eval in the table of `terca validate`.
fn verdict<'a>(stdout: &'a str, eval: &str) -> &'a str {
    let mut lines = stdout.lines();
    lines
        .find(|line| line.starts_with(eval))
        .unwrap()
        .trim_end()
}

#[test]
fn a_task_that_lost_something_is_incomplete_until_somebody_completes_it() {
    let project = tasks();
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(1);
    let summary = "3 evals imported: 1 lost files, 1 needs packages, 1 needs services, 1 needs more for the tests; \
                   1 is incomplete and does not run until it is completed\n";
    assert!(outcome.stdout.ends_with(summary), "{}", outcome.stdout);

    let left_out = "1 incomplete eval is left out: service; `-t NAME` runs one as it is";
    let outcome = project.terca(&["--agent", "oracle"]).expect_status(0);
    assert_eq!(
        outcome.stderr.matches(left_out).count(),
        1,
        "{}",
        outcome.stderr
    );
    assert_eq!(project.results()["trials"].as_array().unwrap().len(), 2);
    let outcome = project
        .terca(&["check", "--agent", "oracle"])
        .expect_status(0);
    assert!(outcome.stderr.contains(left_out), "{}", outcome.stderr);
    let outcome = project.terca(&["validate"]).expect_status(0);
    assert_eq!(
        outcome.stderr.matches(left_out).count(),
        1,
        "{}",
        outcome.stderr
    );

    // Who asks for it gets it, and is told.
    project
        .terca(&["--agent", "oracle", "-t", "service"])
        .expect_status(0);
    let outcome = project
        .terca(&["check", "-t", "service", "--agent", "oracle"])
        .expect_status(0);
    assert!(!outcome.stderr.contains("left out"), "{}", outcome.stderr);
    let file =
        "environment/Dockerfile, line 3: COPY service.db ./: there is no such file in the task";
    assert!(
        outcome.stdout.contains(&format!("incomplete: {file}")),
        "{}",
        outcome.stdout
    );
    let outcome = project
        .terca(&["validate", "-t", "service"])
        .expect_status(1);
    assert!(verdict(&outcome.stdout, "service").ends_with("incomplete"));
    assert!(outcome.stdout.contains("service is incomplete: ") && outcome.stdout.contains(file));

    let text = project.read("service/eval.terca.yaml");
    let (before, rest) = text.split_once("incomplete:\n").unwrap();
    let (_, after) = rest.split_once("promptFile").unwrap();
    let project = project.file(
        "service/eval.terca.yaml",
        format!("{before}promptFile{after}"),
    );
    let outcome = project.terca(&["validate"]).expect_status(0);
    assert!(verdict(&outcome.stdout, "service").ends_with(SOUND));
}

#[test]
fn a_task_that_needs_more_than_files_brings_its_dockerfile() {
    let project = hello(project()).file(
        "tasks/hello/environment/Dockerfile",
        "FROM alpine:3.22\nRUN apk add jq\nWORKDIR /app\nCOPY . .\n",
    );
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(0);
    assert!(
        outcome.stdout.ends_with("\n1 eval imported\n"),
        "{}",
        outcome.stdout
    );
    let told = "1 eval has an image to build, which needs Docker or Podman; `-t '!tag:container'` leaves them out\n";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    assert_eq!(
        project.read("hello/_image/Dockerfile"),
        project.read("tasks/hello/environment/Dockerfile")
    );
    assert_eq!(project.read("hello/_image/who.txt"), "world\n");
    assert_eq!(
        project.read("hello/instruction.md"),
        project.read("tasks/hello/instruction.md"),
        "the container has the paths of the task"
    );
    let project = project.env("PATH", "/var/empty");
    let outcome = project
        .terca(&["run", "--agent", "oracle"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("no engine works"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn nothing_runs_where_every_eval_is_incomplete() {
    let project = service(project());
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(1);
    assert!(!outcome.stderr.contains("validate"), "{}", outcome.stderr);
    let outcome = project.terca(&["--agent", "oracle"]).expect_status(2);
    let error = "every eval is incomplete: service";
    assert!(outcome.stderr.contains(error), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("help: `-t NAME` runs one as it is"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_reward_is_found_where_figures_have_other_names() {
    for (json, text, score) in [
        (
            r#"{"score": 0.5, "passed": 1, "total": 2}"#,
            Some("0.75"),
            Some(0.75),
        ),
        (
            r#"{"passed": 1, "total": 2, "score": 0.5}"#,
            None,
            Some(0.5),
        ),
        (r#"{"score": 0.5, "reward": 0.25}"#, Some("1"), Some(0.25)),
        (r#"{"accuracy": 0.5}"#, Some("1"), Some(0.5)),
        (r#"{"passed": 1, "total": 2}"#, None, Some(0.0)),
    ] {
        let rewards = text.map_or(String::new(), |text| {
            format!("echo {text} > /logs/verifier/reward.txt\n")
        });
        let tests = format!("#!/bin/sh\n{rewards}echo '{json}' > /logs/verifier/reward.json\n");
        let project = hello(project()).file("tasks/hello/tests/test.sh", tests);
        project
            .terca(&["import", "harbor", "tasks"])
            .expect_status(0);
        project.terca(&["--agent", "nop"]).expect_status(1);
        assert_eq!(project.only_trial()["score"].as_f64(), score, "{json}");
    }
}

#[test]
fn everything_has_its_place_and_what_has_none_is_told() {
    let project = tasks();
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(1);
    assert_eq!(
        project.read("hello/instruction.md"),
        "Create ./out/hello.txt with the greeting that ./who.txt asks for.\n"
    );
    assert_eq!(project.read("hello/_base/who.txt"), "world\n");
    assert_eq!(project.read("table/_base/in.csv"), "1\n3\n2\n");
    assert_eq!(
        project.read("hello/_tests/.harbor/tests/test.sh"),
        project.read("tasks/hello/tests/test.sh"),
        "the task's own files are as they were"
    );
    insta::assert_snapshot!("import_service", project.read("service/eval.terca.yaml"));
    insta::assert_snapshot!("import_told", outcome.stdout);
    let outcome = project
        .terca(&["import", "harbor", "tasks", "--to", "again", "-v"])
        .expect_status(1);
    let change = "  changed: environment/Dockerfile, line 1: FROM debian: there is no container";
    assert!(outcome.stdout.contains(change), "{}", outcome.stdout);
    assert!(
        !project
            .read("service/eval.terca.yaml")
            .contains("sk-very-secret")
    );
    let hello = project.read("hello/eval.terca.yaml");
    assert!(
        hello.contains("\ntimeoutSeconds: 45.5\ntags: [ \"files\", \"easy\" ]\n"),
        "{hello}"
    );
}

#[test]
fn rewards_become_scores() {
    let project = tasks()
        .agent("case $(cat) in *sorted.csv*) echo 1 > sorted.csv;; *) mkdir -p out; echo 'Hello, world' > out/hello.txt;; esac");
    project
        .terca(&["import", "harbor", "tasks/table"])
        .expect_status(0);
    project
        .terca(&["import", "harbor", "tasks/hello"])
        .expect_status(0);
    project.terca(&[]).expect_status(1);
    let results = project.results();
    let scores: Vec<&Value> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| &trial["score"])
        .collect();
    assert_eq!(scores, [1.0, 0.25]);
}

#[test]
fn what_an_agent_leaves_in_harbors_places_counts_for_nothing() {
    let project = tasks().agent(
        "mkdir -p .harbor/logs/verifier .harbor/tests\n\
         echo 1 > .harbor/logs/verifier/reward.txt; echo '{\"reward\": 1}' > .harbor/logs/verifier/reward.json\n\
         echo 'echo 1' > .harbor/run-tests.sh; echo 'EXPECTED=' > .harbor/tests/expected.env\n\
         echo planted > .harbor/tests/conftest.py; ln -s / .harbor/solution",
    );
    project
        .terca(&["import", "harbor", "tasks/hello"])
        .expect_status(0);
    // The test looks for what it did not bring along.
    let test = project.read("hello/_tests/.harbor/tests/test.sh");
    let spy = test.replace("cd /tests\n", "cd /tests\nls >&2\n");
    let project = project.file("hello/_tests/.harbor/tests/test.sh", spy);
    project.terca(&[]).expect_status(1);
    assert_eq!(project.only_trial()["score"], 0.0);
    let log = project.trial_file("run.log");
    assert!(
        log.contains("expected.env") && !log.contains("conftest.py"),
        "{log}"
    );
}

#[test]
fn no_file_of_the_agent_is_above_the_tests() {
    let test = "#!/bin/sh\ndir=/tests\nreward=0\nwhile [ \"$dir\" != / ]; do\n\
                dir=$(dirname \"$dir\"); [ -e \"$dir/runner.ini\" ] && reward=1\ndone\n\
                ls -A /app >&2\necho $reward > /logs/verifier/reward.txt\n";
    let project = tasks()
        .agent("echo planted > runner.ini")
        .file("tasks/hello/tests/test.sh", test);
    project
        .terca(&["import", "harbor", "tasks/hello"])
        .expect_status(0);
    project.terca(&[]).expect_status(1);
    assert_eq!(project.only_trial()["score"], 0.0);
    let log = project.trial_file("run.log");
    assert!(
        log.contains("runner.ini") && !log.contains(".harbor"),
        "{log}"
    );
}

#[test]
fn tests_without_a_reward_give_0_and_a_failing_solution_is_noted() {
    let project = tasks()
        .file(
            "tasks/hello/tests/test.sh",
            "#!/bin/sh\necho 'it ends here'; exit 7\n",
        )
        .file("tasks/hello/solution/solve.sh", "#!/bin/sh\nexit 4\n")
        .file(
            "tasks/table/solution/solve.sh",
            "#!/bin/sh\nsort -r /work/in.csv > /work/sorted.csv; exit 5\n",
        );
    project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(1);
    project
        .terca(&["--agent", "oracle", "-t", "hello,table"])
        .expect_status(1);
    let results = project.results();
    let (hello, table) = (&results["trials"][0], &results["trials"][1]);
    assert_eq!(hello["status"], "failed");
    let said = hello["tests"]["harbor"]["message"].as_str().unwrap();
    assert!(said.contains("test.sh left no reward"), "{hello}");
    assert_eq!(table["status"], "passed");
    assert_eq!(table["notes"][0], "_solution.sh failed: exit status 5");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_written_by_halves() {
    let project = tasks().file("table/precious.txt", "mine\n");
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("table exists already"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("help: nothing was written"),
        "{}",
        outcome.stderr
    );
    assert!(!project.path("hello").exists() && !project.path("table/eval.terca.yaml").exists());
    let project = project
        .file("tasks/again/hello/task.toml", "")
        .file("tasks/again/hello/instruction.md", "x");
    let project = project.file("tasks/again/hello/tests/test.sh", "");
    let outcome = project
        .terca(&["import", "harbor", "tasks", "--to", "new"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("tasks/hello would both become new/hello"),
        "{}",
        outcome.stderr
    );
    assert!(!project.path("new").exists());
}

#[test]
fn tasks_that_cannot_be_carried_over_are_refused_and_the_others_imported() {
    let project = hello(project())
        .file("tasks/steps/task.toml", "[[steps]]\nname = \"one\"\n")
        .file("tasks/old/task.yaml", "instruction: x\n")
        .file("tasks/older/task.yaml", "instruction: x\n");
    let outcome = project
        .terca(&["import", "harbor", "tasks"])
        .expect_status(1);
    assert!(
        outcome
            .stderr
            .contains("tasks/steps cannot become an eval: it has several steps"),
        "{}",
        outcome.stderr
    );
    let others = "error[not-a-task]: 2 tasks, such as tasks/old, are of Terminal-Bench 1 (task.yaml): \
                  `terca import terminal-bench` takes them";
    assert_eq!(
        outcome.stderr.matches(others).count(),
        1,
        "{}",
        outcome.stderr
    );
    assert!(project.path("hello/eval.terca.yaml").exists());
    let outcome = project
        .terca(&["import", "harbor", "hello/_base"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("there is no task of Harbor in hello/_base"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_solution_may_be_a_script() {
    let project = project()
        .file("terca.yaml", "environments: [{name: default, agent: oracle}]\n")
        .file("an eval's/eval.terca.yaml", "prompt: x\ntests: [{fileContains: {path: a, text: \"made of b\"}}]\n")
        .file("an eval's/_solution/b", "b\n")
        .file("an eval's/_solution.sh", "echo \"made of $(cat b)\" > a\n")
        .file("copy/eval.terca.yaml", "prompt: x\nbefore: [{copy: {\"../an eval's\": seen}}]\ntests: [{commandSuccess: '! ls seen | grep solution'}]\n")
        .file("copy/_solution/x", "");
    project.terca(&[]).expect_status(0);
    let passed = |eval: &str| (eval.to_owned(), "default".to_owned(), "passed".to_owned());
    assert_eq!(statuses(&project), [passed("an eval's"), passed("copy")]);
}
