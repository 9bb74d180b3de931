//! The server: listens, answers by its script, and remembers what it was asked.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{self, Message};
use super::request::{Dialect, Request, scenario_of, workspace_of};
use super::script::{Fault, Scenario, Script, Turn, Usage};
use super::vocabulary::Vocabulary;
use super::wire::{Body, Reply, View, Wire};

/// A model on this machine. It goes when this does.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    /// How often each scenario was asked for, for faults that pass.
    asked: HashMap<String, usize>,
}

impl ModelServer {
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on this machine");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            script,
            state: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let ours = Arc::clone(&shared);
        let listener = std::thread::spawn(move || listen(&listener, &ours));
        ModelServer {
            address,
            shared,
            listener: Some(listener),
        }
    }

    /// Where it listens, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything it was asked so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// What it was asked in one scenario.
    pub fn requests_of(&self, scenario: &str) -> Vec<Request> {
        self.requests()
            .into_iter()
            .filter(|request| request.scenario.as_deref() == Some(scenario))
            .collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // Agents hang up as they like; that is nothing to complain of.
        std::thread::spawn(move || drop(shared.serve(stream)));
    }
}

/// An answer and the scenario it belongs to.
struct Answer {
    scenario: Option<String>,
    status: u16,
    delay: Duration,
    cut: bool,
    body: Body,
}

impl Answer {
    fn new(status: u16, body: Body) -> Self {
        Answer {
            scenario: None,
            status,
            delay: Duration::ZERO,
            cut: false,
            body,
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let Some(message) = http::read(&mut reader)? else {
            return Ok(());
        };
        let head_only = message.method == "HEAD";
        let answer = self.answer(message);
        self.wait(answer.delay);
        let stream = reader.get_mut();
        match &answer.body {
            Body::Json(value) => {
                http::write_json(stream, answer.status, &value.to_string(), head_only)?;
            }
            Body::Events(events) => http::write_events(stream, events, answer.cut)?,
        }
        stream.flush()
    }

    fn wait(&self, delay: Duration) {
        let until = std::time::Instant::now() + delay;
        while std::time::Instant::now() < until && !self.over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20).min(delay));
        }
    }

    /// Decides and remembers.
    fn answer(&self, message: Message) -> Answer {
        let Message {
            method,
            path,
            headers,
            body,
        } = message;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let dialect = Dialect::of(&method, &path);
        let mut request = Request {
            dialect,
            method,
            path,
            headers,
            body,
            scenario: None,
            status: 200,
        };
        let mut state = self.state();
        let answer = match dialect.wire() {
            None => Answer::new(200, Body::Json(json!({}))),
            Some(wire) => self.speak(wire, &request, &mut state.asked),
        };
        request.scenario.clone_from(&answer.scenario);
        request.status = answer.status;
        state.requests.push(request);
        answer
    }

    fn speak(
        &self,
        wire: &dyn Wire,
        request: &Request,
        asked: &mut HashMap<String, usize>,
    ) -> Answer {
        let view = request.view();
        if view.aside && matches!(self.script.vocabulary, Vocabulary::Tools(_)) {
            let (text, model) = (wire.aside().to_owned(), view.model.clone());
            let reply = Reply {
                model,
                turn: 0,
                text,
                calls: Vec::new(),
                usage: Usage::ASIDE,
            };
            return Answer::new(200, wire.reply(&reply, view.stream));
        }
        let name = scenario_of(&view.said).unwrap_or_default();
        let Some(scenario) = self.script.scenarios.get(name) else {
            let message = format!("the script has no scenario `{name}`");
            return Answer::new(400, Body::Json(wire.error(400, &message)));
        };
        let count = asked.entry(name.to_owned()).or_default();
        let number = *count;
        *count += 1;
        let fault = scenario.fault.filter(|fault| fault.strikes(number));
        let mut answer = match fault {
            Some(Fault::Status { status, .. }) => Answer::new(
                status,
                Body::Json(wire.error(status, &format!("the script says {status}"))),
            ),
            _ => Answer::new(
                200,
                wire.reply(&self.reply(scenario, &view, &request.body), view.stream),
            ),
        };
        answer.cut = matches!(fault, Some(Fault::Cut { .. }));
        answer.delay = scenario.delay;
        answer.scenario = Some(name.to_owned());
        answer
    }

    fn reply(&self, scenario: &Scenario, view: &View, body: &Value) -> Reply {
        let turn = scenario.turn(view.results);
        // A script that is at its end says so rather than nothing.
        let Turn { text, calls, .. } = scenario
            .turns
            .get(turn)
            .cloned()
            .unwrap_or_else(|| Turn::saying("The script is at its end."));
        let workspace = workspace_of(body).unwrap_or(".");
        let (text, calls) = self.script.vocabulary.put(&text, &calls, workspace);
        Reply {
            model: view.model.clone(),
            turn,
            text,
            calls,
            usage: scenario.usage(turn),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::agents::GOOSE;

    fn ask(server: &ModelServer, method: &str, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn chat(scenario: &str) -> Value {
        json!({"model": "m", "tools": [{"function": {"name": "t"}}],
               "messages": [{"role": "user", "content": format!("scenario:{scenario}")}]})
    }

    const CHAT: &str = "/v1/chat/completions";

    #[test]
    fn scenarios_are_told_apart_and_faults_pass() {
        let script = Script::new(GOOSE.vocabulary)
            .scenario("good", Scenario::saying("fine"))
            .scenario(
                "bad",
                Scenario::saying("at last").fault(Fault::first(2, 500)),
            );
        let server = ModelServer::start(script);
        assert!(ask(&server, "POST", CHAT, &chat("good")).contains("fine"));
        for _ in 0..2 {
            assert!(ask(&server, "POST", CHAT, &chat("bad")).starts_with("HTTP/1.1 500"));
        }
        assert!(ask(&server, "POST", CHAT, &chat("bad")).contains("at last"));
        assert!(ask(&server, "POST", CHAT, &chat("unknown")).starts_with("HTTP/1.1 400"));
        assert!(ask(&server, "HEAD", "/", &Value::Null).starts_with("HTTP/1.1 200"));

        let asked: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.status)
            .collect();
        assert_eq!(asked, [200, 500, 500, 200, 400, 200]);
        assert_eq!(server.requests_of("bad").len(), 3);
    }

    #[test]
    fn what_is_asked_on_the_side_eats_nothing() {
        let script = Script::new(GOOSE.vocabulary).scenario(
            "bad",
            Scenario::saying("at last").fault(Fault::first(1, 500)),
        );
        let server = ModelServer::start(script);
        let mut aside = chat("bad");
        aside["tools"] = Value::Null;
        assert!(ask(&server, "POST", CHAT, &aside).contains("A title"));
        assert!(ask(&server, "POST", CHAT, &chat("bad")).starts_with("HTTP/1.1 500"));
    }

    #[test]
    fn it_goes_with_its_owner() {
        let server = ModelServer::start(Script::new(GOOSE.vocabulary));
        let address = server.address;
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
