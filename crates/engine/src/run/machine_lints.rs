//! Finds what is doubtful about a plan on this machine: agents that cannot work here, and workspaces that are too large.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use terca_core::agent::AgentChoice;
use terca_core::agent::mcp::McpServer;
use terca_core::config::sandbox::{ContainerEngine, Sandbox};
use terca_core::config::suite::Setup;
use terca_core::plan::lints::drop_allowed;
use terca_core::plan::{Case, Layer};
use terca_core::text::Code;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics};
use terca_core::text::prose;

use crate::host::agent_store::AgentStore;
use crate::host::credentials;
use crate::host::environment::{Host, Variables, find_program};
use crate::run::clean::bytes_below;
use crate::run::load::RunPlan;

/// The most bytes that a directory has before it is worth a warning: each trial copies it.
const LARGE: u64 = 200_000_000;

/// The evals that a message names.
const NAMED: usize = 3;

/// Reports it, as far as the suite does not allow it.
pub fn report(plan: &RunPlan, host: &Host, problems: &mut Diagnostics) {
    let mut measured: BTreeSet<&Utf8Path> = BTreeSet::new();
    let mut known: Vec<&AgentChoice> = Vec::new();
    for case in plan.plan.cases() {
        for dir in Layer::directories(&case.layers) {
            if measured.insert(dir) {
                let problem = large(dir, &plan.suite.root);
                problem
                    .into_iter()
                    .for_each(|problem| problems.push(problem));
            }
        }
        missing_servers(case, plan, host, problems);
        let choice = &case.variant.agent;
        if known.contains(&choice) {
            continue;
        }
        known.push(choice);
        if let Some(problem) = not_ready(case, plan, host) {
            problems.push(at_its_agent(problem, choice, plan));
        }
    }
    problems_of_builds(plan, host, problems);
    drop_allowed(&plan.suite, problems);
    problems.sort();
}

/// Reports evals whose image nobody can build here.
fn problems_of_builds(plan: &RunPlan, host: &Host, problems: &mut Diagnostics) {
    let path = host.get("PATH").unwrap_or_default();
    let mut engines = ContainerEngine::ALL.into_iter();
    if engines.any(|engine| find_program(engine.program(), path).is_some()) {
        return;
    }
    let has_image =
        |case: &&Case| (case.variant.sandbox.as_ref()).is_some_and(|own| own.build().is_some());
    let mut evals: Vec<&str> = (plan.plan.cases().filter(has_image))
        .map(|case| case.eval.name.as_str())
        .collect();
    evals.dedup();
    if !evals.is_empty() && plan.workers.is_local {
        let message = format!(
            "{} an image that has to be built, and neither `docker` nor `podman` was found: {}",
            match evals.len() {
                1 => "1 eval has".to_owned(),
                many => format!("{many} evals have"),
            },
            prose::few(&evals, NAMED)
        );
        problems.push(
            Diagnostic::warning(Code::NoSandbox, message)
                .help("install Docker or Podman, or select other evals"),
        );
    }
}

fn large(dir: &Utf8Path, root: &Utf8Path) -> Option<Diagnostic> {
    let bytes = bytes_below(dir);
    let shown = dir.strip_prefix(root).unwrap_or(dir);
    (bytes > LARGE).then(|| {
        let size = prose::bytes(bytes);
        let message = format!("`{shown}` has {size}, which are copied for every trial and kept");
        Diagnostic::warning(Code::LargeBase, message)
            .in_file(shown.as_str())
            .help(
                "remove the files that a `prepare` step can make; `--keep failed` keeps fewer workspaces",
            )
    })
}

/// Returns the reason why the agent of a case cannot work on this machine. In a container it is another machine.
fn not_ready(case: &Case, plan: &RunPlan, host: &Host) -> Option<Diagnostic> {
    let variant = &case.variant;
    let profile = variant.agent.agent.profile();
    let program = variant.agent.program()?;
    let is_elsewhere = (variant.sandbox.as_ref()).is_some_and(Sandbox::is_container);
    if profile.program.is_none() || is_elsewhere {
        return None;
    }
    let env = credentials::own_variables(host, profile, variant.config.as_ref(), &case.env);
    if variant.agent.version.is_some() {
        let store = AgentStore::of_suite(&plan.suite.root, BTreeMap::new());
        let missing = store.cannot_install(&variant.agent, host);
        if let Some(error) = missing.filter(|_| plan.workers.is_local) {
            let warning = Diagnostic::warning(Code::AgentNotReady, error.to_string());
            return Some(
                warning.help("install it, or remove `version` and install the agent yourself"),
            );
        }
    } else if find_program(program, path_of(&env, host)).is_none() {
        let message = format!(
            "the agent `{}` is not installed: no program `{program}` was found",
            profile.name
        );
        let warning = Diagnostic::warning(Code::AgentNotReady, message);
        return Some(match profile.how_to_install() {
            install if install.is_empty() => warning.help("install it, or put it into `PATH`"),
            install => warning.help(format!("`{install}`")),
        });
    }
    let access = credentials::access(host, profile, &env, variant.config.as_ref());
    if !access.credentials.is_empty() || !access.endpoints.is_empty() {
        return None;
    }
    let message = format!("the agent `{}` has no credentials", profile.name);
    let help = credentials::how_to_sign_in(profile)?;
    Some(Diagnostic::warning(Code::AgentNotReady, message).help(help))
}

fn path_of<'a>(env: &'a Variables, host: &'a Host) -> &'a str {
    let own = env.get("PATH").map(String::as_str);
    own.or(host.get("PATH")).unwrap_or_default()
}

/// Reports the MCP servers of a case whose programs are not on this machine.
fn missing_servers(case: &Case, plan: &RunPlan, host: &Host, problems: &mut Diagnostics) {
    let variant = &case.variant;
    if (variant.sandbox.as_ref()).is_some_and(Sandbox::is_container) {
        return;
    }
    let env = credentials::own_variables(
        host,
        variant.agent.agent.profile(),
        variant.config.as_ref(),
        &case.env,
    );
    for (name, server) in &variant.mcp_servers {
        let McpServer::Stdio { command, .. } = server else {
            continue;
        };
        // A path is checked where it is read, or is one in the workspace.
        if command.contains('/') || find_program(command, path_of(&env, host)).is_some() {
            continue;
        }
        let message =
            format!("the MCP server `{name}` is not installed: no program `{command}` was found");
        let setups = plan
            .suite
            .environments
            .iter()
            .chain(&plan.suite.experiments);
        let mut names = setups
            .filter_map(|setup| setup.mcp_servers.set())
            .flatten()
            .map(|(name, _)| name);
        let place = names.find(|written| written.value == *name);
        problems.push(
            Diagnostic::warning(Code::AgentNotReady, message)
                .maybe_at(place.map(|name| name.place), "no agent could start it")
                .help("install it, or put it into `PATH`"),
        );
    }
}

/// Adds the place at which the suite chooses the agent.
fn at_its_agent(problem: Diagnostic, choice: &AgentChoice, plan: &RunPlan) -> Diagnostic {
    let suite = &plan.suite;
    let mut setups = suite.environments.iter().chain(&suite.experiments);
    let chooses = |setup: &&Setup| setup.agent.set() == Some(choice);
    match setups.find(chooses).and_then(|setup| setup.place) {
        Some(place) => problem.at(place, "every trial of it would end in an error"),
        None => problem,
    }
}
