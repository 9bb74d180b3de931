//! Terca's own program, made ready for containers, whose images may have other libraries or none.
//!
//! A static program is taken as it is. One that needs a loader and libraries is copied with them: the copy names its
//! loader in the container's own directory, and looks for libraries there first (`crates/terca/build.rs`). So it runs in
//! every image, and the file that runs is the program itself and not its loader, which the tap's check needs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use camino::{Utf8Path, Utf8PathBuf};

use crate::process::own_process;

/// The directory in a container.
pub(super) const PLACE: &str = "/.terca";
/// The program in that directory.
pub(super) const PROGRAM: &str = "terca";
/// The directory for the socket of each container, in that directory.
pub(super) const MEETING: &str = "meeting";

const LOADER: &str = "loader";
const LIBRARIES: &str = "lib";

/// The end of the part of a program that says how it is loaded, in all programs that there are.
const MOST_HEADERS: u64 = 64 * 1024;
const INTERPRETER: u32 = 3;

/// Fills a directory that is shown in containers at [`PLACE`].
pub(super) fn carry(dir: &Utf8Path) -> io::Result<()> {
    fs_err::create_dir(dir.join(MEETING))?;
    let program = dir.join(PROGRAM);
    own_process::keep_program(&program)?;
    let mut headers = Vec::new();
    File::open(&program)?
        .take(MOST_HEADERS)
        .read_to_end(&mut headers)?;
    let Some(named) = Interpreter::in_headers(&headers) else {
        return Ok(());
    };
    // The kept one may be the very file that runs.
    let copy = dir.join("copy");
    fs_err::copy(&program, &copy)?;
    named.replace(&copy, &format!("{PLACE}/{LOADER}"))?;
    fs_err::rename(&copy, &program)?;
    fs_err::copy(&named.path, dir.join(LOADER))?;
    let libraries = dir.join(LIBRARIES);
    fs_err::create_dir(&libraries)?;
    for file in own_libraries()? {
        for name in names_of(&file)? {
            fs_err::copy(&file, libraries.join(name))?;
        }
    }
    Ok(())
}

/// The name of a program's loader, in the program's file.
#[derive(Debug, PartialEq, Eq)]
struct Interpreter {
    path: String,
    offset: u64,
    /// Its length, with the zero byte at its end.
    length: usize,
}

impl Interpreter {
    /// Finds the name in the beginning of a program's file. A static program has none.
    fn in_headers(headers: &[u8]) -> Option<Self> {
        let is_known = headers.starts_with(b"\x7fELF\x02\x01");
        let table = number(headers, 0x20, 8).filter(|_| is_known)?;
        let size = number(headers, 0x36, 2)?;
        let count = number(headers, 0x38, 2)?;
        for index in 0..count {
            let entry = table.checked_add(index.checked_mul(size)?)?;
            if number(headers, entry, 4)? != u64::from(INTERPRETER) {
                continue;
            }
            let offset = number(headers, entry.checked_add(8)?, 8)?;
            let length = usize::try_from(number(headers, entry.checked_add(32)?, 8)?).ok()?;
            let start = usize::try_from(offset).ok()?;
            let bytes = headers.get(start..start.checked_add(length)?)?;
            let text = bytes.split(|byte| *byte == 0).next()?;
            return Some(Interpreter {
                path: String::from_utf8(text.to_vec()).ok()?,
                offset,
                length,
            });
        }
        None
    }

    /// Puts another name in its place.
    fn replace(&self, file: &Utf8Path, other: &str) -> io::Result<()> {
        if other.len() >= self.length {
            return Err(io::Error::other(
                "the name of the program's loader is too short to be replaced",
            ));
        }
        let mut bytes = vec![0; self.length];
        bytes[..other.len()].copy_from_slice(other.as_bytes());
        let mut file = fs_err::OpenOptions::new().write(true).open(file)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&bytes)
    }
}

/// Reads a number at an offset, the least byte first.
fn number(bytes: &[u8], offset: u64, length: usize) -> Option<u64> {
    let start = usize::try_from(offset).ok()?;
    let field = bytes.get(start..start.checked_add(length)?)?;
    let mut all = [0; 8];
    all[..length].copy_from_slice(field);
    Some(u64::from_le_bytes(all))
}

/// Returns the libraries that this process uses.
fn own_libraries() -> io::Result<BTreeSet<Utf8PathBuf>> {
    let maps = fs_err::read_to_string("/proc/self/maps")?;
    let files = maps.lines().filter_map(|line| {
        let path = Utf8Path::new(&line[line.find('/')?..]);
        let is_library = path.file_name()?.contains(".so");
        is_library.then(|| path.to_owned())
    });
    Ok(files.collect())
}

/// Returns the names of a library: its own, and those of the links beside it that lead to it.
fn names_of(library: &Utf8Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    names.extend(library.file_name().map(str::to_owned));
    let Some(dir) = library.parent() else {
        return Ok(names);
    };
    for entry in dir.read_dir_utf8()?.flatten() {
        let may_be = entry.file_name().contains(".so");
        if may_be
            && entry
                .path()
                .canonicalize_utf8()
                .is_ok_and(|real| real == library)
        {
            names.insert(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_a_program_is_found_and_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(temp.path()).unwrap();
        let file = dir.join("program");
        let own = std::env::current_exe().unwrap();
        fs_err::copy(own, &file).unwrap();
        let read = || {
            let mut headers = Vec::new();
            let open = File::open(&file).unwrap();
            open.take(MOST_HEADERS).read_to_end(&mut headers).unwrap();
            Interpreter::in_headers(&headers)
        };
        let Some(found) = read() else {
            // A static test program has no loader.
            assert!(cfg!(target_env = "musl"));
            return;
        };
        assert!(Utf8Path::new(&found.path).exists(), "{found:?}");
        found.replace(&file, "/.terca/loader").unwrap();
        assert_eq!(read().unwrap().path, "/.terca/loader");
        assert!(found.replace(&file, &"x".repeat(found.length)).is_err());
    }

    #[test]
    fn what_is_no_program_has_no_loader() {
        assert_eq!(Interpreter::in_headers(b""), None);
        assert_eq!(Interpreter::in_headers(b"#!/bin/sh\n"), None);
        // Every number is as large as it can be.
        let mut hostile = vec![0xff; 100];
        hostile[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(Interpreter::in_headers(&hostile), None);
    }
}
