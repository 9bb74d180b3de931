//! The places in which two requests differ, for people.

use serde_json::Value;

use crate::text::excerpt::beginning;

/// The most places that are shown.
const MOST_PLACES: usize = 3;
/// The most lines of either side that are shown of one place.
const MOST_LINES: usize = 4;
/// The most characters of a line that are shown.
const LONGEST_LINE: usize = 160;
/// The characters that are shown before the first that differs.
const BEFORE: usize = 40;

/// A place in which two requests differ.
#[derive(Debug, PartialEq)]
struct Difference<'a> {
    path: String,
    recorded: Option<&'a Value>,
    now: Option<&'a Value>,
}

/// Returns how different two requests are: the number of places, up to a limit.
pub fn distance(recorded: &Value, now: &Value, limit: usize) -> usize {
    let mut places = Vec::new();
    compare(String::new(), recorded, now, limit, &mut places);
    places.len().min(limit)
}

/// Describes the first places in which two requests differ: each with its path and the lines that differ.
pub fn describe(recorded: &Value, now: &Value) -> String {
    let mut places = Vec::new();
    compare(String::new(), recorded, now, 1000, &mut places);
    let mut lines = Vec::new();
    for place in places.iter().take(MOST_PLACES) {
        let path = if place.path.is_empty() {
            "the body"
        } else {
            &place.path
        };
        lines.push(format!("{path}:"));
        let recorded = text_of(place.recorded);
        let now = text_of(place.now);
        add_lines(&recorded, &now, &mut lines);
    }
    if places.len() > MOST_PLACES {
        lines.push(format!("and {} more places", places.len() - MOST_PLACES));
    }
    lines.join("\n")
}

fn compare<'a>(
    path: String,
    recorded: &'a Value,
    now: &'a Value,
    limit: usize,
    places: &mut Vec<Difference<'a>>,
) {
    if places.len() >= limit || recorded == now {
        return;
    }
    match (recorded, now) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                let path = below(&path, name);
                match other.get(name) {
                    Some(now) => compare(path, value, now, limit, places),
                    None => places.push(Difference {
                        path,
                        recorded: Some(value),
                        now: None,
                    }),
                }
            }
            for (name, value) in other.iter().filter(|(name, _)| !one.contains_key(*name)) {
                places.push(Difference {
                    path: below(&path, name),
                    recorded: None,
                    now: Some(value),
                });
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for index in 0..one.len().max(other.len()) {
                let path = format!("{path}[{index}]");
                match (one.get(index), other.get(index)) {
                    (Some(recorded), Some(now)) => compare(path, recorded, now, limit, places),
                    (recorded, now) => places.push(Difference {
                        path,
                        recorded,
                        now,
                    }),
                }
            }
        }
        _ => places.push(Difference {
            path,
            recorded: Some(recorded),
            now: Some(now),
        }),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Adds the lines that differ: those recorded with `-`, those of now with `+`.
fn add_lines(recorded: &str, now: &str, lines: &mut Vec<String>) {
    let one: Vec<&str> = recorded.lines().collect();
    let other: Vec<&str> = now.lines().collect();
    let pairs = one.iter().zip(&other);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let rest = one[same..].iter().rev().zip(other[same..].iter().rev());
    let same_at_end = rest.take_while(|(one, other)| one == other).count();
    let one = &one[same..one.len() - same_at_end];
    let other = &other[same..other.len() - same_at_end];
    let first = one.first().zip(other.first());
    let same_characters = first.map_or(0, |(one, other)| {
        let pairs = one.chars().zip(other.chars());
        pairs.take_while(|(one, other)| one == other).count()
    });
    for (sign, side) in [('-', one), ('+', other)] {
        for (index, line) in side.iter().take(MOST_LINES).enumerate() {
            let from = if index == 0 { same_characters } else { 0 };
            lines.push(format!("{sign} {}", cut(line, from)));
        }
        if side.len() > MOST_LINES {
            lines.push(format!("{sign} and {} more lines", side.len() - MOST_LINES));
        }
        if side.is_empty() {
            lines.push(format!("{sign} (nothing)"));
        }
    }
}

/// Returns the part of a line around its first character that differs.
fn cut(line: &str, differs_from: usize) -> String {
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
    fn the_place_and_the_lines_that_differ_are_named() {
        let long = "x".repeat(300);
        let recorded = json!({"model": "m", "messages": [{"role": "user", "content": "one\ntwo\nthree"}], "n": 1, "old": true, "long": format!("{long}a")});
        let now = json!({"model": "m", "messages": [{"role": "user", "content": "one\nTWO\nthree"}], "n": 1, "new": null, "long": format!("{long}b")});
        assert_eq!(distance(&recorded, &now, 100), 4);
        assert_eq!(distance(&recorded, &now, 2), 2);
        assert_eq!(distance(&now, &now, 2), 0);
        let described = describe(&recorded, &now);
        let tail = "x".repeat(40);
        assert_eq!(
            described,
            format!(
                "long:\n- …{tail}a\n+ …{tail}b\nmessages[0].content:\n- two\n+ TWO\nold:\n- true\n+ (nothing)\nand 1 more places"
            )
        );
    }

    #[test]
    fn more_messages_and_many_lines_are_cut() {
        let lines: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
        let described = describe(&json!({"m": ["a"]}), &json!({"m": ["a", lines.join("\n")]}));
        assert_eq!(
            described,
            "m[1]:\n- (nothing)\n+ line 0\n+ line 1\n+ line 2\n+ line 3\n+ and 16 more lines"
        );
    }
}
