//! An agent's session for a terminal: every step in full, or its headlines.

use terca_core::text::prose;
use terca_core::transcript::trial_files::Session;
use terca_core::transcript::{Record, Role as Speaker, Step};

use crate::term::{Answer, Role, UNLIMITED, bold, dim, plain, styled, truncate};

/// The most lines of a tool's output that are shown.
const MOST_OUTPUT: usize = 20;
/// The headlines at the beginning and at the end of a long session.
const FIRST: usize = 10;
const LAST: usize = 20;

/// One step of a session, as paragraphs; empty for figures.
pub fn step(record: &Record) -> Answer {
    let mut answer = Answer::new(UNLIMITED);
    let headline = record.step.headline();
    let (title, role, text) = match &record.step {
        Step::Message {
            role: Speaker::User,
            text,
        } => ("prompt", Role::Bold, text),
        Step::Message { text, .. } => ("agent", Role::Bold, text),
        Step::Reasoning { text } => ("thinking", Role::Dim, text),
        Step::Notice { text } => ("note", Role::Fair, text),
        Step::Error { text } => ("error", Role::Bad, text),
        Step::ToolCall { .. } => {
            answer.line(bold("tool  ").plain(&headline));
            return answer;
        }
        Step::ToolResult { ok, output, .. } => {
            let text = output.as_deref().unwrap_or("(nothing)");
            tell_output(*ok, text, &mut answer);
            return answer;
        }
        Step::Omitted { .. } => {
            let line = record.line;
            answer.line(dim(&format!(
                "{headline} from line {line} of its raw output"
            )));
            return answer;
        }
    };
    answer.line(styled(role, title));
    let body = if role == Role::Dim { role } else { Role::Plain };
    for line in text.trim_matches('\n').lines() {
        answer.line(plain("  ").with(body, line));
    }
    answer
}

/// The first lines of a tool's output.
fn tell_output(is_fine: bool, text: &str, answer: &mut Answer) {
    if !is_fine {
        answer.line(plain("  ").with(Role::Bad, "failed"));
    }
    let lines: Vec<&str> = text.trim_matches('\n').lines().collect();
    for line in lines.iter().take(MOST_OUTPUT) {
        answer.line(plain("  ").with(Role::Dim, line));
    }
    if lines.len() > MOST_OUTPUT {
        let rest = prose::count(lines.len() - MOST_OUTPUT, "more line");
        answer.line(plain("  ").with(Role::Dim, &format!("… {rest}")));
    }
}

/// The session in short: a line for each of its first and last steps.
pub(crate) fn headlines(session: &Session, columns: usize) -> Answer {
    let all: Vec<(u32, String)> = session
        .records()
        .map(|one| (one.number, one.record.step.headline()))
        .collect();
    let mut first = session.head.len();
    let mut last = all.len() - first;
    let mut left_out = session.left_out;
    if all.len() > FIRST + LAST {
        (first, last) = (FIRST, LAST);
        let (kept, end) = (&all[..first], &all[all.len() - last..]);
        let is_kept = |number: u32| kept.iter().chain(end).any(|(other, _)| *other == number);
        let mut missing: Vec<u32> = all.iter().map(|(number, _)| *number).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|number| !is_kept(*number));
        left_out += missing.len();
    }
    let mut answer = Answer::new(columns);
    let tell = |answer: &mut Answer, line: &str| {
        answer.line(plain(&format!(
            "  {}",
            truncate(line, columns.saturating_sub(2))
        )));
    };
    all[..first]
        .iter()
        .for_each(|(_, line)| tell(&mut answer, line));
    if left_out > 0 {
        let steps = prose::count(left_out, "step");
        tell(&mut answer, &format!("… {steps} left out …"));
    }
    let end = &all[all.len() - last..];
    end.iter().for_each(|(_, line)| tell(&mut answer, line));
    answer
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use terca_core::transcript::trial_files::Numbered;

    use super::*;
    use crate::term::Palette;

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
            json!({"type": "message", "role": "assistant", "text": "Done.\u{7}"}),
            json!({"type": "error", "text": "429"}),
        ];
        let shown: String = steps
            .into_iter()
            .map(|value| step(&record(value)).render(Palette::new(false)))
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
        let text = headlines(&session, 40).render(Palette::new(false));
        assert_eq!(text.lines().count(), FIRST + LAST + 1, "{text}");
        assert!(text.contains("  … 32 steps left out …\n"), "{text}");
        assert!(text.ends_with("  step 94\n"), "{text}");
    }
}
