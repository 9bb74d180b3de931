//! The first stage: builds the workspace, and makes the agent ready to start in it.

mod actions;
mod layers;
mod rules;

use terca_core::agent::Launch;
use terca_core::agent::access::Access;
use terca_core::config::sandbox::Image;
use terca_core::plan::Case;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::sent_parts::Sought;

use super::agent_request::{AgentDirs, AgentRequest};
use super::context::Context;
use super::mcp_preflight;
use super::services;
use super::session::{AgentKind, AgentSession, FoundAgent, find_agent_program};
use super::stage_error::{StageError, too_large};
use super::trial_run::TrialRun;
use crate::host::credentials;
use crate::host::environment::Variables;
use crate::tree::Limits;
use crate::workspace::changes::Snapshot;
use actions::Part;
pub(crate) use layers::found as cached_steps;

/// Builds the workspace, and makes the agent ready to start in it. Returns the workspace as the agent finds it, too.
pub(super) fn prepare(run: &mut TrialRun<'_>) -> Result<(AgentSession, Snapshot), StageError> {
    let context = run.context;
    let case = run.spec.case.clone();
    let variant = &case.variant;
    (context.sandboxes.check(variant.sandbox.as_ref()))
        .map_err(|reason| StageError::new(ErrorKind::Setup, reason))?;
    let profile = variant.agent.agent.profile();
    let env = credentials::environment(
        context.host_in(variant.sandbox.as_ref()),
        run.dirs.for_agent(),
        profile,
        variant.config.as_ref(),
        &case.env,
    );
    // Looked for first: without the agent there is no point in setting anything up.
    let agent = FoundAgent::find(context, &variant.agent, run.image(), env.clone())?;
    (run.report.delivery.version_requested).clone_from(&agent.installed);
    find_judges(context, &case, run.image(), &env)?;
    context.sealed.check_surroundings(&case.eval.dir)?;
    let registries = run.place_registries(&run.dirs.home)?;
    let package_caches = run.place_package_caches(&run.dirs.home)?;
    build_workspace(run, &case)?;
    // The agent's home is this one.
    package_caches.remove()?;
    registries.remove()?;
    mcp_preflight::check(run, &case, &agent.env)?;
    let rules = rules::install(variant, run)?;
    let skills = rules::install_skills(variant, run)?;
    let sought = rules::sought(variant, rules.as_ref(), &skills, run)?;
    // Before the agent's credentials and settings are written to the home.
    let before = run.dirs.seal(&context.own_tree(Limits::NONE))?;
    let session = make_ready(run, &case, agent, &sought)?;
    let has_parts = rules.is_some() || !skills.is_empty();
    check_delivery(&case, &session, has_parts)?;
    let (workspace, options) = (run.dirs.here(), run.agent_tree());
    let snapshot = Snapshot::take(&workspace, &run.layers, &before, &options);
    let snapshot = snapshot.map_err(|error| {
        match too_large(&error, "the workspace has", "before the agent starts") {
            Some(reason) => StageError::new(ErrorKind::Setup, reason),
            None => error.into(),
        }
    })?;
    run.dirs.close_seal()?;
    let report = &mut run.report;
    report.agent_version.clone_from(&session.version);
    report.delivery.rules = rules.into_iter().map(|(file, _)| file).collect();
    report.delivery.skills = skills;
    report.delivery.access =
        Some(session.access.clone()).filter(|access| *access != Access::default());
    Ok((session, snapshot))
}

/// Makes the agent ready to start.
fn make_ready(
    run: &TrialRun<'_>,
    case: &Case,
    agent: FoundAgent,
    sought: &[Sought],
) -> Result<AgentSession, StageError> {
    let context = run.context;
    let variant = &case.variant;
    let dirs = AgentDirs::new(&run.dirs, run.folder.artifacts(), run.folder.transcript());
    let contained_by = run.contained_by();
    let network = variant.network_in(contained_by);
    let allow = variant.hosts_beside(&network, &context.package_hosts);
    let ways = &variant.agent.agent.profile().options;
    let config = variant.options.config(ways, variant.config.as_ref());
    let request = AgentRequest {
        agent: &variant.agent,
        model: variant.model.as_deref(),
        mcp_servers: &variant.mcp_servers,
        hide_tools: &variant.hide_tools,
        config: config.as_ref(),
        options: &variant.options,
        prompt: &case.prompt,
        timeout: case.timeout,
        sandbox: variant.sandbox.as_ref(),
        network: &network,
        allow: &allow,
        gateway: case.gateway_in(contained_by),
        gateway_is_asked: case.gateway.is_some(),
        allow_paths: &case.suite.gateway.allow_paths,
        sought,
        services: &run.service_addresses(),
    };
    agent.prepare(context, dirs, &request)
}

/// Refuses an agent whose rules and skills must be proven in requests that nobody sees, and an eval without a solution
/// for the agent that applies it.
fn check_delivery(case: &Case, session: &AgentSession, has_parts: bool) -> Result<(), StageError> {
    if case.require_delivery && has_parts && !session.is_metered {
        let why = session.notes.join("; ");
        let why = if why.is_empty() {
            "the gateway is off"
        } else {
            &why
        };
        let message = format!("`requireDelivery` cannot be met: {why}");
        return Err(StageError::new(ErrorKind::Delivery, message));
    }
    if matches!(session.kind, AgentKind::BuiltIn(Launch::LaySolution)) && !case.eval.has_solution()
    {
        return Err(StageError::new(
            ErrorKind::Setup,
            "the eval has no _solution/ directory for `oracle`",
        ));
    }
    Ok(())
}

/// Looks for every judge of a case: without one, the agent's work would be paid for and not be judged.
fn find_judges(
    context: &Context,
    case: &Case,
    image: Option<&Image>,
    env: &Variables,
) -> Result<(), StageError> {
    for (test, asked) in case.judges() {
        let judge = case.judge(asked);
        let profile = judge.agent.profile();
        find_agent_program(context, judge, image, env)
            .map_err(|error| error.of_judge(test, profile))?;
    }
    Ok(())
}

/// Mounts or copies the layers, starts the services, then executes the actions, then the variant's command.
fn build_workspace(run: &mut TrialRun<'_>, case: &Case) -> Result<(), StageError> {
    let dirs = layers::directories(run, &case.layers)?;
    layers::keep(run, &dirs)?;
    if !layers::mount(run)? {
        for layer in &run.layers.places {
            layers::copy(run, layer)?;
        }
    }
    services::start(run)?;
    for action in &case.actions {
        actions::execute(run, Part::Before, action)?;
    }
    if let Some(command) = &case.variant.command {
        actions::run_command(run, Part::Command, command)?;
    }
    services::check(run)
}
