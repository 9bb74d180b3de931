//! A line that somebody types.

use std::io;

use console::{Key, Term, measure_text_width};

use super::keys::Keys;

/// Shows at least these columns of a long answer.
const LEAST_ROOM: usize = 8;

/// Erases everything from the cursor on. [`Term`]'s own way begins at the start of the line, where the question is.
const CLEAR_TO_END: &str = "\x1b[J";

/// Moves the cursor. The sequence for no columns at all moves it by one.
fn move_left(terminal: &Term, columns: usize) -> io::Result<()> {
    match columns {
        0 => Ok(()),
        columns => terminal.move_cursor_left(columns),
    }
}

/// A line while it is edited.
#[derive(Debug, Default)]
pub(super) struct Line {
    letters: Vec<char>,
    /// The position of the cursor.
    at: usize,
}

impl Line {
    /// Asks for it. An empty line is the usual one.
    pub(super) fn ask(mut self, prompt: &str, usual: &str, keys: &Keys) -> io::Result<String> {
        let terminal = &keys.terminal;
        let columns = usize::from(terminal.size().1).max(1);
        let room = (columns - measure_text_width(prompt) % columns).saturating_sub(1);
        let room = room.max(LEAST_ROOM);
        terminal.write_str(prompt)?;
        loop {
            let key = keys.next()?;
            let before = self.in_sight(room).1;
            move_left(terminal, before)?;
            terminal.write_str(CLEAR_TO_END)?;
            if key == Key::Enter {
                break;
            }
            self.press(&key);
            let (shown, left) = self.in_sight(room);
            terminal.write_str(&shown)?;
            move_left(terminal, measure_text_width(&shown) - left)?;
        }
        let typed: String = self.letters.iter().collect();
        let answer = match typed.trim() {
            "" => usual,
            typed => typed,
        };
        terminal.write_line(&terca_report::shown(answer))?;
        Ok(answer.to_owned())
    }

    fn press(&mut self, key: &Key) {
        match key {
            Key::Char(letter) if !letter.is_control() => {
                self.letters.insert(self.at, *letter);
                self.at += 1;
            }
            // Ctrl+U.
            Key::Char('\u{15}') => {
                self.letters.drain(..self.at);
                self.at = 0;
            }
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.letters.remove(self.at);
            }
            Key::Del if self.at < self.letters.len() => {
                self.letters.remove(self.at);
            }
            Key::ArrowLeft => self.at = self.at.saturating_sub(1),
            Key::ArrowRight => self.at = (self.at + 1).min(self.letters.len()),
            Key::Home => self.at = 0,
            Key::End => self.at = self.letters.len(),
            _ => {}
        }
    }

    /// Returns the part around the cursor that has room, and the columns before the cursor in it.
    fn in_sight(&self, room: usize) -> (String, usize) {
        let text = |from: usize, to: usize| self.letters[from..to].iter().collect::<String>();
        let mut first = 0;
        while measure_text_width(&text(first, self.at)) > room {
            first += 1;
        }
        let mut end = self.letters.len();
        while measure_text_width(&text(first, end)) > room {
            end -= 1;
        }
        let before = measure_text_width(&text(first, self.at));
        (text(first, end), before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, keys: &[Key]) -> Line {
        let mut line = Line::default();
        text.chars()
            .for_each(|letter| line.press(&Key::Char(letter)));
        keys.iter().for_each(|key| line.press(key));
        line
    }

    #[test]
    fn letters_are_put_in_and_taken_out_at_the_cursor() {
        let left = || Key::ArrowLeft;
        for (keys, text) in [
            (vec![left(), Key::Char('x')], "evaxl"),
            (vec![left(), Key::Backspace], "evl"),
            (vec![left(), Key::Del], "eva"),
            (vec![Key::Home, Key::Del, Key::Backspace], "val"),
            (vec![left(), Key::Char('\u{15}')], "l"),
            (vec![Key::Home, Key::End, Key::Char('s')], "evals"),
            (vec![Key::Char('\u{1}'), Key::Del, Key::ArrowRight], "eval"),
        ] {
            let line = typed("eval", &keys);
            assert_eq!(line.letters.iter().collect::<String>(), text, "{keys:?}");
        }
    }

    #[test]
    fn of_a_long_answer_the_part_around_the_cursor_is_shown() {
        let line = typed("abcdefghij", &[]);
        assert_eq!(line.in_sight(4), ("ghij".to_owned(), 4));
        let line = typed("abcdefghij", &[Key::Home]);
        assert_eq!(line.in_sight(4), ("abcd".to_owned(), 0));
        let line = typed("名名名", &[]);
        assert_eq!(line.in_sight(4), ("名名".to_owned(), 4));
    }
}
