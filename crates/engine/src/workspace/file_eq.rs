//! Comparing the bytes of two files.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Returns whether two files have the same bytes. A file that cannot be read equals no other.
pub(crate) fn have_same_bytes(a: &Path, b: &Path) -> bool {
    length(a) == length(b) && compare(a, b).unwrap_or(false)
}

fn length(path: &Path) -> Option<u64> {
    std::fs::metadata(path).map(|meta| meta.len()).ok()
}

/// Compares piece by piece: a file may be larger than the memory.
fn compare(a: &Path, b: &Path) -> io::Result<bool> {
    const PIECE: usize = 64 * 1024;
    let mut a = BufReader::with_capacity(PIECE, File::open(a)?);
    let mut b = BufReader::with_capacity(PIECE, File::open(b)?);
    loop {
        let left = a.fill_buf()?;
        let right = b.fill_buf()?;
        let common = left.len().min(right.len());
        if common == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..common] != right[..common] {
            return Ok(false);
        }
        a.consume(common);
        b.consume(common);
    }
}
