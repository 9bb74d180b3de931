//! A program at a terminal of its own, and a person who types.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::patience::{wait_for, wait_until};
use crate::signals;

const ROWS: u16 = 50;
const COLUMNS: u16 = 120;
/// More than any test scrolls.
const SCROLLBACK: usize = 10_000;

/// In the same call where the system can: other tests start programs meanwhile.
#[cfg(target_os = "linux")]
const CLOSED_IN_CHILDREN: OpenptFlags = OpenptFlags::CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSED_IN_CHILDREN: OpenptFlags = OpenptFlags::empty();

#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// How much of what is shown was waited for.
    read: usize,
    rows: u16,
    columns: u16,
}

impl Terminal {
    /// Starts a program with a pseudo-terminal as its standard input, output and error.
    pub fn start(command: Command) -> Self {
        Terminal::sized(command, COLUMNS, ROWS)
    }

    /// The same at a terminal of another size.
    pub fn sized(mut command: Command, columns: u16, rows: u16) -> Self {
        signals::hear_in_children();
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | CLOSED_IN_CHILDREN)
            .expect("a pseudo-terminal");
        fcntl_setfd(&keyboard, FdFlags::CLOEXEC).expect("a flag");
        grantpt(&keyboard).expect("the terminal is ours");
        unlockpt(&keyboard).expect("the terminal is open");
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&keyboard, size).expect("the terminal has a size");
        let name = ptsname(&keyboard, Vec::new()).expect("the terminal has a name");
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let side = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .expect("the terminal's other side");
        let copy = || side.try_clone().expect("another handle");
        let child = command
            .stdin(copy())
            .stdout(copy())
            .stderr(copy())
            .spawn()
            .expect("the program starts");
        drop((command, side));
        let keyboard = File::from(keyboard);
        let shown = Arc::default();
        let reader = watch(
            keyboard.try_clone().expect("another handle"),
            Arc::clone(&shown),
        );
        Terminal {
            child,
            keyboard,
            shown,
            reader,
            read: 0,
            rows,
            columns,
        }
    }

    /// Waits until a text is shown, after those that were waited for before.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> &mut Self {
        let unread = || self.text()[self.read..].to_owned();
        let at = wait_for(
            || format!("`{text}` was not shown; this was:\n{}", unread()),
            || unread().find(text),
        );
        self.read += at + text.len();
        self
    }

    /// Waits until the line with the cursor has a text, however it came there.
    #[track_caller]
    pub fn wait_for_line(&mut self, text: &str) -> &mut Self {
        self.wait_for_screen(text, |screen| {
            let (row, _) = screen.cursor_position();
            screen
                .rows(0, screen.size().1.get())
                .nth(usize::from(row))
                .unwrap_or_default()
        })
    }

    /// Waits until a text is anywhere on the screen.
    #[track_caller]
    pub fn wait_for_sight(&mut self, text: &str) -> &mut Self {
        self.wait_for_screen(text, vt100::Screen::contents)
    }

    #[track_caller]
    fn wait_for_screen(
        &mut self,
        text: &str,
        part: impl Fn(&vt100::Screen) -> String,
    ) -> &mut Self {
        let seen = || part(self.emulated(&self.text()).screen());
        wait_for(
            || format!("`{text}` is not to be seen in:\n{}", seen()),
            || seen().contains(text).then_some(()),
        );
        self
    }

    fn emulated(&self, text: &str) -> vt100::Parser {
        let size = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
        let mut parser = vt100::Parser::new(size(self.rows), size(self.columns), SCROLLBACK);
        parser.process(text.as_bytes());
        parser
    }

    /// What a person sees just now, and what has scrolled out of sight above it.
    pub fn everything(&self) -> String {
        let mut parser = self.emulated(&self.text());
        let screen = parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows: Vec<String> = Vec::new();
        for offset in (1..=above).rev() {
            screen.set_scrollback(offset);
            rows.extend(screen.rows(0, self.columns).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, self.columns));
        let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Waits for the program's end: its exit status, and all that a person can see or scroll back to.
    pub fn see_it_out(mut self) -> (i32, String) {
        let status = self.child.wait().expect("the program ends");
        wait_until("all that it showed is read", || self.reader.is_finished());
        (status.code().unwrap_or(-1), self.everything())
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process id");
        kill_process(pid, signal).expect("the program is there to be signalled");
    }

    /// Ends the program.
    pub fn close(mut self) {
        self.child.kill().expect("the program can be ended");
        self.child.wait().expect("the program ends");
    }

    pub fn type_in(&mut self, keys: &str) -> &mut Self {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
        self
    }

    /// Everything that was shown so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("nobody panicked")).into_owned()
    }

    /// Waits for the program's end: its exit status, and everything that was shown.
    pub fn finish(mut self) -> (i32, String) {
        let status = self.child.wait().expect("the program ends");
        // Its last words may still be on their way.
        self.reader
            .join()
            .expect("the reader ends with the program");
        let text =
            String::from_utf8_lossy(&self.shown.lock().expect("nobody panicked")).into_owned();
        (status.code().unwrap_or(-1), text)
    }
}

/// Reads what the program writes until nobody has the terminal open any more.
fn watch(mut terminal: File, shown: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut buffer) {
            shown
                .lock()
                .expect("nobody panicked")
                .extend_from_slice(&buffer[..count]);
        }
    })
}
