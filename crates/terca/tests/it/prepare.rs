//! `prepare`: done once, kept, and the same for every trial.

use crate::common::project;
use rustix::process::Signal;
use terca_testkit::{Project, wait_until};

/// A suite whose `prepare` notes each time it is carried out.
fn noting(more: &str) -> Project {
    let project = project().executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite\ncp input made\n",
    );
    let notes = project.path("notes");
    project.directory("notes").file("_base/input", "one\n").file(
        "terca.yaml",
        format!(
            "env: {{NOTES: '{notes}'}}\nrepetitions: 3\nconcurrency: 2\n{more}\
             prepare: [{{command: install.sh}}, {{files: {{note: written}}}}]\n\
             environments: [{{name: e, agent: {{name: command, command: 'cat made > seen; echo x >> made'}}}}]\n\
             experiments: [{{name: a}}, {{name: b, env: {{ARM: b}}}}]\n\
             evals: [{{name: task, prompt: x, tests: [{{fileContains: {{path: seen, text: one}}}}, {{fileExists: note}}]}}]\n"
        ),
    )
}

fn times(project: &Project, name: &str) -> usize {
    std::fs::read_to_string(project.path("notes").join(name)).map_or(0, |text| text.lines().count())
}

fn passes(project: &Project, args: &[&str]) {
    let outcome = project.terca(&[&["--format", "plain"], args].concat());
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn it_is_done_once_for_all_trials_and_runs_until_an_input_changes() {
    let project = noting("");
    passes(&project, &[]);
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 1);
    // What one agent did to its workspace is not in another's.
    for trial in project.results()["trials"].as_array().unwrap() {
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        assert_eq!(
            std::fs::read_to_string(project.workspace_of(&dir).join("made")).unwrap(),
            "one\nx\n"
        );
        let diff = std::fs::read_to_string(dir.join("changes.diff")).unwrap();
        assert!(diff.contains("+x") && !diff.contains("input"), "{diff}");
    }
    passes(&project, &["--no-cache"]);
    assert_eq!(times(&project, "suite"), 2, "asked for");
    let project = project.file("_base/input", "one and two\n");
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 3, "a file it starts from");
    let project = project.executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite; cat input > made\n",
    );
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 4, "a script that it runs");
    let yaml = project.read("terca.yaml");
    let project = project.file("terca.yaml", yaml.replace("note: written", "note: changed"));
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 5, "an action");
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 5);
}

#[test]
fn a_workspace_has_the_same_path_in_every_trial_and_run() {
    let project = project()
        .executable("own", "#!/bin/sh\necho done\n")
        .file(
            "terca.yaml",
            "repetitions: 2\n\
             prepare: [{command: 'pwd > path; mkdir bin; ln -s \"$PWD/own\" bin/link; \
             { echo \"#!$PWD/bin/link\"; cat $TERCA_SUITE_DIR/own; } > bin/program; cp /bin/sh own; chmod +x bin/program'}]\n\
             environments: [{name: e, agent: {name: command, command: 'bin/program > said; pwd > seen'}}]\n\
             experiments: [{name: a}, {name: b, env: {ARM: b}}]\n\
             evals: [{name: task, prompt: x, tests: [\
             {fileContains: {path: said, text: done}}, \
             {commandSuccess: 'bin/program && test \"$(cat path)\" = \"$PWD\" && cmp path seen'}]}]\n",
        );
    let first = project.terca(&["--format", "plain"]);
    if first
        .stdout
        .contains("names the path of this trial's workspace")
    {
        // This machine has no mount namespaces for its users.
        assert_eq!(first.status, 3, "{}", first.stdout);
        return;
    }
    assert_eq!(first.status, 0, "{}{}", first.stdout, first.stderr);
    passes(&project, &[]);
    passes(&project, &["--no-cache"]);
}

/// A library with its suite in `evals/`, whose `prepare` reads the library.
fn library(inputs: &str) -> Project {
    let project = project().directory("notes");
    let notes = project.path("notes");
    project
        .file("src/index.js", "one\n")
        .file("src/deep/more.js", "more\n")
        .file("package.json", "{}\n")
        .file(
            "evals/terca.yaml",
            format!(
                "prepare:\n  - command: 'echo built >> {notes}/suite; cp \"$TERCA_SUITE_DIR/../src/index.js\" made'\n    \
                 inputs: {inputs}\n\
                 environments: [{{name: e, agent: {{name: command, command: 'true'}}}}]\n\
                 evals: [{{name: task, prompt: x, tests: [{{fileContains: {{path: made, text: one}}}}]}}]\n"
            ),
        )
}

#[test]
fn inputs_outside_of_the_suite_make_it_again_when_they_change() {
    for inputs in [
        "[../src, ../package.json]", "[\"../src/**/*.js\", ../package.*]",
    ] {
        let project = library(inputs);
        let run = ["-C", "evals"];
        passes(&project, &run);
        passes(&project, &run);
        assert_eq!(times(&project, "suite"), 1, "{inputs}");
        let project = project.file("README.md", "not an input\n");
        passes(&project, &run);
        assert_eq!(times(&project, "suite"), 1, "{inputs}");
        for (count, (file, text)) in [
            ("src/index.js", "one and two\n"),
            ("src/deep/more.js", "less\n"),
            ("src/new.js", "new\n"),
            ("package.json", "{ }\n"),
        ]
        .into_iter()
        .enumerate()
        {
            std::fs::write(project.path(file), text).unwrap();
            passes(&project, &run);
            assert_eq!(times(&project, "suite"), count + 2, "{inputs}: {file}");
        }
        std::fs::remove_file(project.path("src/new.js")).unwrap();
        std::fs::write(project.path("package.json"), "{}\n").unwrap();
        passes(&project, &run);
        assert_eq!(
            times(&project, "suite"),
            5,
            "the earlier layer is still there"
        );
    }
}

#[test]
fn an_input_that_cannot_be_one_is_an_error_with_its_place() {
    for (inputs, message) in [
        ("[../sorce]", "the input `../sorce` does not exist"),
        ("[../src/*.ts]", "the input `../src/*.ts` matches no file"),
        ("[..]", "the input `..` contains the suite"),
        ("[.]", "the input `.` contains the suite"),
        ("[\"../src/{a\"]", "invalid glob"),
        ("['']", "inputs"),
    ] {
        let outcome = library(inputs).terca(&["-C", "evals", "check"]);
        let outcome = outcome.expect_status(2);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("terca.yaml:3:"),
            "{}",
            outcome.stderr
        );
    }
    for action in [
        "{files: {a: b}, inputs: [../src]}",
        "{copy: {../src: src}, inputs: [../src]}",
    ] {
        let project = library("[../src]");
        let project = project.file("evals/terca.yaml", format!("prepare: [{action}]\n"));
        let outcome = project.terca(&["-C", "evals", "check"]).expect_status(2);
        assert!(
            outcome.stderr.contains("misplaced-key"),
            "{}",
            outcome.stderr
        );
    }
    let project = library("[../src]");
    let yaml = project
        .read("evals/terca.yaml")
        .replace("prepare:", "before:");
    let project = project.file("evals/terca.yaml", yaml);
    let outcome = project.terca(&["-C", "evals", "check"]).expect_status(2);
    assert!(
        outcome.stderr.contains("move the command to `prepare`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_evals_own_layer_lies_on_the_suites() {
    let project = noting("").file("own/_base/more", "two\n").file(
        "own/eval.terca.yaml",
        "prompt: x\nprepare: [{command: 'echo built >> $NOTES/$TERCA_EVAL; cat made more > both; rm more'}]\n\
         tests: [{fileContains: {path: both, matches: '^one\\ntwo\\n$'}}]\n",
    );
    passes(&project, &[]);
    assert_eq!((times(&project, "suite"), times(&project, "own")), (1, 1));
    let dir = project.workspace_of(&project.run_dir().join("own/e.a.01"));
    assert!(!dir.join("more").exists(), "what prepare removed is gone");
    // The suite's layer is kept when only the eval's changes.
    let project = project.file("own/_base/more", "two\nthree\n");
    project.terca(&["-t", "own"]);
    assert_eq!((times(&project, "suite"), times(&project, "own")), (1, 2));
}

/// Two evals whose code differs, and whose lock files are equal.
fn with_lock_files(first: &str, second: &str) -> Project {
    let eval = "prompt: x\nprepare:\n  - {command: 'echo x >> $NOTES/lock; ls > listed; cp lock packages', onlyFiles: [lock, parts]}\n  \
                - {command: 'echo x >> $NOTES/own; cat packages code > built'}\n\
                tests: [{commandSuccess: 'cat code built listed parts/one && cmp lock packages'}]\n";
    let project = project().directory("notes");
    let notes = project.path("notes");
    let suite = format!(
        "env: {{NOTES: '{notes}'}}\nrepetitions: 2\nenvironments: [{{name: e, agent: nop}}]\n"
    );
    let mut project = project.file("terca.yaml", suite);
    for (name, lock) in [("one", first), ("two", second)] {
        project = project
            .file(&format!("{name}/eval.terca.yaml"), eval)
            .file(&format!("{name}/_base/lock"), lock)
            .file(&format!("{name}/_base/parts/one"), "a part\n")
            .file(&format!("{name}/_base/code"), format!("code of {name}\n"));
    }
    project
}

#[test]
fn evals_with_equal_lock_files_share_a_step() {
    let project = with_lock_files("v1\n", "v1\n");
    passes(&project, &[]);
    passes(&project, &[]);
    assert_eq!((times(&project, "lock"), times(&project, "own")), (1, 2));
    for trial in project.results()["trials"].as_array().unwrap() {
        let workspace =
            project.workspace_of(&project.run_dir().join(trial["dir"].as_str().unwrap()));
        let read = |name: &str| std::fs::read_to_string(workspace.join(name)).unwrap();
        assert_eq!(read("listed"), "listed\nlock\nparts\n", "it sees no others");
        let code = format!("code of {}\n", trial["eval"].as_str().unwrap());
        assert_eq!(read("code"), code);
        assert_eq!(read("built"), format!("v1\n{code}"));
    }
    let project = project.file("two/_base/lock", "v2\n");
    passes(&project, &[]);
    assert_eq!((times(&project, "lock"), times(&project, "own")), (2, 3));
    let project = project.file("one/_base/code", "other\n");
    passes(&project, &[]);
    assert_eq!((times(&project, "lock"), times(&project, "own")), (2, 4));
}

#[test]
fn only_files_that_are_not_there_are_an_error() {
    let project = with_lock_files("v1\n", "v1\n");
    let yaml = project.read("one/eval.terca.yaml");
    let project = project.file(
        "one/eval.terca.yaml",
        yaml.replace("parts]", "package.json]"),
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 3, "{}{}", outcome.stdout, outcome.stderr);
    let said = "onlyFiles package.json: no `_base` directory of the suite or the eval has it";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    let yaml = yaml.replace("prepare:", "before:");
    let project = project.file("one/eval.terca.yaml", yaml);
    let outcome = project.terca(&["check"]);
    assert_eq!(outcome.status, 2);
    let said = "`onlyFiles` belongs to a `command` of `prepare`";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn a_failure_is_an_error_of_every_trial_and_is_not_repeated() {
    let project = noting("").executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite\necho no network\nexit 3\n",
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert_eq!(times(&project, "suite"), 1);
    let results = project.results();
    for trial in results["trials"].as_array().unwrap() {
        assert_eq!(trial["error"]["kind"], "setup", "{trial}");
        assert!(
            trial["error"]["message"]
                .as_str()
                .unwrap()
                .contains("exit status 3"),
            "{trial}"
        );
    }
    let logs: String = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| {
            std::fs::read_to_string(
                project
                    .run_dir()
                    .join(trial["dir"].as_str().unwrap())
                    .join("run.log"),
            )
            .unwrap()
        })
        .collect();
    assert_eq!(
        logs.lines()
            .filter(|line| line.trim() == "no network")
            .count(),
        6,
        "its output is in the log of every trial"
    );
    // And it is tried again by the next run.
    let project = project.executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite\ncp input made\n",
    );
    passes(&project, &[]);
}

#[test]
fn two_runs_at_once_make_it_once() {
    let project = noting("").executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite\nuntil [ -e $NOTES/go ]; do sleep 0.01; done\ncp input made\n",
    );
    let sessions = [(); 2].map(|()| project.start(&["--format", "plain"]));
    wait_until("both runs have begun and one makes it", || {
        let runs = project.path(".terca/runs").read_dir_utf8();
        runs.is_ok_and(|runs| runs.count() == 2) && times(&project, "suite") > 0
    });
    std::fs::write(project.path("notes/go"), "").unwrap();
    for session in sessions {
        let outcome = session.finish();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    assert_eq!(times(&project, "suite"), 1);
}

#[test]
fn killed_in_the_middle_nothing_half_made_is_used() {
    let project = noting("").executable(
        "install.sh",
        "#!/bin/sh\necho built >> $NOTES/suite\necho half > made\n[ -e $NOTES/quick ] || sleep 300\ncp input made\n",
    );
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the layer is being made", || times(&project, "suite") == 1);
    session.signal(Signal::KILL);
    session.finish();
    project.wait_until_nothing_runs();
    std::fs::write(project.path("notes/quick"), "").unwrap();
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 2);
    // Interrupted by Ctrl+C it is the same.
    std::fs::remove_file(project.path("notes/quick")).unwrap();
    let mut session = project.start(&["--format", "plain", "--no-cache"]);
    session.wait_until("the layer is being made", || times(&project, "suite") == 3);
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    passes(&project, &[]);
    assert_eq!(times(&project, "suite"), 3, "what was whole before is used");
}

#[test]
fn a_directory_of_files_is_made_once_for_all_trials() {
    let project = project().file(
        "terca.yaml",
        "repetitions: 3\n\
         prepare: [{command: 'echo x >> $TERCA_SUITE_DIR/times; mkdir -p node_modules/d; seq 20 | while read n; do echo $n > node_modules/d/$n.js; done'}]\n\
         environments: [{name: e, agent: {name: command, command: 'ls node_modules/d | wc -l > count'}}]\n\
         evals: [{name: task, prompt: x, tests: [{fileContains: {path: count, text: '20'}}]}]\n",
    );
    passes(&project, &["--keep", "none"]);
    assert_eq!(project.read("times").lines().count(), 1);
    assert_eq!(project.results()["trials"].as_array().unwrap().len(), 3);
}

/// Returns the lines of a run's progress about cached steps.
fn told(project: &Project, args: &[&str]) -> Vec<String> {
    let outcome = project.terca(&[&["--format", "plain"], args].concat());
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let lines = outcome.stderr.lines();
    lines
        .filter(|line| line.starts_with("prepared: "))
        .map(str::to_owned)
        .collect()
}

/// Makes all cached steps look as if they had been made three and a half days ago.
fn age_cached_steps(project: &Project) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(84 * 3600);
    for entry in std::fs::read_dir(project.path(".terca/cache")).unwrap() {
        let step = std::fs::File::open(entry.unwrap().path()).unwrap();
        step.set_modified(then).unwrap();
    }
}

#[test]
fn a_run_says_which_steps_it_uses_and_which_it_makes() {
    let project = noting("");
    let made = told(&project, &[]);
    let [line] = &made[..] else {
        panic!("one step is made once: {made:?}");
    };
    let begin = "prepared: the suite's cached step was made in ";
    assert!(line.starts_with(begin), "{line}");
    age_cached_steps(&project);
    let used = "prepared: 1 cached step is used (made 3 days ago)";
    assert_eq!(told(&project, &[]), [used]);
    // One more step, on top of the one that is there.
    let more = project.read("terca.yaml").replace(
        "{name: task, ",
        "{name: task, prepare: [{files: {more: x}}], ",
    );
    let project = project.file("terca.yaml", more);
    let lines = told(&project, &[]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], format!("{used}, 1 is to be made"));
    let begin = "prepared: the cached step of task was made in ";
    assert!(lines[1].starts_with(begin), "{lines:?}");
    age_cached_steps(&project);
    let both = "prepared: 2 cached steps are used (the oldest was made 3 days ago)";
    assert_eq!(told(&project, &[]), [both]);
    // With `--no-cache` none of them is used.
    let anew = told(&project, &["--no-cache"]);
    assert_eq!(anew.len(), 2, "{anew:?}");
    assert!(
        anew.iter().all(|line| line.contains(" was made in ")),
        "{anew:?}"
    );
    let journal = std::fs::read_to_string(project.run_dir().join("events.jsonl")).unwrap();
    assert!(!journal.contains("stepMade"), "{journal}");
}
