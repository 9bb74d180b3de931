//! The tokens of a source text, and the brackets that they are in.

use super::super::choice::Language;
use crate::text::prose;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A string, a character, or a regular expression.
    Text,
    /// An operator, a bracket, or another sign.
    Sign,
}

/// A part of a source text that has a meaning. Comments have none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// The place of its first byte.
    pub start: usize,
    /// The columns before it, if it is the first of its line.
    pub indent: Option<usize>,
    /// The innermost bracket around it, by its place in the list.
    pub inside: Option<usize>,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A source text that was read.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: Vec<Token<'a>>,
    /// For each bracket that opens, the one that closes it. For other tokens, themselves.
    pub closed_by: Vec<usize>,
}

/// Signs of several characters, the longest first. Those of generic types are not among them: `>>` is two signs.
const SIGNS: [&str; 30] = [
    "===", "!==", "**=", "...", "..=", "//=", "==", "!=", "<=", ">=", "&&", "||", "->", "=>", ":=",
    "+=", "-=", "*=", "/=", "%=", "::", "??", "?.", "++", "--", "**", "<-", "..", "|=", "&=",
];

impl<'a> Code<'a> {
    /// Reads a text.
    pub(crate) fn read(language: Language, text: &'a str) -> Self {
        let mut scan = Scan {
            language,
            text,
            at: 0,
            tokens: Vec::new(),
        };
        scan.all();
        let (mut tokens, mut open) = (scan.tokens, Vec::new());
        let mut closed_by: Vec<usize> = (0..tokens.len()).collect();
        for (at, token) in tokens.iter_mut().enumerate() {
            let is_sign = token.kind == Kind::Sign;
            if is_sign
                && matches!(token.text, ")" | "]" | "}")
                && let Some(opener) = open.pop()
            {
                closed_by[opener] = at;
            }
            token.inside = open.last().copied();
            if is_sign && matches!(token.text, "(" | "[" | "{") {
                open.push(at);
            }
        }
        // A bracket that is never closed holds the rest.
        for opener in open {
            closed_by[opener] = tokens.len().saturating_sub(1);
        }
        Code {
            text,
            tokens,
            closed_by,
        }
    }

    /// Returns the text of a token, or an empty one behind the end.
    pub(crate) fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Returns the name at a place, if there is one.
    pub(crate) fn name(&self, at: usize) -> Option<&'a str> {
        let token = self.tokens.get(at)?;
        (token.kind == Kind::Name).then_some(token.text)
    }

    /// Returns the next of these signs that is in the same brackets as the token at `from`.
    pub(crate) fn next_of(&self, from: usize, signs: &[&str]) -> Option<usize> {
        let inside = self.tokens.get(from)?.inside;
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            if token.inside == inside && signs.contains(&token.text) {
                return Some(at);
            }
            at = self.closed_by[at] + 1;
        }
        None
    }

    /// Returns the text from one token to another that is no part of it, in one line.
    pub(crate) fn line(&self, from: usize, to: usize) -> String {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = &self.text[first.start..last.end()];
        let line = prose::one_line(text);
        line.replace("( ", "(")
            .replace(", )", ")")
            .replace(" )", ")")
    }
}

struct Scan<'a> {
    language: Language,
    text: &'a str,
    at: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn all(&mut self) {
        let mut line_start = Some(0);
        while let Some(first) = self.rest().chars().next() {
            if first == '\n' {
                line_start = Some(self.at + 1);
            }
            if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if let Some(length) = self.comment() {
                self.at += length;
            } else {
                let (kind, length) = self.token(first);
                let text = &self.rest()[..length];
                self.tokens.push(Token {
                    kind,
                    text,
                    start: self.at,
                    indent: line_start.take().map(|start| self.at - start),
                    inside: None,
                });
                self.at += length;
            }
        }
    }

    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        let line = rest.find('\n').unwrap_or(rest.len());
        match self.language {
            Language::Python | Language::Shell => rest.starts_with('#').then_some(line),
            _ if rest.starts_with("//") => Some(line),
            _ if rest.starts_with("/*") => Some(self.block_comment()),
            _ => None,
        }
    }

    fn block_comment(&self) -> usize {
        let rest = self.rest();
        let (mut at, mut depth) = (2, 1);
        while depth > 0 {
            let Some(found) = rest[at..].find(['*', '/']) else {
                return rest.len();
            };
            at += found;
            if rest[at..].starts_with("*/") {
                (at, depth) = (at + 2, depth - 1);
            } else if self.language == Language::Rust && rest[at..].starts_with("/*") {
                (at, depth) = (at + 2, depth + 1);
            } else {
                at += 1;
            }
        }
        at
    }

    fn token(&self, first: char) -> (Kind, usize) {
        let rest = self.rest();
        if let Some(length) = self.string(first) {
            return (Kind::Text, length);
        }
        if first.is_ascii_digit() {
            return (Kind::Number, number(rest));
        }
        if is_part(first) {
            return (Kind::Name, rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        }
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        (Kind::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
    }

    /// Returns the length of the string that begins here, if one does.
    fn string(&self, first: char) -> Option<usize> {
        let rest = self.rest();
        match (self.language, first) {
            (Language::Python, _) => {
                let prefix = rest.find(['"', '\'']).filter(|at| *at <= 2)?;
                let is_prefix = |c: char| "rbfutRBFUT".contains(c);
                if !rest[..prefix].chars().all(is_prefix) {
                    return None;
                }
                let body = &rest[prefix..];
                let quote = &body[..1];
                let long = quote.repeat(3);
                let is_long = body.starts_with(&long);
                let quote = if is_long { &long } else { quote };
                Some(prefix + quoted(body, quote, is_long))
            }
            (Language::Rust, '\'') => {
                // A lifetime has no second quote.
                let mut chars = rest[1..].char_indices();
                let (_, character) = chars.next()?;
                match character {
                    '\\' => Some(quoted(rest, "'", false)),
                    _ if chars.next()?.1 == '\'' => Some(2 + character.len_utf8()),
                    _ => None,
                }
            }
            (Language::Rust, 'r' | 'b' | 'c' | '"') => {
                let body = rest.trim_start_matches(['b', 'c']);
                let prefix = rest.len() - body.len();
                if let Some(raw) = body.strip_prefix('r') {
                    let hashes = raw.len() - raw.trim_start_matches('#').len();
                    let start = raw[hashes..].strip_prefix('"')?;
                    let end = format!("\"{}", "#".repeat(hashes));
                    let length = start.find(&end).map_or(start.len(), |at| at + end.len());
                    return Some(prefix + 2 + hashes + length);
                }
                let is_string = prefix <= 1 && body.starts_with('"');
                is_string.then(|| prefix + quoted(body, "\"", true))
            }
            (Language::Go, '`') => Some(rest[1..].find('`').map_or(rest.len(), |at| at + 2)),
            (Language::Node, '`') => Some(template(rest)),
            (Language::Node, '/') if self.may_be_pattern() => pattern(rest),
            (_, '"' | '\'') if self.language != Language::Rust => {
                Some(quoted(rest, &rest[..1], false))
            }
            _ => None,
        }
    }

    /// Tells whether a slash here begins a regular expression rather than dividing.
    fn may_be_pattern(&self) -> bool {
        self.tokens.last().is_none_or(|before| match before.kind {
            Kind::Number | Kind::Text => false,
            Kind::Name => matches!(before.text, "return" | "typeof" | "case" | "of" | "in"),
            Kind::Sign => !matches!(before.text, ")" | "]" | "}" | "<"),
        })
    }
}

/// Tells whether a name may have a character in it.
pub(crate) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the length of a string with this quote at its ends. Some end with their line.
fn quoted(text: &str, quote: &str, has_lines: bool) -> usize {
    let mut at = quote.len();
    while let Some(found) = text[at..].find(|c| c == '\\' || c == '\n' || quote.contains(c)) {
        at += found;
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return at + quote.len();
        }
        if rest.starts_with('\n') && !has_lines {
            return at;
        }
        let step = if rest.starts_with('\\') { 2 } else { 1 };
        at += rest
            .char_indices()
            .nth(step)
            .map_or(rest.len(), |(at, _)| at);
    }
    text.len()
}

fn template(text: &str) -> usize {
    let (mut at, mut depth) = (1, 0);
    while let Some(found) = text[at..].find(['\\', '`', '$', '{', '}']) {
        at += found;
        let rest = &text[at..];
        if rest.starts_with("${") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest.starts_with('\\') {
            at += rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
        } else if rest.starts_with('`') && depth > 0 {
            at += template(rest);
        } else if rest.starts_with('`') {
            return at + 1;
        } else {
            depth -= i32::from(rest.starts_with('}') && depth > 0);
            depth += i32::from(rest.starts_with('{') && depth > 0);
            at += 1;
        }
    }
    text.len()
}

fn pattern(text: &str) -> Option<usize> {
    let (mut is_class, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => {
                let flags = text[at + 1..].find(|c: char| !c.is_ascii_lowercase());
                return Some(flags.map_or(text.len(), |flags| at + 1 + flags));
            }
            _ => {}
        }
    }
    None
}

fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        let is_point = *byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || is_point) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(language: Language, text: &str) -> Vec<&str> {
        let tokens = Code::read(language, text).tokens;
        tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn strings_and_comments_of_each_language() {
        for (language, text, tokens) in [
            (
                Language::Python,
                "x = rb'a#' + \"\"\"b\n\"c\"\"\" # no\ny // 2",
                &[
                    "x", "=", "rb'a#'", "+", "\"\"\"b\n\"c\"\"\"", "y", "/", "/", "2",
                ][..],
            ),
            (
                Language::Rust,
                "/* a /* b */ c */ f::<'a>('x', '\\'', r#\"a\"b\"#, b\"\\\"\", r); // no",
                &[
                    "f", "::", "<", "'", "a", ">", "(", "'x'", ",", "'\\''", ",", "r#\"a\"b\"#",
                    ",", "b\"\\\"\"", ",", "r", ")", ";",
                ],
            ),
            (
                Language::Go,
                "a := `b\n\\` + '\\'' + \"//\" /* c */ <-d",
                &["a", ":=", "`b\n\\`", "+", "'\\''", "+", "\"//\"", "<-", "d"],
            ),
            (
                Language::Node,
                "a = b / 2; /[/'\"]+/g.test(`x${`y${z}`}'`) // no\n1_000.5e3",
                &[
                    "a", "=", "b", "/", "2", ";", "/[/'\"]+/g", ".", "test", "(", "`x${`y${z}`}'`",
                    ")", "1_000.5e3",
                ],
            ),
        ] {
            assert_eq!(read(language, text), tokens, "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_is_read_to_the_end() {
        for language in [
            Language::Python,
            Language::Rust,
            Language::Go,
            Language::Node,
        ] {
            for text in [
                "'", "\"\\", "`${", "/*", "(((", "é'é", ")))", "r#", "/x", "0x", "'''",
            ] {
                read(language, text);
            }
        }
    }

    #[test]
    fn brackets_hold_what_is_in_them() {
        let code = Code::read(Language::Go, "f(a, [b]) {c}");
        assert_eq!(code.word(code.closed_by[1]), ")");
        assert_eq!(code.next_of(0, &["{"]), Some(8));
        assert_eq!(code.next_of(0, &["b"]), None);
        assert_eq!(code.line(0, 8), "f(a, [b])");
    }
}
