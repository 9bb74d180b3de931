//! `run.json`: the plan as resolved, so that a run can be understood without its suite. Secrets are left out.

use serde_json::{Value, json};

use crate::agent::mcp::McpServer;
use crate::config::settings;
use crate::config::suite::{Action, Suite};
use crate::grade::TestSpec;
use crate::plan::fingerprint::CaseFingerprint;
use crate::plan::shard::Shard;
use crate::plan::{Case, Layer, Plan, TrialSpec, Variant};
use crate::run::event::TrialHead;
use crate::text::mask::Mask;

/// What `run.json` says beside the plan.
#[derive(Debug)]
pub struct Settings<'a> {
    pub terca_version: &'a str,
    pub seed: u64,
    pub concurrency: usize,
    /// The ids in the order the trials are started.
    pub order: Vec<u32>,
    /// What the command line asked for, so that the run can be resumed.
    pub command: Value,
    /// The part of the plan that this run is.
    pub shard: Option<Shard>,
    pub fingerprints: &'a [CaseFingerprint],
}

/// The whole plan, also where the run is a part of it.
pub fn manifest(suite: &Suite, plan: &Plan, settings: &Settings<'_>, mask: &Mask) -> Value {
    let cases = plan
        .trials
        .chunk_by(|a, b| std::sync::Arc::ptr_eq(&a.case, &b.case));
    let document = json!({
        "schemaVersion": 1,
        "tercaVersion": settings.terca_version,
        "suite": suite.name,
        "description": suite.description,
        "suiteDir": suite.root,
        "seed": settings.seed,
        "concurrency": settings.concurrency,
        "baseline": suite.baseline,
        "cases": cases.map(case).collect::<Vec<_>>(),
        "trials": plan.trials.iter().map(TrialHead::of).collect::<Vec<_>>(),
        "order": settings.order,
        "shard": settings.shard,
        "command": settings.command,
        "fingerprints": settings.fingerprints,
    });
    masked(document, mask)
}

fn case(trials: &[TrialSpec]) -> Value {
    let Case {
        suite,
        eval,
        variant,
        prompt,
        layers,
        actions,
        env,
        judge_env: _,
        timeout,
    } = &*trials[0].case;
    let mut document = json!({
        "eval": eval.name,
        "tags": eval.tags,
        "repetitions": trials.len(),
        "variant": variant_document(variant),
        "prompt": prompt,
        "layers": layers.iter().map(layer).collect::<Vec<_>>(),
        "before": actions.iter().map(action).collect::<Vec<_>>(),
        "env": env.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "timeoutSeconds": timeout.as_secs_f64(),
        "tests": eval.tests.iter().map(TestSpec::document).collect::<Vec<_>>(),
    });
    for (key, value) in settings(&**suite) {
        document[key] = value;
    }
    for (key, value) in settings(&variant.setup) {
        document["variant"][key] = value;
    }
    document
}

fn layer(layer: &Layer) -> Value {
    match layer {
        Layer::Directory(dir) => json!(dir),
        Layer::Prepared(prepared) => json!({
            "below": prepared.below.iter().map(self::layer).collect::<Vec<_>>(),
            "prepare": prepared.actions.iter().map(action).collect::<Vec<_>>(),
        }),
    }
}

fn variant_document(variant: &Variant) -> Value {
    json!({
        "environment": variant.environment,
        "experiment": variant.experiment,
        "agent": variant.agent.agent.profile().name,
        "agentCommand": variant.agent.command,
        "model": variant.model,
        "rules": variant.rules,
        "skills": variant.skills,
        "mcpServers": variant.mcp_servers.iter().map(|(name, server)| (name.clone(), server_document(server))).collect::<Value>(),
        "config": variant.config,
        "command": variant.command.as_ref().map(|command| &command.command),
    })
}

/// Values of variables and headers are left out: they are where secrets are.
fn server_document(server: &McpServer<String>) -> Value {
    let names = |pairs: &[(String, String)]| {
        pairs
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    match server {
        McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            json!({ "command": command, "args": args, "env": names(env), "cwd": cwd })
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => {
            json!({ "url": url, "headers": names(headers), "type": transport })
        }
    }
}

fn action(action: &Action) -> Value {
    match action {
        Action::Copy {
            source,
            destination,
        } => json!({ "copy": source, "to": destination }),
        Action::Write { destination, .. } => json!({ "file": destination }),
        Action::Run(command) => json!({ "command": command.command }),
    }
}

fn masked(value: Value, mask: &Mask) -> Value {
    match value {
        Value::String(text) => Value::String(mask.text(&text)),
        Value::Array(items) => items.into_iter().map(|item| masked(item, mask)).collect(),
        Value::Object(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, masked(value, mask)))
            .collect(),
        other => other,
    }
}
