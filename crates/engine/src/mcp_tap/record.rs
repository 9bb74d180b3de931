//! The record of a tap: a file that it appends to, and that Terca reads when the agent has ended.
//!
//! An agent can write there, too. Nothing in a record is trusted, and no more of it is read than a tap writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use terca_core::agent::RawLine;
use terca_core::agent::mcp::McpServer;
use terca_core::mcp_tap::{Conversation, ServerRecord, Side, TapLine};
use terca_core::process::Exit;
use terca_core::text::mask::Mask;

use super::TAP;
use crate::process::tail::Lines;
use crate::tree::Dir;

/// The most bytes of the records of a trial.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// The most taps of a trial. An agent that starts more is out of its mind, or wants Terca to be.
const MOST_TAPS: usize = 200;
/// The most files that are listed.
const MOST_FILES: u64 = 100_000;

/// A line of a record.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TapNote {
    /// The time, in milliseconds since 1970.
    at_ms: u64,
    seen: SeenByTap,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum SeenByTap {
    /// The first note: the server is about to be started.
    Start { server: String },
    /// A line of one side.
    Line {
        from: Side,
        /// The line, or its beginning.
        text: String,
        /// The length of the line.
        bytes: u64,
        is_whole: bool,
    },
    /// The last note: the server has ended.
    End {
        exit: Exit,
        /// True if nobody had asked it to end.
        by_itself: bool,
    },
}

/// Writes a record. A server goes on without one that cannot be written.
#[derive(Clone)]
pub(super) struct Recorder {
    /// The file and the bytes that it has room for; `None` if nothing more is written.
    file: Arc<Mutex<Option<(File, u64)>>>,
}

impl Recorder {
    /// Begins a record in the directory of a trial's records.
    pub(super) fn begin(dir: &Utf8Path, server: &str) -> Self {
        let name = format!("{:016}-{:016x}", now(), fastrand::u64(..));
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(dir.join(name));
        let file = file.ok().map(|file| (file, MOST_BYTES));
        let recorder = Recorder {
            file: Arc::new(Mutex::new(file)),
        };
        let server = server.to_owned();
        recorder.note(SeenByTap::Start { server });
        recorder
    }

    /// Returns the copier of one side.
    pub(super) fn side(&self, from: Side) -> SideRecorder {
        SideRecorder {
            recorder: self.clone(),
            from,
            lines: Lines::default(),
        }
    }

    fn line(&self, from: Side, line: RawLine<'_>) {
        if line.bytes > 0 {
            self.note(SeenByTap::Line {
                from,
                text: String::from_utf8_lossy(line.text).into_owned(),
                bytes: line.bytes,
                is_whole: line.bytes == line.text.len() as u64,
            });
        }
    }

    /// Notes the end of the server, after which nothing follows.
    pub(super) fn end(&self, exit: Exit, by_itself: bool) {
        self.note(SeenByTap::End { exit, by_itself });
    }

    fn note(&self, seen: SeenByTap) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((out, room)) = &mut *file else {
            return;
        };
        let line = serde_json::to_vec(&TapNote { at_ms: now(), seen });
        let mut line = line.unwrap_or_default();
        line.push(b'\n');
        let left = room.checked_sub(line.len() as u64);
        match left.filter(|_| out.write_all(&line).is_ok()) {
            Some(left) => *room = left,
            None => *file = None,
        }
    }
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0)
}

/// Writes the lines of one side. No more than the beginning of a long line is held.
pub(super) struct SideRecorder {
    recorder: Recorder,
    from: Side,
    lines: Lines,
}

impl SideRecorder {
    /// Copies bytes. Called before they are passed on, so that a request comes before its answer.
    pub(super) fn copy(&mut self, bytes: &[u8]) {
        let (recorder, from) = (&self.recorder, self.from);
        self.lines
            .feed(bytes, &mut |line| recorder.line(from, line));
    }

    /// Writes the last line, which may have no end.
    pub(super) fn end(&mut self) {
        let (recorder, from) = (&self.recorder, self.from);
        std::mem::take(&mut self.lines).finish(&mut |line| recorder.line(from, line));
    }
}

/// The taps of a trial's servers that are programs.
#[derive(Debug)]
pub struct Tap {
    /// The directory of the records.
    dir: Utf8PathBuf,
    servers: Vec<String>,
    began: u64,
}

/// The things that the taps of a trial saw.
#[derive(Debug, Default)]
pub struct Tapped {
    /// The servers that have a tap, by name.
    pub servers: BTreeMap<String, ServerRecord>,
    /// There were more taps than are read.
    pub has_too_many: bool,
}

impl Tap {
    /// Puts a tap in the place of each server that is a program. The records are in `dir`, which agents can reach.
    pub fn open(
        dir: &Utf8Path,
        program: &Utf8Path,
        servers: &mut [(String, McpServer<String>)],
        hide_tools: &BTreeMap<String, Vec<String>>,
    ) -> io::Result<Self> {
        let dir = dir.join(format!("mcp-{:016x}", fastrand::u64(..)));
        fs_err::create_dir(&dir)?;
        let mut names = Vec::new();
        for (name, server) in servers {
            if let McpServer::Stdio { command, args, .. } = server {
                let own = std::mem::replace(command, program.to_string());
                let hidden = hide_tools.get(name).map_or(&[][..], Vec::as_slice);
                let number = hidden.len().to_string();
                let mut first = vec![TAP.to_owned(), dir.to_string(), name.clone(), number];
                first.extend_from_slice(hidden);
                first.push(own);
                args.splice(0..0, first);
                names.push(name.clone());
            }
        }
        Ok(Tap {
            dir,
            servers: names,
            began: now(),
        })
    }

    /// Reads the records. Every process of the agent must have ended.
    pub fn close(self, mask: &Mask) -> Tapped {
        let named = self.servers.iter();
        let mut tapped = Tapped {
            servers: named
                .map(|name| (name.clone(), Default::default()))
                .collect(),
            has_too_many: false,
        };
        // An agent that has removed the directory has no record.
        let Ok(dir) = Dir::open_no_link(&self.dir) else {
            return tapped;
        };
        let mut names = dir.names(MOST_FILES).unwrap_or_default();
        tapped.has_too_many = names.len() > MOST_TAPS;
        names.truncate(MOST_TAPS);
        let mut left = MOST_BYTES;
        // By their names they are in the order of their starts.
        for name in names {
            let Ok(file) = dir.open_file(&name) else {
                continue;
            };
            let size = file.metadata().map_or(0, |meta| meta.len());
            tapped.has_too_many |= size > left;
            let mut notes = BufReader::new(file.take(left));
            left = left.saturating_sub(size);
            self.read(&mut notes, &mut tapped.servers, mask);
        }
        for server in tapped.servers.values_mut() {
            server.events.sort_by_key(|event| event.at_ms);
        }
        tapped
    }

    /// Reads the record of one tap to its end, or to what is no note.
    fn read(
        &self,
        notes: &mut impl BufRead,
        servers: &mut BTreeMap<String, ServerRecord>,
        mask: &Mask,
    ) {
        let Some(first) = next_note(notes) else {
            return;
        };
        let SeenByTap::Start { server } = first.seen else {
            return;
        };
        let Some(record) = servers.get_mut(&server) else {
            return;
        };
        record.now_ms = first.at_ms.saturating_sub(self.began);
        let mut conversation = Conversation::begin(record);
        while let Some(note) = next_note(notes) {
            record.now_ms = note.at_ms.saturating_sub(self.began);
            match note.seen {
                SeenByTap::Start { .. } => break,
                SeenByTap::Line {
                    from,
                    text,
                    bytes,
                    is_whole,
                } => {
                    let line = TapLine {
                        text: &mask.keys_in(&text),
                        bytes,
                        is_whole,
                    };
                    conversation.line(from, line, &[], record);
                }
                SeenByTap::End { exit, by_itself } => {
                    return conversation.finish(Some(exit), by_itself, record);
                }
            }
        }
        conversation.finish(None, false, record);
    }
}

fn next_note(notes: &mut impl BufRead) -> Option<TapNote> {
    let mut line = Vec::new();
    notes.read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-a1b2c3d4e5f6g7h8i9";

    /// Opens the tap of a server, lets something write to its records, and reads them.
    fn tapped(write: impl FnOnce(&Utf8Path)) -> Tapped {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let server = McpServer::Stdio {
            command: "docs-server".to_owned(),
            args: vec!["--fast".to_owned()],
            env: Vec::new(),
            cwd: None,
        };
        let mut servers = [("docs".to_owned(), server)];
        let hidden = BTreeMap::from([("docs".to_owned(), vec!["search".to_owned()])]);
        let tap = Tap::open(dir, "/terca".into(), &mut servers, &hidden).unwrap();
        let McpServer::Stdio { command, args, .. } = &servers[0].1 else {
            panic!("{servers:?}")
        };
        assert_eq!(command, "/terca");
        assert_eq!(
            args[2..],
            ["docs", "1", "search", "docs-server", "--fast"].map(str::to_owned)
        );
        write(&tap.dir);
        tap.close(&Mask::new([KEY]))
    }

    fn call(recorder: &Recorder) {
        let call = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"look","arguments":"{KEY}"}}}}"#
        );
        let mut side = recorder.side(Side::Agent);
        // In pieces of any length.
        for byte in call.as_bytes() {
            side.copy(&[*byte]);
        }
        side.copy(b"\n\n\xff\xfe");
        side.end();
    }

    #[test]
    fn the_talk_of_a_tap_is_kept_without_keys() {
        let tapped = tapped(|dir| {
            let recorder = Recorder::begin(dir, "docs");
            call(&recorder);
            recorder.end(Exit::Code(3), true);
            // This one was killed.
            call(&Recorder::begin(dir, "docs"));
        });
        let server = &tapped.servers["docs"];
        let look = &server.figures.tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (2, 1, 1));
        assert_eq!(server.figures.starts, 2);
        assert_eq!(server.figures.lines_not_protocol, 2);
        assert_eq!(server.figures.deaths, ["exit status 3"]);
        assert!(!format!("{:?}", server.events).contains("sk-a1b2"));
    }

    #[test]
    fn nonsense_in_a_record_is_passed_over() {
        let tapped = tapped(|dir| {
            call(&Recorder::begin(dir, "other"));
            fs_err::write(dir.join("a"), "nonsense\n").unwrap();
            fs_err::write(dir.join("b"), [0xff; 100]).unwrap();
            fs_err::write(dir.join("c"), "").unwrap();
            fs_err::create_dir(dir.join("d")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", dir.join("e")).unwrap();
            let endless = File::create(dir.join("f")).unwrap();
            endless.set_len(MOST_BYTES / 64).unwrap();
            for number in 0..2 * MOST_TAPS {
                fs_err::write(dir.join(format!("g{number}")), "{}\n").unwrap();
            }
        });
        assert!(tapped.has_too_many);
        assert_eq!(tapped.servers.len(), 1);
        assert_eq!(tapped.servers["docs"], ServerRecord::default());
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_its_beginning() {
        let tapped = tapped(|dir| {
            let mut side = Recorder::begin(dir, "docs").side(Side::Agent);
            let chunk = vec![b'x'; 1024 * 1024];
            for _ in 0..100 {
                side.copy(&chunk);
            }
            side.copy(b"\n");
        });
        assert!(format!("{:?}", tapped.servers["docs"].events).contains("104857600"));
    }
}
