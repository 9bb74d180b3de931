//! The files of a new suite.

use camino::Utf8Path;

use super::yaml_scalar::scalar;
use super::{EVAL_SCHEMA, NewFile, SCHEMAS, SUITE_SCHEMA, Sample, editor_line, eval};
use crate::agent::{AgentRef, Profile};
use crate::config::schema;

/// The wishes for a new suite.
#[derive(Debug, Clone)]
pub struct NewSuite {
    /// The suite's name.
    pub name: String,
    /// The agents, one environment each.
    pub agents: Vec<AgentRef>,
    /// The directory of the first eval.
    pub eval: String,
    /// The first eval.
    pub sample: Sample,
}

/// Returns the files of a new suite.
pub fn suite(new: &NewSuite) -> Vec<NewFile> {
    let mut files = vec![NewFile::new("terca.yaml", suite_file(new))];
    files.extend(schemas());
    if new.sample == Sample::Example {
        files.push(NewFile::new(
            "_base/README.md",
            include_str!("templates/example/README.md"),
        ));
        if all_take_rules(&new.agents) {
            files.push(NewFile::new(
                "rules/AGENTS.md",
                include_str!("templates/example/AGENTS.md"),
            ));
        }
    }
    files.extend(eval(Utf8Path::new(&new.eval), new.sample, true));
    files
}

/// Returns the schemas, for editors.
pub(crate) fn schemas() -> [NewFile; 2] {
    let dir = Utf8Path::new(SCHEMAS);
    [
        NewFile::new(dir.join(SUITE_SCHEMA), schema::text(&schema::suite())),
        NewFile::new(dir.join(EVAL_SCHEMA), schema::text(&schema::eval())),
    ]
}

fn suite_file(new: &NewSuite) -> String {
    let text = include_str!("templates/suite.yaml")
        .replace("@name@", &scalar(&new.name))
        .replace("@environments@\n", &environments(&new.agents))
        .replace("@experiments@\n", experiments(new));
    format!(
        "{}{text}",
        editor_line(Utf8Path::new("terca.yaml"), SUITE_SCHEMA)
    )
}

pub(super) fn environments(agents: &[AgentRef]) -> String {
    agents
        .iter()
        .map(|agent| environment(agent.profile()))
        .collect()
}

fn environment(profile: &Profile) -> String {
    let name = profile.name;
    if profile.is_built_in() {
        let note = format!(
            "    # `{name}` is built in: replace it by an agent (`terca doctor` lists them)\n"
        );
        return format!("  - name: {name}\n{note}    agent: {name}\n");
    }
    let model = match name {
        _ if !profile.capabilities.model => String::new(),
        "claude-code" => commented_model("claude-sonnet-4-5"),
        "codex" => commented_model("gpt-5-codex"),
        "gemini-cli" => commented_model("gemini-2.5-pro"),
        _ => commented_model("provider/model"),
    };
    format!("  - name: {name}\n    agent: {name}\n{model}")
}

fn commented_model(model: &str) -> String {
    format!("    # model: {model}   # a name that the agent knows\n")
}

/// Returns two experiments to compare, or a comment on how to write some.
fn experiments(new: &NewSuite) -> &'static str {
    match new.sample {
        Sample::Example if all_take_rules(&new.agents) => {
            include_str!("templates/example/rules.yaml")
        }
        Sample::Example => include_str!("templates/example/preamble.yaml"),
        Sample::Small => include_str!("templates/small/experiments.yaml"),
    }
}

/// Returns whether all agents take rules; a new suite must not contain an error.
pub(super) fn all_take_rules(agents: &[AgentRef]) -> bool {
    agents
        .iter()
        .all(|agent| agent.profile().capabilities.rules)
}
