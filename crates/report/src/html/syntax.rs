//! Colours for code, from a guess at what most languages have in common: strings, comments, numbers, and words that
//! are keywords somewhere. Line by line and with no memory, since a diff shows lines out of their context.

use super::markup::{Html, el};

const KEYWORDS: &[&str] = &[
    "False",
    "None",
    "True",
    "abstract",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "double",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "is",
    "lambda",
    "let",
    "long",
    "loop",
    "match",
    "mod",
    "module",
    "mut",
    "namespace",
    "new",
    "nil",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "throws",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unsafe",
    "use",
    "using",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
];

/// What begins a comment, by the ending of the file's name.
pub fn comment_mark(path: &str) -> Option<&'static str> {
    let ending = path.rsplit_once('.').map_or(path, |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "rs" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "java" | "kt" | "go" | "c" | "h"
        | "cc" | "cpp" | "hpp" | "cs" | "swift" | "dart" | "scala" | "php" | "scss" | "proto" => {
            Some("//")
        }
        "py" | "rb" | "sh" | "bash" | "yaml" | "yml" | "toml" | "pl" | "r" | "mk"
        | "dockerfile" | "makefile" => Some("#"),
        "sql" | "lua" | "hs" => Some("--"),
        "json" | "css" | "html" | "xml" => Some("\0"),
        _ => None,
    }
}

/// A line of a file whose comments begin so; `None` is a file that is no code.
pub fn highlight(line: &str, comment: Option<&str>) -> Html {
    let Some(comment) = comment else {
        return Html::text(line);
    };
    let mut html = Html::new();
    let mut plain = 0;
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let Some((class, length)) = token(rest, comment) else {
            at += word_length(rest);
            continue;
        };
        html.push(Html::text(&line[plain..at]));
        html.push(el("i").class(class).text(&rest[..length]));
        at += length;
        plain = at;
    }
    html.push(Html::text(&line[plain..]));
    html
}

/// What the text begins with, if it is something with a colour.
fn token(text: &str, comment: &str) -> Option<(&'static str, usize)> {
    if text.starts_with(comment) {
        return Some(("c", text.len()));
    }
    let first = text.chars().next()?;
    if matches!(first, '"' | '\'' | '`') {
        return string_length(text, first).map(|length| ("s", length));
    }
    let word = &text[..word_length(text)];
    if first.is_ascii_digit() {
        return Some(("n", word.len()));
    }
    KEYWORDS
        .binary_search(&word)
        .is_ok()
        .then_some(("k", word.len()))
}

/// Up to the quote that ends it, on the same line.
fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A word, or one character that is in no word.
fn word_length(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
    if length > 0 {
        length
    } else {
        text.chars().next().map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        let mut sorted = KEYWORDS.to_vec();
        sorted.sort_unstable();
        assert_eq!(KEYWORDS, sorted);
    }

    #[test]
    fn a_line_of_code() {
        let line = "const n = \"a\\\"<b\" + 10; // it's";
        assert_eq!(
            highlight(line, comment_mark("fib.js")).as_str(),
            "<i class=\"k\">const</i> n = <i class=\"s\">&quot;a\\&quot;&lt;b&quot;</i> + <i class=\"n\">10</i>; \
             <i class=\"c\">// it&#39;s</i>"
        );
        assert_eq!(
            highlight("constant 日x1 'open", Some("#")).as_str(),
            "constant 日x1 &#39;open"
        );
        assert_eq!(
            highlight("if 10", comment_mark("README.md")).as_str(),
            "if 10"
        );
    }
}
