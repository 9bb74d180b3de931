//! An agent's session for a terminal: every step in full, or its headlines.

use terca_core::text::prose;
use terca_core::transcript::trial_files::{Numbered, Session};
use terca_core::transcript::{Record, Role as Speaker, Step};

use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;
use crate::term::width::truncate;

/// The most lines of a tool's output that are shown.
const MOST_OUTPUT: usize = 20;
/// The headlines at the beginning and at the end of a long session.
const FIRST: usize = 10;
const LAST: usize = 20;

/// One step of a session, as paragraphs; empty for figures.
pub fn step(record: &Record, palette: Palette) -> String {
    match &record.step {
        Step::Message {
            role: Speaker::User,
            text,
        } => titled("prompt", Role::Bold, text, palette),
        Step::Message {
            role: Speaker::Assistant,
            text,
        } => titled("agent", Role::Bold, text, palette),
        Step::Reasoning { text } => titled("thinking", Role::Dim, text, palette),
        Step::Notice { text } => titled("note", Role::Fair, text, palette),
        Step::Error { text } => titled("error", Role::Bad, text, palette),
        Step::ToolCall { .. } => {
            let line =
                StyledLine::of(Role::Bold, "tool  ").with(Role::Plain, &record.step.headline());
            line.render(palette) + "\n"
        }
        Step::ToolResult { ok, output, .. } => {
            let text = output.as_deref().unwrap_or("(nothing)");
            let (title, role) = if *ok {
                ("", Role::Dim)
            } else {
                ("failed", Role::Bad)
            };
            output_of(title, role, text, palette)
        }
        Step::Omitted { .. } => {
            let text = format!(
                "{} from line {} of its raw output",
                record.step.headline(),
                record.line
            );
            StyledLine::of(Role::Dim, &text).render(palette) + "\n"
        }
        Step::Usage { .. } => String::new(),
    }
}

/// A title, and the lines of a text below it.
fn titled(title: &str, role: Role, text: &str, palette: Palette) -> String {
    let mut shown = StyledLine::of(role, title).render(palette) + "\n";
    let body = if role == Role::Dim { role } else { Role::Plain };
    for line in text.trim_matches('\n').lines() {
        shown += &indented(body, line, palette);
    }
    shown
}

/// The first lines of a tool's output.
fn output_of(title: &str, role: Role, text: &str, palette: Palette) -> String {
    let mut shown = String::new();
    if !title.is_empty() {
        shown += &indented(role, title, palette);
    }
    let lines: Vec<&str> = text.trim_matches('\n').lines().collect();
    for line in lines.iter().take(MOST_OUTPUT) {
        shown += &indented(Role::Dim, line, palette);
    }
    if lines.len() > MOST_OUTPUT {
        let rest = format!("… {}", prose::count(lines.len() - MOST_OUTPUT, "more line"));
        shown += &indented(Role::Dim, &rest, palette);
    }
    shown
}

fn indented(role: Role, line: &str, palette: Palette) -> String {
    StyledLine::plain("  ").with(role, line).render(palette) + "\n"
}

/// The session in short: a line for each of its first and last steps.
pub(crate) fn headlines(session: &Session, columns: usize, palette: Palette) -> String {
    let (head, tail) = (shown(&session.head), shown(&session.tail));
    let all = head.len() + tail.len();
    let mut lines: Vec<String> = head
        .iter()
        .chain(&tail)
        .map(|(_, headline)| headline.clone())
        .collect();
    let mut left_out = session.left_out;
    if all > FIRST + LAST {
        let numbers: Vec<u32> = head
            .iter()
            .chain(&tail)
            .map(|(number, _)| *number)
            .collect();
        left_out += steps_of_the_middle(&numbers);
        lines.drain(FIRST..all - LAST);
    }
    if left_out > 0 {
        let place = lines.len().min(if all > FIRST + LAST {
            FIRST
        } else {
            head.len()
        });
        lines.insert(
            place,
            format!("… {} left out …", prose::count(left_out, "step")),
        );
    }
    lines
        .iter()
        .map(|line| {
            indented(
                Role::Plain,
                &truncate(line, columns.saturating_sub(2)),
                palette,
            )
        })
        .collect()
}

/// Returns a line for each record that is shown, with the number of its step.
fn shown(records: &[Numbered]) -> Vec<(u32, String)> {
    let records = records
        .iter()
        .filter(|numbered| !matches!(numbered.record.step, Step::Usage { .. }));
    records
        .map(|numbered| (numbered.number, numbered.record.step.headline()))
        .collect()
}

/// Counts the steps of which no line is among the first and the last.
fn steps_of_the_middle(numbers: &[u32]) -> usize {
    let (first, rest) = numbers.split_at(FIRST);
    let (middle, last) = rest.split_at(rest.len() - LAST);
    let mut left_out: Vec<u32> = middle.to_vec();
    left_out.sort_unstable();
    left_out.dedup();
    left_out.retain(|number| !first.contains(number) && !last.contains(number));
    left_out.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(mut step: serde_json::Value) -> Record {
        step["line"] = json!(1);
        serde_json::from_value(step).unwrap()
    }

    #[test]
    fn steps_in_full() {
        let output: String = (1..=25).map(|number| format!("{number}\n")).collect();
        let steps = [
            json!({"type": "message", "role": "user", "text": "Write fib.js\nand test it"}),
            json!({"type": "reasoning", "text": "Easy."}),
            json!({"type": "toolCall", "id": "a", "tool": "shell", "input": {"command": "node fib.js"}}),
            json!({"type": "toolResult", "id": "a", "ok": true, "output": output}),
            json!({"type": "toolResult", "id": "b", "ok": false, "output": "\u{1b}[2Jno such file"}),
            json!({"type": "usage", "usage": {"requests": 1}}),
            json!({"type": "message", "role": "assistant", "text": "Done.\u{7}"}),
            json!({"type": "error", "text": "429"}),
        ];
        let shown: String = steps
            .into_iter()
            .map(|value| step(&record(value), Palette::new(false)))
            .collect();
        insta::assert_snapshot!("session", shown);
    }

    #[test]
    fn a_long_session_has_its_ends() {
        let said = |number: u32| Numbered {
            number,
            record: record(
                json!({"type": "message", "role": "assistant", "text": format!("step {number}")}),
            ),
        };
        let session = Session {
            head: (0..50).map(said).collect(),
            left_out: 7,
            tail: (90..95).map(said).collect(),
        };
        let text = headlines(&session, 40, Palette::new(false));
        assert_eq!(text.lines().count(), FIRST + LAST + 1, "{text}");
        assert!(text.contains("  … 32 steps left out …\n"), "{text}");
        assert!(text.ends_with("  step 94\n"), "{text}");
    }
}
