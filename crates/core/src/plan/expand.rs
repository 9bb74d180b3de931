//! Environments × experiments × evals × repetitions: from a suite and a selection to a plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::Value;

use crate::agent::AgentChoice;
use crate::agent::Capabilities;
use crate::agent::mcp::McpServer;
use crate::config::folder_name;
use crate::config::read::Patch;
use crate::config::suite::{Action, Eval, Setup, Suite, Template, Variables};
use crate::plan::interpolate::Filler;
use crate::plan::judges;
use crate::plan::selection::{Selection, select};
use crate::plan::{Case, Layer, Plan, PreparedLayer, TrialSpec, Variant};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::json;

/// What the command line lays over the suite.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub agent: Option<AgentChoice>,
    pub repetitions: Option<u32>,
    pub timeout: Option<Duration>,
}

/// The trials that a selection of a suite comes to. Ids do not depend on the order they are run in.
pub fn expand(
    suite: &Suite,
    selection: &Selection,
    overrides: &Overrides,
    variable: &dyn Fn(&str) -> Option<String>,
    problems: &mut Diagnostics,
) -> Plan {
    let selected = select(suite, selection, problems);
    let mut filler = Filler {
        variable,
        secrets: Vec::new(),
        problems,
    };
    let mut variants = Vec::new();
    for environment in &selected.environments {
        for experiment in &selected.experiments {
            variants.extend(variant(environment, experiment, overrides, &mut filler));
        }
    }
    let suite_layers = suite_layers(suite, &mut filler);
    let mut trials = Vec::new();
    for eval in selected.evals {
        let eval = Arc::new(eval.clone());
        let base = eval_layers(suite, &eval, &suite_layers, &mut filler);
        for (variant, layers) in &variants {
            judges::check(&eval, variant, filler.problems);
            let case = Arc::new(case(
                suite,
                &eval,
                &base,
                variant,
                layers,
                overrides,
                &mut filler,
            ));
            let repetitions = overrides
                .repetitions
                .or(eval.repetitions)
                .unwrap_or(suite.repetitions);
            trials.extend((1..=repetitions).map(|repetition| (case.clone(), repetition)));
        }
    }
    let trials = trials
        .into_iter()
        .zip(1..)
        .map(|((case, repetition), id)| TrialSpec {
            id,
            dir: dir(&case, repetition),
            case,
            repetition,
        });
    let adaptive = suite.adaptive.filter(|_| overrides.repetitions.is_none());
    let plan = Plan {
        trials: trials.collect(),
        secrets: filler.secrets,
        adaptive,
    };
    problems.sort();
    plan
}

fn dir(case: &Case, repetition: u32) -> Utf8PathBuf {
    let variant = &case.variant;
    let folder = format!(
        "{}.{}.{repetition:02}",
        folder_name(&variant.environment),
        folder_name(&variant.experiment)
    );
    Utf8PathBuf::from(folder_name(&case.eval.name)).join(folder)
}

/// The parts of both setups that a case needs beside the variant itself.
struct Layers<'a> {
    environment: &'a Setup,
    experiment: &'a Setup,
}

fn variant<'a>(
    environment: &'a Setup,
    experiment: &'a Setup,
    overrides: &Overrides,
    filler: &mut Filler<'_>,
) -> Option<(Arc<Variant>, Layers<'a>)> {
    let agent = overrides
        .agent
        .clone()
        .or(laid_over(&environment.agent, &experiment.agent).cloned());
    let Some(agent) = agent else {
        filler.problems.push(no_agent(environment, experiment));
        return None;
    };
    let variant = Variant {
        environment: environment.name.clone(),
        experiment: experiment.name.clone(),
        told_experiment: experiment
            .stands_for
            .as_ref()
            .unwrap_or(&experiment.name)
            .clone(),
        agent,
        model: laid_over(&environment.model, &experiment.model).cloned(),
        rules: laid_over(&environment.rules, &experiment.rules)
            .cloned()
            .unwrap_or_default(),
        skills: laid_over(&environment.skills, &experiment.skills)
            .cloned()
            .unwrap_or_default(),
        mcp_servers: mcp_servers(environment, experiment, filler),
        config: config(environment, experiment),
        command: laid_over(&environment.command, &experiment.command).cloned(),
    };
    check_capabilities(&variant, environment, experiment, filler.problems);
    Some((
        Arc::new(variant),
        Layers {
            environment,
            experiment,
        },
    ))
}

/// Says who is at fault, not which variant: one environment without an agent is one problem, not one for
/// every experiment.
fn no_agent(environment: &Setup, experiment: &Setup) -> Diagnostic {
    let run_with = "or run with `--agent NAME`";
    match (&experiment.agent, experiment.place, environment.place) {
        (Patch::Remove, Some(place), _) => Diagnostic::error(
            Code::NoAgent,
            format!("the experiment `{}` leaves no agent", experiment.name),
        )
        .at(place, "`agent: null` removes it here")
        .help(format!("name another agent, {run_with}")),
        (_, _, Some(place)) => Diagnostic::error(
            Code::NoAgent,
            format!("the environment `{}` has no agent", environment.name),
        )
        .at(
            place,
            format!(
                "no `agent` here, nor in the experiment `{}`",
                experiment.name
            ),
        )
        .help(format!("add `agent: NAME` to the environment, {run_with}")),
        (_, _, None) => Diagnostic::error(Code::NoAgent, "the suite names no agent").help(format!(
            "add `environments: [{{name: default, agent: NAME}}]` to terca.yaml, {run_with}"
        )),
    }
}

/// A scalar or a list: the upper one replaces, `null` removes.
fn laid_over<'a, T>(lower: &'a Patch<T>, upper: &'a Patch<T>) -> Option<&'a T> {
    match upper {
        Patch::Keep => lower.set(),
        Patch::Remove => None,
        Patch::Set(value) => Some(value),
    }
}

fn mcp_servers(
    environment: &Setup,
    experiment: &Setup,
    filler: &mut Filler<'_>,
) -> Vec<(String, McpServer<String>)> {
    let mut merged: BTreeMap<&str, &McpServer<Template>> = BTreeMap::new();
    for setup in [environment, experiment] {
        match &setup.mcp_servers {
            Patch::Keep => {}
            Patch::Remove => merged.clear(),
            Patch::Set(servers) => {
                for (name, server) in servers {
                    match server {
                        Patch::Set(server) => merged.insert(name, server),
                        Patch::Keep | Patch::Remove => merged.remove(name.as_str()),
                    };
                }
            }
        }
    }
    merged
        .into_iter()
        .map(|(name, server)| (name.to_owned(), filler.server(server)))
        .collect()
}

fn config(environment: &Setup, experiment: &Setup) -> Option<Value> {
    let base = environment.config.set();
    match &experiment.config {
        Patch::Keep => base.cloned(),
        Patch::Remove => None,
        Patch::Set(over) => {
            let mut merged = base.cloned().unwrap_or(Value::Null);
            json::merge(&mut merged, over);
            Some(merged)
        }
    }
}

/// What a variant gives its agent and the agent cannot take is an error: ignored, it would spoil the experiment.
fn check_capabilities(
    variant: &Variant,
    environment: &Setup,
    experiment: &Setup,
    problems: &mut Diagnostics,
) {
    let profile = variant.agent.agent.profile();
    let Capabilities {
        model,
        rules,
        mcp_servers,
        skills,
        config,
    } = profile.capabilities;
    let given = [
        (
            "model",
            variant.model.is_some() && !model,
            experiment.model.set().is_some(),
        ),
        (
            "rules",
            !variant.rules.is_empty() && !rules,
            experiment.rules.set().is_some(),
        ),
        (
            "mcpServers",
            !variant.mcp_servers.is_empty() && !mcp_servers,
            experiment.mcp_servers.set().is_some(),
        ),
        (
            "skills",
            !variant.skills.is_empty() && !skills,
            experiment.skills.set().is_some(),
        ),
        (
            "config",
            variant.config.is_some() && !config,
            experiment.config.set().is_some(),
        ),
    ];
    for (field, _, by_experiment) in given.iter().filter(|(_, refused, _)| *refused) {
        let giver = if *by_experiment {
            experiment
        } else {
            environment
        };
        let diagnostic = Diagnostic::error(
            Code::AgentCannot,
            format!("the agent `{}` cannot be given `{field}`", profile.name),
        )
        .help(format!("remove `{field}`, or choose another agent"));
        problems.push(match giver.place {
            Some(place) => diagnostic.at(place, format!("`{}` has `{field}`", giver.name)),
            None => diagnostic,
        });
    }
}

fn case(
    suite: &Suite,
    eval: &Arc<Eval>,
    base: &[Layer],
    variant: &Arc<Variant>,
    setups: &Layers<'_>,
    overrides: &Overrides,
    filler: &mut Filler<'_>,
) -> Case {
    let Layers {
        environment,
        experiment,
    } = setups;
    let environment_env = if experiment.drops_env {
        &Vec::new()
    } else {
        &environment.env
    };
    let variant_timeout = laid_over(&environment.timeout, &experiment.timeout).copied();
    Case {
        prompt: prompt(suite, eval, environment, experiment),
        layers: base.to_vec(),
        actions: [
            &suite.before,
            &eval.before,
            &environment.before,
            &experiment.before,
        ]
        .into_iter()
        .flatten()
        .cloned()
        .collect(),
        env: filler.variables(&[&suite.env, environment_env, &experiment.env, &eval.env]),
        judge_env: if judges::of(eval).next().is_some() {
            filler.variables(&[&suite.env])
        } else {
            Vec::new()
        },
        timeout: overrides
            .timeout
            .or(eval.timeout)
            .or(variant_timeout)
            .unwrap_or(suite.timeout),
        track_ignored: suite.track_ignored,
        eval: eval.clone(),
        variant: variant.clone(),
    }
}

/// The suite's directories, or what its `prepare` makes of them.
fn suite_layers(suite: &Suite, filler: &mut Filler<'_>) -> Vec<Layer> {
    let below = suite.layers.iter().cloned().map(Layer::Directory).collect();
    prepared(below, &suite.prepare, &[&suite.env], None, filler)
}

/// The same with the eval's own directory on top, or what its `prepare` makes of that.
fn eval_layers(suite: &Suite, eval: &Eval, base: &[Layer], filler: &mut Filler<'_>) -> Vec<Layer> {
    let below = base
        .iter()
        .cloned()
        .chain(eval.layer.clone().map(Layer::Directory))
        .collect();
    prepared(
        below,
        &eval.prepare,
        &[&suite.env, &eval.env],
        Some(&eval.name),
        filler,
    )
}

fn prepared(
    below: Vec<Layer>,
    actions: &[Action],
    env: &[&Variables],
    eval: Option<&str>,
    filler: &mut Filler<'_>,
) -> Vec<Layer> {
    if actions.is_empty() {
        return below;
    }
    let env = filler.variables(env);
    let layer = PreparedLayer {
        below,
        actions: actions.to_vec(),
        env,
        eval: eval.map(str::to_owned),
    };
    vec![Layer::Prepared(Arc::new(layer))]
}

fn prompt(suite: &Suite, eval: &Eval, environment: &Setup, experiment: &Setup) -> String {
    let parts = [
        suite.preamble.as_deref(),
        environment.preamble.as_deref(),
        experiment.preamble.as_deref(),
        Some(eval.prompt.as_str()),
        experiment.postamble.as_deref(),
        environment.postamble.as_deref(),
        suite.postamble.as_deref(),
    ];
    let present: Vec<&str> = parts
        .into_iter()
        .flatten()
        .map(|part| part.trim_end_matches('\n'))
        .filter(|part| !part.is_empty())
        .collect();
    present.join("\n\n")
}
