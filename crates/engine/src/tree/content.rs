//! The content of a file in pieces, holes left out.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, ftruncate, seek};
use rustix::io::Errno;

use crate::tree::error::TreeError;
use crate::tree::meta::Meta;
use crate::tree::os;

/// The largest piece between two looks at the interrupt.
const PIECE: u64 = 8 << 20;
/// Up to here a file is read and written at once.
const SMALL: u64 = 128 << 10;
/// Where the kernel cannot copy, pieces have this length.
const BUFFER: u64 = 1 << 20;
/// A hole in a file of this length saves nothing.
const BLOCK: u64 = 4096;

/// An error of the content: the system's, or the caller's own.
#[derive(Debug)]
pub(super) enum ContentError {
    System(std::io::Error),
    Own(TreeError),
}

impl From<std::io::Error> for ContentError {
    fn from(error: std::io::Error) -> Self {
        ContentError::System(error)
    }
}

impl From<Errno> for ContentError {
    fn from(errno: Errno) -> Self {
        ContentError::System(errno.into())
    }
}

impl From<TreeError> for ContentError {
    fn from(error: TreeError) -> Self {
        ContentError::Own(error)
    }
}

/// Returns the next stretch of data at or after an offset, as start and end.
pub(super) fn next_data(
    file: &File,
    offset: u64,
    size: u64,
) -> Result<Option<(u64, u64)>, ContentError> {
    if offset >= size {
        return Ok(None);
    }
    let start = match seek(file, SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // The file system knows no holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOTTY) => return Ok(Some((offset, size))),
        Err(errno) => return Err(errno.into()),
    };
    if start >= size {
        return Ok(None);
    }
    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size).min(size);
    Ok(Some((start, end.max(start + 1))))
}

/// Copies contents of files, and remembers what the file systems cannot do.
#[derive(Debug)]
pub(super) struct Copier {
    buffer: Vec<u8>,
    can_clone: bool,
    can_copy_in_kernel: bool,
}

impl Copier {
    pub fn new() -> Self {
        Copier {
            buffer: Vec::new(),
            can_clone: true,
            can_copy_in_kernel: true,
        }
    }

    /// Copies the content of a file to an empty one. `piece` is told the length of each piece of data before it
    /// is copied, and may end the copy.
    pub fn copy(
        &mut self,
        from: &File,
        to: &File,
        meta: &Meta,
        piece: &mut dyn FnMut(u64) -> Result<(), TreeError>,
    ) -> Result<(), ContentError> {
        if meta.size == 0 {
            return Ok(());
        }
        let has_holes = meta.size > BLOCK && meta.allocated < meta.size;
        if meta.size > SMALL || has_holes {
            if self.can_clone {
                match os::clone_content(from, to) {
                    Ok(()) => return Ok(piece(meta.allocated.min(meta.size))?),
                    Err(_) => self.can_clone = false,
                }
            }
            return self.copy_stretches(from, to, meta.size, piece);
        }
        piece(meta.size)?;
        // At most what was counted, though the file may grow meanwhile.
        self.buffer.resize(meta.size as usize, 0);
        let read = read_at(from, &mut self.buffer, 0)?;
        to.write_all_at(&self.buffer[..read], 0)?;
        Ok(())
    }

    fn copy_stretches(
        &mut self,
        from: &File,
        to: &File,
        size: u64,
        piece: &mut dyn FnMut(u64) -> Result<(), TreeError>,
    ) -> Result<(), ContentError> {
        let mut offset = 0;
        let mut written = 0;
        while let Some((start, end)) = next_data(from, offset, size)? {
            offset = start;
            while offset < end {
                let length = (end - offset).min(PIECE);
                piece(length)?;
                let copied = self.copy_piece(from, to, offset, length)?;
                // The file became shorter meanwhile.
                if copied == 0 {
                    return Ok(());
                }
                offset += copied;
                written = offset;
            }
        }
        // A hole at the end is no data, but part of the length.
        if written < size {
            piece(0)?;
            ftruncate(to, size)?;
        }
        Ok(())
    }

    fn copy_piece(
        &mut self,
        from: &File,
        to: &File,
        offset: u64,
        length: u64,
    ) -> Result<u64, ContentError> {
        while self.can_copy_in_kernel {
            match os::copy_bytes(from, to, offset, length as usize) {
                // Some file systems answer 0 though there is more.
                Ok(0) => break,
                Ok(copied) => return Ok(copied as u64),
                Err(Errno::INTR) => {}
                Err(Errno::NOSPC) => return Err(Errno::NOSPC.into()),
                Err(_) => self.can_copy_in_kernel = false,
            }
        }
        self.buffer.resize(length.min(BUFFER) as usize, 0);
        let read = read_at(from, &mut self.buffer, offset)?;
        to.write_all_at(&self.buffer[..read], offset)?;
        Ok(read as u64)
    }
}

/// Reads until the buffer is full or the file ends.
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns whether the copy of a file can share its blocks with the original. The copy must be empty.
pub fn can_share(from: &File, to: &File) -> bool {
    os::clone_content(from, to).is_ok()
}
