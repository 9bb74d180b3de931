//! A run as CSV (RFC 4180): one row per trial, for spreadsheets and data frames.
//!
//! A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return)
//! gets an apostrophe in front: names and messages come from files and agents that nobody has looked at. Numbers are
//! numbers and stay as they are. JSON Lines has every text unchanged.

use serde_json::Value;
use terca_core::analysis::results::Results;
use terca_core::text::prose;
use terca_core::text::stripped::stripped;

use crate::export::trial_rows::{COLUMNS, row};

pub fn csv(results: &Results) -> String {
    let mut text = line(COLUMNS.iter().map(|column| column.name.to_owned()));
    for trial in &results.trials {
        text += &line(row(results, trial).map(|(_, value)| cell(&value)));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    prose::joined(cells, ",") + "\r\n"
}

/// Writes a cell. An unknown value is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(&guarded(text)),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => quoted(&guarded(&value.to_string())),
    }
}

fn guarded(text: &str) -> String {
    // Readers stumble over control characters, and they help nobody in a cell.
    let text = stripped(text).replace(
        |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r'),
        "\u{fffd}",
    );
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { format!("'{text}") } else { text }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture;

    #[test]
    fn cells() {
        for (value, text) in [
            (json!(null), ""),
            (json!(0), "0"),
            (json!(-1), "-1"),
            (json!(0.5), "0.5"),
            (json!(true), "true"),
            (json!("plain äöü"), "plain äöü"),
            (json!("a,b"), "\"a,b\""),
            (json!("say \"hi\"\nthere"), "\"say \"\"hi\"\"\nthere\""),
            (json!("=1+1"), "'=1+1"),
            (json!("+1"), "'+1"),
            (json!("-1"), "'-1"),
            (json!("@SUM(A1)"), "'@SUM(A1)"),
            (json!("\t=1"), "'\t=1"),
            (json!("\u{1b}[31m=1,2"), "\"'=1,2\""),
            (json!("nul\0, c1 \u{9b}"), "\"nul, c1 \u{fffd}\""),
            (json!({"a": 1.0}), "\"{\"\"a\"\":1.0}\""),
        ] {
            assert_eq!(cell(&value), text, "{value}");
        }
    }

    #[test]
    fn a_run() {
        let text = csv(&fixture::mixed_run().results());
        assert_eq!(text.matches("\r\n").count(), 25);
        let lines: Vec<&str> = [0, 1, 3, 12]
            .map(|index| text.split("\r\n").nth(index).unwrap())
            .to_vec();
        insta::assert_snapshot!("csv", lines.join("\n"));
    }
}
