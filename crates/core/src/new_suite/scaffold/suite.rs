//! The files of a new suite, and of a new eval.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::for_library::{all_can, scalar};
use super::library::{Language, Runner};
use super::templates::About;
use super::{EVAL_SCHEMA, NewFile, SCHEMAS, SUITE_SCHEMA, editor_line, for_library, templates};
use crate::agent::{AgentRef, Profile};
use crate::config::{folder_name, schema};

/// The rules that are made.
pub(super) const NEW_RULES: &str = "rules/AGENTS.md";

/// The wishes for a suite.
#[derive(Debug, Clone)]
pub struct NewSuite {
    /// The suite's directory. One about a library is the library's or below it.
    pub dir: Utf8PathBuf,
    /// The agents, one environment each.
    pub agents: Vec<AgentRef>,
    /// The directory of the first eval, if it has another name than usual.
    pub eval: Option<String>,
    /// The subject of its evals.
    pub about: About,
}

impl NewSuite {
    /// Returns all files of the suite.
    pub fn files(&self) -> Vec<NewFile> {
        let mut files = vec![NewFile::new("terca.yaml", self.suite_file())];
        files.extend(schemas());
        let all = templates::of(&self.about);
        let fill = |text: &str| self.filled(text);
        files.extend(templates::written(all, "_base", "_base", fill));
        if let Some(path) = self.new_rules() {
            let text = match self.about {
                About::Library(_) => include_str!("templates/library-rules.md"),
                _ => include_str!("templates/example/rules/AGENTS.md"),
            };
            files.push(NewFile::new(path, self.filled(text)));
        }
        for (index, name) in templates::evals(all).enumerate() {
            let dir = match &self.eval {
                Some(eval) if index == 0 => eval.clone(),
                // The first eval may have the usual name of the second.
                Some(eval) if eval.split('/').any(|part| part == name) => {
                    name.replacen("002", "003", 1)
                }
                _ => name.to_owned(),
            };
            files.extend(self.made(all, name, &dir, true));
        }
        if let About::Library(library) = &self.about
            && library.rule.is_some()
            && all_can(&self.agents, |can| can.rules)
            && self.eval.as_deref() != Some("003-rule")
        {
            files.extend(self.made(templates::rule(library.language), "rule", "003-rule", true));
        }
        files
    }

    /// Returns the files of an eval from templates. A suite without schemas has no line for editors.
    fn made(
        &self,
        all: templates::Files,
        like: &str,
        dir: &str,
        has_schemas: bool,
    ) -> Vec<NewFile> {
        let mut files = templates::written(all, like, dir, |text| self.filled(text));
        if let Some(first) = files.first_mut().filter(|_| has_schemas) {
            first.content = editor_line(&first.path, EVAL_SCHEMA) + &first.content;
        }
        let runner = match &self.about {
            About::Library(library) if like != "rule" => library.runner,
            _ => return files,
        };
        let (name, settings) = match runner {
            Runner::Vitest => (
                "vitest.config.mjs",
                include_str!("templates/node/vitest.config.mjs"),
            ),
            Runner::Jest => (
                "jest.config.json",
                include_str!("templates/node/jest.config.json"),
            ),
            _ => return files,
        };
        for file in files.iter_mut().filter(|_| runner == Runner::Jest) {
            file.path = file.path.as_str().replace(".test.mjs", ".test.cjs").into();
        }
        let path = Utf8Path::new(dir).join("_tests/hidden").join(name);
        files.push(NewFile::new(path, settings));
        files
    }

    /// Returns the files of one more eval: like the first, and named after it.
    pub fn one_more(&self, dir: &str, has_schemas: bool) -> Vec<NewFile> {
        let like = self.about.usual_eval();
        let stem = |name: &str| {
            name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
                .to_owned()
        };
        let name = Utf8Path::new(dir).file_name().unwrap_or(dir);
        let own = match stem(name).replace([' ', '.'], "-") {
            own if own.is_empty() => "task".to_owned(),
            own if self.is_in(Language::Python) => own.replace('-', "_"),
            own => own,
        };
        let (old, new) = (format!("{}.", stem(like)), format!("{own}."));
        let mut files = self.made(templates::of(&self.about), like, dir, has_schemas);
        for file in &mut files {
            if let Ok(below) = file.path.strip_prefix(dir) {
                file.path = Utf8Path::new(dir).join(below.as_str().replace(&old, &new));
            }
            file.content = file.content.replace(&old, &new);
        }
        files
    }

    fn is_in(&self, language: Language) -> bool {
        matches!(&self.about, About::Library(library) if library.language == language)
    }

    /// Returns the new file with rules, if the suite has one.
    pub fn new_rules(&self) -> Option<&'static str> {
        let is_needed = match &self.about {
            About::Library(library) => library.guidance.rules.is_empty(),
            About::Example => true,
            About::Small => false,
        };
        (is_needed && all_can(&self.agents, |can| can.rules)).then_some(NEW_RULES)
    }

    /// Fills in the words between `@` that are the same in all files.
    fn filled(&self, text: &str) -> String {
        match &self.about {
            About::Library(library) => for_library::filled(text, library, &self.dir),
            _ => text.to_owned(),
        }
    }

    fn suite_file(&self) -> String {
        let name = self.dir.file_name().unwrap_or("evals");
        let environments = self.agents.iter().map(|agent| environment(agent.profile()));
        let text = match &self.about {
            About::Library(library) => include_str!("templates/library.yaml")
                .replace("@title@", &library.title())
                .replace("@prepare@\n", &for_library::prepare(library, &self.dir))
                .replace("@fetching@\n", &for_library::fetching(library))
                .replace(
                    "@experiments@\n",
                    &for_library::experiments(library, &self.dir, &self.agents, self.new_rules()),
                ),
            about => include_str!("templates/suite.yaml").replace(
                "@experiments@\n",
                match about {
                    About::Small => include_str!("templates/small/experiments.yaml"),
                    _ if self.new_rules().is_some() => {
                        include_str!("templates/example/rules.yaml")
                    }
                    _ => include_str!("templates/example/preamble.yaml"),
                },
            ),
        };
        let text = text
            .replace("@name@", &scalar(name))
            .replace("@environments@\n", &environments.collect::<String>());
        editor_line(Utf8Path::new("terca.yaml"), SUITE_SCHEMA) + &text
    }
}

/// Returns the schemas, for editors.
pub(crate) fn schemas() -> [NewFile; 2] {
    let dir = Utf8Path::new(SCHEMAS);
    [
        NewFile::new(dir.join(SUITE_SCHEMA), schema::text(&schema::suite())),
        NewFile::new(dir.join(EVAL_SCHEMA), schema::text(&schema::eval())),
    ]
}

fn environment(profile: &Profile) -> String {
    let name = profile.name;
    if profile.is_built_in() {
        let note = format!(
            "    # `{name}` is built in: replace it with an agent (`terca doctor` lists them)\n"
        );
        return format!("  - name: {name}\n{note}    agent: {name}\n");
    }
    let mut text = format!("  - name: {name}\n    agent: {name}\n");
    if profile.capabilities.model {
        let model = match name {
            "claude-code" => "claude-sonnet-4-5",
            "codex" => "gpt-5-codex",
            "gemini-cli" => "gemini-2.5-pro",
            _ => "provider/model",
        };
        text += &format!("    # model: {model}   # a name that the agent knows\n");
    }
    text
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
