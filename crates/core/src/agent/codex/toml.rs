//! Writes TOML: the little of it that settings need.

use std::fmt::Write;

use serde_json::{Map, Value};

/// A JSON object as a TOML document. What TOML has no word for, `null`, is left out.
pub(super) fn write(document: &Value) -> String {
    let mut text = String::new();
    if let Value::Object(table) = document {
        section(&mut text, "", table);
    }
    text
}

/// The plain values of a table come first: what follows a header belongs to it.
fn section(text: &mut String, path: &str, table: &Map<String, Value>) {
    for (name, value) in table {
        if !value.is_object() && !value.is_null() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} = {}", key(name), inline(value));
        }
    }
    for (name, value) in table {
        let Value::Object(inner) = value else {
            continue;
        };
        let inner_path = if path.is_empty() {
            key(name)
        } else {
            format!("{path}.{}", key(name))
        };
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}[{inner_path}]");
        section(text, &inner_path, inner);
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(values) => {
            let values = values.iter().filter(|value| !value.is_null()).map(inline);
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        Value::Object(table) => {
            let pairs = table.iter().filter(|(_, value)| !value.is_null());
            let pairs = pairs.map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_follow_the_plain_values_of_their_parent() {
        let document = json!({
            "a": { "deep": { "x": 1 }, "y": [1, 2.5, true], "gone": null },
            "model": "m",
            "empty": {},
            "gone": null,
        });
        assert_eq!(
            write(&document),
            "model = \"m\"\n\n[a]\ny = [1, 2.5, true]\n\n[a.deep]\nx = 1\n\n[empty]\n"
        );
    }

    #[test]
    fn names_are_quoted_when_they_must_be() {
        let document = json!({ "a b": 1, "": 2, "é": 3, "x.y": { "http-h_1": -4 } });
        assert_eq!(
            write(&document),
            "\"\" = 2\n\"a b\" = 1\n\"é\" = 3\n\n[\"x.y\"]\nhttp-h_1 = -4\n"
        );
    }

    #[test]
    fn text_arrives_as_it_is() {
        let document = json!({ "t": "say \"hi\"\\\n\ttab\r\u{1}\u{7f}é" });
        assert_eq!(
            write(&document),
            "t = \"say \\\"hi\\\"\\\\\\n\\ttab\\r\\u0001\\u007Fé\"\n"
        );
    }

    #[test]
    fn tables_in_lists_stand_in_one_line() {
        let document = json!({ "list": [{ "a": "b", "c": { "d": [] } }, null, []] });
        assert_eq!(write(&document), "list = [{a = \"b\", c = {d = []}}, []]\n");
    }

    #[test]
    fn what_is_no_table_is_nothing() {
        assert_eq!(write(&json!("text")), "");
    }
}
