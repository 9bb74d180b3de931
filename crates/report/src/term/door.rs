//! The last step before a terminal: nothing but visible characters and Terca's own colours passes.
//!
//! Names come from files, messages from libraries and agents, and any of them may hold an escape sequence. Views clean
//! what they show. This is the door behind them, for every text that is printed: a plain text passes without any
//! control character, a [`Painted`] one with colours and nothing else.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::term::width::visible;

/// A text with Terca's own colours, made by a view or by a renderer that cleans foreign text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Painted(String);

impl Painted {
    /// Takes the text of a view.
    pub fn by_view(text: impl Into<String>) -> Self {
        Painted(text.into())
    }

    /// Returns the text for a terminal: its colours stay, every other sequence is shown.
    pub fn shown(&self) -> Cow<'_, str> {
        pass(&self.0, true)
    }

    /// Returns the text without blank lines around it.
    #[must_use]
    pub fn trimmed(&self) -> Painted {
        Painted(self.0.trim_matches('\n').to_owned())
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns a plain text for a terminal. Line ends and tabs stay; other control characters are shown.
pub fn shown(text: &str) -> Cow<'_, str> {
    pass(text, false)
}

/// Returns the same JSON document with escapes for what a terminal would obey.
pub fn shown_json(text: &str) -> Cow<'_, str> {
    if text.chars().all(passes) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if passes(c) {
            safe.push(c);
        } else {
            // Such a character can only be inside a string, where the escape is valid.
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Cow::Owned(safe)
}

fn passes(c: char) -> bool {
    matches!(c, '\n' | '\t') || visible(c) == Some(c)
}

fn pass(text: &str, with_colours: bool) -> Cow<'_, str> {
    if text.chars().all(passes) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let colour = if with_colours { colour(rest) } else { None };
        let taken = match colour {
            Some(sequence) => {
                safe.push_str(sequence);
                sequence.len()
            }
            None if passes(c) => {
                safe.push(c);
                c.len_utf8()
            }
            None => {
                safe.extend(shown_char(c));
                c.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    Cow::Owned(safe)
}

fn shown_char(c: char) -> Option<char> {
    match c {
        // In a line of its own it would hide what is before it.
        '\r' => Some('␍'),
        other => visible(other),
    }
}

/// Returns the sequence at the beginning of a text that sets a colour.
fn colour(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[length..]
        .starts_with('m')
        .then(|| &text[..2 + length + 1])
}

/// The kind of text that a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines with Terca's own colours.
    Painted,
    /// JSON documents.
    Json,
}

/// A stream to a terminal. Each write is of whole lines.
#[derive(Debug)]
pub struct Door<W: Write> {
    to: W,
    kind: Kind,
}

impl<W: Write> Door<W> {
    /// Opens a door for this kind of text.
    pub fn new(to: W, kind: Kind) -> Self {
        Door { to, kind }
    }
}

impl<W: Write> Write for Door<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let shown = match self.kind {
            Kind::Painted => pass(&text, true),
            Kind::Json => shown_json(&text),
        };
        self.to.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_pass_and_only_where_they_are_our_own() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]52;c;eA==\u{7} \u{1b}[2J\u{9b}2J\u{202e}\ta\u{200b}\r\nb\rc\n";
        assert_eq!(
            shown(text),
            "␛[1;31mred␛[0m ␛]52;c;eA==␇ ␛[2J�2J�\ta\nb␍c\n"
        );
        assert_eq!(
            Painted::by_view(text).shown(),
            "\u{1b}[1;31mred\u{1b}[0m ␛]52;c;eA==␇ ␛[2J�2J�\ta\nb␍c\n"
        );
        assert_eq!(shown("\u{1b}[31"), "␛[31");
        assert_eq!(Painted::by_view("\u{1b}[31").shown(), "␛[31");
    }

    #[test]
    fn a_json_document_stays_the_same() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[2J\u{202e}\u{e0041}\u{7f} ä🦀"});
        let shown = shown_json(&value.to_string()).into_owned();
        assert!(shown.chars().all(passes), "{shown}");
        assert!(shown.contains("\\u009b") && shown.contains("ä🦀"));
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn no_character_gets_through_that_a_terminal_obeys() {
        for c in '\0'..=char::MAX {
            let shown = shown(&c.to_string()).into_owned();
            let harmful = shown.chars().find(|c| {
                (c.is_control() && !matches!(c, '\n' | '\t'))
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            });
            assert_eq!(harmful, None, "{c:?}");
        }
    }
}
