//! Whether two files have the same bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

pub(crate) fn have_same_bytes(a: &Path, b: &Path) -> bool {
    let length = |path: &Path| std::fs::metadata(path).map(|meta| meta.len()).ok();
    length(a) == length(b) && compare(a, b).unwrap_or(false)
}

/// Piece by piece: a file may be larger than the memory.
fn compare(a: &Path, b: &Path) -> io::Result<bool> {
    const PIECE: usize = 64 * 1024;
    let (mut a, mut b) = (
        BufReader::with_capacity(PIECE, File::open(a)?),
        BufReader::with_capacity(PIECE, File::open(b)?),
    );
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
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
