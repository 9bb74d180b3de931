//! Words of a command line for a shell.

use crate::text::prose;

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
pub fn joined(words: impl IntoIterator<Item: AsRef<str>>) -> String {
    let words = words.into_iter();
    prose::joined(words.map(|word| quoted(word.as_ref())), " ")
}

/// Returns lines that remove files or directories.
pub(crate) fn removal(paths: impl IntoIterator<Item: AsRef<str>>) -> String {
    let paths = paths.into_iter();
    paths
        .map(|path| format!("rm -rf -- {}\n", quoted(path.as_ref())))
        .collect()
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
