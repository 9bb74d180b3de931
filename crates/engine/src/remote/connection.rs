//! The coordinator's side of one worker: the command that starts it, and the conversation.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process_group};

use super::frame::{self, Frame, Greeting};
use super::message::{FromWorker, ToWorker};
use super::own_program::OwnProgram;
use super::patient_pipe::{Ending, PatientPipe};
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::supervise::Launcher;

/// The time for a worker to end by itself once its input is closed.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// The longest time between two looks at a command that is to end. Thousands may end at once, and all are looked at.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Set for the command that starts a worker. A command line that loses the last word would start Terca itself.
pub const STARTS_WORKER: &str = "TERCA_STARTS_WORKER";
/// The most that is read of the errors of the command.
const MOST_WORDS: u64 = 4096;

/// The most pieces of data that wait to be dealt with.
const MOST_PIECES: usize = 64;
/// The most letters that are shown of the words of a command.
const MOST_SHOWN: usize = 500;

/// Something that was heard from a worker.
#[derive(Debug)]
pub enum Heard {
    /// It speaks this version of the protocol.
    Greeting(u32),
    /// A script asks for the program.
    ProgramWanted,
    /// A script becomes the program.
    ProgramHere,
    /// A message.
    Message(Box<FromWorker>),
    /// A piece of data; an empty one is the end.
    Data(Vec<u8>),
    /// Nothing more is heard. These were the last words.
    Closed(String),
}

/// A command that starts a worker, with its input and output.
#[derive(Debug)]
pub struct Connection {
    launcher: Arc<Launcher>,
    child: Child,
    input: Option<PatientPipe>,
    errors: Utf8PathBuf,
    /// A worker is there, and ends by itself.
    is_ready: bool,
    /// One for each piece of data that was heard and is not dealt with: so many wait at most.
    pieces: Receiver<()>,
}

impl Connection {
    /// Starts the command, and hears what it says on a thread of its own. Its errors are kept in a file. A worker that
    /// reads nothing for as long as `silence` is lost, and nothing waits for it when the run ends.
    pub fn start(
        launcher: &Arc<Launcher>,
        line: &str,
        errors: Utf8PathBuf,
        (silence, ending): (Duration, &Ending),
        hear: impl Fn(Heard) + Send + 'static,
    ) -> io::Result<Self> {
        let file = File::create(&errors)?;
        // It ends with this program, also where this one is killed: a command that waits in a queue reads no input.
        let step = Confinement {
            ends_with_parent: true,
            ..Confinement::default()
        };
        let mut command = Command::new(OWN_PROGRAM);
        command
            .args(step.args())
            .args(["/bin/sh", "-c", &in_place_of_shell(line)])
            .env(STARTS_WORKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(file));
        let mut child = launcher.spawn_known(&mut command)?;
        let input = child.stdin.take();
        let input = input.map(|pipe| PatientPipe::new(pipe, silence, ending.clone()));
        let input = input.transpose()?;
        let output = child.stdout.take();
        let words = errors.clone();
        let (piece, pieces) = sync_channel(MOST_PIECES);
        std::thread::Builder::new()
            .name("worker".into())
            .spawn(move || {
                let reason =
                    output.map_or_else(String::new, |output| listen(output, &piece, &hear));
                hear(Heard::Closed(last_words(&reason, &words)));
            })?;
        Ok(Connection {
            launcher: launcher.clone(),
            child,
            input,
            errors,
            is_ready: false,
            pieces,
        })
    }

    /// Sends a message.
    pub fn send(&mut self, message: &ToWorker) -> io::Result<()> {
        frame::send(self.input()?, message)
    }

    /// Sends a parcel.
    pub fn send_parcel(&mut self, parcel: &Utf8Path) -> io::Result<()> {
        let mut file = fs_err::File::open(parcel)?;
        frame::send_all(self.input()?, &mut file).map(|_| ())
    }

    /// Sends the running program.
    pub fn send_program(&mut self, program: &OwnProgram) -> io::Result<()> {
        program.send(self.input()?)
    }

    fn input(&mut self) -> io::Result<&mut PatientPipe> {
        self.input
            .as_mut()
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Takes note that a worker is there. Until then, the command may wait in a queue, and reads no input.
    pub fn set_ready(&mut self) {
        self.is_ready = true;
        if let Some(input) = &mut self.input {
            input.is_ready = true;
        }
    }

    /// Returns whether the command has ended. Others may hold its output open, so that nobody else says so.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Takes note that a piece of data was dealt with, and lets another come.
    pub fn done_with_piece(&self) {
        let _ = self.pieces.try_recv();
    }

    /// Closes the input, which ends the worker.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Ends the command at once.
    pub fn kill(&mut self) {
        self.hang_up();
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Waits for the command to end.
    fn end(&mut self) {
        self.hang_up();
        let started = Instant::now();
        let mut asked = false;
        let mut pause = Duration::from_millis(2);
        let patience = match self.is_ready {
            true => LAST_WAIT,
            false => Duration::ZERO,
        };
        while matches!(self.child.try_wait(), Ok(None)) {
            let waited = started.elapsed();
            if waited >= patience + LAST_WAIT {
                self.signal(Signal::KILL);
                let _ = self.child.wait();
                break;
            }
            if waited >= patience && !asked {
                self.signal(Signal::TERM);
                asked = true;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.launcher.forget(&self.child);
        let _ = std::fs::remove_file(&self.errors);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns a line that lets a single command take the place of the shell. Some shells do that by themselves. Signals that
/// are for the command, such as the one at the end of this program, would reach the shell alone.
fn in_place_of_shell(line: &str) -> String {
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'', Some('\'')) | ('"', Some('"')) => quote = None,
            (_, Some('\'')) => {}
            ('\\', _) => drop(letters.next()),
            ('`', _) => return line.to_owned(),
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(letter),
            (';' | '|' | '&' | '<' | '>' | '(' | ')' | '{' | '!' | '#' | '\n', None) => {
                return line.to_owned();
            }
            _ => {}
        }
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    if first.contains('=') || first == "exec" {
        return line.to_owned();
    }
    format!("exec {line}")
}

/// Hears everything that a worker says. Returns the reason for the end, if there is one.
fn listen(output: ChildStdout, piece: &SyncSender<()>, hear: &impl Fn(Heard)) -> String {
    let mut output = BufReader::with_capacity(64 * 1024, output);
    loop {
        match frame::await_greeting(&mut output) {
            Ok(Greeting::Protocol(version)) => {
                hear(Heard::Greeting(version));
                break;
            }
            Ok(Greeting::ProgramWanted) => hear(Heard::ProgramWanted),
            Ok(Greeting::ProgramHere) => hear(Heard::ProgramHere),
            Ok(Greeting::None(words)) => return words,
            Err(error) => return error.to_string(),
        }
    }
    loop {
        match frame::receive(&mut output) {
            Ok(Some(Frame::Message(message))) => {
                hear(Heard::Message(Box::new(harmless(message))));
            }
            Ok(Some(Frame::Data(data))) => {
                // Waits while too many are not dealt with: a network may be faster than a disk.
                if piece.send(()).is_err() {
                    return String::new();
                }
                hear(Heard::Data(data));
            }
            Ok(None) => return String::new(),
            Err(error) => return error.to_string(),
        }
    }
}

/// Returns a message whose words are on one line each, since people see them.
fn harmless(mut message: FromWorker) -> FromWorker {
    match &mut message {
        FromWorker::Hello(hello) => {
            hello.version = shown(&hello.version);
            hello.node = shown(&hello.node);
        }
        FromWorker::Refused { reason, help } => {
            *reason = shown(reason);
            *help = help.as_deref().map(shown);
        }
        FromWorker::Opened(opened) => {
            opened.not_contained = opened.not_contained.as_deref().map(shown);
            opened
                .networks
                .iter_mut()
                .for_each(|network| *network = shown(network));
        }
        FromWorker::Wanted
        | FromWorker::Event(_)
        | FromWorker::Ended { .. }
        | FromWorker::Beat
        | FromWorker::Pong
        | FromWorker::Inspected(_) => {}
    }
    message
}

/// Returns foreign words on one line, cut where they are too long.
fn shown(words: &str) -> String {
    let mut letters = words.chars();
    let line = letters.by_ref().take(MOST_SHOWN);
    let mut line: String = line
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

/// Returns the last words of the command: its errors, or what it said instead.
fn last_words(said: &str, errors: &Utf8Path) -> String {
    let mut words = Vec::new();
    if let Ok(mut file) = File::open(errors) {
        let length = file.metadata().map_or(0, |meta| meta.len());
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(MOST_WORDS)));
        let _ = file.take(MOST_WORDS).read_to_end(&mut words);
    }
    let errors = String::from_utf8_lossy(&words);
    let lines: Vec<&str> = errors.trim().lines().chain(said.trim().lines()).collect();
    let last = lines.iter().rev().take(3).rev();
    let last: Vec<&str> = last.copied().collect();
    match last.is_empty() {
        true => "it printed nothing".to_owned(),
        false => shown(&last.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::in_place_of_shell;

    #[test]
    fn a_single_command_takes_the_place_of_the_shell() {
        for line in [
            "srun --quiet terca worker", "ssh host 'a; b | c' terca worker",
            r#"ssh host "sh -c 'x; y'" \; z"#,
        ] {
            assert_eq!(in_place_of_shell(line), format!("exec {line}"));
        }
        for line in [
            "A=1 srun terca worker", "tee sent | srun terca worker",
            "cd /x && ./start terca worker", "./start `date` terca worker",
            "exec srun terca worker", "./start > log terca worker",
        ] {
            assert_eq!(in_place_of_shell(line), line);
        }
    }
}
