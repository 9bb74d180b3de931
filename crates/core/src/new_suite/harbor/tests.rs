use std::collections::BTreeMap;

use super::*;

/// A task of files and their texts, imported.
fn imported(files: &[(&str, &str)]) -> Result<Imported, String> {
    let texts: BTreeMap<Utf8PathBuf, String> = files
        .iter()
        .map(|(path, text)| (Utf8PathBuf::from(*path), (*text).to_owned()))
        .collect();
    let names: Vec<Utf8PathBuf> = texts.keys().cloned().collect();
    let text = |path: &Utf8Path| texts.get(path).cloned();
    import(&Task {
        name: "hello",
        files: &names,
        links: &["tests/link".into()],
        text: &text,
    })
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
