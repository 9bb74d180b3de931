//! Text without a terminal's control sequences, for files that no terminal will show.
//!
//! What tests print is full of colours. [`crate::width::clean`] makes control characters visible, which is right on a
//! screen; in a file for another program the sequences are left out whole.

/// The text without escape sequences (`ESC [ … m`, `ESC ] … BEL` and the like). Everything else stays, line breaks too.
pub fn stripped(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                Some('[') => skip_until(&mut rest, |c| matches!(c, '@'..='~')),
                // An operating system command and its kin end with BEL or `ESC \`.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    skip_until(&mut rest, |c| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}'));
                    rest.next_if_eq(&'\\');
                }
                Some(' '..='/') => skip_until(&mut rest, |c| matches!(c, '0'..='~')),
                _ => {}
            },
            '\u{9b}' => skip_until(&mut rest, |c| matches!(c, '@'..='~')),
            other => kept.push(other),
        }
    }
    kept
}

/// A sequence that does not end within its line has lost its end; the line break is kept.
fn skip_until(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, is_end: fn(char) -> bool) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        if is_end(c) {
            return;
        }
    }
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
            ("\u{1b}(Bx\u{1b}7y\u{9b}2Jz", "xyz"),
            ("cut \u{1b}[31", "cut "),
            ("cut \u{1b}]0;title\nnext", "cut \nnext"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(stripped(text), kept, "{text:?}");
        }
    }
}
