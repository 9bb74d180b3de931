//! Writes the files of a draft, where it is proven and where it stays.

use std::io;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use terca_core::new_suite::mine::commit::{Kind, link_stays_inside};
use terca_core::new_suite::mine::draft::{Draft, Placed};
use terca_core::new_suite::mine::{Reason, Refusal, suite_file};

use super::git::Git;
use crate::suite::create::{self, new_file, whole_dir};
use crate::tree::{Dir, Options, copy};

/// A larger file is no part of a task.
pub(super) const LARGEST_FILE: u64 = 20 << 20;

/// Writes a draft into a directory that does not exist yet. The inner error is the reason why it cannot be one.
pub(super) fn write(
    draft: &Draft,
    dir: &Utf8Path,
    git: &mut Git,
) -> io::Result<Result<(), Refusal>> {
    fs_err::create_dir(dir)?;
    for (path, text) in &draft.written {
        new_file(&dir.join(path), text.as_bytes(), 0o644)?;
    }
    place(&draft.placed, dir, git)
}

/// Writes objects into a directory. The inner error is the reason why one cannot be there.
pub(super) fn place(
    placed: &[Placed],
    dir: &Utf8Path,
    git: &mut Git,
) -> io::Result<Result<(), Refusal>> {
    // Links come last: no file is written through one.
    let is_link = |placed: &&Placed| placed.object.kind == Kind::Link;
    let (links, files): (Vec<&Placed>, Vec<&Placed>) = placed.iter().partition(is_link);
    for Placed {
        below,
        path,
        object,
    } in files.into_iter().chain(links)
    {
        let content = match git.content(&object.id, LARGEST_FILE) {
            Ok(Some(content)) => content,
            Ok(None) => {
                let detail = format!("{path} is missing or too large");
                return Ok(Err(Refusal::with(Reason::Unreadable, detail)));
            }
            Err(refusal) => return Ok(Err(refusal)),
        };
        let to = dir.join(below).join(path);
        let written = match object.kind {
            Kind::File(true) => new_file(&to, &content, 0o755),
            Kind::File(false) => new_file(&to, &content, 0o644),
            _ => new_link(&to, &content, path),
        };
        // Two entries of a tree may have one path.
        if let Err(error) = written {
            return Ok(Err(Refusal::with(Reason::BadPath, error.to_string())));
        }
    }
    Ok(Ok(()))
}

fn new_link(to: &Utf8Path, target: &[u8], path: &Utf8Path) -> io::Result<()> {
    let target = str::from_utf8(target).unwrap_or_default();
    if !link_stays_inside(path, target) {
        return Err(io::Error::other(path.as_str()));
    }
    fs_err::create_dir_all(to.parent().unwrap_or(to))?;
    symlink(target, to)
}

/// Puts a proven eval into the suite, which is made with the first one. It is there only when it is whole.
pub(super) fn publish(staged: &Utf8Path, suite: &Utf8Path, name: &str) -> io::Result<()> {
    if !suite.join(crate::suite::discover::SUITE_FILE).exists() {
        fs_err::create_dir_all(suite)?;
        create::write(suite, &suite_file(name))?;
    }
    copy_whole(staged, suite)
}

/// Copies a directory into another, where it is only when it is whole.
pub(super) fn copy_whole(dir: &Utf8Path, into: &Utf8Path) -> io::Result<()> {
    whole_dir(into, dir.file_name().unwrap_or_default(), |new| {
        let (from, to) = (Dir::open(dir)?, Dir::open_no_link(new)?);
        copy(&from, &to, &Options::default(), &mut |_| Ok(true))?;
        Ok(())
    })
}
