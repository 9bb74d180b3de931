//! MCP servers by HTTP, which agents reach through the gateway: everything is recorded, and no key reaches the agent.

use serde_json::{Value, json};
use terca_testkit::{HttpMcpServer, TlsServer};

use crate::common::mcp::{
    HTTP_TOKEN as TOKEN, project_with_http_server as project_with, recorded_events as events,
};

/// Begins to talk by the older transport. Every answer is awaited in the stream.
const OLDER_TRANSPORT: &str = r#"
request GET "$url"; exec 6<&5
await() { while read -r line <&6; do printf '%s\n' "$line" >>stream.txt; case $line in *"$1"*) break;; esac; done; }
await 'data: http'
url=$(printf '%s' "${line#data: }" | tr -d '\r')
post 0 initialize; await serverInfo
post 1 tools/list; await tools
"#;

fn server(trial: &Value) -> &Value {
    &trial["delivery"]["mcpServers"]["docs"]
}

#[test]
fn every_call_is_recorded_and_the_agent_has_no_key() {
    let docs = HttpMcpServer::start(TOKEN);
    let script = "env >env.txt; cat \"$TERCA_MCP_CONFIG\" >config.txt\n\
                  hello; post 2 tools/call search; post 3 tools/call stream; post 4 tools/call fail\n\
                  request DELETE \"$url\"; cat <&5 >/dev/null";
    let project = project_with(&docs.url("/mcp?key=a-key-in-the-query"), script, "");
    let outcome = project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial.get("notes"), None, "{trial:#}");
    let server = server(&trial);
    assert_eq!(
        (&server["status"], &server["calls"], &server["failedCalls"]),
        (&json!("connected"), &json!(3), &json!(1)),
        "{server:#}"
    );
    assert_eq!(server["tap"]["starts"], 1);
    assert_eq!(server["tap"]["deaths"], json!([]));
    assert_eq!(server["tap"]["tools"]["search"]["calls"], 1);
    assert!(server["tap"]["tools"]["search"]["estimatedTokens"].is_u64());
    let kinds: Vec<Value> = events(&project)
        .iter()
        .map(|event| event["event"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "started", "initialized", "tools", "call", "call", "call", "ended"
        ]
    );
    assert!(
        outcome.stdout.contains("MCP server `docs`"),
        "{}",
        outcome.stdout
    );
    assert!(
        project
            .trial_file("transcript.jsonl")
            .contains("THE-TOOL-REFUSED")
    );

    // The server got what the suite says; the agent has neither its key nor its address.
    for request in docs.requests() {
        assert!(
            request.line.ends_with("/mcp?key=a-key-in-the-query"),
            "{request:?}"
        );
        assert!(
            request
                .headers
                .contains(&format!("authorization: {TOKEN}\n"))
        );
    }
    for file in ["env.txt", "config.txt", "answers.txt"] {
        let text = project.trial_file(&format!("workspace/{file}"));
        assert!(
            !text.contains("secret") && !text.contains("a-key-in"),
            "{text}"
        );
    }
    let answers = project.trial_file("workspace/answers.txt");
    assert!(answers.contains("notifications/progress"), "{answers}");
    assert_eq!(docs.asked("tools/call"), 3);
}

/// The server names an address for messages in a stream, and answers in the stream.
#[test]
fn the_older_transport_is_led_through_the_gateway_too() {
    let docs = HttpMcpServer::start(TOKEN);
    let calls = "post 2 tools/call search; await FOUND-IT\npost 3 tools/call fail; await REFUSED";
    let script = format!("{OLDER_TRANSPORT}{calls}");
    let project = project_with(&docs.url("/sse"), &script, "");
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    let server = server(&trial);
    assert_eq!(server["status"], "connected", "{trial:#}");
    assert_eq!(
        (&server["calls"], &server["failedCalls"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(server["tap"]["starts"], 1);
    assert_eq!(server["tap"]["deaths"], json!([]));
    let stream = project.trial_file("workspace/stream.txt");
    assert!(!stream.contains("session=7"), "{stream}");
    let posts = docs
        .requests()
        .into_iter()
        .filter(|request| !request.method.is_empty());
    assert!(
        posts
            .clone()
            .all(|request| request.line == "POST /messages?session=7")
    );
    assert_eq!(posts.count(), 4);
}

#[test]
fn errors_of_http_and_a_server_that_dies_are_in_the_record() {
    let docs = HttpMcpServer::start(TOKEN);
    let script = "hello; post 2 tools/call boom; post 3 tools/call cut; post 4 tools/call search\n\
                  post 5 tools/call die; post 6 tools/call search";
    let project = project_with(&docs.url("/mcp"), script, "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    let tap = &server(&trial)["tap"];
    for (tool, calls, errors) in [
        ("boom", 1, 1),
        ("cut", 1, 1),
        ("search", 2, 1),
        ("die", 1, 1),
    ] {
        let figures = &tap["tools"][tool];
        assert_eq!(
            (&figures["calls"], &figures["errors"]),
            (&json!(calls), &json!(errors)),
            "{tool}: {trial:#}"
        );
    }
    // The answer that broke off, and the end: it was there in between.
    assert_eq!(tap["deaths"].as_array().unwrap().len(), 2, "{trial:#}");
    assert!(
        trial["notes"]
            .to_string()
            .contains("the MCP server `docs` crashed"),
        "{trial:#}"
    );
    let record = project.trial_file("artifacts/mcp/docs.jsonl");
    assert!(record.contains("HTTP 500: it went boom"), "{record}");
    assert!(
        project
            .trial_file("workspace/answers.txt")
            .contains("502 Bad Gateway")
    );
}

#[test]
fn a_server_that_is_not_there_or_lets_nobody_in_is_not_connected() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/mcp", listener.local_addr().unwrap())
    };
    let project = project_with(&nobody, "post 0 initialize", "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(server(&trial)["status"], "failed", "{trial:#}");
    assert!(
        server(&trial)["tap"]["deaths"]
            .to_string()
            .contains("could not be reached")
    );

    let locked = HttpMcpServer::start("Bearer another");
    // As a client that looks for a way to sign in.
    let script = "post 0 initialize; cp answer.txt first.txt\n\
        request GET \"http://$host/.well-known/oauth-authorization-server\"; cat <&5 >root.txt";
    let project = project_with(&locked.url("/mcp"), script, "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(3);
    let trial = project.only_trial();
    let server = server(&trial);
    assert_eq!(server["status"], "failed", "{trial:#}");
    assert_eq!(
        (&server["tap"]["refused"], &server["tap"]["deaths"]),
        (&json!(1), &json!([]))
    );
    let first = project.trial_file("workspace/first.txt");
    assert!(first.starts_with("HTTP/1.1 401"), "{first}");
    assert!(!first.contains("resource_metadata"), "{first}");
    let root = project.trial_file("workspace/root.txt");
    assert!(root.starts_with("HTTP/1.1 404"), "{root}");
}

#[test]
fn a_large_answer_passes_whole_and_is_not_kept() {
    let docs = HttpMcpServer::start(TOKEN);
    let script =
        "hello; post 2 tools/call big; wc -c <answer.txt >size.txt; rm answer.txt answers.txt";
    // Its path is the one that most servers send on from.
    let project = project_with(&docs.url("/moved"), script, "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(0);
    let size: usize = project
        .trial_file("workspace/size.txt")
        .trim()
        .parse()
        .unwrap();
    assert!(size > 8 * 1024 * 1024, "{size}");
    let trial = project.only_trial();
    let big = &server(&trial)["tap"]["tools"]["big"];
    assert_eq!(
        (&big["calls"], &big["errors"]),
        (&json!(1), &json!(0)),
        "{trial:#}"
    );
    let record = project.trial_file("artifacts/mcp/docs.jsonl");
    assert!(record.len() < 100_000, "{}", record.len());
    assert_eq!(docs.asked("tools/call"), 2, "it was sent on once");
}

#[test]
fn a_server_by_tls_is_asked_with_its_headers() {
    let body = r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"safe"}}}"#;
    let docs = TlsServer::answering_with("200 OK", body);
    let url = format!("https://127.0.0.1:{}/mcp", docs.port);
    let project = project_with(&url, "post 0 initialize", "mcpPreflight: false\n")
        .file("ca.pem", &docs.certificate);
    let authorities = project.dir().join("ca.pem");
    let project = project.env("SSL_CERT_FILE", authorities.as_str());
    project.terca(&["run"]).expect_status(0);
    let asked = docs.asked().unwrap();
    assert!(
        asked.contains(&format!("authorization: {TOKEN}")),
        "{asked}"
    );
    let trial = project.only_trial();
    assert_eq!(server(&trial)["status"], "connected", "{trial:#}");
    assert!(
        project
            .trial_file("artifacts/mcp/docs.jsonl")
            .contains("safe")
    );
}

/// An agent knows the address of the gateway. It gets nowhere with it but to the server.
#[test]
fn an_agent_reaches_nothing_else_of_the_servers_host() {
    let docs = HttpMcpServer::start(TOKEN);
    let script = "base=${url%/mcp}\n\
        for path in /messages/0 /messages/../sse /0/sse /mcp/../sse /../sse; do\n\
          request GET \"$base$path\"; head -n 1 <&5 >>statuses.txt\n\
        done";
    let project = project_with(&docs.url("/mcp"), script, "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(0);
    let statuses = project.trial_file("workspace/statuses.txt");
    assert_eq!(statuses.lines().count(), 5, "{statuses}");
    for status in statuses.lines() {
        assert!(
            status.contains("404") || status.contains("401"),
            "{statuses}"
        );
    }
    assert!(docs.requests().is_empty(), "{:?}", docs.requests());
}

/// The address that a server sends on to may have the key of its own address in it.
#[test]
fn an_agent_is_not_sent_on_to_another_host() {
    let docs = HttpMcpServer::start(TOKEN);
    let url = docs.url("/elsewhere?key=a-key-in-the-query");
    let script = "post 0 initialize; request GET \"$url\"; cat <&5 >>answers.txt";
    let project = project_with(&url, script, "mcpPreflight: false\n");
    project.terca(&["run"]).expect_status(3);
    let answers = project.trial_file("workspace/answers.txt");
    assert_eq!(answers.matches("HTTP/1.1 502").count(), 2, "{answers}");
    assert!(
        answers.contains("redirects to elsewhere.example") && !answers.contains("a-key-in"),
        "{answers}"
    );
    let record = project.trial_file("artifacts/mcp/docs.jsonl");
    assert!(
        record.contains("redirects to elsewhere.example"),
        "{record}"
    );
    assert!(!record.contains("a-key-in"), "{record}");
}

/// By documents, by streams, and by the older transport.
#[test]
fn hidden_tools_of_a_server_by_http_are_not_offered_and_not_called() {
    let hiding = "experiments: [{name: few, hideTools: {docs: [search]}}]\n";
    let docs = HttpMcpServer::start(TOKEN);
    let script = "hello; post 2 tools/call search; post 3 tools/call stream";
    let project = project_with(&docs.url("/mcp"), script, hiding);
    project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    let tools = &server(&trial)["tap"]["tools"];
    assert_eq!(tools["search"]["calls"], 1, "{tools:#}");
    assert_eq!(tools["search"]["estimatedTokens"], Value::Null);
    assert!(tools["stream"]["estimatedTokens"].is_u64(), "{tools:#}");
    assert_eq!(docs.called(), ["tool-not-offered", "stream"]);

    let docs = HttpMcpServer::start(TOKEN);
    let off = format!("mcpPreflight: false\n{hiding}");
    let project = project_with(&docs.url("/sse"), OLDER_TRANSPORT, &off);
    project.terca(&["run"]).expect_status(0);
    let stream = project.trial_file("workspace/stream.txt");
    assert!(
        stream.contains("\"stream\"") && !stream.contains("\"search\""),
        "{stream}"
    );
}

/// Where messages cannot be searched, the agent is offered nothing instead of everything.
#[test]
fn tools_that_cannot_be_hidden_are_not_offered_either() {
    let hiding = "experiments: [{name: few, hideTools: {docs: [search]}}]\n";
    let docs = HttpMcpServer::start(TOKEN);
    let off = format!("mcpPreflight: false\n{hiding}");
    let project = project_with(&docs.url("/packed"), "hello", &off);
    project.terca(&["run"]).expect_status(3);
    let error = project.only_trial()["error"]["message"].to_string();
    assert!(error.contains("cannot be searched"), "{error}");
    let answers = project.trial_file("workspace/answers.txt");
    let refusal = "a compressed answer cannot be searched for hidden tools";
    assert_eq!(answers.matches(refusal).count(), 2, "{answers}");

    let proxy = format!("env: {{http_proxy: 'http://127.0.0.1:9'}}\n{hiding}");
    let project = project_with("http://docs.example/mcp", "hello", &proxy);
    project.terca(&["run"]).expect_status(3);
    let error = project.only_trial()["error"].clone();
    let message =
        "the tools of the MCP server `docs` cannot be hidden: it may be behind an `http` proxy";
    assert_eq!(
        (&error["kind"], &error["message"]),
        (&json!("mcp"), &json!(message))
    );
}
