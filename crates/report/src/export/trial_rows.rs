//! A trial as a row of figures: what CSV and JSON Lines have in common.
//!
//! The columns are a contract, described in `docs/reference/formats.md`, which a test compares with this table: names
//! stay, new ones come at the end.

use serde_json::{Value, json};
use terca_core::agent::delivery::McpStatus;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::text::prose;

use self::Source::{At, Made, Started};

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub about: &'static str,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// The place in the trial of `results.json`, which has the names of its run and suite too.
    At(&'static str),
    /// Of a trial that was never started, nothing is known.
    Started(fn(&TrialResult) -> Value),
    Made(fn(&TrialResult) -> Value),
}

const fn column(name: &'static str, about: &'static str, source: Source) -> Column {
    Column {
        name,
        about,
        source,
    }
}

pub const COLUMNS: &[Column] = &[
    column("run", "the run's name", At("/run")),
    column("suite", "the suite's name", At("/suite")),
    column("trial", "the trial's id in its run", At("/id")),
    column("eval", "its eval", At("/eval")),
    column("environment", "its environment", At("/environment")),
    column("experiment", "its experiment", At("/experiment")),
    column("repetition", "which repetition, from 1", At("/repetition")),
    column("agent", "the agent's name", At("/agent")),
    column("agentVersion", "the agent's version", At("/agentVersion")),
    column(
        "modelRequested",
        "the requested model",
        Made(model_requested),
    ),
    column(
        "modelObserved",
        "the model that the service named in its answers, where the agent passes that on",
        At("/delivery/modelObserved"),
    ),
    column(
        "status",
        "`passed`, `partial`, `failed`, `unverified`, `error`, `interrupted` or `pending`",
        At("/status"),
    ),
    column("score", "from 0 to 1", At("/score")),
    column(
        "tests",
        "the score of each test by its name, as a JSON object",
        Made(tests),
    ),
    column(
        "testsPassed",
        "how many tests gave the full score",
        Made(|trial| judged(trial, count(trial) - trial.report.losses().count())),
    ),
    column(
        "testsRun",
        "how many tests there were",
        Made(|trial| judged(trial, count(trial))),
    ),
    column(
        "lostTest",
        "the first test that lost points",
        Made(|trial| json!(trial.report.losses().next().map(|(test, _)| test))),
    ),
    column("lostMessage", "what it said", Made(lost_message)),
    column(
        "errorKind",
        "the kind of error, if it could not be judged",
        At("/error/kind"),
    ),
    column(
        "errorMessage",
        "the message of the error",
        At("/error/message"),
    ),
    column(
        "timedOut",
        "whether the agent ran out of time",
        Started(|trial| json!(trial.report.timed_out)),
    ),
    column("exitCode", "the agent's exit status", At("/exitCode")),
    column("attempts", "how often it was started", At("/attempts")),
    column("requests", "model requests", At("/stats/requests")),
    column(
        "inputTokens",
        "input tokens, the cached ones among them",
        At("/stats/inputTokens"),
    ),
    column(
        "cachedInputTokens",
        "cached input tokens",
        At("/stats/cachedInputTokens"),
    ),
    column(
        "outputTokens",
        "output tokens, thinking among them",
        At("/stats/outputTokens"),
    ),
    column("toolCalls", "tool calls", At("/stats/toolCalls")),
    column("costUsd", "cost in US dollars", At("/stats/costUsd")),
    column(
        "agentSeconds",
        "how long the agent ran",
        At("/stats/durationSeconds"),
    ),
    column(
        "modelSeconds",
        "of it, how long models took",
        At("/wire/modelSeconds"),
    ),
    column(
        "toolSeconds",
        "of it, how long tools took",
        At("/wire/toolSeconds"),
    ),
    column("setupSeconds", "how long setup took", At("/phases/setup")),
    column(
        "testsSeconds",
        "how long the tests took",
        At("/phases/tests"),
    ),
    column(
        "totalSeconds",
        "how long the whole trial took",
        Started(|trial| json!(trial.report.duration_seconds)),
    ),
    column("startedAt", "when it started (UTC)", At("/startedAt")),
    column(
        "rulesInstalled",
        "how many rules files the agent was given",
        Started(|trial| json!(trial.report.delivery.rules.len())),
    ),
    column(
        "skillsInstalled",
        "how many skill files the agent was given",
        Started(|trial| json!(trial.report.delivery.skills.len())),
    ),
    column(
        "mcpServers",
        "how many MCP servers the agent was given",
        Started(|trial| json!(trial.report.delivery.mcp_servers.len())),
    ),
    column(
        "mcpConnected",
        "how many of them connected",
        Started(mcp_connected),
    ),
    column(
        "mcpCalls",
        "how often their tools were called",
        Started(mcp_calls),
    ),
    column("dir", "the trial's directory in the run", At("/dir")),
    column(
        "spentUsd",
        "cost in US dollars of all its attempts and judges",
        At("/spent/costUsd"),
    ),
    column(
        "costSource",
        "`agent` if it reported the cost, `computed` if it follows from tokens and prices",
        At("/stats/costSource"),
    ),
    column(
        "ranOn",
        "the node of the worker that it ran on",
        At("/ranOn"),
    ),
    column("remark", "what a person said about it", Made(remark)),
    column(
        "remarkTags",
        "the tags that a person gave it, as a JSON array",
        At("/remark/tags"),
    ),
];

/// One JSON object a line, one line a trial, its keys the columns in their order.
pub fn json_lines(results: &Results) -> String {
    let mut text = String::new();
    for trial in &results.trials {
        text += &format!(
            "{{{}}}\n",
            prose::joined(
                row(results, trial).map(|(name, value)| format!("{}:{value}", json!(name))),
                ","
            )
        );
    }
    text
}

/// A trial's values, each with its column's name.
pub fn row<'a>(
    results: &'a Results,
    trial: &'a TrialResult,
) -> impl Iterator<Item = (&'static str, Value)> + 'a {
    let mut document = json!(trial);
    document["run"] = json!(results.run);
    document["suite"] = json!(results.suite);
    COLUMNS.iter().map(move |column| {
        let value = match column.source {
            At(place) => document.pointer(place).cloned().unwrap_or_default(),
            Started(_) if trial.report.attempts == 0 => Value::Null,
            Started(make) | Made(make) => make(trial),
        };
        (column.name, value)
    })
}

fn model_requested(trial: &TrialResult) -> Value {
    let requested = trial.report.delivery.model_requested.as_ref();
    json!(requested.or(trial.head.model.as_ref()))
}

fn tests(trial: &TrialResult) -> Value {
    let tests = trial.report.tests.iter();
    let scores = tests.map(|(test, grade)| (test.to_owned(), json!(grade.score)));
    judged(trial, Value::Object(scores.collect()))
}

fn count(trial: &TrialResult) -> usize {
    trial.report.tests.len()
}

fn judged(trial: &TrialResult, value: impl Into<Value>) -> Value {
    match trial.report.status.is_judged() {
        true => value.into(),
        false => Value::Null,
    }
}

fn lost_message(trial: &TrialResult) -> Value {
    let loss = trial.report.losses().next();
    json!(loss.map(|(_, grade)| &grade.message))
}

/// Unknown as soon as it is for one of them.
fn mcp_connected(trial: &TrialResult) -> Value {
    let servers = trial.report.delivery.mcp_servers.values();
    let connected = servers.map(|server| Some(u64::from(server.status? == McpStatus::Connected)));
    json!(connected.sum::<Option<u64>>())
}

fn mcp_calls(trial: &TrialResult) -> Value {
    let servers = trial.report.delivery.mcp_servers.values();
    json!(servers.map(|server| server.calls).sum::<Option<u64>>())
}

fn remark(trial: &TrialResult) -> Value {
    let text = trial.remark.as_ref().map(|remark| &remark.text);
    json!(text.filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use terca_core::agent::delivery::McpDelivery;

    use super::*;
    use crate::fixture;

    #[test]
    fn rows_of_a_run() {
        let text = json_lines(&fixture::mixed_run().results());
        assert_eq!(text.lines().count(), 24);
        let rows: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            rows.iter()
                .all(|row| row.as_object().unwrap().len() == COLUMNS.len())
        );
        let told: Vec<&str> = [0, 2, 11]
            .map(|index| text.lines().nth(index).unwrap())
            .to_vec();
        insta::assert_snapshot!("trial_rows", told.join("\n"));
    }

    #[test]
    fn what_is_not_known_is_null_and_never_zero() {
        let script = fixture::Script::new(fixture::heads(1, 1, 1), 1);
        let row: Value = serde_json::from_str(json_lines(&script.results()).trim()).unwrap();
        for name in [
            "score", "totalSeconds", "costUsd", "timedOut", "testsRun", "mcpCalls", "tests",
        ] {
            assert_eq!(row[name], Value::Null, "{name}");
        }
        assert_eq!(row["status"], "pending");
    }

    #[test]
    fn one_server_that_says_nothing_makes_the_sum_unknown() {
        let mut trial = fixture::mixed_run().results().trials.remove(0);
        let server = |status, calls| McpDelivery {
            status,
            calls,
            failed_calls: calls.map(|_| 0),
            tap: None,
        };
        let report = Arc::make_mut(&mut trial.report);
        let servers = &mut report.delivery.mcp_servers;
        servers.insert("a".into(), server(Some(McpStatus::Connected), Some(2)));
        servers.insert("b".into(), server(Some(McpStatus::Failed), Some(0)));
        assert_eq!(
            (mcp_connected(&trial), mcp_calls(&trial)),
            (json!(1), json!(2))
        );
        let report = Arc::make_mut(&mut trial.report);
        (report.delivery.mcp_servers).insert("c".into(), server(None, None));
        assert_eq!(
            (mcp_connected(&trial), mcp_calls(&trial)),
            (Value::Null, Value::Null)
        );
    }

    #[test]
    fn the_documentation_has_these_columns() {
        let names: BTreeSet<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), COLUMNS.len(), "no name twice");
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/formats.md"
        );
        let document = std::fs::read_to_string(path).unwrap();
        let (_, table) = document
            .split_once("| column | |\n|---|---|\n")
            .expect("the table of columns");
        let told: Vec<&str> = table
            .lines()
            .take_while(|line| line.starts_with('|'))
            .collect();
        let meant: Vec<String> = COLUMNS
            .iter()
            .map(|column| format!("| `{}` | {} |", column.name, column.about))
            .collect();
        assert_eq!(told, meant);
    }
}
