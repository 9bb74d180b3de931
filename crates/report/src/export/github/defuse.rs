//! Text that GitHub Actions does not take for commands.
//!
//! The runner reads what a step prints, on either stream. A line that begins with `::`, after white space, is a
//! command to it (`::add-mask::`, `::stop-commands::`, …), and so is `##[` anywhere in a line. Names come from the
//! suite and messages from agents: neither may give commands. A space in the right place is enough, and can be seen.
//!
//! The runner compares as .NET compares text, which overlooks what has no width; so does this.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

/// The kind of text: JSON stays the same document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Text,
    Json,
}

/// The part of a command that has been seen so far.
#[derive(Clone, Copy)]
enum Seen {
    LineStart,
    Colon,
    Hash,
    Hashes,
    Nothing,
}

/// The text, with nothing in it that the runner would obey. It is taken to begin a line.
pub fn defused(text: &str, printed: Printed) -> Cow<'_, str> {
    if !text.contains([':', '#']) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 1);
    let mut seen = Seen::LineStart;
    for c in text.chars() {
        let ends_command = matches!((seen, c), (Seen::Colon, ':') | (Seen::Hashes, '['));
        match printed {
            Printed::Json if ends_command => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            Printed::Text if ends_command => safe.extend([' ', c]),
            _ => safe.push(c),
        }
        seen = match (seen, c) {
            (_, '\n' | '\r') => Seen::LineStart,
            (Seen::LineStart, c) if c.is_whitespace() => Seen::LineStart,
            (seen, c) if is_overlooked(c) => seen,
            (Seen::LineStart, ':') => Seen::Colon,
            (Seen::Hash | Seen::Hashes, '#') => Seen::Hashes,
            (_, '#') => Seen::Hash,
            _ => Seen::Nothing,
        };
    }
    Cow::Owned(safe)
}

fn is_overlooked(c: char) -> bool {
    !c.is_whitespace() && c.width().unwrap_or(0) == 0
}

/// Writes what cannot give commands. Whoever writes to it writes whole lines.
#[derive(Debug)]
pub struct Defused<W: Write> {
    to: W,
    printed: Printed,
}

impl<W: Write> Defused<W> {
    pub fn new(to: W, printed: Printed) -> Self {
        Defused { to, printed }
    }
}

impl<W: Write> Write for Defused<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.to.write_all(defused(&text, self.printed).as_bytes())?;
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
    fn no_text_gives_commands() {
        for (text, safe) in [
            ("fib  1.00\n", "fib  1.00\n"),
            ("a::b: c # d ## e [f]", "a::b: c # d ## e [f]"),
            (": one colon", ": one colon"),
            ("::error::x", ": :error::x"),
            ("a\n  ::error::x\n", "a\n  : :error::x\n"),
            ("a\r::error::x", "a\r: :error::x"),
            ("\u{200b}:\u{ad}:error::x", "\u{200b}:\u{ad} :error::x"),
            (":::", ": ::"),
            ("x ##[add-mask]y", "x ## [add-mask]y"),
            ("###[group]", "### [group]"),
            ("#\u{2060}#[group]", "#\u{2060}# [group]"),
            ("##\n[a]", "##\n[a]"),
        ] {
            assert_eq!(defused(text, Printed::Text), safe, "{text:?}");
        }
    }

    #[test]
    fn what_is_made_safe_stays_so() {
        for text in [
            "::a", " \t::a", "##[b]", "##::##[a]\n:: ::", "#[#[##[", ":\u{200b}:",
        ] {
            let once = defused(text, Printed::Text);
            assert_eq!(defused(&once, Printed::Text), once, "{text:?}");
        }
    }

    #[test]
    fn a_document_stays_what_it_is() {
        let document =
            serde_json::json!({"eval": "::x", "message": "##[group]\n::y", "list": ["##", "["]});
        let written = document.to_string();
        let safe = defused(&written, Printed::Json);
        assert!(written.contains("##[") && !safe.contains("##["), "{safe}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&safe).unwrap(),
            document
        );
    }
}
