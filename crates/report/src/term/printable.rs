//! The last step before a terminal: nothing but visible characters and Terca's own colours passes.
//!
//! Names come from files, messages from libraries and agents, and any of them may hold an escape sequence. Views clean
//! what they show. This stands behind them, for every text that is printed: a plain text passes without any
//! control character, a painted one with colours and nothing else.

use std::borrow::Cow;
use std::io::{self, Write};

use super::width::visible;

/// Returns a plain text for a terminal. Line ends and tabs stay; other control characters are shown.
pub fn shown(text: &str) -> Cow<'_, str> {
    pass(text, false)
}

/// Returns a text with Terca's own colours for a terminal. Every other sequence is shown.
pub fn shown_painted(text: &str) -> Cow<'_, str> {
    pass(text, true)
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
        let colour = colour(rest).filter(|_| with_colours).unwrap_or_default();
        safe.push_str(colour);
        if colour.is_empty() {
            safe.extend(match c {
                // In a line of its own it would hide what is before it.
                '\r' => Some('␍'),
                c if passes(c) => Some(c),
                other => visible(other),
            });
        }
        rest = &rest[colour.len().max(c.len_utf8())..];
    }
    Cow::Owned(safe)
}

/// Returns the sequence at the beginning of a text that sets a colour.
fn colour(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[length..]
        .starts_with('m')
        .then(|| &text[..2 + length + 1])
}

/// A stream whose text is changed on its way. Each write is of whole lines.
#[derive(Debug)]
pub struct Filtered<W: Write> {
    /// The stream that gets the text.
    pub to: W,
    /// Makes the text fit for it.
    pub filter: fn(&str) -> String,
}

impl<W: Write> Write for Filtered<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = (self.filter)(&String::from_utf8_lossy(bytes));
        self.to.write_all(text.as_bytes())?;
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
            shown_painted(text),
            "\u{1b}[1;31mred\u{1b}[0m ␛]52;c;eA==␇ ␛[2J�2J�\ta\nb␍c\n"
        );
        assert_eq!(shown("\u{1b}[31"), "␛[31");
        assert_eq!(shown_painted("\u{1b}[31"), "␛[31");
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
