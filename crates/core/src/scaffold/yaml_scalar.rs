//! Writes text as a YAML scalar.

/// Writes text plainly where YAML reads it as the same text, else as a JSON string, which is YAML too.
pub(super) fn scalar(text: &str) -> String {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends_well = text.ends_with(|c: char| c.is_ascii_alphanumeric());
    let plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.'));
    if starts_well && ends_well && plain && !is_a_word_of_yaml(text) {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

fn is_a_word_of_yaml(text: &str) -> bool {
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn text_stays_text() {
        let texts = [
            "my suite", "a: b", "No", "007", "1.5", "- x", "\"", "grün", "a #b", "x\ny", "null",
            "", " a ",
        ];
        for text in texts {
            let written = format!("name: {}\n", scalar(text));
            let read: serde_json::Value = serde_saphyr::from_str(&written).expect("YAML");
            assert_eq!(read["name"], text, "{written}");
        }
        assert_eq!(scalar("my-suite"), "my-suite");
    }
}
