//! Starts a worker and counts the bytes in both directions: `bench-wire DIR COMMAND …`.
//!
//! A file in the directory, named by the process, then has two numbers: the bytes to the worker, and those from it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> io::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let (Some(dir), Some(program)) = (words.next(), words.next()) else {
        return Err(io::Error::other("bench-wire DIR COMMAND …"));
    };
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (to, from) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
    // As files: without the buffers of this process.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if let Some(pipe) = child.stdin.take() {
        let to = to.clone();
        std::thread::spawn(move || pass(input, pipe, &to));
    }
    if let Some(pipe) = child.stdout.take() {
        pass(pipe, output, &from)?;
    }
    let status = child.wait()?;
    let counts = format!(
        "{} {}",
        to.load(Ordering::Acquire),
        from.load(Ordering::Acquire)
    );
    let file = std::path::Path::new(&dir).join(std::process::id().to_string());
    fs_err::write(file, counts)?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn pass(mut from: impl Read, mut to: impl Write, count: &AtomicU64) -> io::Result<()> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&piece[..length])?;
        count.fetch_add(length as u64, Ordering::AcqRel);
    }
}
