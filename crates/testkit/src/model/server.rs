//! The server: listens, answers by its script, and remembers what it was asked.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::request::{Dialect, Request, Served, scenario_of, texts_in, workspace_of};
use super::script::{Scenario, Script, Trouble, Turn, Usage};
use super::vocabulary::Vocabulary;
use super::wire::{Body, Reply, View, Wire};
use crate::http::{self, Message, Over, Part, Server};

/// A model on this machine. It goes when this does.
#[derive(Debug)]
pub struct ModelServer {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    /// How often each scenario was asked for, for faults that pass.
    asked: HashMap<String, usize>,
}

impl ModelServer {
    pub fn start(script: Script) -> Self {
        let shared = Arc::new(Shared {
            script,
            state: Mutex::default(),
        });
        let ours = Arc::clone(&shared);
        let server = Server::start(move |stream, over| ours.serve(stream, over));
        ModelServer { server, shared }
    }

    /// Where it listens, without a path.
    pub fn url(&self) -> String {
        self.server.url()
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

/// An answer and the scenario it belongs to.
struct Answer {
    scenario: Option<String>,
    /// 0 for no answer at all.
    status: u16,
    retry_after: Option<u32>,
    delay: Duration,
    part: Part,
    body: Body,
    served: Option<Served>,
}

impl Answer {
    fn new(status: u16, body: Body) -> Self {
        Answer {
            scenario: None,
            status,
            retry_after: None,
            delay: Duration::ZERO,
            part: Part::Whole,
            body,
            served: None,
        }
    }

    fn error(wire: &dyn Wire, status: u16, message: &str) -> Self {
        Answer::new(status, Body::Json(wire.error(status, message)))
    }

    fn of_model(wire: &dyn Wire, reply: &Reply, stream: bool) -> Self {
        let served = Served {
            model: reply.model.clone(),
            usage: reply.usage,
            whole: true,
        };
        Answer {
            served: Some(served),
            ..Answer::new(200, wire.reply(reply, stream))
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream, over: &Over) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let Some(message) = http::read(&mut reader)? else {
            return Ok(());
        };
        let head_only = message.method == "HEAD";
        let answer = self.answer(message);
        over.wait(answer.delay);
        let stream = reader.get_mut();
        if answer.status == 0 {
            return http::keep_silent(stream, over);
        }
        match &answer.body {
            Body::Json(_) if head_only => http::write_head(stream, answer.status)?,
            Body::Json(value) => {
                let Answer {
                    status,
                    retry_after,
                    part,
                    ..
                } = answer;
                http::write_json(stream, status, retry_after, &value.to_string(), part)?;
            }
            Body::Events(events) => http::write_events(stream, events, answer.part)?,
        }
        stream.flush()
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
            served: None,
        };
        let mut state = self.state();
        let answer = match dialect.wire() {
            None => Answer::new(200, Body::Json(json!({}))),
            Some(wire) => {
                let number = state.requests.len();
                self.speak(wire, &request, number, &mut state.asked)
            }
        };
        request.scenario.clone_from(&answer.scenario);
        request.status = answer.status;
        let whole = answer.part == Part::Whole;
        request.served = answer
            .served
            .clone()
            .map(|served| Served { whole, ..served });
        state.requests.push(request);
        answer
    }

    fn speak(
        &self,
        wire: &dyn Wire,
        request: &Request,
        number: usize,
        asked: &mut HashMap<String, usize>,
    ) -> Answer {
        let view = request.view();
        if view.aside && matches!(self.script.vocabulary, Vocabulary::Tools(_)) {
            let mut text = wire.aside().to_owned();
            // A summary takes the place of the conversation, which still has to name its scenario. JSON stays as it is.
            if let Some(name) = scenario_of(&view.said)
                && !text.starts_with('{')
            {
                text = format!("{text} scenario:{name}");
            }
            let model = view.model.clone();
            let reply = Reply {
                model,
                number,
                text,
                calls: Vec::new(),
                usage: Usage::ASIDE,
            };
            return Answer::of_model(wire, &reply, view.stream);
        }
        let texts = texts_in(&request.body);
        let name = scenario_of(&view.said).or_else(|| scenario_of(&texts));
        let name = name.unwrap_or_default();
        let Some(scenario) = self.script.scenarios.get(name) else {
            let message = format!("the script has no scenario `{name}`");
            return Answer::error(wire, 400, &message);
        };
        let count = asked.entry(name.to_owned()).or_default();
        let before = *count;
        *count += 1;
        let fault = scenario.fault.filter(|fault| fault.strikes(before));
        let mut reply = self.reply(scenario, &view, &request.body, number);
        let mut answer = match fault.map(|fault| fault.trouble) {
            Some(Trouble::Status {
                status,
                retry_after,
            }) => {
                let what = match status {
                    404 => "the model does not exist: ",
                    _ => "",
                };
                let message = format!("{what}the script says {status}");
                Answer {
                    retry_after,
                    ..Answer::error(wire, status, &message)
                }
            }
            Some(Trouble::Silence) => Answer::new(0, Body::Json(Value::Null)),
            Some(Trouble::Overflow) => Answer::new(400, Body::Json(wire.overflow())),
            Some(Trouble::Cut) => Answer {
                part: Part::Cut,
                ..Answer::of_model(wire, &reply, view.stream)
            },
            Some(Trouble::FirstHalf) => Answer {
                part: Part::FirstHalf,
                ..Answer::of_model(wire, &reply, view.stream)
            },
            Some(Trouble::Swollen(usage)) => {
                reply.usage = usage;
                Answer::of_model(wire, &reply, view.stream)
            }
            Some(Trouble::Echo) => {
                let names = ["authorization", "x-api-key", "x-goog-api-key"];
                let keys = names.iter().filter_map(|name| request.headers.get(*name));
                reply.text = keys.cloned().collect();
                Answer::of_model(wire, &reply, view.stream)
            }
            None => Answer::of_model(wire, &reply, view.stream),
        };
        answer.delay = scenario.delay;
        answer.scenario = Some(name.to_owned());
        answer
    }

    fn reply(&self, scenario: &Scenario, view: &View, body: &Value, number: usize) -> Reply {
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
            model: scenario
                .answered_by
                .map_or_else(|| view.model.clone(), str::to_owned),
            number,
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
    use crate::model::Fault;

    fn ask(server: &ModelServer, method: &str, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(server.server.address).unwrap();
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
    fn troubles_are_seen_by_the_asker_and_remembered() {
        let usage = Usage {
            input: 390_000,
            ..Usage::of_turn(0)
        };
        let troubled = |trouble| Scenario::saying("fine").fault(Fault::of(trouble));
        let script = Script::new(GOOSE.vocabulary)
            .scenario("cut", troubled(Trouble::Cut))
            .scenario("half", troubled(Trouble::FirstHalf))
            .scenario("long", troubled(Trouble::Overflow))
            .scenario("swollen", troubled(Trouble::Swollen(usage)))
            .scenario(
                "another",
                Scenario::saying("fine").answered_by("a-stranger"),
            )
            .scenario("silent", troubled(Trouble::Silence));
        let server = ModelServer::start(script);
        let mut asked = chat("cut");
        asked["stream"] = json!(true);
        assert!(!ask(&server, "POST", CHAT, &asked).contains("[DONE]"));
        assert!(ask(&server, "POST", CHAT, &chat("half")).starts_with("HTTP/1.1 200"));
        assert!(ask(&server, "POST", CHAT, &chat("long")).contains("context_length_exceeded"));
        assert!(ask(&server, "POST", CHAT, &chat("swollen")).contains("390000"));
        assert!(ask(&server, "POST", CHAT, &chat("another")).contains("a-stranger"));
        let mut waiting = TcpStream::connect(server.server.address).unwrap();
        let body = chat("silent").to_string();
        write!(
            waiting,
            "POST {CHAT} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        crate::wait_until("the request is there", || server.requests().len() == 6);
        let served = |request: &Request| {
            request
                .served
                .clone()
                .map(|served| (served.model, served.usage.input, served.whole))
        };
        let known: Vec<_> = server
            .requests()
            .iter()
            .map(|request| (request.status, served(request)))
            .collect();
        let half = || Some(("m".to_owned(), 1000, false));
        let swollen = Some(("m".to_owned(), 390_000, true));
        let another = Some(("a-stranger".to_owned(), 1000, true));
        assert_eq!(
            known,
            [
                (200, half()),
                (200, half()),
                (400, None),
                (200, swollen),
                (200, another),
                (0, None)
            ]
        );
        drop(server);
        let mut rest = String::new();
        waiting.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "not a word until the end");
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
        let address = server.server.address;
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
