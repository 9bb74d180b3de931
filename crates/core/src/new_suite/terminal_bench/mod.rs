//! Imports tasks of Terminal-Bench 1 as evals.
//!
//! Harbor's format followed this one, so a task becomes one of Harbor's first, and [`harbor`] makes an eval of it:
//!
//! ```text
//! task.yaml                     task.toml, instruction.md
//! Dockerfile, other files       environment/
//! run-tests.sh, tests/     ─►   tests/, with a `test.sh` that runs `run-tests.sh` and leaves a reward
//! solution.sh                   solution/solve.sh
//! ```

mod compose;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::harbor::{self, environment};
use super::imported::{self, Imported, Loss, Note, Task};
use crate::config::dockerfile;
use crate::text::json::toml;
use crate::text::shell::quoted;
use compose::Compose;

const RUNNER: &str = "run-tests.sh";
/// Limits of tasks that set none, in seconds.
const AGENT_SECONDS: f64 = 360.0;
const TESTS_SECONDS: f64 = 60.0;

/// Runs the task's own script. A command that is missing says nothing about the work, so there is no reward then. A process
/// that stays may keep the output open, so it goes to a file.
const TEST: &str = "\
#!/bin/sh
# Runs run-tests.sh of a task for Terminal-Bench 1: its exit status and its last words decide.
# Written by `terca import terminal-bench`.
export TEST_DIR=/tests
output=/logs/verifier/output
mkdir -p /logs/verifier
trap 'cat \"$output\"; exit 1' TERM
MOUNTED
bash /tests/run-tests.sh > \"$output\" 2>&1
status=$?
cat \"$output\"
if [ $status = 0 ]; then
  PARSER || status=1
fi
case $status in
  0) echo 1 > /logs/verifier/reward.txt ;;
  126 | 127) ;;
  *) echo 0 > /logs/verifier/reward.txt ;;
esac
exit $status
";
/// As the parser `pytest` does it: tests that passed are named, or counted, and none that failed. Code that ends the runner
/// leaves neither.
const PYTEST: &str =
    "! sed -n '/short test summary info/,$p' \"$output\" | grep -qE '^(FAILED|ERROR) ' &&
    grep -qE '^PASSED |[0-9] passed' \"$output\"";
/// As the parser `swebench` does it: the word between two lines decides.
const SWE_BENCH: &str = "sed -n '/^SWEBench results starts here/,/^SWEBench results ends here/p' \"$output\" | grep -qx PASSED";

/// Keys of `task.yaml` that are used, or do not change how a task runs.
const KNOWN: [&str; 19] = [
    "instruction", "descriptions", "name", "description", "author_name", "author_email",
    "difficulty", "category", "tags", "parser_name", "max_agent_timeout_sec",
    "max_test_timeout_sec", "run_tests_in_same_shell", "disable_asciinema",
    "estimated_duration_sec", "expert_time_estimate_min", "junior_time_estimate_min", "language",
    "env_name",
];
/// Turns a task into an eval, or says why that is impossible.
pub fn import(task: &Task<'_>) -> Result<Imported, String> {
    let text = |path: &str| (task.text)(Utf8Path::new(path));
    let document = text("task.yaml").ok_or("task.yaml cannot be read")?;
    let document = imported::yaml(&document).map_err(|error| format!("task.yaml: {error}"))?;
    let instruction = instruction(&document).ok_or("task.yaml has no `instruction`")?;
    if !task.files.iter().any(|file| file == RUNNER) {
        return Err(format!(
            "there is no {RUNNER}, so nothing could be verified"
        ));
    }
    let parser = document["parser_name"].as_str().unwrap_or("pytest");
    let mut notes = of_settings(&document, parser);
    let dockerfile = text("Dockerfile");
    let workdir = dockerfile::instructions(dockerfile.as_deref().unwrap_or_default()).pop();
    let workdir = workdir
        .and_then(|last| last.workdir)
        .unwrap_or("/app".into());
    let compose = text(compose::FILE).map(|text| Compose::read(&text, &workdir));
    let compose = compose.unwrap_or(Ok(Compose::default()))?;
    notes.extend(compose.notes);
    let mut texts = BTreeMap::from([
        ("task.toml", settings(&document, &compose.env)),
        ("instruction.md", instruction),
        ("tests/test.sh", test(parser, &compose.mounts)),
    ]);
    if let (None, Some(image)) = (&dockerfile, &compose.image) {
        texts.insert("environment/Dockerfile", format!("FROM {image}\n"));
    }
    if let Some(script) = text("solution.yaml").and_then(|text| typed(&text)) {
        texts.insert("solution/solve.sh", script);
    } else if text("solution.yaml").is_some() {
        let text = "solution.yaml: it types keys into programs, and is no script";
        notes.push(Note::change(text));
    }
    let mut files: BTreeMap<Utf8PathBuf, Option<&Utf8Path>> = BTreeMap::new();
    let mut shown = None;
    for file in task.files {
        if ["task.yaml", "solution.yaml", compose::FILE].contains(&file.as_str()) {
            continue;
        }
        let (place, in_context) = (moved(file), Utf8Path::new("environment").join(file));
        let is_copied = |text: &String| environment::is_copied_by_name(text, file);
        // An image is built from the whole task.
        if place != in_context && dockerfile.as_ref().is_some_and(is_copied) {
            shown.get_or_insert(file);
            files.insert(in_context, Some(file));
        }
        files.insert(place, Some(file));
    }
    notes.extend(shown.map(|file| environment::shown_to_the_agent(file)));
    files.extend(texts.keys().map(|path| (Utf8PathBuf::from(*path), None)));
    let paths: Vec<Utf8PathBuf> = files.keys().cloned().collect();
    let eval = harbor::import(&Task {
        name: task.name,
        files: &paths,
        links: task.links,
        text: &|path| match texts.get(path.as_str()) {
            Some(text) => Some(text.clone()),
            None => files.get(path).copied().flatten().and_then(task.text),
        },
    })?;
    Ok(in_place(eval, task.name, notes, &files, &texts))
}

/// Returns the script of the one test, with the files in it that were mounted.
fn test(parser: &str, mounts: &[(String, String)]) -> String {
    let line = |(from, to): &(String, String)| {
        let (from, to) = (quoted(&format!("/{from}")), quoted(to));
        format!("mkdir -p \"$(dirname {to})\"; rm -rf {to}; cp -R {from} {to}\n")
    };
    let lines: String = mounts.iter().map(line).collect();
    let parser = match parser {
        "pytest" => PYTEST,
        "swebench" => SWE_BENCH,
        _ => "true",
    };
    TEST.replace("MOUNTED\n", &lines).replace("PARSER", parser)
}

/// Returns the place of a file in a task of Harbor's.
fn moved(file: &Utf8Path) -> Utf8PathBuf {
    match file.as_str() {
        RUNNER => Utf8Path::new("tests").join(RUNNER),
        "solution.sh" => "solution/solve.sh".into(),
        _ if file.starts_with("tests") => file.to_owned(),
        _ => Utf8Path::new("environment").join(file),
    }
}

/// Returns an eval of a task of Harbor's with the files and the words of this one.
fn in_place(
    mut eval: Imported,
    name: &str,
    notes: Vec<Note>,
    files: &BTreeMap<Utf8PathBuf, Option<&Utf8Path>>,
    texts: &BTreeMap<&str, String>,
) -> Imported {
    let head = imported::head(&format!("the Harbor task {name}"), &eval.notes);
    for note in &mut eval.notes {
        note.text = note.text.replace("environment/", "");
        note.text = note.text.replace("solution/solve.sh", "solution.sh");
        note.text = note.text.replace("tests/run-tests.sh", RUNNER);
    }
    eval.notes.extend(notes);
    eval.notes.sort_by_key(|note| note.loss.is_none());
    for (path, text) in &mut eval.written {
        if let (true, Some(rest)) = (path == "eval.terca.yaml", text.strip_prefix(&head)) {
            let origin = format!("the Terminal-Bench 1 task {name}");
            *text = imported::head(&origin, &eval.notes) + rest;
        }
    }
    let mut copied = Vec::new();
    for (from, to) in std::mem::take(&mut eval.copied) {
        match files.get(&from).copied().flatten() {
            Some(file) => copied.push((file.to_owned(), to)),
            None => eval
                .written
                .push((to, texts.get(from.as_str()).cloned().unwrap_or_default())),
        }
    }
    eval.copied = copied;
    eval
}

/// Returns the prompt. Older tasks have several, of which `base` is the usual one.
fn instruction(document: &Value) -> Option<String> {
    let several = document["descriptions"].as_array();
    let base = several
        .into_iter()
        .flatten()
        .find(|item| item["key"] == "base");
    let text = base.map_or(&document["instruction"], |base| &base["description"]);
    text.as_str().map(str::to_owned)
}

fn of_settings(document: &Value, parser: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    if !["pytest", "swebench"].contains(&parser) {
        let text = format!("parser_name = {parser}: the exit status of {RUNNER} decides instead");
        notes.push(Note::lost(Loss::Tests, text));
    }
    if document["run_tests_in_same_shell"] == true {
        let text = "run_tests_in_same_shell: the tests have a shell of their own";
        notes.push(Note::lost(Loss::Tests, text));
    }
    notes.extend(imported::unused("task.yaml", document, &KNOWN));
    notes
}

/// Returns `task.toml` of the task of Harbor's.
fn settings(document: &Value, env: &[(String, String)]) -> String {
    let seconds = |key: &str, default| document[key].as_f64().unwrap_or(default);
    toml(&json!({
        "metadata": {
            "tags": document["tags"],
            "difficulty": document["difficulty"],
            "category": document["category"],
        },
        "agent": { "timeout_sec": seconds("max_agent_timeout_sec", AGENT_SECONDS) },
        "verifier": { "timeout_sec": seconds("max_test_timeout_sec", TESTS_SECONDS) },
        "environment": { "env": crate::text::json::object(env) },
    }))
}

/// Returns the script that a list of typed commands is, if each is one for the shell.
fn typed(text: &str) -> Option<String> {
    let document = imported::yaml(text).ok()?;
    let mut script = "#!/bin/bash\n".to_owned();
    for item in document.as_array()? {
        if item["append_enter"] == false {
            return None;
        }
        script += item["command"].as_str()?;
        script.push('\n');
    }
    Some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "instruction: |-\n  Write /app/out.txt\ndifficulty: easy\ncategory: files\ntags: [text]\n\
                        parser_name: pytest\nmax_agent_timeout_sec: 90\nmax_test_timeout_sec: 30.5\nauthor_name: A\n";
    const COMPOSE_TEXT: &str = "services:\n  client:\n    build: {dockerfile: Dockerfile}\n    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}\n    \
                                command: [sh, -c, sleep infinity]\n    environment: [\"TEST_DIR=${T_BENCH_TEST_DIR}\", \"MODE=dry\"]\n    \
                                volumes: [\"${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}\"]\n";

    fn imported(files: &[(&str, &str)]) -> Result<Imported, String> {
        imported::made::read("out", files, import)
    }

    fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut files = vec![
            ("task.yaml", TASK),
            ("run-tests.sh", "pytest $TEST_DIR/test_outputs.py\n"),
        ];
        files.push(("tests/test_outputs.py", "assert open('/app/out.txt')\n"));
        files.extend(more);
        files
    }

    #[test]
    fn a_task_has_its_place_in_an_eval() {
        let eval = imported(&with(&[
            (
                "Dockerfile",
                "FROM debian\nWORKDIR /app\nCOPY data/in.txt ./\n",
            ),
            ("data/in.txt", "a"),
            (compose::FILE, COMPOSE_TEXT),
            ("solution.sh", "echo a > /app/out.txt\n"),
        ]))
        .unwrap();
        assert!(
            eval.notes.iter().all(|note| note.loss.is_none()),
            "{:#?}",
            eval.notes
        );
        assert_eq!(
            eval.copies(),
            [
                ("data/in.txt", "_base/in.txt"),
                ("run-tests.sh", "_tests/.harbor/tests/run-tests.sh"),
                (
                    "tests/test_outputs.py", "_tests/.harbor/tests/test_outputs.py"
                ),
                ("solution.sh", "_solution/.harbor/solution/solve.sh"),
            ]
        );
        assert_eq!(
            eval.text_of("_tests/.harbor/tests/test.sh"),
            test("pytest", &[])
        );
        assert_eq!(eval.text_of("instruction.md"), "Write ./out.txt");
        let file = eval.text_of("eval.terca.yaml");
        assert!(
            file.starts_with("# Imported from the Terminal-Bench 1 task out.\n"),
            "{file}"
        );
        assert!(file.contains("timeoutSeconds: 90\ntags: [ \"text\", \"easy\", \"files\" ]\nenv: { \"MODE\": \"dry\" }\n"), "{file}");
        assert!(!file.contains("environment/"), "{file}");
    }

    #[test]
    fn an_image_is_built_from_the_whole_task() {
        let dockerfile =
            "FROM org/tools\nWORKDIR /app\nCOPY run-tests.sh data \"tests/\" /app/\nCOPY . /all\n";
        let eval = imported(&with(&[
            ("Dockerfile", dockerfile),
            ("data/in.txt", "a"),
            ("solution.sh", "true\n"),
        ]))
        .unwrap();
        assert_eq!(eval.lost(), Vec::<&str>::new());
        let files = eval
            .copied
            .iter()
            .filter(|(_, to)| to.starts_with("_image"));
        let files: Vec<&str> = files.map(|(from, _)| from.as_str()).collect();
        assert_eq!(
            files,
            [
                "data/in.txt", "run-tests.sh", "tests/test_outputs.py", "Dockerfile"
            ],
            "what is copied by no name, such as the solution, stays out"
        );
        let shown =
            "run-tests.sh and the like are copied into the image, where the agent can read them";
        assert!(eval.notes.iter().any(|note| note.text == shown));
    }

    #[test]
    fn the_word_of_swe_bench_decides() {
        let task = TASK.replace("parser_name: pytest", "parser_name: swebench");
        let task = task.replace("/app", "/testbed");
        let mut files = with(&[("Dockerfile", "FROM org/eval.repo-1\nRUN mkdir -p /logs\n")]);
        files[0].1 = &task;
        files[2].1 = "assert open('/testbed/out.txt')\n";
        let eval = imported(&files).unwrap();
        assert_eq!(eval.lost(), Vec::<&str>::new());
        let written = |name: &str| {
            let mut written = eval.written.iter();
            written
                .find(|(path, _)| path.ends_with(name))
                .map(|(_, text)| text.as_str())
        };
        assert!(
            written("tests/test.sh")
                .unwrap()
                .contains("grep -qx PASSED")
        );
        assert_eq!(
            written("_image/Dockerfile"),
            None,
            "the image says where the agent works"
        );
    }

    #[test]
    fn mounted_tests_are_copied_and_other_mounts_are_lost() {
        let with_volumes = |volumes: &str| {
            let compose = format!("services: {{client: {{build: ., volumes: [{volumes}]}}}}\n");
            let files = [
                ("Dockerfile", "FROM debian\nWORKDIR /app\n"),
                (compose::FILE, &compose),
            ];
            imported(&with(&files)).unwrap()
        };
        let eval =
            with_volumes("./tests:/app/tests/:ro, ./run-tests.sh:/app/run.sh, ./tests:/tests");
        assert_eq!(eval.lost(), Vec::<&str>::new());
        let test = eval
            .written
            .iter()
            .find(|(path, _)| path.ends_with("tests/test.sh"));
        let lines = "mkdir -p \"$(dirname /app/tests)\"; rm -rf /app/tests; cp -R /tests /app/tests\n\
                     mkdir -p \"$(dirname /app/run.sh)\"; rm -rf /app/run.sh; cp -R /tests/run-tests.sh /app/run.sh\nbash ";
        assert!(test.unwrap().1.contains(lines), "{test:?}");
        let eval = with_volumes(".:/app, ./tests:/elsewhere, {type: bind, source: ./runs}");
        let expected = [
            "docker-compose.yaml: .:/app is not mounted",
            "docker-compose.yaml: ./tests:/elsewhere is not mounted",
            "docker-compose.yaml: {\"source\":\"./runs\",\"type\":\"bind\"} is not mounted",
        ];
        assert_eq!(eval.lost(), expected);
    }

    #[test]
    fn what_is_lost_is_told_in_the_words_of_the_task() {
        let two = "services: {client: {build: .}, db: {image: postgres}}\n";
        let eval = imported(&with(&[
            ("Dockerfile", "FROM debian\nRUN pip install numpy\n"),
            (compose::FILE, two),
        ]))
        .unwrap();
        assert_eq!(
            eval.lost(),
            ["docker-compose.yaml: no services are started"]
        );
        assert!(eval.has_image, "its packages are in the image");
        assert!(
            eval.notes
                .iter()
                .any(|note| note.text.starts_with("there is no solution.sh"))
        );
        let unusual = TASK.replace(
            "parser_name: pytest",
            "parser_name: other\nrun_tests_in_same_shell: true\nodd: 1",
        );
        let mut files = with(&[(
            "solution.yaml",
            "- {command: ls}\n- {command: q, append_enter: false}\n",
        )]);
        files[0].1 = &unusual;
        let eval = imported(&files).unwrap();
        let losses = eval
            .notes
            .iter()
            .filter(|note| note.loss == Some(Loss::Tests));
        assert_eq!(losses.count(), 2);
        for part in ["task.yaml (odd)", "solution.yaml: it types keys"] {
            assert!(
                eval.notes.iter().any(|note| note.text.contains(part)),
                "{part}"
            );
        }
    }

    #[test]
    fn typed_commands_are_a_script() {
        let eval = imported(&with(&[(
            "solution.yaml",
            "- command: echo a > out.txt\n  block: true\n",
        )]))
        .unwrap();
        let script = eval
            .written
            .iter()
            .find(|(path, _)| path.ends_with("solve.sh"))
            .unwrap();
        assert_eq!(script.1, "#!/bin/bash\necho a > out.txt\n");
        assert!(
            imported(&[("task.yaml", TASK)])
                .unwrap_err()
                .contains("no run-tests.sh")
        );
        assert!(
            imported(&[("task.yaml", "a: [")])
                .unwrap_err()
                .starts_with("task.yaml: ")
        );
    }
}
