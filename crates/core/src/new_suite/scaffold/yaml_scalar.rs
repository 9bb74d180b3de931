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

/// Writes a path plainly where it is made of letters, digits and a few signs.
pub(super) fn path(path: &str) -> String {
    let rest = path.trim_start_matches("../").trim_start_matches('.');
    let is_plain = rest
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let starts_well = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_plain && starts_well && !is_a_word_of_yaml(path) {
        path.to_owned()
    } else {
        scalar(path)
    }
}

fn is_a_word_of_yaml(text: &str) -> bool {
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{path, scalar};

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

    #[test]
    fn paths_stay_paths() {
        for text in [
            "../AGENTS.md", "../../.cursor/rules/a b.mdc", "no", ".", "..", "src/007", "../1.5",
            "a: b", "@x/y",
        ] {
            let written = format!("path: {}\n", path(text));
            let read: serde_json::Value = serde_saphyr::from_str(&written).expect("YAML");
            assert_eq!(read["path"], text, "{written}");
        }
        assert_eq!(path("../.mcp/AGENTS.md"), "../.mcp/AGENTS.md");
    }
}
