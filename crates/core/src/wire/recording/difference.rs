//! The first place in which two requests differ, for people.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::excerpt::beginning;

/// The most characters of a line that are shown.
const LONGEST_LINE: usize = 160;
/// The characters that are shown before the first that differs.
const BEFORE: usize = 40;

/// A path, and what is there on both sides.
type Place<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// Describes the first place in which two requests differ: its path, and the first lines there that are not the same.
pub fn first_difference(recorded: &Value, now: &Value) -> String {
    let place = first_place(String::new(), Some(recorded), Some(now));
    let (path, recorded, now) = place.unwrap_or_default();
    let [recorded, now] = [recorded, now].map(|value| match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    });
    let pairs = recorded.lines().zip(now.lines());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let [one, other] = [&recorded, &now].map(|text| text.lines().nth(same));
    let pairs = one.unwrap_or("").chars().zip(other.unwrap_or("").chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let [one, other] = [one, other].map(|line| cut(line, same));
    let path = if path.is_empty() { "the body" } else { &path };
    format!("{path}:\n- {one}\n+ {other}")
}

fn first_place<'a>(
    path: String,
    recorded: Option<&'a Value>,
    now: Option<&'a Value>,
) -> Option<Place<'a>> {
    if recorded == now {
        return None;
    }
    match (recorded, now) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            names.into_iter().find_map(|name| {
                let path = match path.as_str() {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                first_place(path, one.get(name), other.get(name))
            })
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => (0..one.len().max(other.len()))
            .find_map(|index| {
                first_place(format!("{path}[{index}]"), one.get(index), other.get(index))
            }),
        _ => Some((path, recorded, now)),
    }
}

/// Returns the part of a line around its first character that differs.
fn cut(line: Option<&str>, differs_from: usize) -> String {
    let Some(line) = line else {
        return "(nothing)".to_owned();
    };
    let skipped = differs_from.saturating_sub(BEFORE);
    if skipped == 0 {
        return beginning(line, LONGEST_LINE);
    }
    let rest: String = line.chars().skip(skipped).collect();
    format!("…{}", beginning(&rest, LONGEST_LINE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_place_and_the_line_that_differs_are_named() {
        let long = "x".repeat(300);
        let tail = "x".repeat(40);
        for (recorded, now, expected) in [
            (
                json!({"model": "m", "messages": [{"content": "one\ntwo\nthree"}], "n": 1}),
                json!({"model": "m", "messages": [{"content": "one\nTWO\nthree"}], "n": 2}),
                "messages[0].content:\n- two\n+ TWO".to_owned(),
            ),
            (
                json!({ "long": format!("{long}a") }),
                json!({ "long": format!("{long}b") }),
                format!("long:\n- …{tail}a\n+ …{tail}b"),
            ),
            (
                json!({"old": true}),
                json!({"new": null}),
                "new:\n- (nothing)\n+ null".to_owned(),
            ),
            (
                json!({"m": ["a"]}),
                json!({"m": ["a", "b\nc"]}),
                "m[1]:\n- (nothing)\n+ b".to_owned(),
            ),
            (json!(1), json!("a"), "the body:\n- 1\n+ a".to_owned()),
        ] {
            assert_eq!(first_difference(&recorded, &now), expected);
        }
    }
}
