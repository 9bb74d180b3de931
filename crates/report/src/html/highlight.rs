//! Colours of code: comments, strings, numbers, keywords, types and calls.
//!
//! A scanner goes over the text once: pages are made for thousands of trials, and the text may be
//! anything. [`languages`](super::languages) says what each language looks like.

use maud::{Markup, html};

use super::foreign::clean;
pub use super::languages::Language;

/// Longer texts stay plain, so that their markup keeps small.
const LONGEST: usize = 60_000;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Comment,
    String,
    Number,
    Keyword,
    Type,
    Call,
}

impl Kind {
    fn class(self) -> Option<&'static str> {
        match self {
            Kind::Plain => None,
            Kind::Comment => Some("c"),
            Kind::String => Some("s"),
            Kind::Number => Some("n"),
            Kind::Keyword => Some("k"),
            Kind::Type => Some("t"),
            Kind::Call => Some("f"),
        }
    }
}

/// Returns code with its colours, or as it is where its language is not known.
pub fn code_lines(code: &str, language: Option<&Language>) -> Markup {
    let code = clean(code);
    match language {
        Some(language) if code.len() <= LONGEST => html! {
            @for (kind, text) in pieces(&code, language) {
                @match kind.class() {
                    Some(class) => i class=(class) { (text) },
                    None => (text),
                }
            }
        },
        _ => html! { (code) },
    }
}

/// Splits code into pieces. Together they are the code.
fn pieces<'a>(code: &'a str, language: &Language) -> Vec<(Kind, &'a str)> {
    let mut pieces: Vec<(Kind, &str)> = Vec::new();
    let mut plain_from = 0;
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let (kind, length) = next_piece(rest, language);
        if kind != Kind::Plain {
            if plain_from < at {
                pieces.push((Kind::Plain, &code[plain_from..at]));
            }
            pieces.push((kind, &rest[..length]));
            plain_from = at + length;
        }
        at += length;
    }
    if plain_from < code.len() {
        pieces.push((Kind::Plain, &code[plain_from..]));
    }
    pieces
}

/// Returns the kind and the length of the piece that a text begins with. The length is never 0.
fn next_piece(rest: &str, language: &Language) -> (Kind, usize) {
    let line_end = || rest.find('\n').unwrap_or(rest.len());
    if language
        .line_comments
        .iter()
        .any(|sign| rest.starts_with(sign))
    {
        return (Kind::Comment, line_end().max(1));
    }
    if let Some((begin, end)) = language.block_comment
        && let Some(inner) = rest.strip_prefix(begin)
    {
        let length = inner
            .find(end)
            .map_or(rest.len(), |place| begin.len() + place + end.len());
        return (Kind::Comment, length);
    }
    if let Some(quote) = language
        .quotes
        .iter()
        .find(|quote| rest.starts_with(**quote))
    {
        return (Kind::String, string_length(rest, quote));
    }
    let Some(first) = rest.chars().next() else {
        return (Kind::Plain, 1);
    };
    if first.is_ascii_digit() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        return (
            Kind::Number,
            rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
        );
    }
    if first.is_alphabetic() || first == '_' || first == '$' || first == '@' {
        let is_part =
            |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '-' && language.dashes;
        let end = rest[first.len_utf8()..].find(|c| !is_part(c));
        let length = end.map_or(rest.len(), |end| end + first.len_utf8());
        return (word(&rest[..length], &rest[length..], language), length);
    }
    (Kind::Plain, first.len_utf8())
}

fn word(word: &str, after: &str, language: &Language) -> Kind {
    if language.keywords.contains(&word) {
        Kind::Keyword
    } else if language.dashes && after.trim_start_matches(' ').starts_with(':') {
        Kind::Type
    } else if language.calls && after.starts_with('(') {
        Kind::Call
    } else if language.calls && word.starts_with(|c: char| c.is_uppercase()) {
        Kind::Type
    } else {
        Kind::Plain
    }
}

/// Returns the length of a string. One with a single quote ends with its line at the latest.
fn string_length(rest: &str, quote: &str) -> usize {
    let is_long = quote.len() == 3 || quote == "`";
    let mut at = quote.len();
    let bytes = rest.as_bytes();
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
        } else if rest[at..].starts_with(quote) {
            return at + quote.len();
        } else if bytes[at] == b'\n' && !is_long {
            return at;
        } else {
            at += 1;
        }
        while at < bytes.len() && !rest.is_char_boundary(at) {
            at += 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str, file: &str) -> String {
        code_lines(code, Language::of_file(file)).0
    }

    #[test]
    fn code_of_some_languages() {
        for (file, code, markup) in [
            (
                "a.ts",
                "const a = f(\"</i>\", 1); // so",
                "<i class=\"k\">const</i> a = <i class=\"f\">f</i>(<i class=\"s\">&quot;&lt;/i&gt;&quot;</i>, <i class=\"n\">1</i>); <i class=\"c\">// so</i>",
            ),
            (
                "a.py",
                "\"\"\"a\nb\"\"\"\ndef f():",
                "<i class=\"s\">&quot;&quot;&quot;a\nb&quot;&quot;&quot;</i>\n<i class=\"k\">def</i> <i class=\"f\">f</i>():",
            ),
            (
                "a.rs",
                "let x: Vec<u8>;",
                "<i class=\"k\">let</i> x: <i class=\"t\">Vec</i>&lt;u8&gt;;",
            ),
            (
                "a.json",
                "{\"a\": true}",
                "{<i class=\"s\">&quot;a&quot;</i>: <i class=\"k\">true</i>}",
            ),
            ("a.unknown", "let x = 1", "let x = 1"),
        ] {
            assert_eq!(shown(code, file), markup, "{code}");
        }
    }

    proptest::proptest! {
        /// The text stays what it is, and the scanner comes to its end.
        #[test]
        fn nothing_is_lost(code in "[\\PC\n\"'`/*#\\\\é日]{0,200}", file in proptest::sample::select(vec!["a.ts", "a.py", "a.yaml", "a.sh", "a.html"])) {
            let language = Language::of_file(file).unwrap();
            let joined: String = pieces(&code, language).into_iter().map(|(_, text)| text).collect();
            proptest::prop_assert_eq!(joined, code);
        }
    }
}
