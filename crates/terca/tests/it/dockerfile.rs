//! `sandbox: {build: …}` without an engine: a program in the place of Docker tells what is asked of it, and makes no container.

use crate::common::project;
use crate::common::sandboxes::with_program;
use terca_testkit::Project;

/// Docker, as far as images go. It knows an image when it has built it, and fails where the Dockerfile has `RUN false`.
const DOCKER: &str = r#"kept="$HOME/images"; mkdir -p "$kept"
case "$*" in
  info*) echo '28.0 []' ;;
  ps*) ;;
  "image inspect --format"*) echo 'sha256:00 {"WorkingDir": "/app"}' ;;
  "image inspect"*) test -e "$kept/$3" ;;
  build*)
    echo "$*" >> "$HOME/builds"
    while [ $# -gt 1 ]; do
      case $1 in --tag) tag=$2 ;; --file) file=$2 ;; esac
      shift
    done
    ls "$1" >> "$HOME/contexts"
    if grep -q 'RUN false' "$file"; then
      echo 'Step 1/3 : FROM base'; echo 'Step 3/3 : RUN false'; echo 'non-zero code: 1' >&2; exit 1
    fi
    touch "$kept/$tag" ;;
  *) echo 'no container today' >&2; exit 1 ;;
esac"#;

fn suite() -> Project {
    project()
        .agent("true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nsandbox: {build: _image}\nallowWarnings: no-tests\n",
        )
        .file("fib/_image/data.txt", "1\n")
        .file(
            "fib/_image/Dockerfile",
            "FROM base\n\nWORKDIR /app\nCOPY data.txt .\n",
        )
}

fn builds(project: &Project) -> Vec<String> {
    let text = std::fs::read_to_string(project.home().join("builds")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Returns the name of the image in a line of [`builds`].
fn image(line: &str) -> &str {
    let mut words = line.split_whitespace().skip_while(|word| *word != "--tag");
    words.nth(1).unwrap()
}

#[test]
fn an_image_is_built_once_for_the_same_files() {
    let project = with_program(suite(), "docker", DOCKER);
    let outcome = project.terca(&["run"]).expect_status(2);
    let told = format!(
        "Docker builds the image of {}/fib/_image/Dockerfile\n",
        project.dir()
    );
    assert!(outcome.stderr.starts_with(&told), "{}", outcome.stderr);
    let first = builds(&project);
    assert_eq!(first.len(), 1, "{first:?}");
    let tag = image(&first[0]).to_owned();
    assert!(tag.starts_with("terca-build:"), "{tag}");
    let refused = format!("cannot make a container of `{tag}`: no container today");
    assert!(outcome.stderr.contains(&refused), "{}", outcome.stderr);
    // The files that the run has sealed, and no others.
    let context = std::fs::read_to_string(project.home().join("contexts")).unwrap();
    assert_eq!(context, "Dockerfile\ndata.txt\n");

    let outcome = project.terca(&["run"]).expect_status(2);
    assert!(!outcome.stderr.contains("builds"), "{}", outcome.stderr);
    assert_eq!(builds(&project).len(), 1);
    project.terca(&["run", "--no-cache"]).expect_status(2);
    let again = builds(&project);
    assert!(again[1].contains(" --no-cache ") && image(&again[1]) == tag);
    let project = project.file("fib/_image/data.txt", "2\n");
    project.terca(&["run"]).expect_status(2);
    let changed = builds(&project);
    assert_eq!(changed.len(), 3);
    assert_ne!(image(&changed[2]), tag);
    // Who asks for another sandbox needs no image.
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(0);
    assert_eq!(builds(&project).len(), 3);
}

#[test]
fn a_build_that_fails_is_told_with_its_line() {
    let failing = "FROM base\n# why\n\nRUN false\n";
    let project = suite()
        .file("fib/_image/Dockerfile", failing)
        .file(
            "two/eval.terca.yaml",
            "prompt: go\nsandbox: {build: Dockerfile}\nallowWarnings: no-tests\n",
        )
        .file("two/Dockerfile", failing);
    let project = with_program(project, "docker", DOCKER);
    let outcome = project.terca(&["run"]).expect_status(2);
    let dir = project.dir();
    for words in [
        &format!(
            "Docker cannot build the image of {dir}/fib/_image/Dockerfile, line 4 (RUN false):\n  Step 1/3"
        ),
        &format!("Docker cannot build the image of {dir}/two/Dockerfile, line 4 (RUN false):\n"),
        "\n  non-zero code: 1\n",
        "help: correct the Dockerfile, or leave the eval out",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
    assert_eq!(builds(&project).len(), 2);
    // A Dockerfile alone has an empty context.
    let contexts = std::fs::read_to_string(project.home().join("contexts")).unwrap();
    assert_eq!(contexts, "Dockerfile\ndata.txt\n");
}

#[test]
fn an_image_that_cannot_be_built_is_an_error_of_its_own_trials() {
    let project = suite()
        .file("fib/_image/Dockerfile", "FROM base\nRUN false\n")
        .file(
            "two/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        )
        .agent("touch ran.txt");
    let own = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("sandbox: none\n{own}"));
    let project = with_program(project, "docker", DOCKER);
    project.terca(&["run", "-n", "2"]).expect_status(3);
    assert_eq!(builds(&project).len(), 1);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let error = &trials[0]["error"];
    assert_eq!(error["kind"], "setup");
    let message = error["message"].as_str().unwrap();
    let words = "fib/_image/Dockerfile, line 2 (RUN false): non-zero code: 1";
    assert!(message.contains(words), "{message}");
    assert_eq!(trials[0]["containedBy"], "docker");
    let statuses = trials.iter().map(|trial| trial["status"].as_str().unwrap());
    assert_eq!(
        Vec::from_iter(statuses),
        ["error", "error", "unverified", "unverified"]
    );
    let log = project.run_dir().join("fib/default.default.01/run.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains("agent:"), "no command ran: {log}");
}

#[test]
fn without_an_engine_it_is_said_before_and_at_the_start() {
    let project = suite().env("PATH", "/var/empty");
    let outcome = project.terca(&["run"]).expect_status(2);
    for words in [
        "an image has to be built, and no engine works: Docker (`docker`) is not installed; and Podman (`podman`) is \
         not installed",
        "install Docker or Podman",
        "-t '!tag:container'",
    ] {
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.stderr
        );
    }
    assert!(!project.has_run());
    let outcome = project.terca(&["check"]).expect_status(0);
    let warning = "warning[no-sandbox]: 1 eval has an image that has to be built, and neither `docker` nor `podman` was found: fib";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let doctor = project.terca(&["doctor"]);
    let words = "Docker (`docker`) is not installed; only `--sandbox docker:IMAGE` and `sandbox: {build: …}` need it";
    assert!(doctor.stdout.contains(words), "{}", doctor.stdout);
    // Docker goes first, and Podman takes its place.
    let project = with_program(suite(), "podman", DOCKER);
    let path = format!("{}/bin", project.home());
    let outcome = project.terca_with(&[("PATH", &path)], &["run"]);
    let outcome = outcome.expect_status(2);
    assert!(
        outcome.stderr.starts_with("Podman builds"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_context_shows_no_evals_and_is_there_where_files_are_copied() {
    for (files, yaml, words) in [
        (
            &[("image/Dockerfile", "FROM base\nCOPY a b\n")][..],
            "{build: image/Dockerfile}",
            &[
                "`image/Dockerfile`, line 2, copies files, and it is not known of which directory",
                "write `build: image`",
            ][..],
        ),
        (
            &[("Dockerfile", "FROM base\n")],
            "{build: {file: Dockerfile, context: .}}",
            &[
                "the context of the image has evals in it",
                "such as `image/`",
            ],
        ),
        (
            &[("fib/Dockerfile", "FROM base\n")],
            "{build: fib}",
            &["the context of the image has evals in it"],
        ),
        (
            &[("image/a", "")],
            "{build: image}",
            &["Dockerfile `image/Dockerfile` does not exist"],
        ),
        (
            &[],
            "{build: none, docker: x}",
            &["both `build` and `docker` are given"],
        ),
    ] {
        let mut project = suite();
        for (path, text) in files {
            project = project.file(path, *text);
        }
        let own = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("sandbox: {yaml}\n{own}"));
        let outcome = project.terca(&["check"]).expect_status(2);
        for words in words {
            assert!(
                outcome.stderr.contains(words),
                "{words}: {}",
                outcome.stderr
            );
        }
    }
    // An eval chooses a container, and never its absence.
    let project = suite().file("fib/eval.terca.yaml", "prompt: go\nsandbox: none\n");
    let outcome = project.terca(&["check"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("(a map of keys and values), found the text `none`"),
        "{}",
        outcome.stderr
    );
}
