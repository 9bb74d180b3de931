//! Comparing the content of two files.

use std::fs::File;
use std::os::fd::AsFd;

use crate::tree::content::{ContentError, next_data, read_at};
use crate::tree::error::TreeError;
use crate::tree::limits::Options;
use crate::tree::os;

const PIECE: u64 = 64 << 10;

/// Returns true when two open files have the same bytes. What is a hole in both takes no time.
pub fn have_same_content(
    one: &File,
    other: &File,
    options: &Options<'_>,
) -> Result<bool, TreeError> {
    compare(one, other, options).map_err(|error| match error {
        ContentError::Own(error) => error,
        ContentError::System(error) => TreeError::io("", error),
    })
}

fn compare(one: &File, other: &File, options: &Options<'_>) -> Result<bool, ContentError> {
    let size = os::meta_of(one.as_fd())?.size;
    if os::meta_of(other.as_fd())?.size != size {
        return Ok(false);
    }
    let mut left = vec![0; size.min(PIECE) as usize];
    let mut right = left.clone();
    let mut offset = 0;
    loop {
        let stretch = match (
            next_data(one, offset, size)?,
            next_data(other, offset, size)?,
        ) {
            (Some(one), Some(other)) => one.min(other),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Ok(true),
        };
        offset = stretch.0;
        while offset < stretch.1 {
            options.check_stop()?;
            let length = (stretch.1 - offset).min(PIECE) as usize;
            let read = read_at(one, &mut left[..length], offset)?;
            let also_read = read_at(other, &mut right[..length], offset)?;
            if left[..read] != right[..also_read] {
                return Ok(false);
            }
            // Both became shorter meanwhile.
            if read == 0 {
                return Ok(true);
            }
            offset += read as u64;
        }
    }
}
