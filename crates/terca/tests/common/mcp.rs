//! An MCP server and an agent of a few lines of shell, for tests on machines with nothing else.

use serde_json::Value;
use terca_testkit::Project;

use super::project;

/// Offers two tools. `search` finds something, `fail` is refused, `die` ends it, `hang` is never answered.
pub const SERVER: &str = r#"#!/bin/sh
echo "server in $(pwd) with $LEVEL" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) result='"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"docs","version":"1"}}';;
    *'"tools/list"'*) result='"result":{"tools":[{"name":"search","description":"Searches the pages.","inputSchema":{"type":"object"}},{"name":"page"}]}';;
    *'"die"'*) exit 4;;
    *'"hang"'*) continue;;
    *'"fail"'*) result='"result":{"content":[{"type":"text","text":"THE-TOOL-REFUSED"}],"isError":true}';;
    *'"tools/call"'*) result='"result":{"content":[{"type":"text","text":"FOUND-IT with '$TOKEN'"}]}';;
    *) continue;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$result}"
done
"#;

/// Starts its MCP server as it was told to. `ask ID METHOD [TOOL]` sends a request, `answer` reads a line.
pub const AGENT: &str = r#"#!/bin/bash
config=$(tr -d '\n' <"$TERCA_MCP_CONFIG")
command=$(printf '%s' "$config" | sed 's/.*"command": *"\([^"]*\)".*/\1/')
args=$(printf '%s' "$config" | sed 's/.*"args": *\[\([^]]*\)\].*/\1/' | tr ',"' '  ')
start() {
  mkfifo "$TMPDIR/in" "$TMPDIR/out"
  LEVEL=high $command $args <"$TMPDIR/in" >"$TMPDIR/out" 2>errors.txt &
  server=$!
  exec 3>"$TMPDIR/in" 4<"$TMPDIR/out"
}
ask() { echo '{"jsonrpc":"2.0","id":'$1',"method":"'$2'","params":{"name":"'$3'","arguments":{"word":"bird '$TOKEN'"}}}' >&3; }
answer() { read -r line <&4; printf '%s\n' "$line" >>answers.txt; }
hello() { ask 0 initialize; answer; ask 1 tools/list; answer; }
"#;

/// Returns a suite whose agent does what these lines say, with these lines at the top of `terca.yaml`.
pub fn project_with_mcp_server(script: &str, more: &str) -> Project {
    project()
        .executable("docs-server", SERVER)
        .executable("agent.sh", &format!("{AGENT}{script}\ntouch done\n"))
        .env("TOKEN", "a-token-that-is-secret")
        .file(
            "terca.yaml",
            format!(
                "{more}environments:\n  - name: mine\n    agent: {{name: command, command: ./agent.sh}}\n    \
                 env: {{TOKEN: '${{TOKEN}}'}}\n    mcpServers: {{docs: {{command: ./docs-server}}}}\n\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: done}}]\n"
            ),
        )
}

/// Returns the record of the server `docs` in the only trial.
pub fn recorded_events(project: &Project) -> Vec<Value> {
    let lines = project.trial_file("artifacts/mcp/docs.jsonl");
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The header of an MCP server by HTTP.
pub const HTTP_TOKEN: &str = "Bearer a-token-that-is-secret";

/// Talks to its MCP server by the sockets of its shell. `post ID METHOD [TOOL]` sends a message to `$url` and keeps the
/// answer in `answer.txt`.
const HTTP_AGENT: &str = r#"#!/bin/bash
url=$(tr -d '\n' <"$TERCA_MCP_CONFIG" | sed 's/.*"url": *"\([^"]*\)".*/\1/')
connect() { # URL
  rest=${1#http://}; path=/${rest#*/}; host=${rest%%/*}
  exec 5<>"/dev/tcp/${host%:*}/${host#*:}"
}
request() { # METHOD URL BODY
  connect "$2"
  printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\n' "$1" "$path" "$host" >&5
  [ -n "$session" ] && printf 'Mcp-Session-Id: %s\r\n' "$session" >&5
  printf 'Accept: application/json, text/event-stream\r\nContent-Length: %s\r\n\r\n%s' "${#3}" "$3" >&5
}
post() {
  request POST "$url" '{"jsonrpc":"2.0","id":'$1',"method":"'$2'","params":{"name":"'$3'","arguments":{"word":"bird"}}}'
  cat <&5 >answer.txt
  cat answer.txt >>answers.txt
}
hello() {
  post 0 initialize
  session=$(tr -d '\r' <answer.txt | sed -n 's/^mcp-session-id: //p')
  post 1 tools/list
}
"#;

/// Returns a suite whose agent does what these lines say with the server at this address.
pub fn project_with_http_server(url: &str, script: &str, more: &str) -> Project {
    project()
        .executable("agent.sh", &format!("{HTTP_AGENT}{script}\ntouch done\n"))
        .env("SERVER_TOKEN", HTTP_TOKEN)
        .file(
            "terca.yaml",
            format!(
                "{more}environments:\n  - name: mine\n    agent: {{name: command, command: ./agent.sh}}\n    \
                 mcpServers: {{docs: {{url: '{url}', headers: {{Authorization: '${{SERVER_TOKEN}}'}}}}}}\n\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: done}}]\n"
            ),
        )
}
