//! The gateway between a client and services on this machine that say what they are told to say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};
use terca_core::agent::redirect::ServiceKey;
use terca_core::wire::network::NetworkMode;
use terca_core::wire::{Exchange, ExchangeEnd, Wire};
use terca_gateway::{Door, Gateway, Passage, Playback};
use terca_testkit::agents::{CLAUDE, CODEX, GEMINI, GOOSE, RealAgent};
use terca_testkit::{Fault, ModelServer, Scenario, Script, Trouble, Turn, wait_until};

const KEY: &str = "sk-the-real-key";

fn gateway() -> Gateway {
    Gateway::start(&|_| None).unwrap()
}

fn passage(gateway: &Gateway, origin: &str) -> Passage {
    let key = ServiceKey {
        key: KEY.to_owned(),
        origins: BTreeSet::from([0]),
    };
    gateway
        .open(
            &[origin.to_owned()],
            &[key],
            Vec::new(),
            &[],
            Playback::None,
        )
        .unwrap()
}

/// An answer as the client got it.
#[derive(Debug)]
struct Got {
    status: u16,
    head: String,
    body: String,
    /// The connection was closed before the body was whole.
    is_cut: bool,
}

fn connect(address: &str) -> (TcpStream, String) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    (TcpStream::connect(host).unwrap(), path.to_owned())
}

fn send(address: &str, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let (mut stream, path) = connect(address);
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .unwrap();
    stream
}

fn receive(stream: TcpStream) -> Got {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let before = head.len();
        reader.read_line(&mut head).unwrap();
        if head.len() - before <= 2 {
            break;
        }
    }
    let mut body = Vec::new();
    let is_broken = reader.read_to_end(&mut body).is_err();
    let body = String::from_utf8_lossy(&body).into_owned();
    let lower = head.to_lowercase();
    let is_short = match lower.split("content-length: ").nth(1) {
        Some(rest) => body.len() < rest.lines().next().unwrap().parse().unwrap(),
        None => lower.contains("chunked") && !body.ends_with("0\r\n\r\n"),
    };
    Got {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        is_cut: is_broken || is_short,
        head,
        body,
    }
}

/// Asks for a model in an agent's protocol, as its client does.
fn ask(passage: &Passage, agent: RealAgent, scenario: &str, stream: bool) -> Got {
    receive(send_question(passage, agent, scenario, stream))
}

fn send_question(passage: &Passage, agent: RealAgent, scenario: &str, stream: bool) -> TcpStream {
    let text = format!("scenario:{scenario}");
    let (path, header, mut body) = match agent.name {
        "claude-code" => (
            "/v1/messages?beta=true",
            ("x-api-key", passage.tokens[0].clone()),
            json!({"model": "asked", "tools": [{"name": "t"}], "messages": [{"role": "user", "content": text}]}),
        ),
        "codex" => (
            "/v1/responses",
            ("authorization", format!("Bearer {}", passage.tokens[0])),
            json!({"model": "asked", "tools": [{"type": "function", "name": "t"}],
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]}),
        ),
        "goose" => (
            "/v1/chat/completions",
            ("authorization", format!("Bearer {}", passage.tokens[0])),
            json!({"model": "asked", "tools": [{"type": "function", "function": {"name": "t"}}],
                "messages": [{"role": "user", "content": text}]}),
        ),
        _ => (
            if stream {
                "/v1beta/models/asked:streamGenerateContent?alt=sse"
            } else {
                "/v1beta/models/asked:generateContent"
            },
            ("x-goog-api-key", passage.tokens[0].clone()),
            json!({"tools": [{"functionDeclarations": [{"name": "t"}]}],
                "contents": [{"role": "user", "parts": [{"text": text}]}]}),
        ),
    };
    if stream && agent.name != "gemini-cli" {
        body["stream"] = json!(true);
    }
    let address = format!("{}{path}", passage.addresses[0]);
    let headers = [
        (header.0, header.1.as_str()),
        ("content-type", "application/json"),
        ("accept-encoding", "gzip, br"),
    ];
    send(&address, "POST", &headers, &body.to_string())
}

fn server(agent: RealAgent, scenarios: &[(&str, Scenario)]) -> ModelServer {
    let script = Script::new(agent.vocabulary);
    let script = scenarios.iter().fold(script, |script, (name, scenario)| {
        script.scenario(name, scenario.clone())
    });
    ModelServer::start(script)
}

/// A service that answers every connection with these bytes, and is silent afterwards if it is told so.
fn raw_service(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let answer = std::sync::Arc::new(answer);
        for stream in listener.incoming() {
            let answer = std::sync::Arc::clone(&answer);
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                        break;
                    }
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                answer(&mut stream);
            });
        }
    });
    origin
}

#[track_caller]
fn only(exchanges: Vec<Exchange>) -> Exchange {
    let [exchange] = <[Exchange; 1]>::try_from(exchanges).unwrap();
    exchange
}

const FOUR: [RealAgent; 4] = [CLAUDE, CODEX, GOOSE, GEMINI];

#[test]
fn every_protocol_is_passed_on_with_the_key_and_counted() {
    for agent in FOUR {
        for stream in [true, false] {
            let scenario = Scenario::saying("Hello.").answered_by("answered");
            let model = server(agent, &[("one", scenario.clone())]);
            let gateway = gateway();
            let passage = passage(&gateway, &model.url());
            let got = ask(&passage, agent, "one", stream);
            assert_eq!((got.status, got.is_cut), (200, false), "{got:?}");
            assert!(got.body.contains("Hello."), "{got:?}");

            let [request] = <[_; 1]>::try_from(model.requests()).unwrap();
            assert_eq!(request.dialect, agent.dialect);
            assert!(request.mentions(KEY), "the service got the key");
            assert!(!request.mentions(&passage.tokens[0]), "and no token");
            assert_eq!(request.headers["accept-encoding"], "identity");
            assert_eq!(request.headers["host"], model.url()["http://".len()..]);

            let token = passage.tokens[0].clone();
            let exchange = only(passage.close().exchanges);
            assert_eq!(exchange.model_asked.as_deref(), Some("asked"));
            assert_eq!(exchange.model_answered.as_deref(), Some("answered"));
            assert_eq!(
                (exchange.status, exchange.end),
                (Some(200), ExchangeEnd::Whole)
            );
            assert!(exchange.stop_reason.is_some() && exchange.first_byte_ms.is_some());
            let served = scenario.usage_of(1);
            let tokens = exchange.tokens;
            assert_eq!(
                (tokens.input, tokens.cached, tokens.output),
                (
                    Some(served.input),
                    Some(served.cached),
                    Some(served.output())
                ),
                "{} {stream}",
                agent.name
            );
            if agent.name != "claude-code" {
                assert_eq!(tokens.thinking, Some(served.thoughts));
            }
            assert!(!got.head.contains(KEY) && !got.body.contains(KEY));
            assert!(!serde_json::to_string(&exchange).unwrap().contains(&token));
        }
    }
}

#[test]
fn errors_of_the_service_are_passed_on_and_repetitions_counted() {
    for agent in FOUR {
        for status in [401, 429, 500] {
            let scenario = Scenario::saying("Hello.").fault(Fault::first(2, status));
            let model = server(agent, &[("one", scenario)]);
            let gateway = gateway();
            let passage = passage(&gateway, &model.url());
            for expected in [status, status, 200] {
                assert_eq!(ask(&passage, agent, "one", true).status, expected);
            }
            let exchanges = passage.close().exchanges;
            let wire = Wire::of(&exchanges, None);
            assert_eq!((wire.requests, wire.answered, wire.retries), (3, 1, 2));
            assert_eq!(wire.statuses[&status.to_string()], 2);
            let error = exchanges[0].error.as_deref().unwrap_or_default();
            assert!(
                error.contains(&format!("the script says {status}")),
                "{error}"
            );
            assert_eq!(wire.input_tokens, Some(1000), "errors cost nothing");
        }
    }
}

#[test]
fn a_service_that_breaks_off_breaks_off_for_the_agent() {
    for agent in FOUR {
        for (trouble, is_cut) in [(Trouble::Cut, true), (Trouble::FirstHalf, false)] {
            let scenario = Scenario::new([Turn::saying("Hello.")]).fault(Fault::of(trouble));
            let model = server(agent, &[("one", scenario)]);
            let gateway = gateway();
            let passage = passage(&gateway, &model.url());
            let got = ask(&passage, agent, "one", true);
            assert_eq!(got.is_cut, is_cut, "{} {trouble:?} {got:?}", agent.name);
            let exchange = only(passage.close().exchanges);
            assert_eq!(
                exchange.end,
                ExchangeEnd::CutByService,
                "{} {trouble:?}",
                agent.name
            );
            assert!(!exchange.is_answered());
        }
    }
}

#[test]
fn a_service_that_cannot_be_reached_is_a_bad_gateway() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let gateway = gateway();
    let passage = passage(&gateway, &origin);
    let got = ask(&passage, GOOSE, "one", true);
    assert_eq!(got.status, 502);
    assert!(got.body.contains(&origin), "{}", got.body);
    let exchange = only(passage.close().exchanges);
    assert_eq!(
        (exchange.status, exchange.end),
        (None, ExchangeEnd::Unreachable)
    );
    assert!(exchange.error.unwrap().contains("refused"));
}

#[test]
fn a_service_that_hangs_is_left_when_the_agent_or_the_trial_ends() {
    let (asked, wait) = mpsc::channel();
    let origin = raw_service(move |stream| {
        asked.send(()).unwrap();
        // Until the gateway hangs up.
        let _ = stream.read(&mut [0]);
        asked.send(()).unwrap();
    });
    let gateway = gateway();
    let passage = passage(&gateway, &origin);
    let agent = send_question(&passage, GOOSE, "one", true);
    wait.recv().unwrap();
    drop(agent);
    wait.recv().unwrap();
    let waiting = send_question(&passage, GOOSE, "one", true);
    wait.recv().unwrap();
    let exchanges = passage.close().exchanges;
    wait.recv().unwrap();
    drop(waiting);
    let ends: Vec<ExchangeEnd> = exchanges.iter().map(|exchange| exchange.end).collect();
    assert_eq!(ends, [ExchangeEnd::LeftByAgent; 2]);
}

#[test]
fn a_wrong_token_is_refused() {
    let model = server(GOOSE, &[("one", Scenario::saying("Hello."))]);
    let gateway = gateway();
    let open = passage(&gateway, &model.url());
    let closed = passage(&gateway, &model.url());
    let address = closed.addresses[0].clone();
    closed.close();
    let (root, _) = address.rsplit_once("/terca-").unwrap();
    let over = "the trial of this address is over";
    let nothing = "this address has no service";
    let own = open.addresses[0].strip_suffix("/0").unwrap();
    for (address, status, expected) in [
        (format!("{address}/v1/chat/completions"), 401, over),
        (
            format!("{root}/terca-0123456789abcdef0123456789abcdef/0/v1"),
            401,
            over,
        ),
        (format!("{root}//0/v1/chat/completions"), 404, nothing),
        (format!("{root}/v1/chat/completions"), 404, nothing),
        (format!("{root}/"), 404, nothing),
        (format!("{own}/v1/chat/completions"), 404, nothing),
        (format!("{own}/7/v1"), 404, nothing),
        (format!("{own}/mcp"), 404, nothing),
        (own.to_owned(), 404, nothing),
    ] {
        let got = receive(send(&address, "POST", &[], "{}"));
        assert_eq!(got.status, status, "{address}");
        assert!(got.body.contains(expected), "{address}: {}", got.body);
    }
    assert_eq!(model.requests().len(), 0, "nothing was passed on");

    // The token of another trial is no key.
    let other = passage(&gateway, &model.url());
    let headers = [("authorization", format!("Bearer {}", other.tokens[0]))];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let address = format!("{}/v1/models", open.addresses[0]);
    assert_eq!(receive(send(&address, "GET", &headers, "")).status, 200);
    assert!(!model.requests()[0].mentions(KEY));
}

/// The answer to TRACE is the request, with the key in it.
#[test]
fn trace_is_refused() {
    let model = server(GOOSE, &[]);
    let gateway = gateway();
    let passage = passage(&gateway, &model.url());
    let token = format!("Bearer {}", passage.tokens[0]);
    for method in ["TRACE", "CONNECT", "PROPFIND"] {
        let address = format!("{}/v1/models", passage.addresses[0]);
        let got = receive(send(&address, method, &[("authorization", &token)], ""));
        assert!(!got.body.contains(KEY), "{method}: {}", got.body);
        assert!(matches!(got.status, 400 | 405), "{method}: {}", got.status);
    }
    assert_eq!(model.requests().len(), 0, "nothing was passed on");
}

#[test]
fn anything_else_below_an_address_is_passed_on_and_not_counted() {
    let model = server(GOOSE, &[]);
    let gateway = gateway();
    let passage = passage(&gateway, &model.url());
    let headers = [("authorization", format!("Bearer {}", passage.tokens[0]))];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    for (method, path) in [
        ("GET", "/v1/models?limit=2"),
        ("POST", "/v1/messages/count_tokens"),
    ] {
        let address = format!("{}{path}", passage.addresses[0]);
        let got = receive(send(&address, method, &headers, ""));
        assert_eq!(got.status, 200, "{path}");
    }
    let asked = model.requests();
    let paths: Vec<&str> = asked.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models?limit=2", "/v1/messages/count_tokens"]);
    assert!(asked.iter().all(|request| request.mentions(KEY)));
    assert_eq!(passage.close().exchanges, []);
}

/// A service that sends back what it was sent does not give the agent the key.
#[test]
fn a_key_in_an_answer_is_masked() {
    let stars = "*".repeat(KEY.len());
    let (half, rest) = KEY.split_at(7);
    let chunks = [
        format!("data: {{\"said\": \"{half}"),
        format!("{rest}\"}}\n\n"),
    ];
    let chunked: String = chunks
        .iter()
        .map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()))
        .collect();
    let document = format!("{{\"error\": {{\"message\": \"no such key: {KEY}\"}}}}");
    for (head, body) in [
        (
            format!(
                "content-type: application/json\r\ncontent-length: {}",
                document.len()
            ),
            document,
        ),
        (
            "content-type: text/event-stream\r\ntransfer-encoding: chunked".to_owned(),
            format!("{chunked}0\r\n\r\n"),
        ),
    ] {
        let origin = raw_service(move |stream| {
            let head = format!(
                "HTTP/1.1 401 No\r\nx-echo: Bearer {KEY}\r\n{head}\r\nconnection: close\r\n\r\n"
            );
            for piece in format!("{head}{body}").as_bytes().chunks(3) {
                stream.write_all(piece).unwrap();
            }
        });
        let gateway = gateway();
        let passage = passage(&gateway, &origin);
        let got = ask(&passage, GOOSE, "one", true);
        assert!(!got.is_cut && got.status == 401, "{got:?}");
        assert!(
            got.head.contains(&format!("x-echo: Bearer {stars}")),
            "{got:?}"
        );
        let whole = format!("{got:?}");
        assert!(!whole.contains(KEY) && !whole.contains(rest), "{got:?}");
        assert!(got.body.contains('*'), "{got:?}");
        let exchange = only(passage.close().exchanges);
        assert!(!format!("{exchange:?}").contains(KEY), "{exchange:?}");
    }
}

#[test]
fn a_key_is_passed_to_the_paths_of_models_alone() {
    let origin = raw_service(|stream| {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let gateway = gateway();
    let key = ServiceKey {
        key: KEY.to_owned(),
        origins: BTreeSet::from([0]),
    };
    let allowed = ["/v1/rerank".to_owned()];
    let passage = gateway
        .open(&[origin], &[key], Vec::new(), &allowed, Playback::None)
        .unwrap();
    let token = passage.tokens[0].clone();
    for (method, path, header, status) in [
        ("GET", "/v1/models", Some("x-api-key"), 200),
        ("POST", "/v1/rerank", Some("x-api-key"), 200),
        ("GET", "/v1/files", Some("authorization"), 403),
        ("GET", "/v1/files", Some("authorization"), 403),
        ("HEAD", "/", None, 200),
    ] {
        let address = format!("{}{path}", passage.addresses[0]);
        let headers: Vec<(&str, &str)> = header.map(|name| (name, &*token)).into_iter().collect();
        let got = receive(send(&address, method, &headers, ""));
        assert_eq!(got.status, status, "{method} {path}");
        assert_eq!(got.body.contains("allowPaths"), status == 403, "{got:?}");
    }
    let query = format!("{}/v1/files?key={token}", passage.addresses[0]);
    assert_eq!(receive(send(&query, "GET", &[], "")).status, 403);
    let closed = passage.close();
    assert_eq!(closed.exchanges, []);
    let [note] = &closed.notes[..] else {
        panic!("{:?}", closed.notes)
    };
    assert!(
        note.contains("/v1/files") && note.contains("allowPaths"),
        "{note}"
    );
}

/// The service writes the second half only when the first has arrived: it would wait forever for a gateway that collects.
#[test]
fn pieces_are_passed_on_as_they_come() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let origin = raw_service(move |stream| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream
            .write_all(b"data: {\"model\": \"first\"}\n\n")
            .unwrap();
        wait.lock().unwrap().recv().unwrap();
        stream.write_all(b"data: [DONE]\n\n").unwrap();
    });
    let gateway = gateway();
    let passage = passage(&gateway, &origin);
    let stream = send_question(&passage, GOOSE, "one", true);
    let mut reader = BufReader::new(stream);
    let mut seen = String::new();
    while !seen.contains("first") {
        assert_ne!(reader.read_line(&mut seen).unwrap(), 0, "{seen}");
    }
    go.send(()).unwrap();
    reader.read_to_string(&mut seen).unwrap();
    assert!(seen.contains("[DONE]"), "{seen}");
    assert_eq!(only(passage.close().exchanges).end, ExchangeEnd::Whole);
}

/// Returns the most memory that this process has had, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_is_flat_with_an_answer_of_100_megabytes() {
    const PIECE: usize = 1 << 20;
    for (content_type, begin, end) in [
        (
            "text/event-stream",
            "data: {\"x\": \"",
            "\"}\n\ndata: {\"model\": \"m\", \"choices\": [{\"finish_reason\": \"stop\"}]}\n\n",
        ),
        ("application/json", "{\"x\": \"", "\"}"),
    ] {
        let origin = raw_service(move |stream| {
            let length = begin.len() + 100 * PIECE + end.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{begin}"
            );
            stream.write_all(head.as_bytes()).unwrap();
            let piece = vec![b'a'; PIECE];
            for _ in 0..100 {
                stream.write_all(&piece).unwrap();
            }
            stream.write_all(end.as_bytes()).unwrap();
        });
        let gateway = gateway();
        let passage = passage(&gateway, &origin);
        let before = most_memory();
        let mut stream = send_question(&passage, GOOSE, "one", true);
        let mut bytes = 0;
        let mut piece = vec![0; PIECE];
        loop {
            match stream.read(&mut piece).unwrap() {
                0 => break,
                count => bytes += count,
            }
        }
        assert!(bytes > 100 * PIECE, "{bytes}");
        let grown = most_memory() - before;
        assert!(grown < 32 * 1024, "{grown} KiB for {content_type}");
        let exchange = only(passage.close().exchanges);
        assert_eq!(exchange.status, Some(200));
        assert_eq!(exchange.end, ExchangeEnd::Whole);
        let model = exchange.model_answered.as_deref();
        assert_eq!(model, (content_type == "text/event-stream").then_some("m"));
    }
}

#[test]
fn sixty_four_trials_at_once_are_told_apart() {
    let model = server(CLAUDE, &[("one", Scenario::saying("Hello."))]);
    let gateway = gateway();
    thread::scope(|scope| {
        for number in 1..=64 {
            let gateway = &gateway;
            let url = model.url();
            scope.spawn(move || {
                let passage = passage(gateway, &url);
                for _ in 0..number % 4 {
                    assert_eq!(ask(&passage, CLAUDE, "one", true).status, 200);
                }
                let wire = Wire::of(&passage.close().exchanges, None);
                assert_eq!(wire.answered, number % 4);
                let tokens = (number % 4 > 0).then_some(1000 * (number % 4));
                assert_eq!(wire.input_tokens, tokens);
            });
        }
    });
    assert_eq!(model.requests().len(), 16 * 6);
}

/// A sandbox hands in a listener of its own network.
/// Asks for something on a connection that stays open, and returns the status.
fn ask_again(stream: &mut TcpStream, path: &str) -> u16 {
    let head = format!("GET {path}/models HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (mut length, mut header) = (0, String::new());
    while reader.read_line(&mut header).unwrap() > 2 {
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        header.clear();
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn connections_are_bounded_for_each_agent() {
    let service = raw_service(|stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    });
    let gateway = gateway();
    let (greedy, neighbour) = (passage(&gateway, &service), passage(&gateway, &service));
    let (_, path) = connect(&greedy.addresses[0]);
    let mut held: Vec<TcpStream> = (0..128)
        .map(|_| {
            let (mut stream, _) = connect(&greedy.addresses[0]);
            assert_eq!(ask_again(&mut stream, &path), 200);
            stream
        })
        .collect();
    let refused = receive(send(&greedy.addresses[0], "GET", &[], ""));
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("128 connections"), "{}", refused.body);
    // What it has, it may use.
    assert_eq!(ask_again(&mut held[0], &path), 200);
    assert_eq!(
        receive(send(&neighbour.addresses[0], "GET", &[], "")).status,
        200
    );
    held.pop();
    wait_until("there is room again", || {
        receive(send(&greedy.addresses[0], "GET", &[], "")).status == 200
    });
}

#[test]
fn connections_that_ask_nothing_take_no_room_of_others() {
    let service = raw_service(|stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    });
    let gateway = gateway();
    let passage = passage(&gateway, &service);
    let (mut kept, path) = connect(&passage.addresses[0]);
    assert_eq!(ask_again(&mut kept, &path), 200);
    let mut silent: Vec<TcpStream> = (0..300).map(|_| connect(&passage.addresses[0]).0).collect();
    // The oldest ones are ended, and one that has asked is not.
    assert_eq!(silent[0].read(&mut [0]).unwrap(), 0);
    assert_eq!(ask_again(&mut silent[299], &path), 200);
    assert_eq!(ask_again(&mut kept, &path), 200);
    assert_eq!(
        receive(send(&passage.addresses[0], "GET", &[], "")).status,
        200
    );
}

#[test]
fn a_gateway_that_ends_lets_go_of_its_port() {
    let gateway = gateway();
    let passage = passage(&gateway, "http://127.0.0.1:9");
    let address = passage.addresses[0].clone();
    drop(gateway);
    let host = address["http://".len()..]
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    wait_until("nobody listens", || TcpStream::connect(&host).is_err());
    assert_eq!(passage.close().exchanges, []);
}

#[test]
fn values_of_results_are_as_documented() {
    let model = server(CODEX, &[("one", Scenario::saying("Hello."))]);
    let gateway = gateway();
    let passage = passage(&gateway, &model.url());
    ask(&passage, CODEX, "one", true);
    let mut shown = serde_json::to_value(Wire::of(&passage.close().exchanges, None)).unwrap();
    shown["modelSeconds"] = Value::Null;
    shown["firstByteSeconds"] = Value::Null;
    assert_eq!(
        shown,
        json!({
            "tools": ["t"], "requests": 1, "answered": 1, "retries": 0, "inputTokens": 1000, "cachedInputTokens": 400,
            "cacheWriteTokens": null, "outputTokens": 57, "thinkingTokens": 7, "costUsd": null, "answersWithoutTokens": 0,
            "modelsAsked": {"asked": 1}, "modelsAnswered": {"asked": 1}, "stopReasons": {"completed": 1},
            "statuses": {"200": 1}, "modelSeconds": null, "firstByteSeconds": null,
        })
    );
}

/// A pattern for a domain leads to no address near the machine; a host by its name does.
#[test]
fn addresses_near_the_machine_are_named_or_refused() {
    let service = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = service.local_addr().unwrap().port();
    let gateway = gateway();
    for (allowed, status) in [("*.0.0.1", 403), ("127.0.0.1", 200)] {
        let allowed = format!("{allowed}:{port}").parse().unwrap();
        let exit = gateway.open_exit(vec![allowed], false, NetworkMode::Hosts);
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        exit.serve(listener, Door::Proxy).unwrap();
        let asked = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nhost: x\r\n\r\n");
        client.write_all(asked.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).unwrap();
        assert!(line.contains(&format!(" {status} ")), "{line}");
        let refused = exit.network().refused.len();
        assert_eq!(refused, usize::from(status == 403));
    }
}
