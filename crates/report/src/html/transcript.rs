//! The agent's session: its messages, and its tool calls, folded, each with its result.
//!
//! There is room for so much. Long texts are cut first, the longest most, so that every step keeps its headline. Steps are
//! left out only where their headlines alone are too much, and the page says how many.

use std::collections::HashMap;

use maud::{Markup, html};
use terca_core::transcript::Step;
use terca_core::transcript::trial_files::{Numbered, Session, even_cut};

use super::step::{Look, ShownStep, step, text_sizes};
use super::text::{ends, left_out, note, size};

/// Returns a session in so many bytes of markup. The room of `look` is chosen here.
pub fn transcript(session: &Session, look: Look<'_>, room: usize) -> Markup {
    let all = steps(session.records());
    let gap = steps(session.head.iter()).len();
    let bare = Look {
        room: 0,
        raw: false,
        ..look
    };
    let sizes: Vec<usize> = all.iter().map(|one| size(&step(one, bare))).collect();
    let headlines: usize = sizes.iter().sum();
    let whole = (gap, all.len() - gap);
    let written = |kept, look| written(&all, kept, session.left_out, look);
    if headlines > room {
        let (mut first, mut last) = ends(&sizes, room);
        if session.left_out > 0 {
            (first, last) = (first.min(whole.0), last.min(whole.1));
        }
        return written((first, last), bare);
    }
    let texts = all.iter().flat_map(text_sizes);
    let mut cut = even_cut(texts, room - headlines).unwrap_or(usize::MAX);
    let mut taken = 0;
    loop {
        // The records as they are come last: a page with room for all texts may have room for them.
        for raw in [true, false] {
            let look = Look {
                room: cut,
                raw: raw && cut == usize::MAX,
                ..look
            };
            let markup = written(whole, look);
            if size(&markup) <= room || cut == 0 {
                return markup;
            }
            taken = size(&markup);
        }
        // Signs are longer in markup than in text.
        cut = cut.min(room) / taken.div_ceil(room.max(1)) / 4 * 3;
    }
}

/// Writes so many of the first and last steps, and one remark with the number of all others.
fn written(
    all: &[ShownStep<'_>],
    (first, last): (usize, usize),
    unread: usize,
    look: Look<'_>,
) -> Markup {
    let missing = unread + all.len() - first - last;
    html! {
        div.session {
            @for one in &all[..first] { (step(one, look)) }
            @if missing > 0 { (note(&left_out("step", "transcript.jsonl")(missing))) }
            @for one in &all[all.len() - last..] { (step(one, look)) }
        }
    }
}

/// Joins the records of each step.
pub fn steps<'a>(records: impl Iterator<Item = &'a Numbered>) -> Vec<ShownStep<'a>> {
    let mut steps: Vec<ShownStep<'a>> = Vec::new();
    let mut places: HashMap<u32, usize> = HashMap::new();
    for Numbered { number, record } in records {
        let known = places.get(number).copied();
        match (&record.step, known) {
            (Step::ToolResult { .. }, Some(place)) => steps[place].result = Some(record),
            _ => {
                places.insert(*number, steps.len());
                steps.push(ShownStep {
                    number: *number,
                    lead: record,
                    result: None,
                });
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::turns::Clock;
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use terca_core::transcript::Record;

    fn record(step: Value) -> Record {
        let mut value = step;
        value["line"] = json!(1);
        serde_json::from_value(value).unwrap()
    }

    const LOOK: Look<'static> = Look {
        trial: 7,
        room: 0,
        raw: true,
        prompt: Some("Write fib.js\n"),
        clock: Clock::NONE,
        asked: &BTreeMap::new(),
    };

    fn session() -> Session {
        let head = [
            json!({"type": "message", "role": "user", "text": "Write fib.js", "time": "2026-11-14T10:00:00Z"}),
            json!({"type": "reasoning", "text": "Easy."}),
            json!({"type": "toolCall", "id": "a", "tool": "write_file", "input": {"file_path": "fib.js", "content": "a\nb"}, "time": "2026-11-14T10:00:03.2Z"}),
            json!({"type": "toolCall", "id": "b", "tool": "magic", "server": "tiny", "input": {"n": 1}}),
            json!({"type": "toolResult", "id": "b", "ok": false, "output": "\u{1b}[31mno\u{1b}[0m <img src=x onerror=alert(1)>"}),
            json!({"type": "toolResult", "id": "a", "ok": true, "output": "x\n".repeat(40), "time": "2026-11-14T10:00:04Z"}),
            json!({"type": "message", "role": "assistant", "text": "**Done**: <script>alert('hi')</script>"}),
            json!({"type": "error", "text": "429"}),
        ];
        Session::whole(head.map(record))
    }

    #[test]
    fn calls_have_their_results() {
        let session = session();
        let look = Look {
            clock: Clock::of(&session, None),
            ..LOOK
        };
        let html = transcript(&session, look, 100_000);
        insta::assert_snapshot!("html_transcript", html.0.replace("><", ">\n<"));
    }

    /// A call with a long output for each number.
    fn calls(numbers: std::ops::Range<u32>, output: usize) -> Vec<Numbered> {
        let records = |number: u32| {
            let id = number.to_string();
            let call = json!({"type": "toolCall", "id": id, "tool": "Bash", "input": {"command": format!("run <{id}>")}});
            let result =
                json!({"type": "toolResult", "id": id, "ok": true, "output": "<".repeat(output)});
            [call, result].map(|step| Numbered {
                number,
                record: record(step),
            })
        };
        numbers.flat_map(records).collect()
    }

    fn left_out(html: &str) -> usize {
        let Some((before, _)) = html.split_once(" left out; see transcript.jsonl …</p>") else {
            return 0;
        };
        let (_, number) = before.rsplit_once("<p class=\"note\">… ").unwrap();
        let number = number.split(' ').next().unwrap();
        number.parse().unwrap_or(0)
    }

    #[test]
    fn long_outputs_are_cut_and_every_step_stays() {
        let session = Session {
            head: calls(1..39, 15_000),
            ..Session::default()
        };
        let html = transcript(&session, LOOK, 72_000).0;
        assert_eq!(html.matches("<details class=\"step tool\"").count(), 38);
        assert_eq!(left_out(&html), 0);
        assert!((36_000..=72_000).contains(&html.len()), "{}", html.len());
        assert!(html.contains("bytes left out"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]

        /// The remark has the exact number of steps that are not there.
        #[test]
        fn shown_and_left_out_are_all_steps(
            head in 1_u32..80,
            gap in 0_u32..50,
            tail in 0_u32..20,
            output in 0_usize..3_000,
            room in 0_usize..60_000,
        ) {
            let tail = if gap == 0 { 0 } else { tail };
            let session = Session {
                head: calls(1..head + 1, output),
                left_out: gap as usize,
                tail: calls(head + gap + 1..head + gap + tail + 1, output),
            };
            let html = transcript(&session, LOOK, room).0;
            let shown = html.matches("data-step=").count();
            proptest::prop_assert_eq!(shown + left_out(&html), (head + gap + tail) as usize);
            proptest::prop_assert!(html.len() <= room + 300, "{} > {}", html.len(), room);
        }
    }
}
