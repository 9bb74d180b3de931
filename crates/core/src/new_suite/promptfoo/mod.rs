//! Imports suites of promptfoo whose providers are coding agents: each test becomes an eval, once for each prompt.
//!
//! ```text
//! promptfooconfig.yaml              test-1/
//!   prompts, vars              ─►     prompt.md          with the variables filled in
//!   providers: working_dir            _base/
//!   tests, defaultTest: assert        eval.terca.yaml    tests
//! ```

use camino::{Utf8Path, Utf8PathBuf};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::imported::suite::{Case, Suite, items, judged, said};
use super::imported::{self, Loss, Note, Task};
use crate::agent;
use crate::reader::paths::inside;
use crate::text::json::{merge, with_texts};
use crate::text::prose;

/// Beginnings of the providers that are coding agents.
const AGENTS: [&str; 4] = [
    "anthropic:claude-agent-sdk", "anthropic:claude-code", "openai:codex", "opencode",
];

/// Settings of an agent without which a case is not the same.
const NEEDED: [(&str, Loss); 8] = [
    ("mcp", Loss::Services),
    ("mcp_servers", Loss::Services),
    ("plugins", Loss::Files),
    ("additional_directories", Loss::Files),
    ("ask_user_question", Loss::Tests),
    ("output_format", Loss::Tests),
    ("output_schema", Loss::Tests),
    ("persist_threads", Loss::Tests),
];

/// The refusal of a suite in which nobody works on files.
const NO_AGENT: &str = "none of its providers is a coding agent (such as anthropic:claude-agent-sdk, openai:codex-sdk, \
                        opencode:sdk, or `exec:` with an agent's program), so nobody works on files";

/// Keys of a suite, and of a test, that are used or change nothing.
const KNOWN: [&str; 9] = [
    "description", "prompts", "providers", "targets", "tests", "defaultTest", "tags", "extensions",
    "evaluateOptions",
];
const KNOWN_OF_TEST: [&str; 5] = ["description", "vars", "assert", "options", "metadata"];

/// Tells whether a file is a suite, by its name.
pub fn is_suite(file: &Utf8Path) -> bool {
    matches!(file.extension(), Some("yaml" | "yml" | "json"))
        && file
            .file_name()
            .is_some_and(|name| name.starts_with("promptfooconfig"))
}

/// Turns the tests of a suite's file into evals, or says why that is impossible.
pub fn import(task: &Task<'_>, file: &Utf8Path) -> Result<Suite, String> {
    let document = imported::yaml(&(task.text)(file).ok_or("it cannot be read")?)?;
    let source = Source { task, file };
    let providers = [items(&document["providers"]), items(&document["targets"])].concat();
    let agents: Vec<&Value> = providers.iter().filter(|one| is_agent(id(one))).collect();
    if agents.is_empty() {
        return Err(NO_AGENT.into());
    }
    let tests = source.tests(&document["tests"])?;
    if tests.is_empty() && document["redteam"].is_object() {
        return Err("promptfoo makes its tests when it runs (`redteam`)".into());
    }
    let prompts = source.prompts(&document["prompts"])?;
    let mut suite = Suite::default();
    let mut templates = Vec::new();
    for (number, test) in tests
        .iter()
        .chain(tests.is_empty().then_some(&Value::Null))
        .enumerate()
    {
        for vars in source.variables(&document["defaultTest"], test) {
            for prompt in &prompts {
                let name = test["description"].as_str();
                let name = name.map_or_else(|| format!("test {}", number + 1), str::to_owned);
                match render(prompt, &vars) {
                    None => templates.push(name),
                    Some(prompt) => {
                        let case = source.case(&document, &agents, test, &vars);
                        suite.push(case.eval(&name, prompt));
                    }
                }
            }
        }
    }
    if !templates.is_empty() {
        suite.complaints.push(format!(
            "the prompt of {} has a template with more than the names of variables",
            prose::few(&templates, 3)
        ));
    }
    Ok(suite)
}

/// Returns the name of a provider.
fn id(provider: &Value) -> &str {
    let first = provider.as_object().and_then(|map| map.keys().next());
    let id = provider.as_str().or(provider["id"].as_str());
    id.or(first.map(String::as_str)).unwrap_or_default()
}

/// Tells whether a provider is a coding agent, or a command that starts one.
fn is_agent(id: &str) -> bool {
    let starts = |command: &str| {
        let mut programs = agent::profiles().filter_map(|agent| agent.program);
        programs.any(|program| command.split_whitespace().any(|word| word == program))
    };
    AGENTS.iter().any(|agent| id.starts_with(agent)) || id.strip_prefix("exec:").is_some_and(starts)
}

/// A suite's file, with the files that it names.
struct Source<'a> {
    task: &'a Task<'a>,
    file: &'a Utf8Path,
}

impl<'a> Source<'a> {
    /// Returns the place of a file that the suite names.
    fn path(&self, name: &str) -> Option<Utf8PathBuf> {
        let name = name.strip_prefix("file://").unwrap_or(name);
        inside(self.file.parent()?.join(name).as_str()).ok()
    }

    /// Returns the text of a file that the suite names. Code would have to be run.
    fn text(&self, name: &str) -> Option<String> {
        let path = self.path(name)?;
        let is_code = matches!(
            path.extension(),
            Some("js" | "cjs" | "mjs" | "ts" | "py" | "rb")
        );
        (self.task.text)(&path).filter(|_| !is_code)
    }

    /// Returns the tests, also those in other files.
    fn tests(&self, value: &Value) -> Result<Vec<Value>, String> {
        let mut tests = Vec::new();
        for item in items(value) {
            let Some(name) = item.as_str() else {
                tests.push(item.clone());
                continue;
            };
            let unread =
                || format!("tests: {name} is not read; Terca reads tests in YAML and JSON");
            let glob = self.path(name).ok_or_else(unread)?;
            let glob = globset::Glob::new(glob.as_str())
                .map_err(|_| unread())?
                .compile_matcher();
            let files = self.task.files.iter().filter(|file| glob.is_match(file));
            let files: Vec<_> = files.collect();
            if files.is_empty() {
                return Err(format!("tests: {name} is missing"));
            }
            for file in files {
                let text = (self.task.text)(file).filter(|_| file.extension() != Some("csv"));
                let more = imported::yaml(&text.ok_or_else(unread)?);
                tests.extend(items(&more.map_err(|_| unread())?).iter().cloned());
            }
        }
        Ok(tests)
    }

    /// Returns the texts of the prompts.
    fn prompts(&self, value: &Value) -> Result<Vec<String>, String> {
        let mut prompts = Vec::new();
        for item in items(value) {
            let named = item["raw"].as_str().or(item["id"].as_str());
            let text = item.as_str().or(named).unwrap_or_default();
            // A prompt in JSON is a conversation, or for one agent alone.
            match self.text(text).filter(|_| !text.ends_with(".json")) {
                Some(text) => prompts.push(text),
                None if text.is_empty() || text.starts_with("file://") => {
                    return Err(format!(
                        "the prompt {text} is not plain text, or is missing"
                    ));
                }
                None => prompts.push(text.to_owned()),
            }
        }
        match prompts.is_empty() {
            true => Err("it has no `prompts`".into()),
            false => Ok(prompts),
        }
    }

    /// Returns the variables of a test: once for each value, where one has a list of values.
    fn variables(&self, default: &Value, test: &Value) -> Vec<Value> {
        let mut vars = json!({});
        for more in [&default["vars"], &test["vars"]] {
            if more.is_object() {
                merge(&mut vars, more);
            }
        }
        let vars = with_texts(vars, &|text| match text.starts_with("file://") {
            true => self.text(text).unwrap_or_else(|| text.to_owned()),
            false => text.to_owned(),
        });
        let is_one = [default, test]
            .iter()
            .any(|test| test["options"]["disableVarExpansion"] == true);
        let mut all = vec![vars.clone()];
        for (name, value) in vars.as_object().into_iter().flatten() {
            if let (Some(values), false) = (value.as_array(), is_one) {
                let with = |vars: &Value, value: &Value| {
                    let mut vars = vars.clone();
                    vars[name] = value.clone();
                    vars
                };
                let each = |vars: Value| {
                    values
                        .iter()
                        .map(|value| with(&vars, value))
                        .collect::<Vec<_>>()
                };
                all = all.into_iter().flat_map(each).collect();
            }
        }
        all
    }

    /// Returns the case of a test.
    fn case(&self, document: &Value, agents: &[&Value], test: &Value, vars: &Value) -> Case<'a> {
        let mut case = Case::new(self.task, self.file, "promptfoo");
        let default = &document["defaultTest"];
        case.description = document["description"].as_str().map(str::to_owned);
        let of_agent = |key: &str| {
            agents
                .iter()
                .map(|one| one["config"][key].clone())
                .collect::<Vec<_>>()
        };
        let dirs = of_agent("working_dir");
        if let Some(dir) = dirs.iter().find_map(Value::as_str) {
            case.copy(render(dir, vars).as_deref().unwrap_or(dir), ".");
            if dirs.iter().any(|other| other != dir) {
                let text = format!("working_dir: providers have different ones; {dir} is taken");
                case.notes.push(Note::lost(Loss::Files, text));
            }
        }
        for (key, loss) in NEEDED {
            if of_agent(key)
                .iter()
                .any(|value| !value.is_null() && *value != false)
            {
                let text = format!("providers: `{key}` of an agent is not carried over");
                case.notes.push(Note::lost(loss, text));
            }
        }
        case.notes.push(Note::change(format!(
            "providers ({}): agents and models belong to environments in terca.yaml",
            prose::few(agents.iter().map(|agent| id(agent)), 3)
        )));
        if document["extensions"].is_array() {
            let text = "extensions: promptfoo runs code before and after its tests";
            case.notes.push(Note::lost(Loss::Files, text));
        }
        let repeat = &document["evaluateOptions"]["repeat"];
        if repeat.as_u64().is_some_and(|times| times > 1) {
            case.limits.push(("repetitions", repeat.clone()));
        }
        for options in [&default["options"], &test["options"]] {
            if options
                .get("transform")
                .or(options.get("postprocess"))
                .is_some()
            {
                case.ask("options.transform", None, &Value::Null);
            }
        }
        if test["options"]["disableDefaultAsserts"] != true {
            self.assert(&mut case, &default["assert"], vars);
        }
        self.assert(&mut case, &test["assert"], vars);
        case.notes
            .extend(imported::unused("the suite", document, &KNOWN));
        case.notes
            .extend(imported::unused("the test", test, &KNOWN_OF_TEST));
        case
    }

    fn assert(&self, case: &mut Case<'_>, assertions: &Value, vars: &Value) {
        for assertion in items(assertions) {
            let kind = assertion["type"].as_str().unwrap_or_default();
            if kind == "assert-set" && assertion["threshold"].is_null() {
                self.assert(case, &assertion["assert"], vars);
                continue;
            }
            let text = |value: &Value| {
                let text = value
                    .as_str()
                    .map(str::to_owned)
                    .or_else(|| value.as_f64().map(|_| value.to_string()))?;
                match text.starts_with("file://") {
                    true => self.text(&text),
                    false => render(&text, vars),
                }
            };
            let values: Option<Vec<String>> = items(&assertion["value"]).iter().map(text).collect();
            let tests = test(kind, &values.unwrap_or_default(), assertion);
            case.ask(kind, tests, &assertion["weight"]);
        }
    }
}

/// Fills variables in, and defaults of the environment; `None` for a template that does more, or names what is not there.
fn render(text: &str, vars: &Value) -> Option<String> {
    let pattern = r#"\{\{-?\s*(?:([\w.]+)|env\.\w+\s*\|\s*default\(["']([^"']*)["'][^)]*\))\s*-?\}\}|\{[{%#]"#;
    let mut is_whole = true;
    let filled = Regex::new(pattern)
        .ok()?
        .replace_all(text, |found: &Captures<'_>| {
            let pointer = found
                .get(1)
                .map(|name| format!("/{}", name.as_str().replace('.', "/")));
            match pointer.and_then(|pointer| vars.pointer(&pointer)) {
                Some(value) => imported::plain(value),
                None => {
                    let default = found.get(2).map(|text| text.as_str());
                    is_whole &= default.is_some();
                    default.unwrap_or_default().to_owned()
                }
            }
        })
        .into_owned();
    is_whole.then_some(filled)
}

/// Returns the tests that an assertion becomes. The values are texts with their variables filled in.
fn test(kind: &str, values: &[String], assertion: &Value) -> Option<Vec<Value>> {
    let (kind, is_wanted) = match kind.strip_prefix("not-") {
        Some(kind) => (kind, false),
        None => (kind, true),
    };
    let threshold = &assertion["threshold"];
    let escaped = values.iter().map(|value| regex::escape(value));
    let any = prose::joined(escaped, "|");
    match kind {
        "cost" if is_wanted => Some(vec![
            json!({ "budget": { "maxCostUsd": threshold.as_f64()? } }),
        ]),
        "latency" if is_wanted => Some(vec![
            json!({ "budget": { "maxSeconds": threshold.as_f64()? / 1000.0 } }),
        ]),
        _ if values.iter().all(String::is_empty) => None,
        "contains" if is_wanted => Some(vec![
            json!({ "transcript": { "outputContains": values[0] } }),
        ]),
        "contains" | "contains-any" => said(&any, is_wanted),
        "icontains" | "icontains-any" => said(&format!("(?i){any}"), is_wanted),
        "contains-all" | "icontains-all" if is_wanted => {
            let kind = kind.trim_end_matches("-all");
            let tests = values
                .iter()
                .map(|value| test(kind, std::slice::from_ref(value), assertion));
            Some(tests.collect::<Option<Vec<_>>>()?.concat())
        }
        "starts-with" => said(&format!("(?m)^{any}"), is_wanted),
        "equals" => said(&format!(r"(?m)^(?:{any})\s*\z"), is_wanted),
        "regex" => said(&values[0], is_wanted),
        "llm-rubric" | "agent-rubric" | "g-eval" if is_wanted => {
            judged(&values.join("\n"), threshold)
        }
        "trajectory:tool-used" => {
            let key = if is_wanted { "usedTool" } else { "notUsedTool" };
            Some(vec![json!({ "transcript": { key: values } })])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
