//! Imports suites of vally as evals: each stimulus becomes one.
//!
//! ```text
//! csharp-scripts/eval.yaml          csharp-scripts/test-a-language-feature/
//!   config: timeout, runs             eval.terca.yaml    limits, setup, tests
//!   stimuli:                    ─►
//!     - name, prompt                  prompt.md
//!       environment: files            _base/
//!       environment: commands         eval.terca.yaml: prepare
//!       graders, constraints          eval.terca.yaml: tests
//! ```

use camino::Utf8Path;
use serde_json::{Value, json};

use super::imported::suite::{Case, Suite, items, judged, said, slug};
use super::imported::{self, Loss, Note, Task};
use crate::new_suite::mine::recipe::Step;
use crate::reader::paths::inside;
use crate::text::json::merge;
use crate::text::prose;
use crate::text::shell::{joined, quoted};

/// The limit of suites that set none, in seconds.
const SECONDS: f64 = 120.0;
/// Tags that are longer are texts for somebody.
const LONGEST_TAG: usize = 40;
/// What a judge is asked where the suite says nothing.
const RUBRIC: &str = "The work does what the task asks for.";

/// Keys of a suite, and of a stimulus, that are used or change nothing.
const KNOWN: [&str; 10] = [
    "name", "description", "version", "type", "environment", "config", "defaults", "stimuli",
    "tags", "scoring",
];
const KNOWN_OF_STIMULUS: [&str; 12] = [
    "name", "prompt", "turns", "environment", "graders", "rubric", "constraints", "tags", "config",
    "runs", "timeout", "expect_activation",
];

/// Tells whether a file is a suite, by its name and its text.
pub fn is_suite(file: &Utf8Path, text: &dyn Fn(&Utf8Path) -> Option<String>) -> bool {
    let has_stimuli = |text: String| text.lines().any(|line| line.starts_with("stimuli:"));
    matches!(file.extension(), Some("yaml" | "yml"))
        && file.file_stem().is_some_and(|name| name.contains("eval"))
        && text(file).is_some_and(has_stimuli)
}

/// Turns the stimuli of a suite's file into evals, or says why that is impossible.
pub fn import(task: &Task<'_>, file: &Utf8Path) -> Result<Suite, String> {
    let document = imported::yaml(&(task.text)(file).ok_or("it cannot be read")?)?;
    let stimuli = document["stimuli"].as_array();
    let stimuli = stimuli.ok_or("it has no `stimuli`, so it is no suite of vally")?;
    let mut suite = Suite::default();
    let mut conversations = Vec::new();
    for stimulus in stimuli {
        let name = stimulus["name"].as_str().unwrap_or("stimulus");
        let prompt = match items(&stimulus["turns"]) {
            [] => &stimulus["prompt"],
            [only] => only,
            _ => &Value::Null,
        };
        let Some(prompt) = prompt.as_str() else {
            conversations.push(name);
            continue;
        };
        let mut case = Case::new(task, file, "vally");
        read(&mut case, &document, stimulus);
        suite.push(case.eval(name, prompt.to_owned()));
    }
    if !conversations.is_empty() {
        suite.complaints.push(format!(
            "{} of {} stimuli cannot become evals, because an eval has one prompt: {}",
            conversations.len(),
            stimuli.len(),
            prose::few(&conversations, 3)
        ));
    }
    Ok(suite)
}

/// Reads all but the prompt of a stimulus.
fn read(case: &mut Case<'_>, document: &Value, stimulus: &Value) {
    case.description = document["description"].as_str().map(str::to_owned);
    let mut config = document["defaults"].clone();
    for more in [&document["config"], &stimulus["config"], stimulus] {
        if more.is_object() {
            merge(&mut config, more);
        }
    }
    let limit = seconds(&config["timeout"]).unwrap_or(SECONDS);
    case.limits.push(("timeoutSeconds", json!(limit)));
    if config["runs"].as_u64().is_some_and(|runs| runs > 1) {
        case.limits.push(("repetitions", config["runs"].clone()));
    }
    for tags in [&document["tags"], &stimulus["tags"]] {
        let pairs = tags.as_object().into_iter().flatten();
        let pairs = pairs.filter_map(|(key, value)| Some(format!("{key} {}", value.as_str()?)));
        let short = pairs.filter(|pair| pair.len() <= LONGEST_TAG);
        case.tags.extend(short.map(|pair| slug(&pair)));
    }
    for environment in [&document["environment"], &stimulus["environment"]] {
        surround(case, environment);
    }
    let weights = &document["scoring"]["weights"];
    for grader in items(&stimulus["graders"]) {
        let kind = grader["type"].as_str().unwrap_or_default();
        let weight = grader["name"].as_str().map(|name| &weights[name]);
        let weight = weight.filter(|weight| weight.is_number());
        let tests = test(kind, &grader["config"], stimulus);
        case.ask(kind, tests, weight.unwrap_or(&weights[kind]));
    }
    for (key, value) in stimulus["constraints"].as_object().into_iter().flatten() {
        let test = match key.as_str() {
            "max_turns" => Some(json!({ "budget": { "maxRequests": value } })),
            "max_tokens" => Some(json!({ "budget": { "maxTokens": value } })),
            "max_tool_calls" => Some(json!({ "transcript": { "maxToolCalls": value } })),
            "max_duration" => {
                seconds(value).map(|seconds| json!({ "budget": { "maxSeconds": seconds } }))
            }
            _ => None,
        };
        let test = test.map(|test| vec![test]);
        case.ask(&format!("constraints.{key}"), test, &Value::Null);
    }
    if stimulus["expect_activation"].is_boolean() {
        case.ask("expect_activation", None, &Value::Null);
    }
    for (what, value, known) in [
        ("the suite", document, KNOWN.as_slice()),
        ("defaults", &document["defaults"], &["timeout", "runs"]),
        ("config", &document["config"], &["timeout", "runs"]),
        ("scoring", &document["scoring"], &["weights"]),
        ("the stimulus", stimulus, &KNOWN_OF_STIMULUS),
    ] {
        case.notes.extend(imported::unused(what, value, known));
    }
}

/// Takes over what an environment has.
fn surround(case: &mut Case<'_>, environment: &Value) {
    if let Some(name) = environment.as_str() {
        let text = format!("environment {name}: it is in another file (.vally.yaml)");
        case.notes.push(Note::lost(Loss::Files, text));
    }
    for (key, value) in environment.as_object().into_iter().flatten() {
        match key.as_str() {
            "files" => {
                for file in items(value) {
                    let from = file.as_str().or(file["src"].as_str()).unwrap_or_default();
                    case.copy(from, file["dest"].as_str().unwrap_or(from));
                }
            }
            "commands" => {
                let commands = items(value).iter().filter_map(Value::as_str);
                case.setup.extend(commands.map(Step::new));
            }
            "skills" if items(value).is_empty() => {}
            "skills" => case.notes.push(Note::lost(
                Loss::Files,
                "environment.skills: skills belong to environments and experiments in terca.yaml",
            )),
            "mcpServers" => case.notes.push(Note::lost(
                Loss::Services,
                "environment.mcpServers: MCP servers belong to environments and experiments in terca.yaml",
            )),
            _ => {
                let text = format!("environment.{key}: Terca has nothing like it");
                case.notes.push(Note::lost(Loss::Files, text));
            }
        }
    }
}

/// Returns the tests that a grader becomes.
fn test(kind: &str, config: &Value, stimulus: &Value) -> Option<Vec<Value>> {
    let text = |key: &str| config[key].as_str();
    let only = |test: Value| Some(vec![test]);
    match kind {
        // A session that does not come to its end is an error of the trial.
        "exit-success" | "completed" => Some(Vec::new()),
        "output-contains" if config["negate"] != true => {
            only(json!({ "transcript": { "outputContains": text("substring")? } }))
        }
        "output-contains" | "output-not-contains" => {
            said(&regex::escape(text("substring")?), false)
        }
        "output-matches" => said(text("pattern")?, config["negate"] != true),
        "output-not-matches" => said(text("pattern")?, false),
        "file-exists" => only(json!({ "fileExists": inside(text("path")?).ok()? })),
        "file-not-exists" => {
            let files = found(text("path")?, "")?;
            only(json!({ "commandSuccess": format!("test -z \"$({files})\"") }))
        }
        "file-contains" => in_file(text("path")?, ["text", "outputContains"], text("value")?),
        "file-matches" => {
            regex::Regex::new(text("pattern")?).ok()?;
            in_file(
                text("path")?,
                ["matches", "outputMatches"],
                text("pattern")?,
            )
        }
        "file-not-contains" => {
            let value = text("value").filter(|value| !value.contains('\n'))?;
            let files = found(text("path")?, " -type f -exec cat {} +")?;
            let command = format!("! {files} | grep -qF -e {}", quoted(value));
            only(json!({ "commandSuccess": command }))
        }
        "run-command" => run(config),
        "wall-time" => only(json!({ "budget": { "maxSeconds": seconds(&config["max"])? } })),
        "tool-call-count" if config["min"].is_null() => {
            only(json!({ "transcript": { "maxToolCalls": config["max"].as_u64()? } }))
        }
        "prompt" => {
            let points = items(&stimulus["rubric"]).iter().filter_map(Value::as_str);
            let points = points.map(|point| format!("- {}", point.trim()));
            let parts: Vec<String> = text("prompt")
                .map(str::to_owned)
                .into_iter()
                .chain(points)
                .collect();
            let rubric = match parts.is_empty() {
                true => RUBRIC.to_owned(),
                false => parts.join("\n"),
            };
            judged(&rubric, &config["threshold"])
        }
        _ => None,
    }
}

/// Returns a test of the text of a file, or of all files that a glob names.
fn in_file(path: &str, [of_file, of_output]: [&str; 2], wanted: &str) -> Option<Vec<Value>> {
    let test = if path.contains(['*', '?', '[', '{']) {
        let command = found(path, " -type f -exec cat {} +")?;
        json!({ "commandSuccess": { "command": command, of_output: wanted } })
    } else {
        json!({ "fileContains": { "path": inside(path).ok()?, of_file: wanted } })
    };
    Some(vec![test])
}

/// Returns a command that does something with the files that a glob names; `None` where `find` has nothing like it.
fn found(glob: &str, what: &str) -> Option<String> {
    let path = inside(glob).ok()?;
    let glob = path.as_str();
    let pattern = match glob.strip_prefix("**/") {
        Some(rest) => format!("*/{rest}"),
        None => format!("./{glob}"),
    };
    let pattern = pattern.replace("**/", "*").replace("**", "*");
    (!glob.contains('{')).then(|| format!("find . -path {}{what}", quoted(&pattern)))
}

/// Returns a test that runs a command.
fn run(config: &Value) -> Option<Vec<Value>> {
    let known = [
        "command", "args", "expected_exit_code", "stdout_contains", "stdout_matches", "timeout",
    ];
    if imported::unused("", config, &known).is_some() {
        return None;
    }
    let mut command = config["command"].as_str()?.to_owned();
    let args: Vec<&str> = items(&config["args"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !args.is_empty() {
        command = format!("{command} {}", joined(&args));
    }
    let status = config["expected_exit_code"].as_i64().unwrap_or(0);
    if status != 0 {
        command = format!("( {command} ); test $? -eq {status}");
    }
    let mut asked = json!({ "command": command });
    if let Some(text) = config["stdout_contains"].as_str() {
        asked["outputContains"] = json!(text);
    }
    if let Some(pattern) = config["stdout_matches"].as_str() {
        regex::Regex::new(pattern).ok()?;
        asked["outputMatches"] = json!(pattern);
    }
    let mut test = json!({ "commandSuccess": asked });
    if let Some(seconds) = seconds(&config["timeout"]) {
        test["timeoutSeconds"] = json!(seconds);
    }
    Some(vec![test])
}

/// Reads a duration such as `2m`; a number is seconds.
fn seconds(value: &Value) -> Option<f64> {
    let text = match value {
        Value::String(text) => text.trim(),
        other => return other.as_f64(),
    };
    let units = [
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("", 1.0),
    ];
    let mut read = units.iter().filter_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor)
    });
    read.next().filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests;
