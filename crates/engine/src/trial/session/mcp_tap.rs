//! The taps of an agent's MCP servers: opened before it starts, and read when it has ended.

use std::collections::BTreeSet;
use std::io::{self, Write};

use camino::Utf8Path;
use terca_core::agent::delivery::McpDelivery;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::{Ending, Reading};
use terca_core::mcp_tap::{HiddenTools, ServerTap, TapEventKind};
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::{ErrorKind, TrialError};

use super::AgentRequest;
use crate::host::environment::Variables;
use crate::mcp_tap::{RemoteTaps, Tap, Tapped, TappedServer};
use crate::tree::{Dir, Options};
use crate::trial::context::Context;
use crate::trial::gateway::pass_by_proxies;
use crate::trial::plain_proxy::is_behind_plain_proxy;
use crate::trial::stage_error::StageError;

/// The longest part of a server's name in the name of its file.
const LONGEST_FILE_NAME: usize = 100;

/// The directory of the artifacts with a file for each server.
const DIR: &str = "mcp";

/// The taps of an agent's servers.
#[derive(Debug, Default)]
pub(super) struct Taps {
    /// Those of programs.
    programs: Option<Tap>,
    /// Those of servers by HTTP.
    remote: RemoteTaps,
}

/// An agent's servers with taps before them.
#[derive(Debug, Default)]
pub(super) struct TappedServers {
    pub(super) taps: Taps,
    /// The servers as the agent is given them.
    pub(super) servers: Vec<(String, McpServer<String>)>,
}

impl TappedServers {
    /// Returns the servers that the agent reaches by itself.
    pub(super) fn not_led(&self, own: &[(String, McpServer<String>)]) -> Vec<NamedServer> {
        let mut not_led = self.servers.clone();
        // A server that is led has another address.
        not_led.retain(|server| own.contains(server));
        not_led
    }
}

type NamedServer = (String, McpServer<String>);

/// Leads an agent to its servers by HTTP through the gateway. A server that cannot be led is the agent's own affair,
/// and a note says so.
pub(super) fn lead(
    context: &Context,
    request: &AgentRequest<'_>,
    env: &mut Variables,
    notes: &mut Vec<String>,
) -> Result<TappedServers, StageError> {
    let mut servers = request.mcp_servers.to_vec();
    let mut remote = RemoteTaps::default();
    for (name, server) in &mut servers {
        let McpServer::Remote { url, .. } = server else {
            continue;
        };
        let hides = hidden_tools(request, name);
        let led = if is_behind_plain_proxy(url, env) {
            Err("it may be behind an `http` proxy".to_owned())
        } else {
            let gateway = context.gateway.get(&context.host)?;
            remote.lead(gateway, name, server, hides.clone(), &context.mask)
        };
        match led {
            Ok(()) => {}
            Err(reason) if hides.is_some() => return Err(not_hidden(name, &reason)),
            Err(reason) => notes.push(unseen_server(name, &reason)),
        }
    }
    if !remote.is_empty() {
        pass_by_proxies(env);
    }
    Ok(TappedServers {
        taps: Taps {
            programs: None,
            remote,
        },
        servers,
    })
}

impl Taps {
    /// Returns whether the agent reaches a server through the gateway.
    pub(super) fn need_gateway(&self) -> bool {
        !self.remote.is_empty()
    }

    /// Opens the taps of servers that are programs, and puts them in their places. An agent works without them
    /// where they cannot be made, and a note says so; it does not where they are to hide tools.
    pub(super) fn open_programs(
        &mut self,
        context: &Context,
        io_dir: &Utf8Path,
        request: &AgentRequest<'_>,
        servers: &mut Vec<NamedServer>,
        notes: &mut Vec<String>,
    ) -> Result<(), StageError> {
        let is_program = |(_, server): &NamedServer| matches!(server, McpServer::Stdio { .. });
        let mut programs = servers.iter().filter(|server| is_program(server));
        if programs.clone().next().is_none() {
            return Ok(());
        }
        let opened = match context.own_program(request.sandbox) {
            Some(program) => {
                let (own, hidden) = (request.mcp_servers, request.hide_tools);
                Tap::open(io_dir, own, hidden, &program, &context.mask)
                    .map_err(|error| error.to_string())
            }
            None => Err("a copy of Terca's program could not be made".to_owned()),
        };
        match opened {
            Ok(tap) => self.programs = tap,
            Err(reason) => {
                let hiding = programs.find(|(name, _)| hidden_tools(request, name).is_some());
                if let Some((name, _)) = hiding {
                    return Err(not_hidden(name, &reason));
                }
                notes.push(unseen(&reason));
            }
        }
        if let Some(tap) = &self.programs {
            *servers = tap.in_place_of(servers);
        }
        Ok(())
    }

    /// Reads the rest of what the taps have seen. Every process of the agent must have ended.
    pub(super) fn close(self) -> Tapped {
        let mut tapped = self.programs.map(Tap::close).unwrap_or_default();
        self.remote.close(&mut tapped);
        tapped
    }
}

/// Returns the tools of a server that the agent is not offered.
fn hidden_tools(request: &AgentRequest<'_>, server: &str) -> Option<HiddenTools> {
    request
        .hide_tools
        .get(server)
        .and_then(|names| HiddenTools::new(names))
}

/// Returns the error of an agent that would be offered tools that the suite hides.
fn not_hidden(server: &str, reason: &str) -> StageError {
    let message = format!("the tools of the MCP server `{server}` cannot be hidden: {reason}");
    StageError::new(ErrorKind::Mcp, message)
}

fn unseen_server(name: &str, reason: &str) -> String {
    format!("nothing is known of the MCP server `{name}` in this trial: {reason}")
}

fn unseen(reason: &str) -> String {
    format!(
        "nothing is known of the MCP servers in this trial, because Terca cannot watch them: {reason}"
    )
}

/// Adds what the taps saw of the servers. A session without one of its servers is an error: the agent was not tested.
pub(super) fn add(tapped: Tapped, reading: &mut Reading) {
    let is_over = reading.ending == Ending::Completed;
    let may_be_server = match &reading.ending {
        Ending::Completed | Ending::Crashed(_) => true,
        Ending::Failed(error) => matches!(error.kind, ErrorKind::Agent | ErrorKind::Mcp),
    };
    let mut servers = tapped.servers.iter();
    let broken = servers.find(|(_, server)| is_broken(&server.figures, is_over));
    if let (true, Some((name, server))) = (may_be_server, broken) {
        reading.ending = Ending::Failed(broken_server(name, server));
    }
    if tapped.has_strangers {
        let note =
            "an unknown program tried to write to the record of MCP servers, and was refused";
        reading.notes.push(note.to_owned());
    }
    if tapped.has_too_many {
        let note = "the agent started MCP servers so often that not every start is recorded";
        reading.notes.push(note.to_owned());
    }
    for (name, TappedServer { figures, .. }) in tapped.servers {
        if !figures.deaths.is_empty() {
            let exits: BTreeSet<&String> = figures.deaths.iter().collect();
            let exits: Vec<&String> = exits.into_iter().collect();
            reading.notes.push(format!(
                "the MCP server `{name}` crashed ({})",
                prose::list(&exits, "and")
            ));
        }
        reading.mcp_servers.insert(name, McpDelivery::seen(figures));
    }
}

/// Returns whether a server was started and did not connect. In a session that came to its end, it has had the time.
fn is_broken(figures: &ServerTap, is_over: bool) -> bool {
    let is_silent = is_over && figures.starts > 0 && figures.connected == 0;
    figures.is_broken() || is_silent
}

/// Returns the error of a session without one of its servers.
fn broken_server(name: &str, server: &TappedServer) -> TrialError {
    let refusal = server.events.iter().find_map(|event| match &event.kind {
        TapEventKind::Initialized { error, .. } => error.clone(),
        _ => None,
    });
    let why = refusal.or_else(|| server.figures.deaths.first().cloned());
    let why = why.unwrap_or_else(|| "it did not answer".to_owned());
    let message = format!("the MCP server `{name}` did not connect: {why}");
    TrialError::new(ErrorKind::Mcp, message)
}

/// Writes a file for each server that was started, with a line for each event.
pub(super) fn keep(tapped: &Tapped, artifacts: &Utf8Path, mask: &Mask) -> io::Result<()> {
    let started = tapped
        .servers
        .iter()
        .filter(|(_, server)| !server.events.is_empty());
    let mut names = BTreeSet::new();
    for (name, server) in started {
        let artifacts = Dir::open_no_link(artifacts)?;
        if names.is_empty() {
            // An agent may have put something in its place.
            let _removed = artifacts.remove_tree(DIR, &Options::default())?;
            artifacts.create_dir(DIR, 0o777)?;
        }
        let mut text = String::new();
        for event in &server.events {
            text.push_str(&serde_json::to_string(event)?);
            text.push('\n');
        }
        let mut file_name = mask.text(name).replace(is_unsafe, "_");
        file_name.truncate(LONGEST_FILE_NAME);
        while !names.insert(file_name.clone()) {
            file_name.push('_');
        }
        let path = format!("{DIR}/{file_name}.jsonl");
        artifacts
            .create_file(&path, 0o666)?
            .write_all(mask.text(&text).as_bytes())?;
    }
    Ok(())
}

fn is_unsafe(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
