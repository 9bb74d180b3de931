//! Foreign text in Markdown: it always stays text.
//!
//! Names, messages and sentences about them end up in pull requests, where a stray `|` breaks a table, `@somebody`
//! calls somebody and `#12` links to an issue.

use terca_core::text::prose;
use terca_core::text::stripped::stripped;

use crate::term::{clean, truncate};

const LONGEST: usize = 300;
/// Between `@` or `#` and what follows: mentions and references are looked for after escapes are resolved.
const NOTHING: char = '\u{200b}';

/// The text as one line in which nothing is markup.
pub(crate) fn escaped(text: &str) -> String {
    let text = stripped(text);
    let line = prose::one_line(&text);
    let line = truncate(&clean(&line), LONGEST).into_owned();
    let mut safe = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek();
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$'
            | '!' => {
                safe.push('\\');
                safe.push(c);
            }
            '@' => safe.extend([c, NOTHING]),
            '#' => safe.extend(['\\', c, NOTHING]),
            // A link that nobody has looked at is better not one to be clicked.
            ':' if next == Some(&'/') => safe.push_str("\\:"),
            '.' if safe.to_ascii_lowercase().ends_with("www") => safe.push_str("\\."),
            // `GH-12` is a reference too.
            '-' if safe.to_ascii_lowercase().ends_with("gh") => safe.extend([c, NOTHING]),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes a sentence. What it has in back-quotes becomes code. A name with back-quotes of its own may look odd; it is escaped all the same.
pub(crate) fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let last = parts.len() - 1;
    let shown = parts
        .iter()
        .enumerate()
        .map(|(index, part)| match index % 2 {
            1 if index < last => format!("<code>{}</code>", words(part)),
            1 => format!("\\`{}", words(part)),
            _ => words(part),
        });
    shown.collect()
}

/// Sentences can be longer than a name or a message may be; none of their words is cut.
fn words(text: &str) -> String {
    prose::joined(text.split(' ').map(escaped), " ")
}

/// One row of a table. The cells are escaped already.
pub(crate) fn row(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut row = String::from("|");
    for cell in cells {
        row += &format!(" {} |", cell.as_ref());
    }
    row + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        for (text, safe) in [
            ("fib.js does not exist", "fib.js does not exist"),
            ("a|b `c` *d* _e_", "a\\|b \\`c\\` \\*d\\* \\_e\\_"),
            (
                "<script>alert(1)</script> &lt;",
                "\\<script\\>alert(1)\\</script\\> \\&lt;",
            ),
            (
                "one\n\n## two\r\n- three", "one \\#\u{200b}\\#\u{200b} two - three",
            ),
            (
                "@octocat fixes #12, GH-3",
                "@\u{200b}octocat fixes \\#\u{200b}12, GH-\u{200b}3",
            ),
            (
                "![x](http://evil.test) www.evil.test",
                "\\!\\[x\\](http\\://evil.test) www\\.evil.test",
            ),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("back\\|slash", "back\\\\\\|slash"),
        ] {
            assert_eq!(escaped(text), safe, "{text:?}");
        }
        assert!(escaped(&"x".repeat(5_000)).chars().count() <= LONGEST);
    }
}
