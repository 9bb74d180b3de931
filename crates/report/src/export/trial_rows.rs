//! A trial as a row of figures: what CSV and JSON Lines have in common.
//!
//! The columns are a contract, described in `docs/reference/formats.md`, which a test compares with this table: names
//! stay, new ones come at the end.

use serde_json::{Value, json};
use terca_core::agent::delivery::McpStatus;
use terca_core::analysis::results::{Results, TrialResult};

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub about: &'static str,
    value: fn(&Results, &TrialResult) -> Value,
}

const fn column(
    name: &'static str,
    about: &'static str,
    value: fn(&Results, &TrialResult) -> Value,
) -> Column {
    Column { name, about, value }
}

pub const COLUMNS: &[Column] = &[
    column("run", "the run's name", |results, _| json!(results.run)),
    column("suite", "the suite's name", |results, _| {
        json!(results.suite)
    }),
    column("trial", "the trial's id in its run", |_, trial| {
        json!(trial.head.id)
    }),
    column("eval", "its eval", |_, trial| json!(trial.head.eval)),
    column("environment", "its environment", |_, trial| {
        json!(trial.head.environment)
    }),
    column("experiment", "its experiment", |_, trial| {
        json!(trial.head.experiment)
    }),
    column("repetition", "which repetition, from 1", |_, trial| {
        json!(trial.head.repetition)
    }),
    column("agent", "the agent's name", |_, trial| {
        json!(trial.head.agent)
    }),
    column("agentVersion", "the agent's version", |_, trial| {
        json!(trial.report.agent_version)
    }),
    column("modelRequested", "the requested model", |_, trial| {
        json!(
            trial
                .report
                .delivery
                .model_requested
                .as_ref()
                .or(trial.head.model.as_ref())
        )
    }),
    column(
        "modelObserved",
        "the model that the service named in its answers, where the agent passes that on",
        |_, trial| json!(trial.report.delivery.model_observed),
    ),
    column(
        "status",
        "`passed`, `partial`, `failed`, `error`, `interrupted` or `pending`",
        |_, trial| json!(trial.report.status),
    ),
    column("score", "from 0 to 1", |_, trial| json!(trial.report.score)),
    column(
        "tests",
        "the score of each test by its name, as a JSON object",
        |_, trial| tests(trial),
    ),
    column(
        "testsPassed",
        "how many tests gave the full score",
        |_, trial| {
            judged(
                trial,
                trial
                    .report
                    .tests
                    .iter()
                    .filter(|(_, grade)| grade.score >= 1.0)
                    .count(),
            )
        },
    ),
    column("testsRun", "how many tests there were", |_, trial| {
        judged(trial, trial.report.tests.iter().count())
    }),
    column("lostTest", "the first test that lost points", |_, trial| {
        json!(trial.report.tests.first_loss().map(|(test, _)| test))
    }),
    column("lostMessage", "what it said", |_, trial| {
        json!(
            trial
                .report
                .tests
                .first_loss()
                .map(|(_, grade)| &grade.message)
        )
    }),
    column(
        "errorKind",
        "the kind of error, if it could not be judged",
        |_, trial| json!(trial.report.error.as_ref().map(|error| error.kind)),
    ),
    column("errorMessage", "the message of the error", |_, trial| {
        json!(trial.report.error.as_ref().map(|error| &error.message))
    }),
    column(
        "timedOut",
        "whether the agent ran out of time",
        |_, trial| started(trial, json!(trial.report.timed_out)),
    ),
    column("exitCode", "the agent's exit status", |_, trial| {
        json!(trial.report.exit_code)
    }),
    column("attempts", "how often it was started", |_, trial| {
        json!(trial.report.attempts)
    }),
    column("requests", "model requests", |_, trial| {
        json!(trial.report.stats.usage.requests)
    }),
    column(
        "inputTokens",
        "input tokens, the cached ones among them",
        |_, trial| json!(trial.report.stats.usage.input_tokens),
    ),
    column("cachedInputTokens", "cached input tokens", |_, trial| {
        json!(trial.report.stats.usage.cached_input_tokens)
    }),
    column(
        "outputTokens",
        "output tokens, thinking among them",
        |_, trial| json!(trial.report.stats.usage.output_tokens),
    ),
    column("toolCalls", "tool calls", |_, trial| {
        json!(trial.report.stats.usage.tool_calls)
    }),
    column("costUsd", "cost in US dollars", |_, trial| {
        json!(trial.report.stats.usage.cost_usd)
    }),
    column("agentSeconds", "how long the agent ran", |_, trial| {
        json!(trial.report.stats.duration_seconds)
    }),
    column("setupSeconds", "how long setup took", |_, trial| {
        json!(trial.report.phases.setup)
    }),
    column("testsSeconds", "how long the tests took", |_, trial| {
        json!(trial.report.phases.tests)
    }),
    column(
        "totalSeconds",
        "how long the whole trial took",
        |_, trial| started(trial, json!(trial.report.duration_seconds)),
    ),
    column("startedAt", "when it started (UTC)", |_, trial| {
        json!(trial.report.started_at)
    }),
    column(
        "rulesInstalled",
        "how many rules files the agent was given",
        |_, trial| started(trial, json!(trial.report.delivery.rules.len())),
    ),
    column(
        "skillsInstalled",
        "how many skill files the agent was given",
        |_, trial| started(trial, json!(trial.report.delivery.skills.len())),
    ),
    column(
        "mcpServers",
        "how many MCP servers the agent was given",
        |_, trial| started(trial, json!(trial.report.delivery.mcp_servers.len())),
    ),
    column("mcpConnected", "how many of them connected", |_, trial| {
        mcp_connected(trial)
    }),
    column(
        "mcpCalls",
        "how often their tools were called",
        |_, trial| mcp_calls(trial),
    ),
    column("dir", "the trial's directory in the run", |_, trial| {
        json!(trial.head.dir)
    }),
    column(
        "spentUsd",
        "cost in US dollars of all its attempts and judges",
        |_, trial| json!(trial.spent.cost_usd),
    ),
    column(
        "costSource",
        "`agent` if it reported the cost, `computed` if it follows from tokens and prices",
        |_, trial| json!(trial.report.stats.cost_source),
    ),
    column(
        "ranOn",
        "the node of the worker that it ran on",
        |_, trial| json!(trial.report.ran_on),
    ),
    column("remark", "what a person said about it", |_, trial| {
        let texts = trial.remark.as_ref().map(|remark| &remark.text);
        json!(texts.filter(|text| !text.is_empty()))
    }),
    column(
        "remarkTags",
        "the tags that a person gave it, as a JSON array",
        |_, trial| json!(trial.remark.as_ref().map(|remark| &remark.tags)),
    ),
];

/// One JSON object a line, one line a trial, its keys the columns in their order.
pub fn json_lines(results: &Results) -> String {
    let mut text = String::new();
    for trial in &results.trials {
        let pairs: Vec<String> = row(results, trial)
            .map(|(name, value)| format!("{}:{value}", json!(name)))
            .collect();
        text += &format!("{{{}}}\n", pairs.join(","));
    }
    text
}

/// A trial's values, each with its column's name.
pub fn row<'a>(
    results: &'a Results,
    trial: &'a TrialResult,
) -> impl Iterator<Item = (&'static str, Value)> + 'a {
    COLUMNS
        .iter()
        .map(|column| (column.name, (column.value)(results, trial)))
}

fn tests(trial: &TrialResult) -> Value {
    let scores = trial
        .report
        .tests
        .iter()
        .map(|(test, grade)| (test.to_owned(), json!(grade.score)));
    judged(trial, Value::Object(scores.collect()))
}

fn judged(trial: &TrialResult, value: impl Into<Value>) -> Value {
    if trial.report.status.is_judged() {
        value.into()
    } else {
        Value::Null
    }
}

/// Of a trial that was never started, nothing is known.
fn started(trial: &TrialResult, value: Value) -> Value {
    if trial.report.attempts > 0 {
        value
    } else {
        Value::Null
    }
}

/// Unknown as soon as it is for one of them.
fn mcp_connected(trial: &TrialResult) -> Value {
    let servers = trial.report.delivery.mcp_servers.values();
    let connected = servers.map(|server| Some(u64::from(server.status? == McpStatus::Connected)));
    started(trial, json!(connected.sum::<Option<u64>>()))
}

fn mcp_calls(trial: &TrialResult) -> Value {
    let servers = trial.report.delivery.mcp_servers.values();
    started(
        trial,
        json!(servers.map(|server| server.calls).sum::<Option<u64>>()),
    )
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
