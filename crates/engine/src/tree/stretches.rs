//! The content of a file with holes, for a parcel: stretches of data, each after its place and its length.
//!
//! The last one has no data, and its place is the length of the file. So a file of a terabyte with nothing in it takes a
//! few bytes, on the way and where it is unpacked.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use crate::tree::Meta;
use crate::tree::copy::next_data;

/// A hole in a file of this length saves nothing.
const SMALL: u64 = 1 << 16;
/// The bytes before the data of a stretch.
const HEAD: u64 = 16;
/// No file system has longer files.
const LONGEST: u64 = 1 << 60;

/// Returns whether a file takes far less than its length.
pub(super) fn has_holes(meta: &Meta) -> bool {
    meta.size > SMALL && meta.allocated < meta.size / 2
}

/// The stretches of a file, as they are sent.
#[derive(Debug)]
pub(super) struct Stretches<'a> {
    file: &'a File,
    /// The places and lengths that are left to send, the next one last.
    left: Vec<(u64, u64)>,
    /// The rest of the head of a stretch.
    head: Vec<u8>,
    /// The place of the data, and the bytes that are left of it.
    data: (u64, u64),
}

impl<'a> Stretches<'a> {
    /// Looks for the stretches of a file that is as long as `size`.
    pub(super) fn of(file: &'a File, size: u64) -> io::Result<Self> {
        let mut left = Vec::new();
        let mut offset = 0;
        loop {
            let next = next_data(file, offset, size)?;
            let Some((start, end)) = next else {
                break;
            };
            left.push((start, end - start));
            offset = end;
        }
        left.push((size, 0));
        left.reverse();
        Ok(Stretches {
            file,
            left,
            head: Vec::new(),
            data: (0, 0),
        })
    }

    /// Returns the bytes that it has.
    pub(super) fn length(&self) -> u64 {
        self.left.iter().map(|(_, length)| HEAD + length).sum()
    }
}

impl Read for Stretches<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.head.is_empty() && self.data.1 == 0 {
            let Some((place, length)) = self.left.pop() else {
                return Ok(0);
            };
            self.head = [place.to_be_bytes(), length.to_be_bytes()].concat();
            self.data = (place, length);
        }
        if !self.head.is_empty() {
            let length = self.head.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.head[..length]);
            self.head.drain(..length);
            return Ok(length);
        }
        let (place, left) = &mut self.data;
        let most = usize::try_from(*left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let mut length = self.file.read_at(&mut buffer[..most], *place)?;
        if length == 0 {
            // The file became shorter meanwhile.
            buffer[..most].fill(0);
            length = most;
        }
        *place += length as u64;
        *left -= length as u64;
        Ok(length)
    }
}

/// Writes stretches into an empty file.
pub(super) fn write(mut from: impl Read, to: &mut File) -> io::Result<()> {
    loop {
        let mut head = [0; HEAD as usize];
        from.read_exact(&mut head)?;
        let [place, length] = [0, 8].map(|at| {
            let mut number = [0; 8];
            number.copy_from_slice(&head[at..at + 8]);
            u64::from_be_bytes(number)
        });
        if place > LONGEST || length > LONGEST {
            return Err(io::Error::other("a file in the parcel is too long"));
        }
        if length == 0 {
            return to.set_len(place);
        }
        to.seek(SeekFrom::Start(place))?;
        if io::copy(&mut (&mut from).take(length), to)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
