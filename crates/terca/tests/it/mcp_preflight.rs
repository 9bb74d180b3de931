//! Each MCP server is asked once per run, before an agent is paid for.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;
use terca_testkit::{HttpMcpServer, Project, TlsServer};

use crate::common::project;

/// A server as it should be. It waits for its input to end, as many do.
const GOOD: &str = r#"read -r line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'
read -r line; read -r line
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}'
cat > /dev/null"#;

/// Returns a project with two environments: `e` with these servers, and `plain` without. The agent says that it ran.
fn project_with(servers: &str, server: &str) -> Project {
    let project = project();
    let bin = project.dir().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let agent = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 9.9.9; exit; }\necho ran > out.txt\n\
        echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"ok\",\
        \"stop_reason\":\"end_turn\",\"modelUsage\":{\"m\":{\"outputTokens\":1}}}'\n";
    project
        .env("PATH", &format!("{bin}:{path}"))
        .env("ANTHROPIC_API_KEY", "fake-key-for-tests")
        .env("SERVER_TOKEN", "a-token-that-is-secret")
        .executable("bin/claude", agent)
        .executable("bin/docs-server", &format!("#!/bin/sh\n{server}\n"))
        .file(
            "terca.yaml",
            format!(
                "environments:\n  - name: plain\n    agent: claude-code\n  - name: e\n    agent: claude-code\n    \
                 mcpServers: {{{servers}}}\nevals:\n  - name: task\n    prompt: Do it.\n    tests: [fileExists: out.txt]\n"
            ),
        )
}

fn trials_of(project: &Project, environment: &str) -> Vec<Value> {
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let of = trials
        .iter()
        .filter(|trial| trial["environment"] == environment);
    of.cloned().collect()
}

fn message(trial: &Value) -> &str {
    trial["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_server_that_answers_is_asked_once() {
    let counted = format!("echo >> \"$COUNT_FILE\"\n{GOOD}");
    let project = project_with(
        "docs: {command: docs-server, env: {COUNT_FILE: '${COUNT_FILE}'}}",
        &counted,
    );
    let count = project.dir().join("count");
    let project = project.env("COUNT_FILE", count.as_str());
    let outcome = project.terca(&["--format", "plain", "-n", "3"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 1);
    project.wait_until_nothing_runs();
}

#[test]
fn a_server_that_does_not_start_is_an_error_before_the_agent_runs() {
    let server = "echo \"cannot start, missing token $TOKEN\" >&2; exit 3";
    let project = project_with(
        "docs: {command: docs-server, env: {TOKEN: '${SERVER_TOKEN}'}}",
        server,
    );
    let outcome = project.terca(&["--format", "plain", "-n", "2"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    for trial in trials_of(&project, "e") {
        assert_eq!(trial["status"], "error", "{trial}");
        assert_eq!(trial["error"]["kind"], "mcp");
        let message = message(&trial);
        assert!(message.contains("`docs` did not start"), "{message}");
        assert!(message.contains("exit status 3"), "{message}");
        assert!(message.contains("cannot start, missing token"), "{message}");
        assert!(!message.contains("a-token-that-is-secret"), "{message}");
        assert_eq!(
            trial["phases"]["agent"],
            Value::Null,
            "the agent was not started"
        );
    }
    for trial in trials_of(&project, "plain") {
        assert_eq!(trial["status"], "passed", "others go on: {trial}");
    }
    project.wait_until_nothing_runs();
}

#[test]
fn the_reason_is_told() {
    for (servers, server, words) in [
        (
            "docs: {command: no-such-server}", "", "`no-such-server` is not installed",
        ),
        (
            "docs: {command: docs-server}", "echo 'Listening on port 1'; exit 1",
            "not the protocol: Listening on port 1",
        ),
        (
            "docs: {command: docs-server}",
            r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"too old"}}'; cat >/dev/null"#,
            "it refused: too old",
        ),
        (
            "docs: {url: 'http://127.0.0.1:1/mcp'}", "", "127.0.0.1:1 cannot be reached",
        ),
    ] {
        let project = project_with(servers, server);
        project.terca(&["--format", "plain", "-e", "e"]);
        let trials = trials_of(&project, "e");
        assert_eq!(
            trials[0]["error"]["kind"], "mcp",
            "{servers}: {}",
            trials[0]
        );
        assert!(message(&trials[0]).contains(words), "{}", trials[0]);
    }
}

/// Its program is in the workspace, which is not there before the first trial.
#[test]
fn a_server_of_the_workspace_is_started_there() {
    let project = project_with("docs: {command: sh, args: [tools/server.sh]}", "");
    let project = project.file("_base/tools/server.sh", GOOD);
    let outcome = project.terca(&["--format", "plain", "-e", "e"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

#[test]
fn it_can_be_switched_off() {
    let project = project_with("docs: {command: docs-server}", "exit 3");
    let suite = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("mcpPreflight: false\n{suite}"));
    let outcome = project.terca(&["--format", "plain", "-e", "e"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

#[test]
fn a_server_by_http_that_refuses_is_an_error() {
    for (status, words) in [
        ("401 Unauthorized", "HTTP 401"),
        ("200 OK", "without the protocol of MCP"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let count = stream.read(&mut asked).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
            String::from_utf8_lossy(&asked[..count]).into_owned()
        });
        let servers = format!(
            "docs: {{url: 'http://127.0.0.1:{port}/mcp', headers: {{Authorization: 'Bearer ${{SERVER_TOKEN}}'}}}}"
        );
        let project = project_with(&servers, "");
        project.terca(&["--format", "plain", "-e", "e"]);
        let asked = server.join().unwrap();
        assert!(asked.starts_with("POST /mcp HTTP/1.1\r\n"), "{asked}");
        assert!(
            asked.contains("authorization: Bearer a-token-that-is-secret"),
            "{asked}"
        );
        let trial = &trials_of(&project, "e")[0];
        assert!(message(trial).contains(words), "{trial}");
    }
}

#[test]
fn a_server_by_http_that_answers_is_asked_once() {
    const TOKEN: &str = "Bearer a-token-that-is-secret";
    let docs = HttpMcpServer::start(TOKEN);
    let url = docs.url("/mcp");
    let servers =
        format!("docs: {{url: '{url}', headers: {{Authorization: 'Bearer ${{SERVER_TOKEN}}'}}}}");
    let project = project_with(&servers, "");
    let outcome = project.terca(&["--format", "plain", "-n", "2"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!((docs.asked("initialize"), docs.asked("tools/list")), (1, 1));
}

#[test]
fn a_server_by_https_is_asked_too() {
    for (status, is_trusted, words) in [
        ("200 OK", true, "without the protocol of MCP"),
        ("401 Unauthorized", true, "HTTP 401"),
        ("200 OK", false, "invalid peer certificate"),
    ] {
        let server = TlsServer::answering(status);
        let servers = format!(
            "docs: {{url: 'https://127.0.0.1:{}/mcp?v=1', headers: {{X-Token: '${{SERVER_TOKEN}}'}}}}",
            server.port
        );
        let project = project_with(&servers, "").file("ca.pem", &server.certificate);
        let authorities = project.dir().join("ca.pem");
        let project = if is_trusted {
            project.env("SSL_CERT_FILE", authorities.as_str())
        } else {
            project
        };
        project.terca(&["--format", "plain", "-e", "e"]);
        let asked = server.asked();
        assert_eq!(asked.is_some(), is_trusted, "{asked:?}");
        if let Some(asked) = asked {
            assert!(asked.starts_with("POST /mcp?v=1 HTTP/1.1\r\n"), "{asked}");
            assert!(asked.contains("x-token: a-token-that-is-secret"), "{asked}");
        }
        let trial = &trials_of(&project, "e")[0];
        assert!(message(trial).contains(words), "{trial}");
    }
}

/// It answers nothing, whether it is a program or a server by HTTP.
#[test]
fn a_server_that_hangs_is_an_error_after_the_time_of_the_suite() {
    // Connections wait in its queue, and nobody takes them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let by_http = format!("docs: {{url: 'http://127.0.0.1:{port}/mcp'}}");
    for servers in ["docs: {command: docs-server}", by_http.as_str()] {
        let server = "echo \"looking for my files\" >&2; cat > /dev/null";
        let project = project_with(servers, server);
        let suite = project.read("terca.yaml");
        let limited = format!("mcpPreflight: {{timeoutSeconds: 0.5}}\n{suite}");
        let project = project.file("terca.yaml", limited);
        let outcome = project.terca(&["--format", "plain", "-n", "2"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        let trials = trials_of(&project, "e");
        assert_eq!(trials.len(), 2);
        for trial in &trials {
            assert_eq!(trial["error"]["kind"], "mcp", "{trial}");
            let message = message(trial);
            assert!(message.contains("did not answer within 0.5 s"), "{message}");
            assert!(
                message.contains("mcpPreflight: {timeoutSeconds"),
                "{message}"
            );
            let is_program = servers.contains("command");
            assert_eq!(
                message.contains("looking for my files"),
                is_program,
                "its own words: {message}"
            );
            assert_eq!(
                trial["phases"]["agent"],
                Value::Null,
                "the agent was not started"
            );
        }
        for trial in trials_of(&project, "plain") {
            assert_eq!(trial["status"], "passed", "others go on: {trial}");
        }
        project.wait_until_nothing_runs();
    }
}

#[test]
fn a_time_is_written_as_a_map() {
    for (written, words) in [
        (
            "10s",
            "a time in seconds is written as `{timeoutSeconds: 120}`",
        ),
        (
            "10",
            "a time in seconds is written as `{timeoutSeconds: 120}`",
        ),
        ("{timeoutSeconds: 0}", "expected a number above 0"),
        ("{seconds: 10}", "unknown key `seconds`"),
    ] {
        let project = project_with("docs: {command: docs-server}", GOOD);
        let suite = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("mcpPreflight: {written}\n{suite}"));
        let outcome = project.terca(&["check"]);
        assert_eq!(outcome.status, 2, "{written}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(words),
            "{written}: {}",
            outcome.stderr
        );
    }
}

/// It is out of time before it has said anything, because it waits for its server first, as Gemini CLI and Goose do.
#[test]
fn an_agent_that_may_have_waited_for_a_server_has_a_note_of_it() {
    let project = project_with("docs: {command: docs-server}", "cat > /dev/null");
    let suite = project.read("terca.yaml");
    let agent = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 9.9.9; exit; }\nsleep 300\n";
    let project = project.executable("bin/claude", agent).file(
        "terca.yaml",
        format!("mcpPreflight: false\ntimeoutSeconds: 1\n{suite}"),
    );
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    for (environment, is_noted) in [("e", true), ("plain", false)] {
        let trial = &trials_of(&project, environment)[0];
        assert_eq!(trial["error"]["kind"], "modelApi", "{trial}");
        let notes = trial["notes"].to_string();
        let words = "may have waited for an MCP server that did not answer: `docs`";
        assert_eq!(notes.contains(words), is_noted, "{trial}");
    }
    project.wait_until_nothing_runs();
}
