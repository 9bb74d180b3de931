use std::collections::BTreeMap;

use super::*;
use crate::new_suite::imported::{Loss, summary};

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

/// Returns the files that a Dockerfile copies, and what is lost.
fn with_dockerfile(dockerfile: &str) -> (Vec<String>, Vec<String>) {
    let eval = imported(&[
        ("task.toml", ""),
        ("instruction.md", "Do it"),
        ("environment/Dockerfile", dockerfile),
        ("environment/workspace/src/main.py", ""),
        ("environment/workspace/run.sh", ""),
        ("assets/logo.png", ""),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt"),
        ("solution/solve.sh", "true"),
    ])
    .unwrap();
    let copied = eval
        .copied
        .iter()
        .filter_map(|(_, to)| Some(to.strip_prefix("_base").ok()?.to_string()));
    let lost = eval.notes.iter().filter(|note| note.loss.is_some());
    let lost = lost.map(|note| note.text.clone());
    let is_link = |text: &String| text.starts_with("tests/link");
    (
        copied.collect(),
        lost.filter(|text| !is_link(text)).collect(),
    )
}

#[test]
fn a_dockerfile_copies_from_the_environment_or_from_the_task() {
    let none: [&str; 0] = [];
    for (line, copied) in [
        (
            "COPY environment/workspace/. /app/workspace",
            &["workspace/run.sh", "workspace/src/main.py"][..],
        ),
        ("COPY workspace/run.sh .", &["run.sh"]),
        ("COPY ./workspace/ ./", &["run.sh", "src/main.py"]),
        ("COPY assets /app/static", &["static/logo.png"]),
        ("COPY . .", &["workspace/run.sh", "workspace/src/main.py"]),
        ("COPY tests /tests", &[]),
    ] {
        let (found, lost) = with_dockerfile(&format!("FROM debian\nWORKDIR /app\n{line}\n"));
        assert_eq!(found, copied, "{line}");
        assert_eq!(lost, none, "{line}");
    }
    let (copied, lost) = with_dockerfile("FROM debian\nCOPY lecture.mp4 /app/\n");
    assert_eq!(copied, none);
    assert_eq!(
        lost,
        [
            "environment/Dockerfile, line 2: COPY lecture.mp4 /app/: there is no such file in the task"
        ]
    );
}

#[test]
fn a_command_of_the_build_is_a_loss_where_it_leaves_something() {
    use Loss::{Commands, Packages};
    let places = Places::new(None);
    for (line, losses) in [
        (
            "apt-get update && apt-get install -y --no-install-recommends curl && rm -rf /var/lib/apt/lists/*",
            &[Packages][..],
        ),
        (
            "--mount=type=cache,target=/root/.cache pip3 install numpy",
            &[Packages],
        ),
        (
            "DEBIAN_FRONTEND=noninteractive apt-get -qq install ffmpeg",
            &[Packages],
        ),
        ("python3 -m pip install -r requirements.txt", &[Packages]),
        ("npm ci", &[Packages]),
        ("printf 'a,b' > /app/data/in.csv", &[Commands]),
        (
            "pip install x && python make_data.py",
            &[Packages, Commands],
        ),
        ("git clone https://example.com/x /app/x", &[Commands]),
        ("<<EOF", &[Commands]),
        ("mkdir -p /app/out", &[Commands]),
        ("mkdir -p /app /logs/verifier", &[]),
        ("apt-get update", &[]),
        ("git config --global user.name me", &[]),
    ] {
        let found = Vec::from_iter(build_commands::losses(line, |path| {
            places.has_directory(path)
        }));
        assert_eq!(found, losses, "{line}");
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
