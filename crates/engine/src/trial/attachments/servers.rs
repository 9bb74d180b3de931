//! The taps of an agent's MCP servers: opened before it starts, and read when it has ended.

use std::collections::BTreeSet;
use std::io::{self, Write};

use camino::Utf8Path;
use terca_core::agent::delivery::McpDelivery;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::{Ending, Reading};
use terca_core::mcp_tap::{HiddenTools, ServerRecord, ServerTap, TapEventKind, steps};
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::{ErrorKind, TrialError};
use terca_gateway::{McpPassage, RemoteMcpServer};

use super::network::{is_behind_plain_proxy, pass_by_proxies};
use super::{AgentRequest, AgentStart, Attachment, CommandEnd, json_lines};
use crate::mcp_tap::{Tap, Tapped};
use crate::tree::{Dir, Options};
use crate::trial::stage_error::StageError;

/// The longest part of a server's name in the name of its file.
const LONGEST_FILE_NAME: usize = 100;

/// The directory of the artifacts with a file for each server.
const DIR: &str = "mcp";

/// The taps of an agent's servers.
#[derive(Debug, Default)]
struct Taps {
    /// Those of programs.
    programs: Option<Tap>,
    /// Those of servers by HTTP, which are in the gateway.
    remote: Vec<(String, McpPassage)>,
}

/// Puts taps in the place of an agent's servers.
pub(super) fn attach(start: &mut AgentStart<'_>) -> Result<Box<dyn Attachment>, StageError> {
    let mut taps = Taps::default();
    let mut servers = std::mem::take(&mut start.mcp_servers);
    for (name, server) in &mut servers {
        if let McpServer::Remote { url, headers, .. } = server {
            let hides = hidden_tools(start.request, name);
            match lead(start, url, headers, hides)? {
                Ok(passage) => {
                    *url = passage.address();
                    headers.clear();
                    taps.remote.push((name.clone(), passage));
                }
                Err(reason) => not_watched(start, name, &reason)?,
            }
        }
    }
    if !taps.remote.is_empty() {
        pass_by_proxies(&mut start.env);
        start.needs_gateway = true;
    }
    taps.programs = open_programs(start, &mut servers)?;
    start.mcp_servers = servers;
    Ok(Box::new(taps))
}

/// Opens a passage to a server by HTTP. The agent gets no header: the gateway adds them. Returns the reason why the
/// gateway cannot ask the server.
fn lead(
    start: &AgentStart<'_>,
    url: &str,
    headers: &[(String, String)],
    hides: Option<HiddenTools>,
) -> Result<Result<McpPassage, String>, StageError> {
    if is_behind_plain_proxy(url, &start.env) {
        return Ok(Err("it may be behind an `http` proxy".to_owned()));
    }
    let context = start.context;
    let opened = context
        .gateway
        .get(&context.host)?
        .open_mcp(RemoteMcpServer {
            url,
            headers,
            hides,
            mask: &context.mask,
        });
    Ok(opened.map_err(|error| error.to_string()))
}

/// Puts taps in the place of servers that are programs.
fn open_programs(
    start: &mut AgentStart<'_>,
    servers: &mut [(String, McpServer<String>)],
) -> Result<Option<Tap>, StageError> {
    let (context, request) = (start.context, start.request);
    let is_program = |server: &McpServer<String>| matches!(server, McpServer::Stdio { .. });
    let programs = servers.iter().filter(|(_, server)| is_program(server));
    let names: Vec<String> = programs.map(|(name, _)| name.clone()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let opened = match context.own_program(request.sandbox) {
        Some(program) => Tap::open(&start.dirs.io, &program, servers, request.hide_tools)
            .map_err(|error| error.to_string()),
        None => Err("a copy of Terca's program could not be made".to_owned()),
    };
    if let Err(reason) = &opened {
        for name in names {
            not_watched(start, &name, reason)?;
        }
    }
    Ok(opened.ok())
}

impl Attachment for Taps {
    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        let Some(session) = &mut end.session else {
            return Ok(());
        };
        let mask = &end.run.context.mask;
        let mut tapped = self.programs.map(|tap| tap.close(mask)).unwrap_or_default();
        for (name, passage) in self.remote {
            let (record, has_too_many) = passage.close();
            tapped.has_too_many |= has_too_many;
            tapped.servers.insert(name, record);
        }
        for (name, server) in &tapped.servers {
            // Calls that the agent does not show are added to its steps.
            if !session.shown_servers.contains(name) {
                session.records.extend(steps(name, &server.events));
            }
        }
        keep(&tapped, &session.artifacts, mask)?;
        add(tapped, &mut session.reading);
        Ok(())
    }
}

/// Returns the tools of a server that the agent is not offered.
fn hidden_tools(request: &AgentRequest<'_>, server: &str) -> Option<HiddenTools> {
    request
        .hide_tools
        .get(server)
        .and_then(|names| HiddenTools::new(names))
}

/// Notes a server that has no tap, which is the agent's own affair. It is an error where the tap is to hide tools.
fn not_watched(start: &mut AgentStart<'_>, name: &str, reason: &str) -> Result<(), StageError> {
    if hidden_tools(start.request, name).is_some() {
        let message = format!("the tools of the MCP server `{name}` cannot be hidden: {reason}");
        return Err(StageError::new(ErrorKind::Mcp, message));
    }
    start.notes.push(format!(
        "nothing is known of the MCP server `{name}` in this trial: {reason}"
    ));
    Ok(())
}

/// Adds what the taps saw of the servers. A session without one of its servers is an error: the agent was not tested.
fn add(tapped: Tapped, reading: &mut Reading) {
    let is_over = reading.ending == Ending::Completed;
    let may_be_server = match &reading.ending {
        Ending::Completed | Ending::Crashed(_) => true,
        Ending::Failed(error) => matches!(error.kind, ErrorKind::Agent | ErrorKind::Mcp),
    };
    let mut servers = tapped.servers.iter();
    // In a session that came to its end, a server has had the time to connect.
    let is_silent = |tap: &ServerTap| is_over && tap.starts > 0 && tap.connected == 0;
    let broken =
        servers.find(|(_, server)| server.figures.is_broken() || is_silent(&server.figures));
    if let (true, Some((name, server))) = (may_be_server, broken) {
        reading.ending = Ending::Failed(broken_server(name, server));
    }
    if tapped.has_too_many {
        let note = "the agent started MCP servers so often that not every start is recorded";
        reading.notes.push(note.to_owned());
    }
    for (name, ServerRecord { figures, .. }) in tapped.servers {
        if !figures.deaths.is_empty() {
            let exits: BTreeSet<&String> = figures.deaths.iter().collect();
            reading.notes.push(format!(
                "the MCP server `{name}` crashed ({})",
                prose::list(exits.into_iter(), "and")
            ));
        }
        reading.mcp_servers.insert(name, McpDelivery::seen(figures));
    }
}

/// Returns the error of a session without one of its servers.
fn broken_server(name: &str, server: &ServerRecord) -> TrialError {
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
fn keep(tapped: &Tapped, artifacts: &Utf8Path, mask: &Mask) -> io::Result<()> {
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
        let text = json_lines(&server.events)?;
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
