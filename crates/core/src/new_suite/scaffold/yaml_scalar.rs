//! Writes text as a YAML scalar.

/// Writes a text or a path without quotes where YAML reads it as that text, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_ ./".contains(c);
    let rest = text.trim_start_matches(['.', '/']);
    let starts_well = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let words = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan",
    ];
    let is_word = words.contains(&text.to_lowercase().as_str());
    if starts_well && !text.ends_with(' ') && text.chars().all(is_plain) && !is_word {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn text_stays_text() {
        let texts = [
            "my suite", "a: b", "No", "007", "1.5", "- x", "\"", "grün", "a #b", "x\ny", "null",
            "", " a ", "../AGENTS.md", "../../.cursor/rules/a b.mdc", "no", ".", "..", "src/007",
            "../1.5", "@x/y", ".inf", "...",
        ];
        for text in texts {
            let written = format!("name: {}\n", scalar(text));
            let read: serde_json::Value = serde_saphyr::from_str(&written).expect("YAML");
            assert_eq!(read["name"], text, "{written}");
        }
        assert_eq!(scalar("my-suite"), "my-suite");
        assert_eq!(scalar("../.mcp/AGENTS.md"), "../.mcp/AGENTS.md");
    }
}
