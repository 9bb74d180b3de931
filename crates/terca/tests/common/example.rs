//! The examples that stand in the repository.

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Project;

use crate::common::project;

pub fn examples() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A copy of an example, without the runs that somebody may have made in it.
pub fn example(name: &str) -> Project {
    let project = project();
    let from = examples().join(name).join(".");
    let output = std::process::Command::new("cp")
        .args(["-a", from.as_str(), project.dir().as_str()])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let _ = std::fs::remove_dir_all(project.path(".terca"));
    project
}

/// The commands in the blocks of a README, without their comments.
fn commands(readme: &str) -> Vec<String> {
    let blocks = readme
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let lines = blocks
        .flat_map(str::lines)
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| line.split(' ').next() == Some("terca"))
        .map(str::to_owned)
        .collect()
}

/// Runs what a README has its reader type, at nobody's expense: agents are replaced by the solutions, and one eval is
/// enough.
pub fn run_commands_of_readme(name: &str, suite: &str, eval: &str, least: usize) {
    let project = example(suite);
    let readme = std::fs::read_to_string(examples().join(name).join("README.md")).unwrap();
    let commands = commands(&readme);
    assert!(commands.len() >= least, "{name}: {commands:?}");
    for command in commands {
        let mut args: Vec<&str> = command
            .split(' ')
            .skip(1)
            .filter(|word| !word.is_empty())
            .collect();
        if args.first().is_none_or(|first| first.starts_with('-')) {
            // A command that says what share must pass has an agent of its own that can do it.
            let has_agent = args.contains(&"--fail-under");
            for (flag, value) in [("--agent", "oracle"), ("-n", "1"), ("-t", eval)] {
                let is_there = args.contains(&flag) || (has_agent && flag == "--agent");
                if !is_there {
                    args.extend([flag, value]);
                }
            }
        }
        let outcome = project.terca(&args);
        // The oracle, in the place of agents that are not here, says nothing about experiments.
        if args[..] == ["compare"] && outcome.stderr.contains("check evals") {
            continue;
        }
        assert_eq!(
            outcome.status, 0,
            "{name}: {command}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
}
