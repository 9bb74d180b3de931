//! Text without a terminal's control sequences.
//!
//! The output of tests is full of colours. On a screen control characters are made visible; in a message and in a file
//! for another program the sequences are left out whole.

use crate::text::prose;
use anstream::adapter::strip_str;

/// Returns the text without escape sequences and control characters. White space stays, line breaks too.
///
/// Every line is read by itself: a sequence that does not end within its line has lost its end, and must not swallow the
/// lines after it.
pub fn stripped(text: &str) -> String {
    prose::joined(
        text.split('\n').map(|line| strip_str(line).to_string()),
        "\n",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (text, kept) in [
            ("plain äöü\nlines\t", "plain äöü\nlines\t"),
            ("\u{1b}[1;31mred\u{1b}[0m!", "red!"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\.", "link."),
            ("\u{1b}(Bx\u{1b}7y\0z", "xyz"),
            ("cut \u{1b}[31", "cut "),
            ("cut \u{1b}]0;title\nnext", "cut \nnext"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(stripped(text), kept, "{text:?}");
        }
    }
}
