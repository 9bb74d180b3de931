//! What `terca validate` says of an eval.

use serde_json::Value;
use terca_testkit::{Outcome, Project};

/// The verdict of an eval without a flaw.
pub const SOUND: &str = "withstood 17 tricks";

/// The cells of an eval's line in the table.
pub fn row(outcome: &Outcome, eval: &str) -> Vec<String> {
    let line = outcome
        .stdout
        .lines()
        .find(|line| line.starts_with(&format!("{eval} ")));
    let line =
        line.unwrap_or_else(|| panic!("no line for {eval}:\n{}{}", outcome.stdout, outcome.stderr));
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The lines about the tricks that an eval falls to.
pub fn falls(outcome: &Outcome, eval: &str) -> Vec<String> {
    let lines = outcome.stdout.lines();
    let mut after = lines.skip_while(|line| !line.starts_with(&format!("{eval} is gameable: ")));
    let is_told = after.next().is_some();
    let told = after.take_while(|line| is_told && line.starts_with("  "));
    told.map(|line| line.trim().to_owned()).collect()
}

pub fn trial(project: &Project, eval: &str, agent: &str) -> Value {
    let results = project.results();
    let of = |trial: &&Value| trial["eval"] == eval && trial["environment"] == agent;
    results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .find(of)
        .cloned()
        .unwrap_or(Value::Null)
}
