//! What passed through Terca, where people read it: `terca show`, Markdown, HTML and tests on the transcript; and the checks of
//! the settings for it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use terca_testkit::{Fault, HttpMcpServer, Scenario, TlsServer};

use crate::common::mcp::{HTTP_TOKEN, project_with_http_server, project_with_mcp_server};
use crate::common::project;
use crate::gateway::{KEY, METER, model, suite};

/// Returns a text in one line, as it was before it was broken into lines.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn requests_tokens_and_statuses_are_shown_for_each_variant() {
    let scenario = Scenario::saying("Hello.").fault(Fault::first(1, 500));
    let model = model(&[("one", scenario)]);
    let project = suite(&model, "ask one; ask one; ask one", METER);
    project.terca(&[]).expect_status(0);
    let shown = in_one_line(&project.terca(&["show"]).expect_status(0).stdout);
    for part in [
        "3 requests, 1 failed (500 ×1), 2 tried again, first byte after",
        "(in 1 trial); 2.0k input tokens (800 cached), 114 output tokens; models took",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let markdown = project.terca(&["report", "--markdown", "-"]).stdout;
    assert!(markdown.contains("1 failed (500 ×1)"), "{markdown}");

    // Without the gateway there is nothing to say.
    let project = suite(&model, "ask one", "");
    project.terca(&["--gateway", "off"]).expect_status(0);
    let shown = project.terca(&["show"]).stdout;
    assert!(!shown.contains("models took"), "{shown}");
}

#[test]
fn tests_on_tools_of_mcp_servers_work_for_an_agent_that_tells_nothing() {
    let script = "start; hello; ask 2 tools/call search; answer; exec 3>&-; wait $server";
    for (test, status, words) in [
        ("usedTool: docs/search", "passed", "`docs/search` was used"),
        ("usedTool: docs/page", "failed", "no tool that matches"),
        ("notUsedTool: docs/page", "passed", "as required"),
        ("notUsedTool: 'docs/*'", "failed", "is not allowed"),
        (
            "usedTool: shell", "error", "does not report which tools it uses",
        ),
    ] {
        let project = project_with_mcp_server(script, "");
        let yaml = project.read("terca.yaml");
        let tests = format!("tests: [{{transcript: {{{test}}}}}]");
        let project = project.file(
            "terca.yaml",
            yaml.replace("tests: [{fileExists: done}]", &tests),
        );
        project.terca(&[]);
        let trial = project.only_trial();
        assert_eq!(trial["status"], status, "{test}: {trial:#}");
        assert!(trial.to_string().contains(words), "{test}: {trial:#}");
    }

    // By HTTP, and graded again later.
    let docs = HttpMcpServer::start(HTTP_TOKEN);
    let project =
        project_with_http_server(&docs.url("/mcp"), "hello; post 2 tools/call search", "");
    let yaml = project.read("terca.yaml");
    let tests = "tests: [{transcript: {usedTool: docs/search}}]";
    let project = project.file(
        "terca.yaml",
        yaml.replace("tests: [{fileExists: done}]", tests),
    );
    project.terca(&[]).expect_status(0);
    project.terca(&["regrade"]).expect_status(0);
    assert_eq!(project.only_trial()["status"], "passed");
}

#[test]
fn the_page_of_a_run_has_a_table_of_each_mcp_server() {
    let script = "start; hello; ask 2 tools/call search; answer; ask 3 tools/call fail; answer\n\
                  exec 3>&-; wait $server";
    let project = project_with_mcp_server(script, "");
    project.terca(&["run"]).expect_status(0);
    project
        .terca(&["report", "--html", "page.html"])
        .expect_status(0);
    let page = project.read("page.html");
    let start = page.find("id=\"mcp-title\"").unwrap();
    let table = &page[start..start + page[start..].find("</section>").unwrap()];
    for part in [
        "<h3><code>docs</code></h3>", "started in 1 of 1 trial", "<code>search</code>",
        "1 call in 1 of 1 trial", "1 error", "never called",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let order = [
        "<code>fail</code>", "<code>search</code>", "<code>page</code>",
    ];
    let places: Vec<usize> = order.iter().map(|tool| table.find(tool).unwrap()).collect();
    assert!(
        places.is_sorted(),
        "those that are called come first: {table}"
    );
}

#[test]
fn settings_that_change_nothing_or_cannot_be_met_are_found_before_a_run() {
    for (settings, status, words) in [
        (
            "gateway: \"off\"\nrequireDelivery: true\n",
            2,
            "`requireDelivery` needs the gateway",
        ),
        (
            "sandbox: none\nallow: [example.com]\n",
            0,
            "`allow` changes nothing without a sandbox",
        ),
        (
            "network: \"off\"\nallow: [example.com]\n",
            0,
            "`allow` changes nothing where `network` is `off`",
        ),
        (
            "network: open\nallow: [example.com]\n",
            0,
            "`allow` changes nothing where `network` is `open`",
        ),
        (
            "prices: {x: {input: 1, output: 1}, X: {input: 2, output: 1}}\n",
            2,
            "the models `x` and `X` differ in case only",
        ),
        ("prices: {x: {output: 1}}\n", 2, "needs an `input`"),
    ] {
        let project = project().file(
            "terca.yaml",
            format!(
                "{settings}environments:\n  - name: one\n    agent: nop\n  - name: two\n    agent: nop\n\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: x}}]\n"
            ),
        );
        let checked = project.terca(&["check"]).expect_status(status);
        let told = in_one_line(&format!("{}{}", checked.stdout, checked.stderr));
        assert!(told.contains(words), "{settings}: {told}");
        if status == 0 {
            assert_eq!(told.matches(words).count(), 1, "it is said once: {told}");
        }
    }
}

/// Takes one connection, and opens the tunnel that it asks for. Returns the line that asked.
fn proxy() -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(client.try_clone().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|length| length > 2) {
            line.clear();
        }
        let target = first
            .split(' ')
            .nth(1)
            .unwrap()
            .replace("localhost", "127.0.0.1");
        let mut host = TcpStream::connect(target).unwrap();
        let mut back = client.try_clone().unwrap();
        back.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let mut from_host = host.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut from_host, &mut back));
        let _ = std::io::copy(&mut lines, &mut host);
        first
    });
    (port, thread)
}

#[test]
fn a_service_by_tls_behind_a_proxy_is_asked_with_the_key() {
    const ANSWER: &str = r#"{"model":"small","choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    let service = TlsServer::answering_with("200 OK", ANSWER);
    let (proxy_port, proxied) = proxy();
    let unused = model(&[("one", Scenario::saying("Hello."))]);
    let project = suite(&unused, "ask one", METER).file("ca.pem", &service.certificate);
    let authorities = project.dir().join("ca.pem");
    let yaml = project.read("terca.yaml");
    let address = format!("https://localhost:{}", service.port);
    let project = project
        .file("terca.yaml", yaml.replace(&unused.url(), &address))
        .env("SSL_CERT_FILE", authorities.as_str())
        .env("HTTPS_PROXY", &format!("http://127.0.0.1:{proxy_port}"));
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["wire"]["answered"], 1, "{trial:#}");
    assert_eq!(trial["wire"]["inputTokens"], 7);
    let asked = service.asked().unwrap();
    assert!(asked.contains(&format!("Bearer {KEY}")), "{asked}");
    let line = proxied.join().unwrap();
    assert!(line.starts_with("CONNECT localhost:"), "{line}");
}

#[test]
fn the_requests_of_a_judge_pass_through_the_gateway_too() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = suite(&model, "touch worked", METER);
    let judge = project.read("agent.sh").replace(
        "touch worked",
        "ask one; echo '{\"score\": 1, \"reason\": \"fine\"}'",
    );
    let yaml = project.read("terca.yaml").replace(
        "tests: [{fileExists: env.txt}]",
        "tests: [{name: taste, judge: {rubric: It is short., agent: {name: command, command: ./judge.sh}}}]",
    );
    let project = project
        .executable("judge.sh", &judge)
        .file("terca.yaml", yaml);
    project.terca(&[]).expect_status(0);
    let log = project.trial_file("artifacts/judge-taste/wire.jsonl");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("\"status\":200"), "{log}");
    for request in model.requests() {
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    }
    assert_eq!(model.requests().len(), 1);
    let trial = project.only_trial();
    let judged = &trial["tests"]["taste"]["judge"];
    assert_eq!(judged["stats"]["inputTokens"], 1000, "{trial:#}");
}
