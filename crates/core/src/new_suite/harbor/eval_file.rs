//! Writes `eval.terca.yaml`, with notes about lost parts as its first lines.

use serde_json::json;

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
    if let Some(description) = &settings.description {
        text += &format!("description: {}\n", yaml_line(&json!(description)));
    }
    text += &format!(
        "promptFile: \"instruction.md\"\ntimeoutSeconds: {}\n",
        settings.agent_seconds
    );
    if !settings.tags.is_empty() {
        text += &format!("tags: {}\n", yaml_line(&json!(settings.tags)));
    }
    if !settings.env.is_empty() {
        let env = crate::text::json::object(&settings.env);
        text += &format!("env: {}\n", yaml_line(&env));
    }
    text + &format!(
        "tests:\n  - name: harbor\n    commandScore: sh .harbor/run-tests.sh\n    timeoutSeconds: {}\n",
        settings.tests_seconds
    )
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}
