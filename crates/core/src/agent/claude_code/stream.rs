//! Reads the stream of Claude Code and the transcripts it keeps.

use crate::agent::prelude::*;
use std::collections::BTreeSet;

use crate::agent::anthropic_messages::Messages;
use crate::text::prose;

/// The name that Claude Code gives instead of a model when it speaks for itself.
const NO_MODEL: &str = "<synthetic>";

#[derive(Debug, Default)]
pub(super) struct ClaudeStream {
    messages: Messages,
    /// All answers of a model: those in the stream and those that only the transcripts have. The tokens of an answer,
    /// in the session, are from the transcripts, since those in the stream are of its first moment.
    requests: BTreeSet<String>,
    /// The last of several results counts.
    result: Option<Value>,
    /// The error of the requests since the last answer.
    trouble: Option<(ErrorKind, String)>,
}

impl ClaudeStream {
    fn retry(&mut self, event: &Value, session: &mut Session) {
        let error = text_of(&event["error"]).unwrap_or_else(|| "no answer".to_owned());
        let status = event.status("error_status");
        let why = match status {
            Some(status) => format!("{status} {error}"),
            None => error,
        };
        session.notice(format!(
            "a request failed and is tried again, {}/{}: {why}",
            event.number("attempt"),
            event.number("max_retries")
        ));
        // Without a status there was no answer at all.
        let kind = errors::classify(status, &why).unwrap_or(ErrorKind::ModelApi);
        session.request_failed(kind, why.as_str());
        self.trouble = Some((kind, why));
    }

    fn answer(&mut self, message: &Value, in_main_thread: bool, session: &mut Session) {
        let content = &message["content"];
        let model = message.text("model");
        if !is_of_model(message) {
            session.error(text_of(content).unwrap_or_default());
            return;
        }
        self.trouble = None;
        // An answer comes once for each of its parts.
        if let Some(id) = message.owned("id")
            && self.requests.insert(id)
            && in_main_thread
        {
            session.models.answered(model);
        }
        self.messages.add(Role::Assistant, content, session);
    }
}

/// Returns whether a model said it, not Claude Code in its name.
fn is_of_model(message: &Value) -> bool {
    !["", NO_MODEL].contains(&message.text("model"))
}

fn judge(result: &Value, session: &mut Session) -> Ending {
    if guesses_cost(result) {
        session.final_note("it has no price for the model, so the cost is not known");
    }
    let denials = result.list("permission_denials");
    if !denials.is_empty() {
        let tools: BTreeSet<&str> = denials.iter().map(|it| it.text("tool_name")).collect();
        let tools: Vec<&str> = tools.into_iter().collect();
        let calls = prose::count(denials.len(), "tool call");
        let tools = tools.join(", ");
        session.final_note(format!("no permission was given for {calls}: {tools}"));
    }
    let words = words(result);
    if let "error_max_turns" | "error_max_budget_usd" = result.text("subtype") {
        session.final_note(words);
        return Ending::Completed;
    }
    if result["is_error"] == true {
        let kind = errors::classify(result.status("api_error_status"), &words);
        return failed(kind.unwrap_or(ErrorKind::Agent), words);
    }
    // It took the prompt for a command of its own.
    if result["num_turns"] == 0 {
        return failed(ErrorKind::Agent, words);
    }
    // The last answer gave no reason for its end: there is none, or the one of the answer before, which called a tool.
    // A stream that breaks off passes for success, and what the model was about to do is lost.
    if matches!(result.text("stop_reason"), "" | "tool_use") || models(result).is_empty() {
        return failed(ErrorKind::ModelApi, "the model's last answer broke off");
    }
    Ending::Completed
}

/// Returns the figures of each model.
fn models(result: &Value) -> Vec<&Value> {
    let models = result["modelUsage"].as_object();
    models.into_iter().flat_map(Map::values).collect()
}

/// Returns whether its cost is a guess: it has no price for one of the models, and says so.
fn guesses_cost(result: &Value) -> bool {
    let mut parts = models(result).into_iter().chain([result]);
    parts.any(|part| part["costBasis"] == "unknown")
}

/// Returns the totals, unless they are the zeros of a session that failed.
fn totals(result: &Value) -> Usage {
    let models = models(result);
    if models.is_empty() {
        return Usage::default();
    }
    let cost = result["total_cost_usd"].as_f64();
    Usage {
        cost_usd: cost.filter(|_| !guesses_cost(result)),
        ..models
            .into_iter()
            .map(Tokens::read_apart)
            .sum::<Tokens>()
            .usage()
    }
}

fn words(result: &Value) -> String {
    let errors = errors_for_people(result);
    match result.text("result") {
        "" if errors.is_empty() => format!("the session ended with `{}`", result.text("subtype")),
        "" => errors,
        text => text.to_owned(),
    }
}

/// Returns the errors of a result, without those that only its makers can read.
fn errors_for_people(result: &Value) -> String {
    let errors = result.list("errors").iter().filter_map(Value::as_str);
    let errors = errors.filter(|error| !error.starts_with("[ede_diagnostic]"));
    prose::joined(errors, "; ")
}

impl Protocol for ClaudeStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        session.time = event.owned("timestamp");
        let message = &event["message"];
        match (event.text("type"), event.text("subtype")) {
            ("system", "api_retry") => self.retry(&event, session),
            ("system", "compact_boundary") => session.compacted = true,
            ("assistant", _) => {
                let in_main_thread = event["parent_tool_use_id"].is_null();
                self.answer(message, in_main_thread, session);
            }
            ("user", _) => self.messages.add(Role::User, &message["content"], session),
            ("result", _) => {
                let errors = errors_for_people(&event);
                if !errors.is_empty() {
                    session.error(errors);
                }
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn side_event(&mut self, event: Value, session: &mut Session) {
        let message = &event["message"];
        let id = message.owned("id").filter(|_| is_of_model(message));
        if event["type"] == "assistant"
            && let Some(id) = id
        {
            if message["usage"].is_object() {
                session
                    .answers
                    .insert(id.clone(), Tokens::read_apart(&message["usage"]));
            }
            self.requests.insert(id);
        }
    }

    /// The result has the totals with everything in them, unless it says nothing; then the transcripts count.
    fn usage(&self, session: &Session) -> Usage {
        let totals = self.result.as_ref().map(totals).unwrap_or_default();
        let counted = session.counted(self.requests.len() as u64);
        Usage {
            requests: counted.requests,
            ..totals.or(session.answers_usage()).or(counted)
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if let Some(result) = &self.result {
            return judge(result, session);
        }
        match self.trouble.take() {
            Some((kind, words)) => failed(kind, format!("the session broke off: {words}")),
            None => session.no_end(exit),
        }
    }
}
