//! Recorded streams and inputs for the adapters' tests.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde_json::Value;

use super::{Agent, Decoder, Ending, Inputs, Invocation, Line, Reading};
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::process::Exit;
use crate::transcript::{Record, Usage};
use crate::trial_error::ErrorKind;

/// A recording of `tests/streams`.
pub(super) fn recorded(name: &str) -> String {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/streams")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The decoder of an agent that was given MCP servers of these names.
pub(super) fn decoder(agent: &'static Agent, servers: &[&str]) -> Decoder {
    let servers: Vec<_> = servers
        .iter()
        .map(|name| {
            let server = McpServer::Stdio {
                command: "server".to_owned(),
                args: Vec::new(),
                env: Vec::new(),
                cwd: None,
            };
            ((*name).to_owned(), server)
        })
        .collect();
    agent.decoder(&inputs(&servers, None, &BTreeSet::new()))
}

/// Plays a recording of `tests/streams`, then some lines on standard error, to a decoder.
pub(super) fn play(
    mut decoder: Decoder,
    recording: &str,
    stderr: &[&str],
    exit: Exit,
) -> (Vec<Record>, Reading) {
    let text = recorded(recording);
    let mut records: Vec<Record> = text
        .lines()
        .flat_map(|line| decoder.stdout(Line::Text(line)))
        .collect();
    for line in stderr {
        decoder.stderr(Line::Text(line));
    }
    let mut reading = decoder.finish(exit);
    records.append(&mut reading.records);
    (records, reading)
}

/// Why a session cannot be judged, if it cannot.
pub(super) fn kind(ending: &Ending) -> Option<ErrorKind> {
    match ending {
        Ending::Completed => None,
        Ending::Crashed(error) | Ending::Failed(error) => Some(error.kind),
    }
}

pub(super) fn used(requests: u64, input: u64, cached: u64, output: u64, tool_calls: u64) -> Usage {
    Usage {
        requests: Some(requests),
        input_tokens: Some(input),
        cached_input_tokens: Some(cached),
        output_tokens: Some(output),
        tool_calls: Some(tool_calls),
        cost_usd: None,
    }
}

/// A trial with no model of its own and the prompt `Do it`.
pub(super) fn inputs<'a>(
    mcp_servers: &'a [(String, McpServer<String>)],
    config: Option<&'a Value>,
    variables: &'a BTreeSet<String>,
) -> Inputs<'a> {
    Inputs {
        model: None,
        mcp_servers,
        config,
        command: None,
        program: None,
        agent_home: Utf8Path::new("/room/agent"),
        workspace: Utf8Path::new("/room/workspace"),
        git: false,
        prompt: "Do it",
        superuser: false,
        prompt_file: Utf8Path::new("/room/io/prompt.txt"),
        stats_file: Utf8Path::new("/room/io/stats.json"),
        artifacts_dir: Utf8Path::new("/room/io/artifacts"),
        variables,
    }
}

/// A server by server-sent events.
pub(super) fn by_sse() -> McpServer<String> {
    McpServer::Remote {
        url: "http://127.0.0.1:1/sse".to_owned(),
        headers: Vec::new(),
        transport: RemoteTransport::Sse,
    }
}

/// A server that is a program with everything that can be said of one, and one that is somewhere else.
pub(super) fn servers() -> Vec<(String, McpServer<String>)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let program = McpServer::Stdio {
        command: "node".into(),
        args: vec!["mcp.js".into(), "a b".into()],
        env: vec![pair("FOO", "bar")],
        cwd: Some("/srv/x".into()),
    };
    let elsewhere = McpServer::Remote {
        url: "http://127.0.0.1:1/mcp".into(),
        headers: vec![pair("Authorization", "Bearer x")],
        transport: RemoteTransport::Http,
    };
    vec![("tiny".to_owned(), program), ("web".to_owned(), elsewhere)]
}

/// Everything about how an agent is started, for a snapshot.
pub(super) fn shown(invocation: &Invocation) -> String {
    let files: String = invocation
        .files
        .iter()
        .map(|file| format!("\n{}\n{}", file.path, file.content))
        .collect();
    let Invocation {
        launch,
        env,
        stdin,
        side_files,
        ..
    } = invocation;
    format!("{launch:#?}\n{env:#?}\n{stdin:?}\n{side_files:#?}\n{files}")
}
