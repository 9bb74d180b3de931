//! A terminal for tests: everything written to it goes through an emulator, and is kept.

use std::cell::RefCell;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::rc::Rc;

use super::size::Size;

#[derive(Clone)]
pub(crate) struct Screen(Rc<RefCell<Inner>>);

struct Inner {
    terminal: vt100::Parser,
    writes: Vec<String>,
    size: Size,
}

impl Screen {
    pub(crate) fn new(size: Size) -> Self {
        let terminal = vt100::Parser::new(cells(size.rows), cells(size.columns), 100_000);
        Screen(Rc::new(RefCell::new(Inner {
            terminal,
            writes: Vec::new(),
            size,
        })))
    }

    pub(crate) fn size(&self) -> Size {
        self.0.borrow().size
    }

    pub(crate) fn resize(&self, size: Size) {
        let mut inner = self.0.borrow_mut();
        inner
            .terminal
            .screen_mut()
            .set_size(cells(size.rows), cells(size.columns));
        inner.size = size;
    }

    /// Text that another program writes to the terminal.
    pub(crate) fn feed(&self, text: &str) {
        self.0.borrow_mut().terminal.process(text.as_bytes());
    }

    /// The rows in sight, without the empty ones at the end.
    pub(crate) fn text(&self) -> String {
        self.0
            .borrow()
            .terminal
            .screen()
            .contents()
            .trim_end()
            .to_owned()
    }

    /// The rows that have scrolled out of sight, oldest first.
    pub(crate) fn history(&self) -> Vec<String> {
        let mut inner = self.0.borrow_mut();
        let columns = inner.size.columns as u16;
        let screen = inner.terminal.screen_mut();
        let length = screen.scrollback_len();
        let mut rows = Vec::new();
        for back in (1..=length).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, columns).next());
        }
        screen.set_scrollback(0);
        rows
    }

    /// History and screen together.
    pub(crate) fn everything(&self) -> Vec<String> {
        let mut rows = self.history();
        rows.extend(self.text().lines().map(str::to_owned));
        rows
    }

    /// Returns whether any line has gone on in the next row.
    pub(crate) fn is_wrapped(&self) -> bool {
        let inner = self.0.borrow();
        (0..inner.size.rows as u16).any(|row| inner.terminal.screen().row_wrapped(row))
    }

    pub(crate) fn cursor(&self) -> (u16, u16) {
        self.0.borrow().terminal.screen().cursor_position()
    }

    pub(crate) fn is_cursor_hidden(&self) -> bool {
        self.0.borrow().terminal.screen().hide_cursor()
    }

    pub(crate) fn writes(&self) -> Vec<String> {
        self.0.borrow().writes.clone()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.0.borrow_mut();
        inner.terminal.process(bytes);
        inner
            .writes
            .push(String::from_utf8(bytes.to_vec()).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn cells(number: usize) -> NonZeroU16 {
    NonZeroU16::new(number as u16).unwrap()
}
