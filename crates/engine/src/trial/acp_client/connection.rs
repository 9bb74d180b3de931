//! The agent's process, and the lines that go to it and come from it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use terca_core::agent::RawLine;
use terca_core::process::Exit;

use crate::process::own_process::exit_of;
use crate::process::tail::Lines;

/// The longest beginning of a line that is kept of one that is no message, in characters.
const BEGINNING: usize = 300;
/// The lines that may wait to be read by the client: few, because each may be long.
const UNREAD: usize = 4;
/// The messages that may wait to be read by the agent.
const UNSENT: usize = 256;
/// The bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// The time between two looks at a program that should end.
const LOOK: Duration = Duration::from_millis(10);

/// A thing that the client hears of.
#[derive(Debug)]
pub(super) enum Heard {
    /// A message of the agent.
    Message(Value),
    /// A line that is no message, or too long.
    Noise { text: String, bytes: u64 },
    /// The agent will say nothing more.
    Silence,
    /// Terca asks the client to end.
    Stop,
}

/// An agent that was started.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    heard: Receiver<Heard>,
    unsent: Option<SyncSender<Vec<u8>>>,
}

impl Connection {
    /// Starts the agent. Its standard error is that of the client.
    pub(super) fn start(command: &[OsString]) -> io::Result<Self> {
        let Some((program, args)) = command.split_first() else {
            return Err(io::Error::other("the agent has no command"));
        };
        let signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A signal to the client's group must not reach it: its session is cancelled instead.
            .process_group(0)
            .spawn()?;
        let (to_client, heard) = sync_channel(UNREAD);
        let (unsent, to_agent) = sync_channel(UNSENT);
        if let Some(output) = child.stdout.take() {
            let to_client = to_client.clone();
            std::thread::spawn(move || read_lines(output, &to_client));
        }
        if let Some(input) = child.stdin.take() {
            std::thread::spawn(move || write_lines(input, &to_agent));
        }
        std::thread::spawn(move || pass_signals(signals, &to_client));
        Ok(Connection {
            child,
            heard,
            unsent: Some(unsent),
        })
    }

    /// Sends a message to the agent, which need not read it at once. Returns false if it does not read its input, or has
    /// closed it.
    pub(super) fn send(&self, message: &Value) -> bool {
        let line = format!("{message}\n").into_bytes();
        let unsent = self.unsent.as_ref();
        unsent.is_some_and(|unsent| unsent.try_send(line).is_ok())
    }

    /// Waits for the next thing to hear; `None` when the time is over.
    pub(super) fn hear(&self, until: Option<Instant>) -> Option<Heard> {
        let time = until.map_or(Duration::MAX, |until| {
            until.saturating_duration_since(Instant::now())
        });
        match self.heard.recv_timeout(time) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Heard::Silence),
        }
    }

    /// Closes the agent's input, by which it is asked to end.
    pub(super) fn close_input(&mut self) {
        self.unsent = None;
    }

    /// Returns the end of the agent's program, if it ends within this time.
    pub(super) fn ended_within(&mut self, time: Duration) -> Option<Exit> {
        let began = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(exit_of(status));
            }
            if began.elapsed() >= time {
                return None;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks the agent to end by a signal.
    pub(super) fn terminate(&self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

fn pass_signals(mut signals: Signals, to_client: &SyncSender<Heard>) {
    for _ in signals.forever() {
        if to_client.send(Heard::Stop).is_err() {
            return;
        }
    }
}

fn write_lines(mut input: impl Write, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(mut output: impl Read, to_client: &SyncSender<Heard>) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; CHUNK];
    let mut is_heard = true;
    while is_heard {
        let mut on_line = |line: RawLine<'_>| {
            let heard = heard_of(line);
            is_heard &= heard.is_none_or(|heard| to_client.send(heard).is_ok());
        };
        match output.read(&mut buffer) {
            Ok(length @ 1..) => lines.feed(&buffer[..length], &mut on_line),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => {
                lines.finish(&mut on_line);
                let _ = to_client.send(Heard::Silence);
                return;
            }
        }
    }
}

/// Reads a line; `None` if it is empty.
fn heard_of(line: RawLine<'_>) -> Option<Heard> {
    let RawLine { text, bytes } = line;
    if let Ok(message @ Value::Object(_)) = serde_json::from_slice(text)
        && bytes == text.len() as u64
    {
        return Some(Heard::Message(message));
    }
    let beginning = &text[..text.len().min(BEGINNING * 4)];
    let text = String::from_utf8_lossy(beginning);
    let text: String = text.trim().chars().take(BEGINNING).collect();
    (!text.is_empty()).then_some(Heard::Noise { text, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_noise_or_too_long() {
        let length = 9 * 1024 * 1024;
        let long = "x".repeat(length);
        let text = format!("hello\n\n{{\"id\":1}}\n{long}\n[1]\n{{\"last\":true}}");
        let (sender, heard) = sync_channel(10);
        read_lines(text.as_bytes(), &sender);
        drop(sender);
        let shown: Vec<String> = heard
            .iter()
            .map(|heard| match heard {
                Heard::Message(message) => message.to_string(),
                Heard::Noise { text, bytes } => format!("{} {bytes}", text.len()),
                other => format!("{other:?}"),
            })
            .collect();
        let long = format!("{BEGINNING} {length}");
        let expected = [
            "5 5", "{\"id\":1}", &long, "3 3", "{\"last\":true}", "Silence",
        ];
        assert_eq!(shown, expected);
    }
}
