//! The conversation between a coordinator and a worker: lines of JSON.
//!
//! A message that announces bytes has them behind its line, and a line break behind them. So everything ends a line: the
//! daemon of a job step of Slurm holds back what comes after the last one.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::{EventKind, TrialHead};
use terca_core::run::outcome::TrialReport;
use terca_core::run::run_file::SettledSandboxes;
use terca_core::run::settings::RunSettings;

use crate::run::start::Containment;
use crate::run::trial_thread::GivenUp;

/// The word that a worker begins with. Everything before it is the chatter of shells and is skipped.
const GREETING: &str = "terca-worker-speaks";
/// The most bytes of chatter before the greeting.
const MOST_CHATTER: u64 = 256 * 1024;
/// The longest line. Reports of trials are far shorter.
const LONGEST_LINE: u64 = 256 << 20;

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// The run that the next trials are of. The archive of the suite follows, if there is one.
    Open(Box<Order>),
    /// A trial to run.
    Run {
        /// The trial, as it is known on all machines.
        trial: Box<TrialHead>,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The agent is asked to end.
    Stop,
    /// A sign of life is wanted, to see how long it takes.
    Ping,
    /// The findings on the machine are wanted, with these variables of the coordinator.
    Inspect(Variables),
}

/// Variables of the coordinator. They may be secrets, and are not shown.
#[derive(Clone, Serialize, Deserialize)]
pub struct Variables(pub BTreeMap<String, String>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Everything that a worker needs of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The suite's directory: on the coordinator where there is an archive, else on the worker.
    pub suite_dir: Utf8PathBuf,
    /// The length of the archive with the suite's files, each at its absolute path on the coordinator.
    pub archive: Option<u64>,
    /// The settings of the run.
    pub settings: RunSettings,
    /// The variables of the coordinator that the suite and its agents use.
    pub variables: Variables,
    /// The fingerprints of the cases: the worker must come to the same.
    pub fingerprints: Vec<CaseFingerprint>,
    /// Makes the layers of `prepare` again, although they are in a cache.
    pub rebuild_layers: bool,
    /// The sandboxes that the run was started with, where it goes on.
    pub settled: SettledSandboxes,
}

/// A message from a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// Trials can be run, and this is how their agents are contained.
    Opened(Containment),
    /// The worker cannot do it, for this reason.
    Refused(GivenUp),
    /// Something happened to the trial.
    Event(Box<EventKind>),
    /// The trial has ended. The archive of its files follows.
    Ended {
        /// The trial's id.
        trial: u32,
        /// The number of the attempt.
        attempt: u32,
        /// The result.
        report: Box<TrialReport>,
        /// The length of the archive.
        archive: u64,
    },
    /// The worker is there.
    Alive,
    /// The findings on its machine.
    Inspected(serde_json::Value),
}

/// A worker's first words, after its version.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Hello {
    /// The name of the node.
    pub node: String,
    /// The time there.
    pub now: Timestamp,
}

/// Sends a message, and the bytes that it announces.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Sends the bytes that a message has announced.
pub fn send_bytes(to: &mut impl Write, from: impl Read, length: u64) -> io::Result<()> {
    // Exactly as many: the file may have been changed.
    let mut exact = from.chain(io::repeat(0)).take(length);
    io::copy(&mut exact, to)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Receives the next message. Returns `None` where the other side has closed.
pub fn receive<M: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<M>> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let message = serde_json::from_slice(&line);
    Ok(Some(message.map_err(|error| {
        io::Error::other(format!("it sent a message that is not understood: {error}"))
    })?))
}

/// Reads the bytes that a message has announced. All of them are read, also where `read` fails.
pub fn receive_bytes<T>(
    from: &mut impl Read,
    length: u64,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<io::Result<T>> {
    let mut bytes = from.by_ref().take(length);
    let made = read(&mut bytes);
    io::copy(&mut bytes, &mut io::sink())?;
    let mut end = [0];
    from.read_exact(&mut end)?;
    match end {
        [b'\n'] => Ok(made),
        _ => Err(io::Error::other("its archive is longer than it said")),
    }
}

/// Says the greeting.
pub fn greet(to: &mut impl Write, version: &str, hello: &Hello) -> io::Result<()> {
    // On a line of its own: a shell may have said something that does not end its line.
    write!(to, "\n{GREETING} {version} ")?;
    send(to, hello)
}

/// Waits for the greeting, and skips what is said before it. Returns the version and the rest of its line, or the words
/// that were said instead.
pub fn await_greeting(from: &mut impl BufRead) -> io::Result<Result<(String, String), String>> {
    let mut from = from.take(MOST_CHATTER);
    let mut chatter = String::new();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if let Some(words) = text.trim().strip_prefix(GREETING) {
            let (version, rest) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
            return Ok(Ok((version.to_owned(), rest.to_owned())));
        }
        chatter += &text;
        line.clear();
    }
    Ok(Err(chatter.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_their_bytes_come_as_they_were_sent() {
        let mut wire = Vec::new();
        send(&mut wire, &vec!["a\nb", "c"]).unwrap();
        send_bytes(&mut wire, &b"12\n45 more"[..], 5).unwrap();
        send_bytes(&mut wire, &b"short"[..], 7).unwrap();
        let mut wire = &wire[..];
        let message: Vec<String> = receive(&mut wire).unwrap().unwrap();
        assert_eq!(message, ["a\nb", "c"]);
        let mut text = String::new();
        let read = |length, wire: &mut &[u8], text: &mut String| {
            receive_bytes(wire, length, |bytes| bytes.read_to_string(text)).unwrap()
        };
        read(5, &mut wire, &mut text).unwrap();
        read(7, &mut wire, &mut text).unwrap();
        assert_eq!(text, "12\n45short\0\0");
        assert!(receive::<()>(&mut wire).unwrap().is_none());
    }

    #[test]
    fn a_broken_message_is_an_error() {
        for broken in [&b"\"cut"[..], b"no json\n", b"\n"] {
            assert!(receive::<String>(&mut &*broken).is_err());
        }
        let mut longer = &b"1234\n"[..];
        assert!(receive_bytes(&mut longer, 2, |_| Ok(())).is_err());
    }

    #[test]
    fn chatter_before_the_greeting_is_skipped_and_kept() {
        let mut wire = &b"Welcome to n1\nterca-worker-speaks 1.2.3 {}\nmore"[..];
        let greeting = ("1.2.3".to_owned(), "{}".to_owned());
        assert_eq!(await_greeting(&mut wire).unwrap(), Ok(greeting));
        assert_eq!(wire, b"more");
        let mut wire = &b"sh: 1: terca: not found\n"[..];
        let words = "sh: 1: terca: not found".to_owned();
        assert_eq!(await_greeting(&mut wire).unwrap(), Err(words));
    }
}
