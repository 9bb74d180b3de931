//! The conversation of the client with the agent.

use std::ffi::OsString;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use terca_core::agent::acp::AUTH_REQUIRED;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::connection::{Connection, Heard};
use super::{Failure, models, print, sign_in};
use crate::process::own_process;

/// The time that an agent has to say what it can do.
const TO_INITIALIZE: Duration = Duration::from_secs(60);
/// The time that an agent has to make a session. It may wait for MCP servers meanwhile.
const TO_BEGIN: Duration = Duration::from_secs(300);
/// The time that an agent has to answer when its work is cancelled. Terca waits for five seconds altogether.
const TO_CANCEL: Duration = Duration::from_millis(2_500);
/// The time that an agent has to end by itself after its work, so that it can write its files.
const TO_END: Duration = Duration::from_secs(5);
/// The time that an agent has to end when it was cancelled, or told by a signal.
const TO_LEAVE: Duration = Duration::from_millis(750);
/// "Method not found", in JSON-RPC.
const NOT_OFFERED: i64 = -32601;

/// The kinds of options that allow a call, the best first: an agent that is told "always" asks less often.
const ALLOWING: [&str; 2] = ["allow_always", "allow_once"];

/// Runs a session to its end. Returns whether it came to one.
pub(super) fn run(args: &[OsString]) -> bool {
    let _ = own_process::prepare();
    let started = read_inputs(args).and_then(|(settings, prompt, command)| {
        let connection = Connection::start(command)?;
        Ok((settings, prompt, connection))
    });
    let (settings, prompt, connection) = match started {
        Ok(started) => started,
        Err(error) => {
            let message = format!("the agent could not be started: {error}");
            print(
                "failed",
                json!(Failure::of_kind(ErrorKind::AgentMissing, message)),
            );
            return false;
        }
    };
    let mut client = Client {
        connection,
        next_id: 0,
        stage: "initialize",
        session: None,
        is_stopped: false,
        is_silent: false,
    };
    let outcome = client.converse(&settings, &prompt);
    let is_well = outcome.is_ok();
    if let Err(failure) = outcome {
        let mut event = json!(failure);
        event["stage"] = json!(client.stage);
        print("failed", event);
    }
    client.leave();
    is_well
}

fn read_inputs(args: &[OsString]) -> io::Result<(Value, String, &[OsString])> {
    let [settings, command @ ..] = args else {
        return Err(io::Error::other("its arguments are not those of Terca"));
    };
    let settings = serde_json::from_slice(&fs_err::read(settings)?)?;
    let mut prompt = String::new();
    io::stdin().lock().read_to_string(&mut prompt)?;
    Ok((settings, prompt, command))
}

struct Client {
    connection: Connection,
    next_id: u64,
    stage: &'static str,
    /// The session that has been given its prompt.
    session: Option<String>,
    /// Terca has asked the client to end.
    is_stopped: bool,
    /// The agent has closed its output.
    is_silent: bool,
}

impl Client {
    fn converse(&mut self, settings: &Value, prompt: &str) -> Result<(), Failure> {
        let agent = self.initialize()?;
        self.stage = "session";
        let session = self.begin(settings, &agent)?;
        let Some(id) = session["sessionId"].as_str() else {
            return Err(Failure::new("the agent made a session without an id"));
        };
        self.stage = "model";
        if let Some(model) = settings["model"].as_str()
            && let Some((method, params)) = models::choice(model, &session)?
        {
            self.request(method, &params, Some(TO_BEGIN))?;
        }
        print("session", json!({}));
        self.stage = "prompt";
        self.prompt(id, prompt)
    }

    fn initialize(&mut self) -> Result<Value, Failure> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
            },
            "clientInfo": { "name": "terca", "title": "Terca", "version": env!("CARGO_PKG_VERSION") },
        });
        let agent = self.request("initialize", &params, Some(TO_INITIALIZE))?;
        let version = &agent["protocolVersion"];
        if *version != 1 {
            return Err(Failure::new(format!(
                "the agent speaks version {version} of the Agent Client Protocol, and Terca speaks version 1"
            )));
        }
        let about = &agent["agentInfo"];
        let about = json!({ "name": about["name"], "version": about["version"] });
        print("agent", about);
        Ok(agent)
    }

    /// Makes a session.
    fn begin(&mut self, settings: &Value, agent: &Value) -> Result<Value, Failure> {
        let can = &agent["agentCapabilities"]["mcpCapabilities"];
        for server in settings["mcpServers"].as_array().into_iter().flatten() {
            let Some(transport) = server["type"].as_str() else {
                continue;
            };
            if can[transport] != true {
                let name = server["name"].as_str().unwrap_or_default();
                let message =
                    format!("the agent cannot use MCP servers by {transport}, as `{name}` is");
                return Err(Failure::of_kind(ErrorKind::Mcp, message));
            }
        }
        let mut params = json!({ "cwd": settings["cwd"], "mcpServers": settings["mcpServers"] });
        if settings["meta"].is_object() {
            params["_meta"] = settings["meta"].clone();
        }
        match self.request("session/new", &params, Some(TO_BEGIN)) {
            Err(failure) if failure.code == Some(AUTH_REQUIRED) => {
                self.sign_in(failure, agent)?;
                self.request("session/new", &params, Some(TO_BEGIN))
            }
            answer => answer,
        }
    }

    /// Signs in with a key that is set, where the agent offers that.
    fn sign_in(&mut self, asked: Failure, agent: &Value) -> Result<(), Failure> {
        let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        let set: Vec<String> = set
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let Some(method) = sign_in::method(agent, &set) else {
            return Err(sign_in::with_ways(asked, agent));
        };
        let answer = self.request(
            "authenticate",
            &json!({ "methodId": method }),
            Some(TO_BEGIN),
        );
        answer.map_err(|failure| Failure {
            kind: Some(ErrorKind::Auth),
            ..failure
        })?;
        print("signedIn", json!({ "method": method }));
        Ok(())
    }

    fn prompt(&mut self, session: &str, prompt: &str) -> Result<(), Failure> {
        let params = json!({
            "sessionId": session,
            "prompt": [{ "type": "text", "text": prompt }],
        });
        self.session = Some(session.to_owned());
        let end = self.request("session/prompt", &params, None)?;
        print(
            "end",
            json!({ "stopReason": end["stopReason"], "usage": end["usage"], "meta": end["_meta"] }),
        );
        Ok(())
    }

    /// Asks the agent something, and does what it asks for until it answers.
    fn request(
        &mut self,
        method: &str,
        params: &Value,
        limit: Option<Duration>,
    ) -> Result<Value, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let mut until = limit.map(|limit| Instant::now() + limit);
        loop {
            let Some(heard) = self.connection.hear(until) else {
                return Err(self.too_late(method, limit));
            };
            match heard {
                Heard::Message(mut message) if is_answer(&message, id) => {
                    if message["error"].is_object() {
                        return Err(refusal(method, &message["error"]));
                    }
                    return Ok(message["result"].take());
                }
                Heard::Message(message) => self.answer(message)?,
                Heard::Noise { text, bytes } => {
                    print("noise", json!({ "text": text, "bytes": bytes }));
                }
                Heard::Silence => return Err(self.silence()),
                Heard::Stop => until = Some(self.cancel()?),
            }
        }
    }

    fn send(&self, message: &Value) -> Result<(), Failure> {
        match self.connection.send(message) {
            true => Ok(()),
            false => Err(Failure::new("the agent does not read its standard input")),
        }
    }

    /// Asks the agent to break off. Returns the end of the wait for its answer.
    fn cancel(&mut self) -> Result<Instant, Failure> {
        self.is_stopped = true;
        let Some(session) = &self.session else {
            return Err(Failure::new("the agent was stopped before it began"));
        };
        let params = json!({ "sessionId": session });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }))?;
        Ok(Instant::now() + TO_CANCEL)
    }

    fn too_late(&self, method: &str, limit: Option<Duration>) -> Failure {
        if self.is_stopped {
            return Failure::new("the agent did not answer when its session was cancelled");
        }
        let limit = prose::duration(limit.unwrap_or_default().as_secs_f64());
        Failure::new(format!(
            "the agent did not answer `{method}` of the Agent Client Protocol within {limit}"
        ))
    }

    /// Returns the failure of an agent that has closed its output.
    fn silence(&mut self) -> Failure {
        self.is_silent = true;
        let exit = self.connection.ended_within(TO_LEAVE);
        let message = match exit {
            Some(exit) => format!("the agent ended before it answered: {}", exit.describe()),
            None => "the agent closed its standard output before it answered".to_owned(),
        };
        Failure {
            exit,
            ..Failure::new(message)
        }
    }

    /// Does what the agent asks for, and passes on what it tells.
    fn answer(&self, mut message: Value) -> Result<(), Failure> {
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            return Ok(());
        };
        let mut params = message["params"].take();
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            if method == "session/update" {
                tell(&params["update"]);
            }
            return Ok(());
        };
        let answer = if method == "session/request_permission" {
            let (result, answer) = permission(&params);
            let mut told = params["toolCall"].take();
            let call = told["toolCallId"].clone();
            // Some agents tell the arguments of a call there alone.
            if told.is_object() {
                told["sessionUpdate"] = json!("tool_call_update");
                tell(&told);
            }
            print("permission", json!({ "call": call, "answer": answer }));
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        } else {
            let message = format!("Terca does not offer {method}");
            let error = json!({ "code": NOT_OFFERED, "message": message });
            print("refused", json!({ "method": method }));
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        self.send(&answer)
    }

    /// Lets the agent end, and passes on what it still tells.
    fn leave(mut self) {
        self.connection.close_input();
        let time = if self.is_stopped { TO_LEAVE } else { TO_END };
        let until = Some(Instant::now() + time);
        while !self.is_silent {
            let Some(heard) = self.connection.hear(until) else {
                break;
            };
            match heard {
                Heard::Message(message) if message["method"] == "session/update" => {
                    tell(&message["params"]["update"]);
                }
                Heard::Message(_) | Heard::Noise { .. } => {}
                Heard::Silence => self.is_silent = true,
                Heard::Stop => break,
            }
        }
        if self.connection.ended_within(TO_LEAVE).is_none() {
            self.connection.terminate();
            let _ = self.connection.ended_within(TO_LEAVE);
        }
    }
}

fn is_answer(message: &Value, id: u64) -> bool {
    message["id"].as_u64() == Some(id) && message.get("method").is_none()
}

/// Passes on an update of the session.
fn tell(update: &Value) {
    print(
        "update",
        json!({ "of": update["sessionUpdate"], "update": update }),
    );
}

fn refusal(method: &str, error: &Value) -> Failure {
    let said = error["message"]
        .as_str()
        .unwrap_or("an error without words");
    let data = &error["data"];
    let details = [&data["details"], &data["message"], &data["error"], data];
    let details = details.iter().find_map(|details| details.as_str());
    let message = match details {
        Some(details) if !said.contains(details) => format!("{said}: {details}"),
        _ => said.to_owned(),
    };
    Failure {
        code: error["code"].as_i64(),
        ..Failure::new(format!(
            "the agent answered `{method}` with an error: {message}"
        ))
    }
}

/// Returns the result for the agent, and the kind of the option that was chosen.
fn permission(params: &Value) -> (Value, Option<String>) {
    let options = params["options"].as_array();
    let chosen = ALLOWING.iter().find_map(|kind| {
        let option = options?.iter().find(|option| option["kind"] == **kind)?;
        Some((option["optionId"].as_str()?, *kind))
    });
    match chosen {
        Some((option, kind)) => {
            let outcome = json!({ "outcome": "selected", "optionId": option });
            (json!({ "outcome": outcome }), Some(kind.to_owned()))
        }
        None => (json!({ "outcome": { "outcome": "cancelled" } }), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_permission_is_given_and_none_is_refused() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "kind": kind, "name": id });
        let all = [
            option("no", "reject_once"),
            option("yes", "allow_once"),
            option("always", "allow_always"),
        ];
        for (count, chosen, kind) in [
            (3, "always", Some("allow_always")),
            (2, "yes", Some("allow_once")),
        ] {
            let (result, answer) = permission(&json!({ "options": all[..count] }));
            assert_eq!(result["outcome"]["optionId"], chosen);
            assert_eq!(answer.as_deref(), kind);
        }
        for params in [
            json!({ "options": all[..1] }),
            json!({}),
            json!({ "options": 7 }),
        ] {
            let (result, answer) = permission(&params);
            assert_eq!(result["outcome"]["outcome"], "cancelled");
            assert_eq!(answer, None);
        }
    }
}
