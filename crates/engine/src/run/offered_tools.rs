//! Asks the MCP servers of an experiment for their tools, before there is a run.

use terca_core::ablation::{Part, ToolOf};
use terca_core::run::settings::RunSettings;
use thiserror::Error;

use super::load::RunPlan;
use super::start::{PreparedRun, StartError, StartOptions};
use crate::host::environment::Host;
use crate::trial::{Context, offered_tools};

/// Tools that cannot be listed.
#[derive(Debug, Error)]
pub enum ToolsError {
    /// Nothing can be started here.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A signal came first.
    #[error("interrupted before the servers had listed their tools")]
    Interrupted,
    /// A server did not say what it offers.
    #[error("the tools of the MCP server `{server}` cannot be listed: {reason}")]
    Server {
        /// Its name.
        server: String,
        /// The reason.
        reason: String,
    },
}

/// Returns the tools of these servers as parts of an experiment. Each server is started as it is for an agent, in an
/// empty directory.
pub fn parts(plan: &RunPlan, servers: &[&str], host: &Host) -> Result<Vec<Part>, ToolsError> {
    let settings = RunSettings::default();
    let prepared = PreparedRun::new(plan, &settings, StartOptions::default(), host.clone())?;
    let run_dir = (prepared.context.work.new_dir()).map_err(StartError::NoWorkDir)?;
    let (context, ..) = prepared.into_context(&run_dir);
    let found = ask(&context, plan, servers);
    let _ = context.supervisors.take_remains();
    let _ = context.work.remove();
    found
}

/// Asks each server once, as each environment has it.
fn ask(context: &Context, plan: &RunPlan, servers: &[&str]) -> Result<Vec<Part>, ToolsError> {
    let mut found: Vec<Part> = Vec::new();
    let mut asked = Vec::new();
    for case in plan.plan.cases() {
        for given in &case.variant.mcp_servers {
            let (name, server) = given;
            let question = (given, &case.env);
            if !servers.contains(&name.as_str()) || asked.contains(&question) {
                continue;
            }
            asked.push(question);
            let tools = offered_tools(context, case, server).map_err(|reason| {
                if context.interrupt.is_stop() {
                    return ToolsError::Interrupted;
                }
                let server = name.clone();
                ToolsError::Server { server, reason }
            })?;
            let hidden = case.variant.hide_tools.get(name);
            for tool in tools {
                // Those that the experiment hides in every trial are no parts.
                let is_hidden = hidden.is_some_and(|hidden| hidden.contains(&tool.name));
                let part = Part {
                    name: match servers {
                        [_] => tool.name.clone(),
                        _ => format!("{name}/{}", tool.name),
                    },
                    tokens: Some(tool.estimated_tokens),
                    tool_of: Some(ToolOf {
                        server: name.clone(),
                        tool: tool.name,
                    }),
                };
                let is_known = found.iter().any(|known| known.tool_of == part.tool_of);
                if !is_hidden && !is_known {
                    found.push(part);
                }
            }
        }
    }
    Ok(found)
}
