//! Words of a command line for a shell.

/// Quotes a word for a shell, where it needs it.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    in_quotes(text)
}

/// Quotes a word for a shell. Another path may take the place of one in it.
pub fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Joins words to a command line, each quoted where it needs it.
pub fn joined<S: AsRef<str>>(words: &[S]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        for (text, typed) in [
            ("fib", "fib"),
            ("tag:slow,größe", "tag:slow,größe"),
            ("my suite", "'my suite'"),
            ("fib-*", "'fib-*'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", "'a\nb'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), typed);
        }
        assert_eq!(joined(&["sh", "-c", "exit 1"]), "sh -c 'exit 1'");
    }
}
