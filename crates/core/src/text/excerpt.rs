//! Shortens long texts for messages, prompts and pages.
//!
//! Columns on a screen are another matter: `report` counts those.

use crate::text::prose;

/// A text, or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Excerpt {
    /// The beginning, or the whole text.
    pub head: String,
    /// The number of bytes between the two.
    pub left_out: u64,
    /// The end; empty when nothing was left out.
    pub tail: String,
}

impl Excerpt {
    /// Makes an excerpt that leaves nothing out.
    pub fn whole(text: impl Into<String>) -> Self {
        Excerpt {
            head: text.into(),
            ..Excerpt::default()
        }
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// Returns the first `limit` characters, with `…` where more follows.
pub fn beginning(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns at most about `limit` bytes: the beginning (three quarters), a remark, and the end.
pub fn without_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = &text[..char_boundary(text, limit / 4 * 3)];
    let tail = &text[char_boundary(text, text.len() - limit / 4)..];
    let left_out = (text.len() - head.len() - tail.len()) as u64;
    format!(
        "{head}\n… {} bytes left out …\n{tail}",
        prose::compact(left_out)
    )
}

/// Returns the last boundary between two characters at or before an index.
pub fn char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Returns the first line that is not blank, at most 200 characters of it.
pub(crate) fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    // Most lines are short or ASCII, and there may be millions of them.
    if line.len() <= LONGEST {
        return line.to_owned();
    }
    if line.as_bytes()[..LONGEST].is_ascii() {
        return line[..LONGEST].to_owned();
    }
    line.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(without_middle("short", 10), "short");
        let text = format!("begin{}end", "x".repeat(5_000_000));
        let short = without_middle(&text, 1000);
        assert!(
            short.len() < 1100 && short.starts_with("beginx") && short.ends_with("xend"),
            "{short}"
        );
        assert!(short.contains("… 5.0M bytes left out …"), "{short}");
        let wide = "日本".repeat(1000);
        for limit in 10..40 {
            assert!(without_middle(&wide, limit).starts_with("日"));
        }
    }

    #[test]
    fn a_beginning_says_that_more_follows() {
        assert_eq!(beginning("日本語", 3), "日本語");
        assert_eq!(beginning("日本語", 2), "日本…");
        assert_eq!(beginning("", 0), "");
    }

    #[test]
    fn a_first_line_is_not_blank_and_not_long() {
        assert_eq!(first_line("\n  one \ntwo"), "one");
        assert_eq!(first_line(&"x".repeat(300)).len(), 200);
        assert_eq!(first_line(&"日".repeat(300)).chars().count(), 200);
    }
}
