//! The files of a run: how they are opened, and how one is replaced.
//!
//! A run may come from somebody else, and an agent may have changed it. So a run's directory is opened first, and its files
//! are opened beneath it: no link is followed, and nothing waits for a pipe.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use crate::tree::{Dir, Options, TreeError};

/// The journal.
pub const EVENTS: &str = "events.jsonl";
/// The results, for other programs.
pub const RESULTS: &str = "results.json";
/// The settings and the plan.
pub const RUN: &str = "run.json";
/// Earlier results, where the tests have run again.
pub const GRADINGS: &str = "gradings";

/// A larger `run.json` is not read: that of a million trials has a third of it.
pub(super) const LARGEST_RUN_FILE: u64 = 1 << 30;
/// A larger journal is not read: that of a million trials has a part of it.
pub(super) const LARGEST_JOURNAL: u64 = 8 << 30;
/// Larger results are not read.
pub(super) const LARGEST_RESULTS: u64 = 4 << 30;

/// The size of the pieces in which long files are read and written.
pub(super) const PIECE: usize = 256 * 1024;

/// The permissions of new files and directories, before the user's own mask.
pub(super) const FILE_MODE: u32 = 0o666;
pub(super) const DIR_MODE: u32 = 0o777;

/// Returns the directory of a suite's runs.
pub fn runs_dir(suite_dir: &Utf8Path) -> Utf8PathBuf {
    suite_dir.join(".terca/runs")
}

/// Opens the directory of a run, which must not be a link.
pub fn open_run(dir: &Utf8Path) -> Result<Dir, TreeError> {
    // A slash at the end would make the kernel follow a link.
    let dir: Utf8PathBuf = dir.components().collect();
    Dir::open_no_link(&dir)
}

/// Returns the reason of an error, for a message that names the path by itself.
pub(super) fn reason(error: TreeError) -> io::Error {
    match error {
        TreeError::Io { source, .. } => source,
        other => other.into(),
    }
}

/// Writes a document as its file has it. Nothing of its text is kept, which may be longer than the document itself.
pub(super) fn write_document(
    document: &impl serde::Serialize,
    mut to: impl Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, document)?;
    to.write_all(b"\n")
}

/// Tells whether a file has nothing but this document, as it is written.
pub(super) fn has_document(file: impl BufRead, document: &impl serde::Serialize) -> bool {
    let mut compared = Compared(file);
    let is_beginning = write_document(document, &mut compared).is_ok();
    is_beginning && compared.0.fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// Takes what is written if it is what comes next in a file, and fails otherwise.
struct Compared<R>(R);

impl<R: BufRead> Write for Compared<R> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let found = self.0.fill_buf()?;
        let length = found.len().min(text.len());
        if length == 0 && !text.is_empty() || found[..length] != text[..length] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.0.consume(length);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the end of a file, of so many bytes at most.
pub(crate) fn end_of(mut file: File, most: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    next_of(&mut file, most)
}

/// Returns the next part of a file, of so many bytes at most.
pub(super) fn next_of(file: &mut File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Replaces a file atomically: a reader finds either the old content or the new one, never a part, even after a power cut.
pub(super) fn replace(
    dir: &Dir,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let new = format!(".{name}.new");
    // One that a killed Terca left, or that somebody put there. What could not be removed is in the way of the next call.
    let _removed = dir.remove_tree(&new, &Options::default())?;
    let mut file = BufWriter::with_capacity(PIECE, dir.create_file(&new, FILE_MODE)?);
    write(&mut file)?;
    sync(file.into_inner().map_err(io::IntoInnerError::into_error)?)?;
    dir.rename(&new, name)?;
    Ok(())
}

/// Waits until what was written is on the disk, or the names in a directory. A file system that cannot say so is no reason
/// to stop.
pub(super) fn sync(file: impl AsFd) -> io::Result<()> {
    match rustix::fs::fsync(file) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        answer => Ok(answer?),
    }
}
