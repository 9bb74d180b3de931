//! Terca's end of the taps of a trial: listens to them, and keeps what they saw.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, PipeWriter, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, poll};
use terca_core::agent::mcp::McpServer;
use terca_core::mcp_tap::{Conversation, ServerTap, TapEvent, TapEventKind, TapLine};
use terca_core::text::mask::Mask;

use super::message::{Hello, LONGEST, Message, WELCOME};
use super::{HIDING_TAP, TAP, TapProgram};
use crate::process::socket;

/// The longest wait for the first message of a tap.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most taps of a trial. An agent that starts more is out of its mind, or wants Terca to be.
const MOST_TAPS: usize = 200;
/// The most events of a server that are kept.
const MOST_EVENTS: usize = 5000;
/// The size of the events of a server from which on no more are kept.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The taps of a trial's servers, while its agent runs.
pub struct Tap {
    path: Utf8PathBuf,
    program: Utf8PathBuf,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    /// Closed when no further tap is expected.
    wake: Option<PipeWriter>,
}

impl fmt::Debug for Tap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// The things that the taps of a trial saw.
#[derive(Debug, Default)]
pub struct Tapped {
    /// The servers that have a tap, by name.
    pub servers: BTreeMap<String, TappedServer>,
    /// True if something that is no tap has tried to write to the record.
    pub has_strangers: bool,
    /// There were more taps than are read.
    pub has_too_many: bool,
}

/// The things that the taps of a server saw.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TappedServer {
    /// The figures.
    pub figures: ServerTap,
    /// The events, in the order in which they came in.
    pub events: Vec<TapEvent>,
    bytes: usize,
}

struct Shared {
    began: Instant,
    mask: Mask,
    /// What the tap of each server says first, by the server's name.
    hellos: BTreeMap<String, Hello>,
    /// The identity of Terca's program.
    program: Option<(u64, u64)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tapped: Tapped,
    taps: Vec<(UnixStream, JoinHandle<()>)>,
}

impl Tap {
    /// Makes a socket in `dir`, which agents can reach, and listens to it. Returns `None` if no server is a program.
    pub fn open(
        dir: &Utf8Path,
        servers: &[(String, McpServer<String>)],
        hide_tools: &BTreeMap<String, Vec<String>>,
        program: &TapProgram,
        mask: &Mask,
    ) -> io::Result<Option<Self>> {
        let mut hellos = BTreeMap::new();
        for (name, server) in servers {
            if let McpServer::Stdio { command, args, .. } = server {
                let words = [command].into_iter().chain(args).cloned();
                let hello = Hello {
                    server: name.clone(),
                    command: words.collect(),
                    hidden: hide_tools.get(name).cloned().unwrap_or_default(),
                };
                hellos.insert(name.clone(), hello);
            }
        }
        if hellos.is_empty() {
            return Ok(None);
        }
        let path = dir.join(format!("mcp-{:016x}", fastrand::u64(..)));
        let listener = socket::listen(&path)?;
        listener.set_nonblocking(true)?;
        let tapped = Tapped {
            servers: hellos
                .keys()
                .map(|name| (name.clone(), TappedServer::default()))
                .collect(),
            ..Tapped::default()
        };
        let shared = Arc::new(Shared {
            began: Instant::now(),
            mask: mask.clone(),
            hellos,
            program: identity(program.file.as_str()),
            state: Mutex::new(State {
                tapped,
                ..State::default()
            }),
        });
        let (woken, wake) = io::pipe()?;
        let woken = OwnedFd::from(woken);
        let accepted = shared.clone();
        let accepting = std::thread::Builder::new()
            .name("mcp taps".to_owned())
            .spawn(move || accept(&listener, &woken, &accepted))?;
        Ok(Some(Tap {
            path,
            program: program.path.clone(),
            shared,
            accepting: Some(accepting),
            wake: Some(wake),
        }))
    }

    /// Returns the servers as the agent is given them: a tap in the place of each program.
    pub fn in_place_of(
        &self,
        servers: &[(String, McpServer<String>)],
    ) -> Vec<(String, McpServer<String>)> {
        let mut tapped = servers.to_vec();
        for (name, server) in &mut tapped {
            if let McpServer::Stdio { command, args, .. } = server {
                let own = std::mem::replace(command, self.program.to_string());
                let hidden = match self.shared.hellos.get(name) {
                    Some(hello) => hello.hidden.as_slice(),
                    None => &[],
                };
                let mut first = vec![TAP.to_owned(), self.path.to_string(), name.clone()];
                if !hidden.is_empty() {
                    HIDING_TAP.clone_into(&mut first[0]);
                    first.push(hidden.len().to_string());
                    first.extend_from_slice(hidden);
                }
                first.push(own);
                args.splice(0..0, first);
            }
        }
        tapped
    }

    /// Reads the rest of what the taps have sent. Every process of the agent must have ended.
    pub fn close(mut self) -> Tapped {
        self.stop();
        std::mem::take(&mut self.shared.state().tapped)
    }

    fn stop(&mut self) {
        self.wake.take();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let taps = std::mem::take(&mut self.shared.state().taps);
        for (stream, reading) in taps {
            // What has arrived can still be read; nothing more arrives.
            let _ = stream.shutdown(Shutdown::Read);
            let _ = reading.join();
        }
        let _ = fs_err::remove_file(&self.path);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Accepts taps until the pipe is closed, and then those that are still waiting.
fn accept(listener: &UnixListener, woken: &OwnedFd, shared: &Arc<Shared>) {
    loop {
        let mut files = [
            PollFd::new(listener, PollFlags::IN),
            PollFd::new(woken, PollFlags::IN),
        ];
        let waited = poll(&mut files, None);
        let is_last = waited.is_err_and(|error| error != rustix::io::Errno::INTR)
            || !files[1].revents().is_empty();
        while let Ok((stream, _)) = listener.accept() {
            // One that cannot be read is closed, and its server works without a record.
            let _ = take_in(stream, shared);
        }
        if is_last {
            return;
        }
    }
}

fn take_in(stream: UnixStream, shared: &Arc<Shared>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let mut state = shared.state();
    if state.taps.len() >= MOST_TAPS {
        state.tapped.has_too_many = true;
        return Err(io::ErrorKind::QuotaExceeded.into());
    }
    let other = stream.try_clone()?;
    let reader = shared.clone();
    let reading = std::thread::Builder::new().spawn(move || {
        // A connection that breaks off is one whose tap was killed.
        let _ = reader.read(other);
    })?;
    state.taps.push((stream, reading));
    Ok(())
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Reads what a tap sends, to its end.
    fn read(&self, stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let is_known = self
            .program
            .is_none_or(|own| program_at(&stream) == Some(own));
        let mut reader = BufReader::with_capacity(64 * 1024, stream);
        let hello = Message::read(&mut reader).ok().filter(|_| is_known);
        let Some(name) = hello.and_then(|hello| self.server_of(hello)) else {
            self.state().tapped.has_strangers = true;
            // A tap for another command works without a record, and must not wait for an answer.
            return reader.get_ref().shutdown(Shutdown::Both);
        };
        let started_at = self.now();
        let conversation = {
            let mut state = self.state();
            let server = state.tapped.servers.entry(name.clone()).or_default();
            let start = u32::try_from(server.figures.starts).unwrap_or(u32::MAX - 1) + 1;
            let conversation = Conversation::new(start);
            server.add([conversation.started(started_at)]);
            conversation
        };
        reader.get_mut().write_all(&[WELCOME])?;
        reader.get_ref().set_read_timeout(None)?;
        self.read_talk(&mut reader, &name, conversation, started_at);
        Ok(())
    }

    fn read_talk(
        &self,
        reader: &mut BufReader<UnixStream>,
        name: &str,
        mut conversation: Conversation,
        started_at: u64,
    ) {
        while let Ok(message) = Message::read(reader) {
            let (from, at_ms, text, bytes) = match message {
                Message::Line {
                    from,
                    at_ms,
                    beginning,
                    bytes,
                } => (from, started_at.saturating_add(at_ms), beginning, bytes),
                Message::Goodbye {
                    at_ms,
                    exit,
                    by_itself,
                } => {
                    let at_ms = started_at.saturating_add(at_ms);
                    self.add(name, conversation.finish(at_ms, Some(exit), by_itself));
                    return;
                }
                Message::Hello(_) => break,
            };
            let text = self.mask.keys_in(&text);
            let line = if bytes > LONGEST as u64 {
                TapLine::TooLong {
                    beginning: &text,
                    bytes,
                }
            } else {
                TapLine::Whole(&text)
            };
            let events = conversation.line(from, at_ms, line);
            self.add(name, events);
        }
        self.add(name, conversation.finish(self.now(), None, false));
    }

    /// Returns the server that a tap says it is for, if it starts that server's command and hides the same tools.
    fn server_of(&self, message: Message) -> Option<String> {
        let Message::Hello(hello) = message else {
            return None;
        };
        let expected = self.hellos.get(&hello.server)?;
        (*expected == hello).then_some(hello.server)
    }

    fn add(&self, name: &str, events: Vec<TapEvent>) {
        if events.is_empty() {
            return;
        }
        if let Some(server) = self.state().tapped.servers.get_mut(name) {
            server.add(events);
        }
    }
}

impl TappedServer {
    pub(super) fn add(&mut self, events: impl IntoIterator<Item = TapEvent>) {
        for event in events {
            self.figures.add(&event);
            let is_full = self.events.len() >= MOST_EVENTS || self.bytes >= MOST_BYTES;
            let is_end = matches!(event.kind, TapEventKind::Ended { .. });
            if !is_full || is_end {
                self.bytes += serde_json::to_string(&event).map_or(0, |text| text.len());
                self.events.push(event);
            } else if !matches!(
                self.events.last(),
                Some(TapEvent {
                    kind: TapEventKind::LeftOut,
                    ..
                })
            ) {
                self.events.push(TapEvent {
                    kind: TapEventKind::LeftOut,
                    ..event
                });
            }
        }
    }
}

/// Returns the identity of a file.
fn identity(path: &str) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    if !cfg!(target_os = "linux") {
        return None;
    }
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Returns the identity of the program that has connected.
#[cfg(target_os = "linux")]
fn program_at(stream: &UnixStream) -> Option<(u64, u64)> {
    let credentials = rustix::net::sockopt::socket_peercred(stream.as_fd()).ok()?;
    identity(&format!("/proc/{}/exe", credentials.pid))
}

#[cfg(not(target_os = "linux"))]
fn program_at(stream: &UnixStream) -> Option<(u64, u64)> {
    let _ = stream.as_fd();
    None
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::mcp_tap::message::Recorder;
    use terca_core::mcp_tap::Side;
    use terca_core::process::Exit;

    const COMMAND: [&str; 2] = ["docs-server", "--fast"];

    /// Opens the tap of a server for a program, and talks to it from this process. Returns what it saw.
    fn talk(program: &str, server: &str, command: &[&str], hidden: &[&str]) -> Tapped {
        let dir = tempfile::tempdir().unwrap();
        let server_of_suite = McpServer::Stdio {
            command: COMMAND[0].to_owned(),
            args: vec![COMMAND[1].to_owned()],
            env: Vec::new(),
            cwd: None,
        };
        let servers = [("docs".to_owned(), server_of_suite)];
        let program = TapProgram {
            path: program.into(),
            file: program.into(),
        };
        let mask = Mask::new(["sk-a1b2c3d4e5f6g7h8i9"]);
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let hide_tools = BTreeMap::from([("docs".to_owned(), owned(&["search"]))]);
        let tap = Tap::open(dir, &servers, &hide_tools, &program, &mask);
        let tap = tap.unwrap().unwrap();
        let hello = Hello {
            server: server.to_owned(),
            command: owned(command),
            hidden: owned(hidden),
        };
        let recorder = Recorder::connect(&tap.path, hello);
        let call = r#"{"id":1,"method":"tools/call","params":{"name":"look","arguments":"sk-a1b2c3d4e5f6g7h8i9"}}"#;
        let mut side = recorder.side(Side::Agent);
        side.copy(call.as_bytes());
        side.copy(b"\n\xff\xfe\n");
        recorder.end(Exit::Code(3), true);
        tap.close()
    }

    fn this_program() -> String {
        let path = std::env::current_exe().unwrap();
        path.into_os_string().into_string().unwrap()
    }

    #[test]
    fn the_talk_of_a_tap_is_kept_without_keys() {
        let tapped = talk(&this_program(), "docs", &COMMAND, &["search"]);
        assert!(!tapped.has_strangers);
        let server = &tapped.servers["docs"];
        assert_eq!(server.figures.tools["look"].errors, 1);
        assert_eq!(server.figures.lines_not_protocol, 1);
        assert_eq!(server.figures.deaths, ["exit status 3"]);
        assert!(!format!("{:?}", server.events).contains("sk-a1b2"));
    }

    #[test]
    fn nobody_else_is_believed() {
        for (program, server, command, hidden) in [
            ("/bin/sh", "docs", &COMMAND[..], &["search"][..]),
            (&this_program(), "other", &COMMAND, &["search"]),
            (&this_program(), "docs", &["forged-server"], &["search"]),
            (&this_program(), "docs", &[], &["search"]),
            (&this_program(), "docs", &COMMAND, &[]),
        ] {
            let tapped = talk(program, server, command, hidden);
            assert!(tapped.has_strangers, "{program} {server} {command:?}");
            assert_eq!(tapped.servers["docs"], TappedServer::default());
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut server = TappedServer::default();
        let started = Conversation::new(1).started(0);
        for _ in 0..2 * MOST_EVENTS {
            server.add([started.clone()]);
        }
        server.add(Conversation::new(1).finish(1, None, false));
        assert_eq!(server.figures.starts, 2 * MOST_EVENTS as u64);
        assert_eq!(server.events.len(), MOST_EVENTS + 2);
    }
}
