//! The files of a new suite, and of a new eval.

use camino::{Utf8Component, Utf8Path};

use super::yaml_scalar::scalar;
use super::{EVAL_SCHEMA, NewFile, SCHEMAS, SUITE_SCHEMA, Sample, editor_line, templates};
use crate::agent::{AgentRef, Profile};
use crate::config::{folder_name, schema};

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

/// Returns the files of a new eval. Without schemas in the suite there is no line for editors.
pub fn eval(dir: &Utf8Path, sample: Sample, has_schemas: bool) -> Vec<NewFile> {
    let template = match sample {
        Sample::Example => templates::EXAMPLE,
        Sample::Small => templates::SMALL,
    };
    template.written(dir, has_schemas, &str::to_owned)
}

/// Returns why no eval would be found in a directory of this name, if that is so.
pub fn eval_name_problem(name: &str) -> Option<String> {
    let path = Utf8Path::new(name);
    if name.trim().is_empty() {
        return Some("the name is empty".into());
    }
    for component in path.components() {
        let Utf8Component::Normal(part) = component else {
            return Some(format!("`{name}` is not a path inside the suite"));
        };
        if part.starts_with(['.', '_']) || part == "node_modules" {
            return Some(format!(
                "evals are not looked for in `{part}`, nor anywhere below a name that begins with `_` or `.`"
            ));
        }
        if folder_name(part) != part || part.trim() != part {
            return Some(format!(
                "`{}` cannot be a directory's name everywhere",
                part.escape_debug()
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::eval_name_problem;

    #[test]
    fn names_under_which_an_eval_is_found() {
        for good in ["fib", "001-fib", "group/fib", "two words", "größe"] {
            assert_eq!(eval_name_problem(good), None, "{good}");
        }
        for bad in [
            "", " ", "_base", ".hidden", "a/_tests", "../up", "/abs", "node_modules", "a\nb",
            "./x", "x ",
        ] {
            assert!(eval_name_problem(bad).is_some(), "{bad}");
        }
    }
}
