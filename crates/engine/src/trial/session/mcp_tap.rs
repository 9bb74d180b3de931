//! The taps of an agent's MCP servers: opened before it starts, and read when it has ended.

use std::collections::BTreeSet;
use std::io::{self, Write};

use camino::Utf8Path;
use terca_core::agent::Reading;
use terca_core::agent::mcp::McpServer;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::AgentRequest;
use crate::mcp_tap::{Tap, Tapped, TappedServer};
use crate::tree::{Dir, Options};
use crate::trial::context::Context;

/// The longest part of a server's name in the name of its file.
const LONGEST_FILE_NAME: usize = 100;

/// The directory of the artifacts with a file for each server.
const DIR: &str = "mcp";

/// Opens the taps of an agent's servers. An agent works without them where they cannot be made, and a note says so.
pub(super) fn open(
    context: &Context,
    io_dir: &Utf8Path,
    request: &AgentRequest<'_>,
    notes: &mut Vec<String>,
) -> Option<Tap> {
    let servers = request.mcp_servers;
    if !servers
        .iter()
        .any(|(_, server)| matches!(server, McpServer::Stdio { .. }))
    {
        return None;
    }
    let kept = || context.tap_program.get(|| context.work.new_dir());
    let Some(program) = context.sandboxes.tap_program(request.sandbox).or_else(kept) else {
        notes.push(unseen("a copy of Terca's program could not be made"));
        return None;
    };
    match Tap::open(io_dir, servers, &program, &context.mask) {
        Ok(tap) => tap,
        Err(error) => {
            notes.push(unseen(&error.to_string()));
            None
        }
    }
}

fn unseen(reason: &str) -> String {
    format!("calls of MCP servers are those that the agent reports: there is no tap ({reason})")
}

/// Puts the evidence of the taps in the place of what the agent said about its servers.
pub(super) fn add(tapped: Tapped, reading: &mut Reading) {
    if tapped.has_strangers {
        let note =
            "something that is no tap tried to write to the record of MCP servers, and was refused";
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
                "the MCP server `{name}` died ({})",
                prose::list(&exits, "and")
            ));
        }
        let claimed = reading.mcp_servers.entry(name).or_default();
        claimed.correct(figures);
    }
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
