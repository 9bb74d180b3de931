//! The first stage: the workspace as the agent is to find it.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::delivery::Installed;
use terca_core::agent::{Decoder, Invocation, Launch};
use terca_core::plan::Case;
use terca_core::trial_error::ErrorKind;

use super::actions::{self, failed};
use super::bench::Bench;
use super::session::{self, Order};
use super::{Stop, judge, layers, rules};
use crate::host::credentials;
use crate::host::environment::Variables;
use crate::workspace::changes::Snapshot;
use crate::workspace::tree;
use crate::workspace::tree::Copied;

/// What the agent is given, for the report.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) rules: Vec<Installed>,
    pub(super) skills: Vec<Installed>,
    pub(super) agent_version: Option<String>,
}

/// A workspace that is ready, and how the agent is to be started in it.
pub(super) struct Prepared {
    pub(super) given: Given,
    pub(super) invocation: Invocation,
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) env: Variables,
    /// The agent's program, where it is one.
    pub(super) program: Option<Utf8PathBuf>,
    pub(super) snapshot: Snapshot,
}

pub(super) fn prepare(bench: &mut Bench<'_>) -> Result<Prepared, Stop> {
    let case = bench.trial.case.clone();
    let profile = case.variant.agent.agent.profile();
    let mut env = bench
        .context
        .host
        .for_agent(bench.room.for_agent(), profile, &case.env);
    // Looked for first: without the agent there is no point in setting anything up.
    let program = session::find(profile, &env)?;
    judge::are_here(&case, &env)?;
    let agent_version = program.as_ref().and_then(|program| {
        let (versions, probe) = (&bench.context.versions, bench.room.root.join("probe"));
        versions.get(profile, program, &env, &probe, &bench.context.interrupt)
    });
    let origins = build_workspace(bench)?;
    let rules = rules::install(bench)?;
    let skills = rules::install_skills(bench)?;
    tree::copy_tree(&bench.room.home, &bench.room.agent_home)?;
    credentials::install(&bench.context.host, profile, &bench.room.agent_home)?;
    let (invocation, decoder) =
        session::place(&bench.seat(), &order(&case), &env, &bench.context.mask)?;
    if invocation.launch == Launch::LaySolution && !case.eval.has_solution() {
        return Err(Stop::error(
            ErrorKind::Setup,
            "the eval has no _solution/ directory for `oracle`",
        ));
    }
    env.extend(invocation.env.iter().cloned());
    let snapshot = Snapshot::take(&bench.room.workspace, &origins, &bench.room.before)?;
    let given = Given {
        rules,
        skills,
        agent_version,
    };
    Ok(Prepared {
        given,
        invocation,
        decoder,
        env,
        program,
        snapshot,
    })
}

/// What the variant gives its agent.
fn order(case: &Case) -> Order<'_> {
    let variant = &case.variant;
    Order {
        agent: &variant.agent,
        model: variant.model.as_deref(),
        mcp_servers: &variant.mcp_servers,
        config: variant.config.as_ref(),
        prompt: &case.prompt,
    }
}

/// Layers, then actions, then the variant's command. Returns where unchanged files came from.
fn build_workspace(bench: &mut Bench<'_>) -> Result<Vec<Copied>, Stop> {
    let case = bench.trial.case.clone();
    let mut origins = Vec::new();
    for layer in layers::directories(bench, &case.layers)? {
        let laid = tree::copy_visible_tree(&layer, &bench.room.workspace);
        origins.extend(laid.map_err(|error| failed(&format!("the layer {layer}"), &error))?);
    }
    let env = |bench: &Bench<'_>, beside: &Utf8Path| {
        bench.command_environment(bench.room.for_setup(), beside)
    };
    for action in &case.actions {
        actions::carry_out(bench, "before", action, &env)?;
    }
    if let Some(command) = &case.variant.command {
        actions::run(bench, "command", command, &env)?;
    }
    Ok(origins)
}
