//! An MCP server: a program or an address.

use camino::Utf8Path;
use serde_json::{Map, Value, json};

use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::config::variables::{Template, set_only, variables};
use crate::reader::{
    Entries, Fields, Kind, PathKind, Reader, filled_text, map_of, object, one_or_more, plain_text,
    word,
};
use crate::text::{Code, Diagnostic, Located};

/// MCP servers by name; `null` removes one of the environment.
pub type McpServers = Entries<McpServer<Template>>;

pub(super) fn mcp_servers() -> Kind<McpServers> {
    let server = object("mcpServer", "an MCP server", mcp_server)
        .about("An MCP server: either a program (`command`) or an address (`url`).")
        .example("{command: npx, args: [docs-server]}")
        .kind();
    map_of(server).called("map of names and [servers](terca-yaml.md#mcp-servers)")
}

/// Names of tools by the name of their server; `null` shows those again that the environment hides.
pub type HideTools = Entries<Vec<String>>;

pub(super) fn hide_tools() -> Kind<HideTools> {
    map_of(one_or_more(filled_text().value())).called("map of servers and names of their tools")
}

fn mcp_server(fields: &mut Fields<'_, '_>) -> Option<McpServer<Template>> {
    let keys = fields.keys();
    let command = fields.filled(
        "command",
        filled_text().then(server_program),
        "The program of a local server. `./program` is relative to the YAML file.",
    );
    let args = fields.list(
        "args",
        plain_text(),
        "Its arguments, passed on as they are. For a script of yours, set `cwd`.",
    );
    let env = fields.optional(
        "env",
        variables(),
        "Its [environment variables](terca-yaml.md#variables).",
    );
    let cwd = fields.optional(
        "cwd",
        filled_text()
            .called("path")
            .then(|dir, reader| Some(anchored(dir, reader))),
        "The directory that it is started in, relative to the YAML file.",
    );
    let url = fields.filled("url", filled_text(), "The address of a remote server.");
    let headers = fields.optional(
        "headers",
        variables(),
        "Headers of every request to it. Values are written as in `env`.",
    );
    let kind = fields.optional(
        "type",
        word(["http", "sse", "stdio"].map(|word| (word, word)), None)
            .with("type", json!("string"))
            .with("enum", json!(["http", "sse", "stdio", null]))
            .called("`stdio`, `http`, `sse`"),
        "The transport. Only needed if it does not follow from the address.",
    );
    fields.demand("oneOf", transports());
    let is_local = one_transport(&keys, kind.as_ref(), fields)?;
    if is_local {
        return Some(McpServer::Stdio {
            command: command?,
            args,
            env: set_only(env),
            cwd,
        });
    }
    let url = url?;
    let transport = match kind.as_ref().map(|kind| kind.value) {
        Some("sse") => RemoteTransport::Sse,
        None if url.value.trim_end_matches('/').ends_with("/sse") => RemoteTransport::Sse,
        _ => RemoteTransport::Http,
    };
    Some(McpServer::Remote {
        url,
        headers: set_only(headers),
        transport,
    })
}

/// The keys that only one of the two transports takes.
const LOCAL_ONLY: [&str; 3] = ["args", "env", "cwd"];
const REMOTE_ONLY: [&str; 1] = ["headers"];

/// Checks that there is either a `command` or a `url`, and no key of the other. Returns true for a `command`.
fn one_transport(
    keys: &[Located<String>],
    kind: Option<&Located<&str>>,
    fields: &mut Fields<'_, '_>,
) -> Option<bool> {
    let find = |name: &str| keys.iter().find(|key| key.value == name);
    let given = ["command", "url"].into_iter().filter_map(find).cloned();
    let given = fields.only(Code::MissingKey, &["command", "url"], given.collect())?;
    let (is, is_not, foreign): (_, _, &[&str]) = match given.value.as_str() {
        "command" => ("command", "url", &REMOTE_ONLY),
        _ => ("url", "command", &LOCAL_ONLY),
    };
    let foreign = foreign.iter().filter_map(|name| find(name));
    let mut misplaced: Vec<_> = foreign.map(|key| (key.value.clone(), key.place)).collect();
    if let Some(kind) = kind.filter(|kind| (kind.value == "stdio") != (is == "command")) {
        misplaced.push((format!("type: {}", kind.value), kind.place));
    }
    for (written, place) in misplaced {
        fields.reader.problems.push(
            Diagnostic::error(
                Code::MisplacedKey,
                format!("`{written}` is for an MCP server with a `{is_not}`"),
            )
            .at(place, format!("this one has a `{is}`")),
        );
    }
    Some(is == "command")
}

/// Describes the two transports: each refuses the keys of the other.
fn transports() -> Value {
    let transport = |is: &str, is_not: &str, foreign: &[&str], types: Value| {
        let mut properties = Map::new();
        for key in foreign.iter().chain([&is_not]) {
            properties.insert((*key).to_owned(), false.into());
        }
        properties.insert("type".into(), json!({ "enum": types }));
        json!({ "required": [is], "properties": properties })
    };
    json!([
        transport("command", "url", &REMOTE_ONLY, json!(["stdio", null])),
        transport("url", "command", &LOCAL_ONLY, json!(["http", "sse", null])),
    ])
}

/// Resolves a directory. One that begins with a variable is left for when the variable is known.
fn anchored(dir: Template, reader: &Reader<'_>) -> Template {
    if dir.value.starts_with("${") {
        return dir;
    }
    Located::new(reader.beside(&dir).into_string(), dir.place)
}

/// Resolves `./server` relative to the YAML file. A bare name is looked up on `PATH` later.
fn server_program(command: Template, reader: &mut Reader<'_>) -> Option<Template> {
    if !command.value.starts_with("./") && !command.value.starts_with("../") {
        warn_of_arguments(&command, reader);
        return Some(command);
    }
    if command.value.contains("${") {
        return Some(anchored(command, reader));
    }
    let path = reader.existing(&command, "MCP server program", &[PathKind::File])?;
    Some(Located::new(path.into_string(), command.place))
}

/// Warns of a whole command line in the place of a program.
fn warn_of_arguments(command: &Template, reader: &mut Reader<'_>) {
    let mut words = command.value.split_whitespace();
    let Some(program) = words.next() else { return };
    let arguments: Vec<&str> = words.collect();
    let is_file = reader.surroundings.kind(Utf8Path::new(&command.value)) == PathKind::File;
    if arguments.is_empty() || is_file {
        return;
    }
    reader.problems.push(
        Diagnostic::warning(
            Code::DoubtfulValue,
            format!("no program is called `{}`", command.value),
        )
        .at(
            command.place,
            "this is the program alone, without arguments",
        )
        .help(format!(
            "write `command: {program}` and `args: {}`",
            json!(arguments)
        )),
    );
}
