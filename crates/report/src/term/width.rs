//! The width of text on a terminal, and text that cannot do harm there.
//!
//! Names come from YAML files, activity from agents, messages from tests: none of it is trusted. [`clean`] makes it
//! one line of visible characters. What it lets through is measured character by character, the way terminals
//! advance their cursor; where terminals disagree (joined emoji), the larger figure is taken, because a line
//! that turns out shorter is harmless and a line that wraps is not.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

pub const ELLIPSIS: char = '…';

/// More marks than this on one letter are dropped: no script needs them, and they have no width to be cut by.
const MOST_MARKS: usize = 3;

/// The columns that clean text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text as one line in which nothing can move the cursor, change colours, or reorder its surroundings.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.replace("\r\n", "\n").chars().filter_map(visible) {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if marks <= MOST_MARKS {
            cleaned.push(c);
        }
    }
    Cow::Owned(cleaned)
}

/// Returns the character to show; `None` for those that merely join or modify others.
pub(crate) fn visible(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        // The Unicode pictures of control characters: ESC becomes ␛.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('␡'),
        '\u{80}'..='\u{9f}' => Some('�'),
        // Directional marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some('�')
        }
        // Joiners, variation selectors, invisible operators, tags.
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}' => None,
        '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => None,
        other => Some(other),
    }
}

/// The text in at most `columns`; what is cut off is marked by `…`.
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut cut = head(text, columns - 1).trim_end().to_owned();
    cut.push(ELLIPSIS);
    Cow::Owned(cut)
}

/// The same, but the cut is in the middle: names often differ only at their end.
pub fn shorten(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns || columns < 5 {
        return truncate(text, columns);
    }
    let of_tail = (columns - 1) / 2;
    let start = head(text, columns - 1 - of_tail);
    Cow::Owned(format!("{start}{ELLIPSIS}{}", tail(text, of_tail)))
}

/// The text, followed by spaces up to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", spaces(columns.saturating_sub(width(text))))
}

/// The text, preceded by spaces up to `columns`.
pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", spaces(columns.saturating_sub(width(text))))
}

pub fn spaces(columns: usize) -> String {
    " ".repeat(columns)
}

/// The text in lines of at most `columns`, broken after a space, `-`, `.`, `_` or `/` where there is one.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    // Narrower than the widest character it would never end.
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut rest = text;
    while width(rest) > columns {
        let line = head(rest, columns);
        let line = match line.rfind([' ', '-', '.', '_', '/']) {
            Some(at) if at > 0 => &line[..=at],
            _ => line,
        };
        lines.push(line.trim_end().to_owned());
        rest = &rest[line.len()..];
    }
    lines.push(rest.to_owned());
    lines
}

/// As much of the beginning as fits.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// As much of the end as fits.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_gets_through() {
        for (dirty, cleaned) in [
            ("plain", "plain"),
            ("a\u{1b}[2Jb", "a␛[2Jb"),
            ("one\r\ntwo\tthree", "one two three"),
            ("back\u{8}space\u{7f}\0", "back␈space␡␀"),
            ("c1 \u{9b}31m", "c1 �31m"),
            ("evil\u{202e}txt.exe", "evil�txt.exe"),
            ("zero\u{200b}width\u{feff}", "zerowidth"),
            ("👩\u{200d}👧", "👩👧"),
            (
                "e\u{301}\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}",
            ),
            ("naïve 日本", "naïve 日本"),
        ] {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn every_character_becomes_harmless() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for some in all.chunks(4096) {
            let text: String = some.iter().collect();
            let harmful = clean(&text)
                .chars()
                .find(|c| c.is_control() || c.width().is_none());
            assert_eq!(harmful, None);
        }
    }

    #[test]
    fn text_is_cut_at_the_right_column() {
        for (text, columns, cut) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("abc def", 5, "abc…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(truncate(text, columns), cut, "{text} in {columns}");
            assert!(width(&truncate(text, columns)) <= columns);
        }
    }

    #[test]
    fn names_keep_their_end() {
        for (text, columns, cut) in [
            ("gemini.with-rules", 17, "gemini.with-rules"),
            ("gemini.with-rules", 11, "gemin…rules"),
            ("gemini.with-rules", 4, "gem…"),
            ("日本語日本語", 6, "日…語"),
        ] {
            assert_eq!(shorten(text, columns), cut, "{text} in {columns}");
            assert!(width(&shorten(text, columns)) <= columns);
        }
    }

    #[test]
    fn padding_counts_columns() {
        assert_eq!(pad("日本", 6) + "|", "日本  |");
        assert_eq!(pad_left("41s", 5), "  41s");
        assert_eq!(pad("longer", 3), "longer");
    }

    #[test]
    fn wrapping_loses_nothing() {
        assert_eq!(wrap("with-all-the-rules", 10), ["with-all-", "the-rules"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("日本語", 1), ["日", "本", "語"]);
        assert_eq!(wrap("short", 10), ["short"]);
    }
}
