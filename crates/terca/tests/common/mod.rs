//! What the tests of the program share.

pub mod caches;
pub mod completion;
pub mod endings;
pub mod example;
pub mod gallery;
pub mod history;
pub mod hostile_tree;
pub mod layouts;
pub mod libraries;
pub mod mcp;
pub mod proof;
pub mod sandboxes;
pub mod viewer;
pub mod work_command;

use camino::Utf8Path;
use serde_json::Value;
use terca_core::run::seal::digest;
use terca_testkit::Project;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_terca");

/// An empty project for the program under test.
pub fn project() -> Project {
    Project::new(PROGRAM)
}

/// Changes the events of a run and computes the whole chain again, as somebody who sends a run could.
pub fn forge(dir: &Utf8Path, change: impl FnOnce(&mut Vec<Value>)) {
    let path = dir.join("events.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    change(&mut events);
    let plan = digest(&std::fs::read(dir.join("run.json")).unwrap_or_default());
    let mut chain = digest(b"");
    let mut lines = String::new();
    for (mut event, number) in events.into_iter().zip(0..) {
        let fields = event.as_object_mut().unwrap();
        fields.remove("chain");
        fields.remove("runFile");
        let mut line = event.to_string();
        line.pop();
        if number == 0 {
            line += &format!(",\"runFile\":\"{plan}\"");
        }
        chain = digest(format!("{chain}{line}").as_bytes());
        lines += &format!("{line},\"chain\":\"{chain}\"}}\n");
    }
    std::fs::write(path, lines).unwrap();
    let _ = std::fs::remove_file(dir.join("results.json"));
}

/// The name of a test says whether plain `cargo test` runs it, and `scripts/test` knows every need.
#[test]
fn tests_that_are_ignored_have_a_name_that_says_so() {
    let list = |chosen: &[&str]| {
        let program = std::env::current_exe().unwrap();
        let output = std::process::Command::new(program)
            .args(["--list", "--format", "terse"])
            .args(chosen)
            .output()
            .unwrap();
        let list = String::from_utf8(output.stdout).unwrap();
        list.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let is_special = |module: &&str| module.starts_with("needs_") || *module == "thorough";
    let mut special = list(&[]);
    special.retain(|test| test.split("::").any(|module| is_special(&module)));
    assert_eq!(special, list(&["--ignored"]));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/test");
    let script = std::fs::read_to_string(script).unwrap();
    for module in special.iter().flat_map(|test| test.split("::")) {
        assert!(!is_special(&module) || script.contains(module), "{module}");
    }
}
