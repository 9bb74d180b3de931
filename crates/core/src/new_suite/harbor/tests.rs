use super::container::Places;
use super::*;
use crate::config::dockerfile::instructions;
use crate::new_suite::imported::{Loss, made, summary};

/// A task of files and their texts, imported.
fn imported(files: &[(&str, &str)]) -> Result<Imported, String> {
    made::read("hello", &[files, &[("tests/link", "")]].concat(), import)
}

const SETTINGS: &str = r#"
schema_version = "1.3"
[task]
name = "org/hello"
description = "Say hello"
keywords = ["easy", "files"]
[metadata]
author_name = "Somebody"
author_email = "somebody@example.com"
difficulty = "easy"
[verifier]
timeout_sec = 90.5
env = { API_KEY = "sk-secret" }
[agent]
timeout_sec = 120.0
user = "agent"
[environment]
build_timeout_sec = 600.0
docker_image = "org/hello:1"
cpus = 2
memory_mb = 2048
allow_internet = false
env = { MODE = "fast", TOKEN = "${TOKEN:-none}" }
novelty = [1, 2]
"#;

const DOCKERFILE: &str = "\
FROM ubuntu:24.04
# a comment
RUN apt-get update && \\
    apt-get install -y python3
WORKDIR /app
COPY data/ ./data/
COPY main.py *.txt /app/
COPY --chown=agent config.toml settings.toml
COPY secret.txt /etc/secret.txt
RUN <<EOF
COPY this is text
EOF
ENV PATH=/x:$PATH
CMD [\"bash\"]
";

const INSTRUCTION: &str =
    "Write /app/hello.txt (not /apple, nor http://x/app) in `/app`. Use ~/.config. Work in /app.";

const TESTS: &str =
    "apt-get install -y curl\npytest /tests/test_it.py\necho 1 > /logs/verifier/reward.txt\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("task.toml", SETTINGS),
        ("instruction.md", INSTRUCTION),
        ("README.md", "about"),
        ("environment/Dockerfile", DOCKERFILE),
        ("environment/docker-compose.yaml", "services: {}"),
        ("environment/data/a/one.csv", "1"),
        ("environment/main.py", ""),
        ("environment/notes.txt", ""),
        ("environment/secret.txt", ""),
        ("environment/config.toml", ""),
        ("environment/unused.bin", ""),
        ("tests/test.sh", TESTS),
        (
            "tests/test_it.py",
            "open('/app/hello.txt'); open('/root/x')\n",
        ),
        ("solution/solve.sh", "cat /solution/text > /app/hello.txt\n"),
        ("solution/text", "hello"),
    ]
}

#[test]
fn a_task_with_everything() {
    let eval = imported(&files()).unwrap();
    let mut shown = String::new();
    for (path, text) in &eval.written {
        shown += &format!("=== {path}\n{text}\n");
    }
    shown += "=== copied\n";
    for (from, to) in &eval.copied {
        shown += &format!("{from} → {to}\n");
    }
    assert!(!shown.contains("sk-secret"));
    insta::assert_snapshot!("task", shown);
}

#[test]
fn what_cannot_become_an_eval_says_why() {
    let with = |path: &'static str, text: &'static str| {
        let mut files: Vec<(&str, &str)> = files()
            .into_iter()
            .filter(|(name, _)| *name != path)
            .collect();
        if !text.is_empty() {
            files.push((path, text));
        }
        imported(&files).unwrap_err()
    };
    assert_eq!(with("instruction.md", " \n"), "instruction.md is empty");
    assert_eq!(
        with("instruction.md", ""),
        "there is no instruction.md (or it is not UTF-8 text)"
    );
    assert_eq!(
        with("tests/test.sh", ""),
        "there is no tests/test.sh, so nothing could be verified"
    );
    let steps = "it has several steps (`[[steps]]`), and an eval has one prompt";
    assert_eq!(with("task.toml", "[[steps]]\nname = 'a'"), steps);
    assert_eq!(
        with("task.toml", "[environment]\nos = 'windows'"),
        "it is a task for Windows"
    );
    assert!(with("task.toml", "a = [").starts_with("task.toml: TOML parse error at line 1"));
}

#[test]
fn a_task_with_the_least() {
    let eval = imported(&[
        ("task.toml", "[agent]\ntimeout_sec = -1"),
        ("instruction.md", "Do it"),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
    ])
    .unwrap();
    let (_, text) = eval.written.last().unwrap();
    insta::assert_snapshot!("task_least", text);
}

#[test]
fn the_place_where_the_agent_works_is_the_workspace() {
    for (dockerfile, root) in [
        ("FROM a\nWORKDIR /work", "/work"),
        ("FROM a\nWORKDIR /work\nWORKDIR sub/../other", "/work/other"),
        ("FROM a\nWORKDIR /one\nFROM b\nRUN x", "/app"),
        ("FROM a\nWORKDIR /", "/app"),
        ("FROM a\nWORKDIR $HOME", "/app"),
    ] {
        let last = instructions(dockerfile).pop().unwrap();
        assert_eq!(
            Places::new(last.workdir.as_deref()).root,
            root,
            "{dockerfile}"
        );
    }
}

/// Imports a task with a Dockerfile.
fn with_dockerfile(dockerfile: &str) -> Imported {
    imported(&[
        ("task.toml", "[environment]\nenv = { MODE = \"fast\" }"),
        ("instruction.md", "Write /app/out.txt."),
        ("environment/Dockerfile", dockerfile),
        ("environment/workspace/src/main.py", ""),
        ("environment/workspace/run.sh", ""),
        ("environment/.dockerignore", "*.pyc"),
        ("assets/logo.png", ""),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
        ("solution/solve.sh", "true"),
    ])
    .unwrap()
}

/// Returns the files that come from the container.
fn copied(eval: &Imported) -> Vec<&str> {
    let copied = eval.copied.iter().map(|(_, to)| to.as_str());
    copied
        .filter(|to| to.starts_with("_base") || to.starts_with("_image"))
        .collect()
}

fn lost(eval: &Imported) -> Vec<&str> {
    let lost = eval.notes.iter().filter(|note| note.loss.is_some());
    let lost = lost.map(|note| note.text.as_str());
    lost.filter(|text| !text.starts_with("tests/link"))
        .collect()
}

fn text<'a>(eval: &'a Imported, path: &str) -> Option<&'a str> {
    let mut written = eval.written.iter();
    written.find_map(|(name, text)| (name == path).then_some(text.as_str()))
}

const NONE: [&str; 0] = [];

#[test]
fn a_dockerfile_copies_from_the_environment_or_from_the_task() {
    for (line, expected) in [
        (
            "COPY environment/workspace/. /app/workspace",
            &["_base/workspace/run.sh", "_base/workspace/src/main.py"][..],
        ),
        ("COPY workspace/run.sh .", &["_base/run.sh"]),
        (
            "COPY ./workspace/ ./",
            &["_base/run.sh", "_base/src/main.py"],
        ),
        ("COPY assets /app/static", &["_base/static/logo.png"]),
        (
            "COPY . .",
            &["_base/workspace/run.sh", "_base/workspace/src/main.py"],
        ),
        ("COPY tests /tests", &[]),
    ] {
        let eval = with_dockerfile(&format!("FROM debian\nWORKDIR /app\n{line}\n"));
        assert_eq!(copied(&eval), expected, "{line}");
        assert_eq!(lost(&eval), NONE, "{line}");
        assert!(!eval.has_image);
    }
    let eval = with_dockerfile("FROM debian\nCOPY lecture.mp4 /app/\n");
    assert_eq!(copied(&eval), NONE);
    assert_eq!(
        lost(&eval),
        [
            "environment/Dockerfile, line 2: COPY lecture.mp4 /app/: there is no such file in the task"
        ]
    );
}

#[test]
fn what_only_an_image_has_is_built() {
    for line in [
        "RUN apt-get update && apt-get install -y curl",
        "RUN echo 1,2 > data.csv",
        "COPY workspace /opt/data",
        "COPY --from=other /a /app/a",
        "ENV PYTHONPATH=/app/src",
        "ADD https://example.com/a.bin /app/",
    ] {
        let eval = with_dockerfile(&format!(
            "FROM debian\nWORKDIR /app\n{line}\nCOPY workspace .\n"
        ));
        let expected = [
            "_image/workspace/run.sh", "_image/workspace/src/main.py", "_image/.dockerignore",
            "_image/Dockerfile",
        ];
        assert_eq!(copied(&eval), expected, "{line}");
        assert_eq!(lost(&eval), NONE, "{line}");
        let yaml = text(&eval, "eval.terca.yaml").unwrap();
        assert!(
            yaml.contains("\nsandbox: { \"build\": \"_image\" }\ntags: [ \"container\" ]\n"),
            "{yaml}"
        );
        assert_eq!(text(&eval, "instruction.md"), Some("Write /app/out.txt."));
    }
}

#[test]
fn an_image_has_the_place_to_work_in_and_the_context_that_it_needs() {
    let eval = with_dockerfile(
        "FROM org/tools:1\nCOPY environment/workspace /data\nCOPY assets/*.png /data/",
    );
    let expected = [
        "_image/assets/logo.png",
        "_image/environment/workspace/run.sh",
        "_image/environment/workspace/src/main.py",
    ];
    assert_eq!(copied(&eval), expected);
    let dockerfile = text(&eval, "_image/environment/Dockerfile").unwrap();
    assert!(
        dockerfile.ends_with("/data/\nWORKDIR /app\n"),
        "{dockerfile}"
    );
    let yaml = text(&eval, "eval.terca.yaml").unwrap();
    let build = "sandbox: { \"build\": { \"context\": \"_image\", \"file\": \"_image/environment/Dockerfile\" } }\n";
    assert!(yaml.contains(build), "{yaml}");
    let eval = with_dockerfile("FROM org/tools:1\nCOPY \"workspace/\" '/data/'\n");
    assert_eq!(lost(&eval), NONE, "words may have quotes");
    let eval = with_dockerfile("FROM org/tools:1\nCOPY tests /tests\n");
    let shown =
        "tests/test.sh and the like are copied into the image, where the agent can read them";
    assert!(eval.notes.iter().any(|note| note.text == shown));
    // What no image has is still lost.
    let eval =
        with_dockerfile("FROM debian\nRUN make\nCOPY nothing /elsewhere\nENTRYPOINT serve\n");
    assert_eq!(
        lost(&eval),
        [
            "environment/Dockerfile, line 4: ENTRYPOINT serve: it is not started",
            "environment/Dockerfile, line 3: COPY nothing /elsewhere: there is no such file in the task",
        ]
    );
    assert!(eval.has_image);
}

#[test]
fn packages_of_the_tests_are_in_the_image() {
    let with = |dockerfile: &str, script: &str| {
        imported(&[
            ("task.toml", "version = \"1.0\"\n"),
            ("instruction.md", "Write /app/out.txt."),
            ("environment/Dockerfile", dockerfile),
            ("tests/test.sh", script),
        ])
        .unwrap()
    };
    let script = "apt-get update\napt-get install -y curl\necho 1 > /logs/verifier/reward.txt\n";
    let eval = with("FROM debian\nWORKDIR /app\nRUN make\n", script);
    assert_eq!(lost(&eval), NONE);
    let dockerfile = text(&eval, "_image/Dockerfile").unwrap();
    assert!(
        dockerfile.ends_with("RUN make\n# For the tests, which cannot install it.\nRUN apt-get update && apt-get install -y curl\n"),
        "{dockerfile}"
    );
    let runner = text(&eval, "_tests/.harbor/run-tests.sh").unwrap();
    assert!(runner.contains("for name in apt apt-get; do\n"), "{runner}");
    for (dockerfile, script, words) in [
        (
            "FROM debian\nRUN make\n", "apt-get install -y $MORE\n", "apt-get",
        ),
        ("FROM debian\nRUN make\nUSER me\n", script, "apt-get"),
        ("FROM debian\n", script, "apt-get"),
        (
            "FROM debian\nRUN make\n",
            "apt-get install -y nginx\nservice nginx start # reward\n",
            "service",
        ),
    ] {
        let eval = with(dockerfile, script);
        let loss = format!("tests/test.sh runs {words}, ");
        assert!(
            lost(&eval).iter().any(|lost| lost.starts_with(&loss)),
            "{:?}",
            lost(&eval)
        );
    }
}

#[test]
fn plain_variables_need_no_image() {
    let eval = with_dockerfile("FROM debian\nARG X\nENV A=1 B=\"two\"\nENV C three words\n");
    assert!(!eval.has_image);
    let yaml = text(&eval, "eval.terca.yaml").unwrap();
    let env = r#"env: { "A": "1", "B": "two", "C": "three words", "MODE": "fast" }"#;
    assert!(yaml.contains(env), "{yaml}");
}

#[test]
fn a_command_of_the_build_is_needed_where_it_leaves_something() {
    let places = Places::new(None);
    for (line, is_harmless) in [
        (
            "apt-get update && apt-get install -y --no-install-recommends curl && rm -rf /var/lib/apt/lists/*",
            false,
        ),
        (
            "--mount=type=cache,target=/root/.cache pip3 install numpy",
            false,
        ),
        ("printf 'a,b' > /app/data/in.csv", false),
        ("git clone https://example.com/x /app/x", false),
        ("<<EOF", false),
        ("mkdir -p /app/out", false),
        ("mkdir -p /app /logs/verifier", true),
        ("apt-get update", true),
        ("git config --global user.name me", true),
    ] {
        let found = build_commands::is_harmless(line, |path| places.has_directory(path));
        assert_eq!(found, is_harmless, "{line}");
    }
}

#[test]
fn a_summary_counts_evals_by_what_they_lack() {
    let lost = |loss| Note::lost(loss, "x");
    let whole = [Note::change("x")];
    let both = [lost(Loss::Files), lost(Loss::Files), lost(Loss::Packages)];
    let packages = [lost(Loss::Packages)];
    assert_eq!(summary(&[&whole]), "1 eval imported");
    assert_eq!(
        summary(&[&whole, &both, &packages]),
        "3 evals imported: 1 lost files, 2 need packages; 2 are incomplete and do not run until they are completed"
    );
    assert_eq!(
        summary(&[&packages]),
        "1 eval imported: 1 needs packages; 1 is incomplete and does not run until it is completed"
    );
}
