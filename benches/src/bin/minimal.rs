//! The least program that does a no-op trial's work: what Terca's own cost is measured against.
//!
//! `bench-minimal BASE OUT TRIALS CONCURRENCY`: for each trial it copies BASE to a workspace in OUT, starts the agent
//! (`sh -c true`) in it with its output in a file, copies the workspace, looks for a file in the copy, starts the test
//! (`sh -c true`) there, and removes the copy. No supervisor, no log, no results, nothing that could go wrong.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [base, out, trials, concurrency] = args.as_slice() else {
        return Err(io::Error::other(
            "usage: bench-minimal BASE OUT TRIALS CONCURRENCY",
        ));
    };
    let (base, out) = (PathBuf::from(base), PathBuf::from(out));
    let number = |text: &str| text.parse::<usize>().map_err(io::Error::other);
    let (trials, concurrency) = (number(trials)?, number(concurrency)?);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || -> io::Result<()> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= trials {
                    return Ok(());
                }
                trial(&base, &out.join(index.to_string()))?;
            }
        };
        let threads: Vec<_> = (0..concurrency).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread broke")))
        })
    })
}

fn trial(base: &Path, dir: &Path) -> io::Result<()> {
    let (workspace, copy) = (dir.join("workspace"), dir.join("copy"));
    fs::create_dir(dir)?;
    copy_tree(base, &workspace)?;
    shell(&workspace, &dir.join("agent.log"))?;
    copy_tree(&workspace, &copy)?;
    if !copy.join("README.md").exists() {
        return Err(io::Error::other("README.md is not there"));
    }
    shell(&copy, &dir.join("test.log"))?;
    fs::remove_dir_all(copy)
}

fn shell(dir: &Path, log: &Path) -> io::Result<()> {
    let output = File::create(log)?;
    let status = Command::new("/bin/sh")
        .args(["-c", "true"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("`true` failed"))
    }
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
