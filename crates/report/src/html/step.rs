//! One step of a session: a message, a thought, or a tool call with its result.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;
use terca_core::text::prose;
use terca_core::transcript::edits::edits;
use terca_core::transcript::{Record, Role, Step};

use super::diff::edit;
use super::markdown::markdown;
use super::text::{clean, fit_text, note, pill, preview};
use super::turns::{Asked, Clock, in_and_out};

/// A step with everything that belongs to it.
pub struct ShownStep<'a> {
    /// Its number in the session.
    pub number: u32,
    /// The message, the call, or another record.
    pub lead: &'a Record,
    /// The result of a call.
    pub result: Option<&'a Record>,
}

/// How steps are shown.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The trial that they are of.
    pub trial: u32,
    /// The bytes that each text may take.
    pub room: usize,
    /// Whether the records are shown as they are, too.
    pub raw: bool,
    /// The prompt that the page shows elsewhere.
    pub prompt: Option<&'a str>,
    /// The times of the session.
    pub clock: Clock,
    /// The requests to models behind the last step of each turn.
    pub asked: &'a BTreeMap<u32, Asked>,
}

/// Without this room, a text is not shown at all.
const LEAST_ROOM: usize = 80;

/// Returns a step.
pub fn step(shown: &ShownStep<'_>, look: Look<'_>) -> Markup {
    match &shown.lead.step {
        Step::ToolCall {
            tool,
            input,
            server,
            ..
        } => call(shown, tool, input, server.as_deref(), look),
        other => said(shown, other, look),
    }
}

/// Returns the sizes of the texts of a step.
pub fn text_sizes(shown: &ShownStep<'_>) -> [usize; 2] {
    let lead = match &shown.lead.step {
        Step::ToolCall { input, .. } => input.to_string().len(),
        _ => text_of(shown.lead).map_or(0, str::len),
    };
    [lead, shown.result.and_then(text_of).map_or(0, str::len)]
}

/// Returns what was said, or what a tool printed.
fn text_of(record: &Record) -> Option<&str> {
    match &record.step {
        Step::Message { text, .. }
        | Step::Reasoning { text }
        | Step::Notice { text }
        | Step::Error { text } => Some(text),
        Step::ToolResult { output, .. } => output.as_deref(),
        Step::ToolCall { .. } | Step::Omitted { .. } => None,
    }
}

fn said(shown: &ShownStep<'_>, step: &Step, look: Look<'_>) -> Markup {
    let (class, title) = match step {
        Step::Message {
            role: Role::User, ..
        } => ("user", "Prompt"),
        Step::Message { .. } => ("agent", "Agent"),
        Step::Reasoning { .. } => ("thought", "Thinking"),
        Step::Notice { .. } => ("notice", "Note"),
        Step::ToolResult { ok: true, .. } => ("result", "Result"),
        Step::ToolResult { ok: false, .. } => ("trouble", "Failed"),
        Step::Error { .. } => ("trouble", "Error"),
        _ => ("notice", "Left out"),
    };
    html! {
        div class={ "step " (class) } id={ "step-" (shown.number) } data-step=(shown.number) data-title=(title) {
            p.who { span.title { (title) } (marks(shown, look)) (link(shown, look)) }
            (words(shown.lead, look))
            (raw(shown, look))
        }
    }
}

fn words(record: &Record, look: Look<'_>) -> Markup {
    let step = &record.step;
    if matches!(step, Step::Omitted { .. }) {
        let (headline, line) = (step.headline(), record.line);
        return note(&format!("{headline} from line {line} of its raw output"));
    }
    let text = text_of(record).unwrap_or("(nothing)");
    let is_known = look
        .prompt
        .is_some_and(|prompt| prompt.trim() == text.trim());
    if matches!(
        step,
        Step::Message {
            role: Role::User,
            ..
        }
    ) && is_known
    {
        return html! { p.quiet { "as above" } };
    }
    let is_prose = matches!(step, Step::Message { .. } | Step::Reasoning { .. });
    if look.room < LEAST_ROOM {
        return html! { p.brief { (clean(&step.headline())) } (cut()) };
    }
    let text = fit_text(text, look.room);
    match is_prose {
        true => markdown(&text),
        false => preview(&text),
    }
}

/// Returns the remark in the place of a text that there is no room for.
fn cut() -> Markup {
    note("… text cut; see transcript.jsonl …")
}

fn call(
    shown: &ShownStep<'_>,
    tool: &str,
    input: &Value,
    server: Option<&str>,
    look: Look<'_>,
) -> Markup {
    let headline = shown.lead.step.headline();
    let brief = headline.strip_prefix(tool).unwrap_or(&headline).trim();
    let result = shown.result.map(|record| &record.step);
    let is_failed = matches!(result, Some(Step::ToolResult { ok: false, .. }));
    html! {
        details.step.tool.failed[is_failed] id={ "step-" (shown.number) } data-step=(shown.number)
            data-title=(headline) {
            summary {
                b { (tool) }
                @if let Some(server) = server { span.pill { "MCP " (server) } }
                " "
                code.brief { (brief) }
                @if is_failed { (pill("failed", "failed")) }
                @if result.is_none() { span.pill { "no result" } }
                (marks(shown, look))
            }
            @if look.room < LEAST_ROOM { (cut()) } @else { (call_texts(shown, input, look)) }
            p.who { (link(shown, look)) }
            (raw(shown, look))
        }
    }
}

fn call_texts(shown: &ShownStep<'_>, input: &Value, look: Look<'_>) -> Markup {
    let edits = edits(&shown.lead.step);
    let output = shown.result.and_then(text_of).unwrap_or_default();
    html! {
        @if edits.is_empty() {
            p.who { "Input" }
            (preview(&fit_text(&pretty(input), look.room)))
        } @else {
            @for one in &edits { (edit(one, look.room / edits.len())) }
        }
        @if !output.is_empty() {
            div.output {
                p.who { "Output" }
                (preview(&fit_text(output, look.room)))
            }
        }
    }
}

/// Returns the time of a step since the beginning, how long it took, and the time and tokens of its request, from
/// the gateway.
fn marks(shown: &ShownStep<'_>, look: Look<'_>) -> Markup {
    let since = look.clock.words(shown.lead);
    let result = shown.result;
    let took = result.and_then(|result| look.clock.between(shown.lead, result));
    let asked = look.asked.get(&shown.number);
    let tokens = asked.and_then(|asked| in_and_out(asked.input_tokens, asked.output_tokens));
    let marks = html! {
        @if let Some(since) = since { span.since { (since) } }
        @if let Some(took) = took { span.took { "took " (prose::duration(took)) } }
        @if let Some(asked) = asked {
            span.model {
                @if asked.requests > 1 { (prose::count(asked.requests, "request")) " " } @else { "model " }
                (prose::duration(asked.seconds))
            }
        }
        @if let Some(tokens) = tokens { span.tokens { (tokens) " tokens" } }
    };
    html! {
        @if !marks.0.is_empty() { span.marks { (marks) } }
    }
}

fn link(shown: &ShownStep<'_>, look: Look<'_>) -> Markup {
    html! {
        a.number href={ "#trial-" (look.trial) "/step-" (shown.number) } {
            "step " (shown.number)
        }
    }
}

/// Returns the records of a step as the transcript has them.
fn raw(shown: &ShownStep<'_>, look: Look<'_>) -> Markup {
    if !look.raw {
        return html! {};
    }
    let records = [Some(shown.lead), shown.result].into_iter().flatten();
    let lines = records.filter_map(|record| serde_json::to_string(record).ok());
    html! {
        details.raw {
            summary { "Raw" }
            pre { (clean(&prose::joined(lines, "\n"))) }
        }
    }
}

/// Returns arguments as people write them: text as it is, the rest as JSON.
fn pretty(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        Value::Object(entries) => {
            let line = |(key, value): (&String, &Value)| match value {
                Value::String(text) if text.contains('\n') => format!("{key}:\n{text}"),
                Value::String(text) => format!("{key}: {text}"),
                other => format!("{key}: {other}"),
            };
            prose::joined(entries.iter().map(line), "\n")
        }
        other => other.to_string(),
    }
}
