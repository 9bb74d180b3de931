//! Writes `eval.terca.yaml`, with notes about lost parts as its first lines.

use serde_json::{Value, json};

use super::settings::Settings;
use crate::text::json::yaml_line;

pub(super) fn text(name: &str, settings: &Settings, notes: &[String]) -> String {
    let mut text = format!("# Imported from the Harbor task {}.\n", one_line(name));
    if !notes.is_empty() {
        text += "# Differences from the original task:\n";
        text.extend(
            notes
                .iter()
                .map(|note| format!("#   - {}\n", one_line(note))),
        );
    }
    let mut key = |name: &str, value: Value| text += &format!("{name}: {}\n", yaml_line(&value));
    if let Some(description) = &settings.description {
        key("description", json!(description));
    }
    key("promptFile", json!("instruction.md"));
    key("timeoutSeconds", seconds(settings.agent_seconds));
    if !settings.tags.is_empty() {
        key("tags", json!(settings.tags));
    }
    if !settings.env.is_empty() {
        key("env", crate::text::json::object(&settings.env));
    }
    text + &format!(
        "tests:\n  - name: harbor\n    commandScore: sh .harbor/run-tests.sh\n    timeoutSeconds: {}\n",
        seconds(settings.tests_seconds)
    )
}

fn seconds(seconds: f64) -> Value {
    if seconds.fract() == 0.0 {
        json!(seconds as u64)
    } else {
        json!(seconds)
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}
