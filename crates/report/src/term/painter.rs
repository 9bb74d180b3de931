//! Paints a frame in place, with lines that stay scrolling away above it.
//!
//! **The place of the cursor.** Between repaints it is at the left edge of the frame's *first* line. A terminal
//! that is resized may rewrap every line on it, but it always takes the cursor along with the text under it;
//! column 0 of a line stays column 0 of that line at any width. So the painter never has to guess how many
//! rows its old lines take up at the new width: it clears from the cursor to the end of the screen and
//! paints anew. (With the cursor at the end of the frame that guess is needed, and terminals differ by one row when
//! a line exactly fills the width.) A terminal that gets lower drops rows below the cursor first, which are ours.
//! Out of reach is only what a terminal has moved into its history. tmux does that with the top of the screen when lines get
//! more rows, even while rows below the frame are empty: on a screen that was just cleared, old rows may stay there.
//!
//! **No wrapping.** The caller makes lines narrower than the screen; besides, automatic wrapping is off
//! within a repaint, so that neither a window that shrinks at this very moment nor a character whose width the
//! terminal sees differently can make a line take two rows.
//!
//! **No flicker.** A repaint is one `write`, inside a synchronised update where terminals know it; lines that have not
//! changed are stepped over.
//!
//! A terminal that is gone is no reason to end a run: after the first error the painter is silent.

use std::io::{self, Write};

use super::size::Size;

const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l\r";
const END: &str = "\x1b[?7h\x1b[?2026l";
/// At the left edge, before the line is written and not after it: some terminals (tmux) remember cells erased behind a
/// text as part of its line, and give them a row of their own when they rewrap it.
const ERASE_LINE: &str = "\x1b[K";
const ERASE_BELOW: &str = "\x1b[J";
/// Makes the terminal as it was, for a program that leaves without dropping its painter: erases the frame and
/// shows the cursor. Does no harm when there is no frame.
///
/// It erases below from the second column on: in the top left corner, tmux would first save the frame in its history.
pub const RESTORE: &str = "\x1b[?7h\r \x1b[J\r\x1b[K\x1b[?25h\x1b[?2026l";

#[derive(Debug)]
pub struct Painter<W: Write> {
    out: W,
    /// The lines on the screen now, from the cursor downwards.
    painted: Vec<String>,
    size: Option<Size>,
    /// There is something to restore.
    dirty: bool,
    broken: bool,
}

impl<W: Write> Painter<W> {
    pub fn new(out: W) -> Self {
        Painter {
            out,
            painted: Vec::new(),
            size: None,
            dirty: false,
            broken: false,
        }
    }

    /// Prints the lines of `above` for good, and `frame` below them in place of the frame before. Lines of both must be
    /// narrower than the screen, and the frame must be lower.
    pub fn paint(&mut self, above: &[String], frame: Vec<String>, size: Size) {
        let resized = self.size.replace(size) != Some(size);
        if above.is_empty() && !resized && frame == self.painted {
            return;
        }
        // Then no line is where an equal one was before; and what was rewrapped may take any number of rows.
        let moved = resized || !above.is_empty() || frame.len() != self.painted.len();
        let mut text = String::from(BEGIN);
        for line in above {
            text.push_str(ERASE_LINE);
            text.push_str(line);
            text.push_str("\r\n");
        }
        let unchanged: &[String] = if moved { &[] } else { &self.painted };
        push_frame(&mut text, &frame, unchanged);
        text.push_str(END);
        self.painted = frame;
        self.dirty = true;
        self.write(&text);
    }

    /// Erases the frame and gives the cursor back.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.dirty) {
            self.painted.clear();
            self.write(RESTORE);
        }
    }

    fn write(&mut self, text: &str) {
        self.broken = self.broken || send(&mut self.out, text.as_bytes()).is_err();
    }
}

/// The frame from the cursor on, everything below it erased, and the cursor back at its first line.
fn push_frame(text: &mut String, frame: &[String], unchanged: &[String]) {
    for (index, line) in frame.iter().enumerate() {
        if index > 0 {
            text.push_str("\r\n");
        }
        // The first line is always painted: a `^C` that the terminal echoes is there.
        if index == 0 || unchanged.get(index) != Some(line) {
            text.push_str(ERASE_LINE);
            text.push_str(line);
        }
        // The cursor rests here. Some terminals (tmux) lose its place when they rewrap lines, unless something is there.
        if index == 0 && line.is_empty() {
            text.push(' ');
        }
    }
    // Stepping over the last line leaves the cursor at its beginning, where erasing below would take it away.
    if unchanged.is_empty() {
        text.push_str(ERASE_BELOW);
    }
    text.push('\r');
    if frame.len() > 1 {
        text.push_str(&format!("\x1b[{}A", frame.len() - 1));
    }
}

/// Writes something, and nothing stays behind.
pub(crate) fn send(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

impl<W: Write> Drop for Painter<W> {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::screen::Screen;

    const SIZE: Size = Size {
        columns: 20,
        rows: 6,
    };

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_frame_is_replaced_in_place() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&lines(&["header"]), lines(&["one", "two"]), SIZE);
        painter.paint(&[], lines(&["ONE", "two"]), SIZE);
        assert_eq!(screen.text(), "header\nONE\ntwo");
        painter.paint(&lines(&["done"]), lines(&["three"]), SIZE);
        assert_eq!(screen.text(), "header\ndone\nthree");
        painter.paint(&[], lines(&["three", "four", "five"]), SIZE);
        assert_eq!(screen.text(), "header\ndone\nthree\nfour\nfive");
        painter.finish();
        assert_eq!(screen.text(), "header\ndone");
        assert_eq!(screen.cursor(), (2, 0));
    }

    #[test]
    fn lines_that_stay_the_same_are_not_sent_again() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&[], lines(&["one", "unchanged", "two"]), SIZE);
        let before = screen.writes().len();
        painter.paint(&[], lines(&["one", "unchanged", "three"]), SIZE);
        let last = screen.writes().pop().unwrap();
        assert!(
            !last.contains("unchanged") && last.contains("three"),
            "{last:?}"
        );
        assert_eq!(screen.text(), "one\nunchanged\nthree");
        painter.paint(&[], lines(&["one", "unchanged", "three"]), SIZE);
        assert_eq!(
            screen.writes().len(),
            before + 1,
            "an equal frame writes nothing"
        );
    }

    #[test]
    fn lines_that_stay_the_same_move_down_with_the_frame() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&[], lines(&["one", "two"]), SIZE);
        painter.paint(&lines(&["done"]), lines(&["one", "two"]), SIZE);
        assert_eq!(screen.text(), "done\none\ntwo");
    }

    #[test]
    fn a_repaint_is_one_synchronised_write() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&lines(&["a", "b"]), lines(&["c", "d"]), SIZE);
        let writes = screen.writes();
        assert_eq!(writes.len(), 1);
        assert!(
            writes[0].starts_with("\x1b[?2026h") && writes[0].ends_with("\x1b[?2026l"),
            "{writes:?}"
        );
        // What is switched off is switched on again before anybody else can write.
        assert!(writes[0].contains("\x1b[?7l") && writes[0].contains("\x1b[?7h"));
    }

    #[test]
    fn an_echoed_interrupt_is_painted_over() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&[], lines(&["one", "two"]), SIZE);
        screen.feed("^C");
        painter.paint(&[], lines(&["one", "stopping"]), SIZE);
        assert_eq!(screen.text(), "one\nstopping");
    }

    #[test]
    fn nothing_scrolls_needlessly() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        let frame = lines(&["1", "2", "3", "4", "5"]);
        for round in 0..50 {
            let mut frame = frame.clone();
            frame[round % 5] = format!("round {round}");
            painter.paint(&[], frame, SIZE);
        }
        assert_eq!(screen.history(), Vec::<String>::new());
    }

    #[test]
    fn the_cursor_comes_back() {
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        painter.paint(&[], lines(&["one"]), SIZE);
        assert!(screen.is_cursor_hidden());
        drop(painter);
        assert!(!screen.is_cursor_hidden());
        assert_eq!(screen.text(), "");
    }

    #[test]
    fn a_painter_that_never_painted_writes_nothing() {
        let screen = Screen::new(SIZE);
        drop(Painter::new(screen.clone()));
        assert_eq!(screen.writes(), Vec::<String>::new());
    }

    #[test]
    fn rewrapped_lines_are_all_erased() {
        // A terminal that rewraps is imitated: the old frame takes twice the rows, the cursor stays at its top.
        let narrow = Size {
            columns: 10,
            rows: 8,
        };
        let screen = Screen::new(Size {
            columns: 20,
            rows: 8,
        });
        let mut painter = Painter::new(screen.clone());
        painter.paint(
            &lines(&["kept"]),
            lines(&["a234567890123456", "b234567890123456"]),
            Size {
                columns: 20,
                rows: 8,
            },
        );
        screen.resize(narrow);
        screen.feed("\x1b[2;1Ha234567890\r\n123456\x1b[K\r\nb234567890\r\n123456\x1b[K\x1b[2;1H");
        painter.paint(&[], lines(&["short", "lines"]), narrow);
        assert_eq!(screen.text(), "kept\nshort\nlines");
    }

    #[test]
    fn the_cursor_rests_on_a_character() {
        // tmux, from 80 columns to 50: with the cursor on a line without any, it was two rows too low afterwards, and
        // the line above it stayed.
        let screen = Screen::new(SIZE);
        let mut painter = Painter::new(screen.clone());
        for frame in [["", "one"], ["", "two"]] {
            painter.paint(&[], lines(&frame), SIZE);
            let written = screen.writes().pop().unwrap();
            let first_row = written.split("\r\n").next().unwrap();
            assert!(first_row.ends_with("\x1b[K "), "{written:?}");
        }
        painter.finish();
        assert_eq!(screen.text(), "");
    }

    #[test]
    fn a_closed_terminal_is_no_panic() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut painter = Painter::new(Closed);
        painter.paint(&[], lines(&["one"]), SIZE);
        painter.paint(&[], lines(&["two"]), SIZE);
        painter.finish();
        assert!(painter.broken);
    }
}
