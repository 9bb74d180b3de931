//! The output of a running command: read while it is written, masked in whole lines, kept and shown.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::log::{RunLog, Stream};
use crate::process::output_file::Output;
use crate::process::tail::Tail;
use crate::tree::WithoutHoles;

/// The length of each end of a long output that the log shows.
const SHOWN: usize = 1024 * 1024;
/// The part of an output that is kept while it comes in.
const KEPT_AT_ONCE: usize = 16 * 1024 * 1024;
/// A longer line is passed on before it ends.
const LONG_LINE: usize = 64 * 1024;
const CHUNK: usize = 256 * 1024;

/// The output of a running command on its way to a file of the run and to `run.log`.
pub(super) struct LiveOutput<'a> {
    output: &'a Output,
    tail: Tail,
    passing: Passing,
}

struct Passing {
    masking: Masking,
    kept: Option<KeptFile>,
    log: Option<LogPart>,
    /// The log could not be written.
    failed: Option<io::Error>,
}

impl<'a> LiveOutput<'a> {
    /// Begins before the command starts, so that the file is the one which was made for it.
    pub(super) fn open(
        output: &'a Output,
        mask: &Mask,
        kept: Option<KeptFile>,
        log: Option<LogPart>,
    ) -> io::Result<Self> {
        Ok(LiveOutput {
            output,
            tail: Tail::new(File::open(&output.path)?),
            passing: Passing {
                masking: Masking::new(mask),
                kept,
                log,
                failed: None,
            },
        })
    }

    /// Passes on what is new, and hands it to `each` as it was printed. Returns whether there is more.
    pub(super) fn read(
        &mut self,
        log: &mut RunLog,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<bool> {
        let passing = &mut self.passing;
        self.tail.read(&mut |block| {
            each(block);
            passing.take(block, false, log);
        })
    }

    /// Passes on the rest.
    pub(super) fn finish(
        mut self,
        log: &mut RunLog,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        while self.read(log, each)? {}
        let mut passing = self.passing;
        passing.take(b"", true, log);
        if let Some(error) = passing.failed {
            return Err(error);
        }
        if let Some(part) = passing.log {
            part.finish(log)?;
        }
        match passing.kept {
            Some(kept) => kept.finish(self.output, self.tail.bytes, &passing.masking.mask),
            None => Ok(()),
        }
    }
}

impl Passing {
    fn take(&mut self, block: &[u8], is_end: bool, log: &mut RunLog) {
        let Passing {
            masking,
            kept,
            log: part,
            failed,
        } = self;
        masking.take(block, is_end, &mut |masked, has_secret| {
            if let Some(kept) = kept {
                kept.add(masked, has_secret);
            }
            if let Some(part) = part
                && let Err(error) = part.add(masked, log)
            {
                failed.get_or_insert(error);
            }
        });
    }
}

/// Masks what comes in blocks. A line is passed on when it is whole, because a secret may go on in the next block.
struct Masking {
    mask: Mask,
    held: Vec<u8>,
}

impl Masking {
    fn new(mask: &Mask) -> Self {
        Masking {
            mask: mask.clone(),
            held: Vec::new(),
        }
    }

    /// Hands on what is settled, and whether there was a secret in it.
    fn take(&mut self, block: &[u8], is_end: bool, on_masked: &mut dyn FnMut(&[u8], bool)) {
        let last_line = memchr::memrchr(b'\n', block).map(|end| self.held.len() + end + 1);
        self.held.extend_from_slice(block);
        let length = self.held.len();
        let settled = match last_line {
            _ if is_end => length,
            Some(end) => end,
            None if length > LONG_LINE => length.saturating_sub(self.mask.overlap()),
            None => 0,
        };
        if settled > 0 {
            let (masked, covered) = self.mask.bytes_up_to(&self.held, settled);
            on_masked(&masked, matches!(masked, Cow::Owned(_)));
            self.held.drain(..covered);
        }
    }
}

/// Writes all of a file with its secrets masked. Holes are no output, and are left out.
pub(super) fn copy_masked(from: &File, to: &mut impl Write, mask: &Mask) -> io::Result<()> {
    let mut masking = Masking::new(mask);
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = WithoutHoles(from).read(&mut chunk)?;
        let mut written = Ok(());
        masking.take(&chunk[..length], length == 0, &mut |masked, _| {
            written = to.write_all(masked);
        });
        written?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// Makes a file in the place of what has its name: an agent may have put a link there, which could lead anywhere.
pub(super) fn new_file(path: &Utf8Path) -> io::Result<File> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = File::options();
    options.read(true).write(true).create_new(true).open(path)
}

/// The file of a run that an output is kept in.
///
/// Its beginning is written while the output comes in, for people who watch and for a run that is killed. The whole takes its
/// place when the command has ended: moved, which costs nothing, or copied if a secret is in it. So an error in between is
/// no reason to stop the trial.
pub(super) struct KeptFile {
    path: Utf8PathBuf,
    live: Option<File>,
    room: usize,
    has_secret: bool,
}

impl KeptFile {
    pub(super) fn create(path: Utf8PathBuf) -> io::Result<Self> {
        Ok(KeptFile {
            live: Some(new_file(&path)?),
            path,
            room: KEPT_AT_ONCE,
            has_secret: false,
        })
    }

    fn add(&mut self, masked: &[u8], has_secret: bool) {
        self.has_secret |= has_secret;
        if let Some(file) = &mut self.live {
            let is_shown = masked.len() <= self.room && file.write_all(masked).is_ok();
            self.room = self.room.saturating_sub(masked.len());
            if !is_shown {
                self.live = None;
            }
        }
    }

    fn finish(self, output: &Output, bytes: u64, mask: &Mask) -> io::Result<()> {
        if !self.has_secret && output.move_to(&self.path, bytes)? {
            return Ok(());
        }
        copy_masked(output.rewound()?, &mut new_file(&self.path)?, mask)
    }
}

/// The part of an output that the log shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logged {
    /// All of it, because it is kept nowhere else.
    Whole,
    /// The beginning and the end of a long one.
    Ends,
}

/// An output in `run.log`: all of it, or its beginning as it comes in and its end when it is known.
#[derive(Debug)]
pub(super) struct LogPart {
    stream: Stream,
    /// The number of bytes that the log may still show of the beginning.
    room: usize,
    /// The end of a long output.
    last: VecDeque<u8>,
    left_out: u64,
}

impl LogPart {
    pub(super) fn new(stream: Stream, logged: Logged) -> Self {
        LogPart {
            stream,
            room: match logged {
                Logged::Whole => usize::MAX,
                Logged::Ends => SHOWN,
            },
            last: VecDeque::new(),
            left_out: 0,
        }
    }

    /// Adds masked bytes.
    pub(super) fn add(&mut self, bytes: &[u8], log: &mut RunLog) -> io::Result<()> {
        let (first, rest) = bytes.split_at(bytes.len().min(self.room));
        self.room -= first.len();
        let too_many = (self.last.len() + rest.len()).saturating_sub(SHOWN);
        self.left_out += too_many as u64;
        self.last.drain(..too_many.min(self.last.len()));
        self.last.extend(&rest[rest.len().saturating_sub(SHOWN)..]);
        log.raw(self.stream, first)
    }

    pub(super) fn finish(mut self, log: &mut RunLog) -> io::Result<()> {
        if self.left_out > 0 {
            let left_out = prose::compact(self.left_out);
            log.line(&format!("… {left_out} bytes left out …"))?;
        }
        log.raw(self.stream, self.last.make_contiguous())?;
        log.end_line()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

    fn passed(stream: &[u8], mask: &Mask, block: usize) -> (Vec<Vec<u8>>, bool) {
        let mut masking = Masking::new(mask);
        let (mut passed, mut found) = (Vec::new(), false);
        let mut on_masked = |masked: &[u8], has_secret: bool| {
            passed.push(masked.to_vec());
            found |= has_secret;
        };
        for block in stream.chunks(block) {
            masking.take(block, false, &mut on_masked);
        }
        masking.take(b"", true, &mut on_masked);
        (passed, found)
    }

    #[test]
    fn a_secret_is_masked_however_the_output_is_cut() {
        let mask = Mask::new([KEY, "correct horse", "correct horse battery"]);
        let stream = format!(
            "first\n{KEY}\n{{\"k\":\"{KEY}\"}}\nsay correct horse battery now\n{}{KEY}last",
            "x".repeat(2 * LONG_LINE)
        );
        let expected = stream
            .replace(KEY, "***")
            .replace("correct horse battery", "***");
        for block in (1..60).chain(LONG_LINE - 50..LONG_LINE + 50) {
            let (passed, found) = passed(stream.as_bytes(), &mask, block);
            assert!(passed.concat() == expected.as_bytes(), "{block}");
            assert!(found);
        }
        assert!(!passed(b"sk-ant-\nand so on", &mask, 3).1);
    }

    #[test]
    fn a_line_is_passed_on_when_it_has_ended_and_a_long_one_before() {
        let mask = Mask::new([KEY]);
        let (lines, _) = passed(b"one\ntwo", &mask, 1);
        assert_eq!(lines, [&b"one\n"[..], b"two"]);
        let mut masking = Masking::new(&mask);
        masking.take(&vec![b'x'; 2 * LONG_LINE], false, &mut |masked, _| {
            assert_eq!(masked.len(), 2 * LONG_LINE - mask.overlap());
        });
        assert_eq!(masking.held.len(), mask.overlap());
    }

    #[test]
    fn a_full_disk_ends_the_live_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let output = Output::create(dir).unwrap();
        std::fs::write(&output.path, "one\ntwo").unwrap();
        let log_file = tempfile::tempfile().unwrap();
        let mut log = RunLog::new(log_file.try_clone().unwrap(), &Mask::default());
        let mut kept = KeptFile::create(dir.join("kept")).unwrap();
        kept.live = Some(File::options().write(true).open("/dev/full").unwrap());
        let part = LogPart::new(Stream::Out, Logged::Ends);
        let mut live = LiveOutput::open(&output, &Mask::default(), Some(kept), Some(part)).unwrap();
        live.read(&mut log, &mut |_| {}).unwrap();
        assert!(live.passing.kept.as_ref().unwrap().live.is_none());
        live.finish(&mut log, &mut |_| {}).unwrap();
        let mut text = [0; 8];
        log_file.read_exact_at(&mut text, 0).unwrap();
        assert_eq!(&text, b"one\ntwo\n");
        assert_eq!(
            std::fs::read_to_string(dir.join("kept")).unwrap(),
            "one\ntwo"
        );
    }

    #[test]
    fn of_a_flood_the_kept_file_has_everything_and_the_log_its_ends() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let mask = Mask::new([KEY]);
        for end in ["the end\n".to_owned(), format!("{KEY}\n")] {
            let flood = format!("{}{end}", "0123456\n".repeat(KEPT_AT_ONCE / 8));
            let output = Output::create(dir).unwrap();
            std::fs::write(&output.path, &flood).unwrap();
            let log_file = tempfile::tempfile().unwrap();
            let mut log = RunLog::new(log_file.try_clone().unwrap(), &mask);
            let kept = KeptFile::create(dir.join("kept")).unwrap();
            let part = LogPart::new(Stream::Out, Logged::Ends);
            let live = LiveOutput::open(&output, &mask, Some(kept), Some(part)).unwrap();
            live.finish(&mut log, &mut |_| {}).unwrap();
            let kept = std::fs::read_to_string(dir.join("kept")).unwrap();
            assert!(kept == flood.replace(KEY, "***"), "{end}");
            let left_out = "… 14.7M bytes left out …\n".len();
            assert_eq!(
                log_file.metadata().unwrap().len() as usize,
                2 * SHOWN + left_out
            );
        }
    }
}
