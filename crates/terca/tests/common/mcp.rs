//! An MCP server and an agent of a few lines of shell, for tests on machines with nothing else.

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
