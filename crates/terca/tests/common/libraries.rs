//! Copies of real libraries, which are vendored beside the tests.

use camino::Utf8Path;
use terca_testkit::{Project, write_program};

use crate::common::project;

/// A copy of a vendored library, as it is in a repository.
pub fn library(name: &str) -> Project {
    let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/libraries")
        .join(name);
    let mut project = project().directory(".git");
    let mut unseen = vec![from.clone()];
    while let Some(dir) = unseen.pop() {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                unseen.push(path.to_owned());
            } else {
                let text = std::fs::read_to_string(path).unwrap();
                project = project.file(path.strip_prefix(&from).unwrap().as_str(), text);
            }
        }
    }
    project
}

/// A small crate, and the Cargo that builds these tests: the home of a test has no settings of rustup.
pub fn crate_in_rust() -> Project {
    let manifest = "[package]\nname = \"tiny-add\"\nversion = \"0.3.1\"\nedition = \"2021\"\n";
    let source = "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
    let tools = Utf8Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    project()
        .env("PATH", &format!("{tools}:{path}"))
        .file("Cargo.toml", manifest)
        .file("src/lib.rs", source)
}

/// A small module.
pub fn module_in_go() -> Project {
    project()
        .file("go.mod", "module example.com/tiny\n\ngo 1.21\n")
        .file("tiny.go", "package tiny\n")
}

/// An agent that reads the rules: with them it does what the solutions do, without them it prints one word.
const AGENT: &str = r#"#!/bin/sh
for work in exports kinds; do
  grep -q "Write $work.@END@" "$TERCA_PROMPT_FILE" || continue
  if [ -f AGENTS.md ]; then
    cp "@SUITE@"/*/_solution/"$work.@END@" .
  else
    echo '@WRONG@' > "$work.@END@"
  fi
done
"#;

/// Puts a scripted agent into a new suite in `evals`, in place of the built-in one. `end` is the end of its files' names.
pub fn script_the_agent(project: &Project, end: &str) {
    let wrong = match end {
        "py" => "print(\"nothing\")",
        _ => "console.log(\"nothing\")",
    };
    let suite = project.path("evals");
    let script = AGENT
        .replace("@END@", end)
        .replace("@SUITE@", suite.as_str())
        .replace("@WRONG@", wrong);
    let path = suite.join("agent.sh");
    write_program(&path, &script);
    let text = std::fs::read_to_string(suite.join("terca.yaml")).unwrap();
    let scripted = text.replace(
        "    agent: oracle\n",
        "    agent: { name: command, command: ./agent.sh }\n",
    );
    let scripted = scripted.replace("  - name: oracle\n", "  - name: scripted\n");
    assert_ne!(scripted, text);
    std::fs::write(suite.join("terca.yaml"), scripted).unwrap();
}
