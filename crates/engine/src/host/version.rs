//! Asking agents for their versions.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::Profile;
use terca_core::process::Signal;

use crate::host::environment::Variables;
use crate::locked;
use crate::process::interrupt::Interrupt;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Job, Launcher, Supervisor, Turn};

const TIMEOUT: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(2);

/// The hash of the image that a program is in, the program's file, and its stamp: some programs update themselves.
type ProgramKey = (Option<String>, Utf8PathBuf, Option<Stamp>);

/// The inode, the size and the time of a file.
type Stamp = (u64, u64, i64, i64);

/// The versions of the agents that a run has used so far.
#[derive(Debug)]
pub struct Versions {
    launcher: Arc<Launcher>,
    known: Mutex<HashMap<ProgramKey, Option<String>>>,
}

impl Versions {
    /// Makes an empty table, which asks programs under supervisors of this launcher.
    pub fn new(launcher: Arc<Launcher>) -> Self {
        Versions {
            launcher,
            known: Mutex::default(),
        }
    }

    /// Returns the version that a program reports. It is asked once in a run, and again when its file has changed. `None` when it
    /// reports none.
    pub fn get(
        &self,
        question: VersionQuestion<'_>,
        enclose: impl FnOnce() -> Option<Enclosure>,
        interrupt: &Interrupt,
    ) -> Option<String> {
        // Held while asking: a program that takes seconds to say its version is asked by one trial alone.
        let mut known = locked(&self.known);
        known
            .entry((
                question.image.map(str::to_owned),
                question.program.to_owned(),
                stamp(question),
            ))
            .or_insert_with(|| ask(&self.launcher, question, enclose, interrupt))
            .clone()
    }
}

/// The question for the version of a program.
#[derive(Debug, Clone, Copy)]
pub struct VersionQuestion<'a> {
    /// The agent.
    pub profile: &'a Profile,
    /// The file of its program.
    pub program: &'a Utf8Path,
    /// The hash of the image that the program is in; `None` if it is on this machine.
    pub image: Option<&'a str>,
    /// The environment of an agent.
    pub env: &'a Variables,
    /// A directory that is not there yet: some programs write to their home when they are asked.
    pub dir: &'a Utf8Path,
}

fn stamp(question: VersionQuestion<'_>) -> Option<Stamp> {
    let meta = question.program.metadata().ok();
    let meta = meta.filter(|_| question.image.is_none())?;
    Some((meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

/// Asks a program for its version.
pub fn ask(
    launcher: &Arc<Launcher>,
    question: VersionQuestion<'_>,
    enclose: impl FnOnce() -> Option<Enclosure>,
    interrupt: &Interrupt,
) -> Option<String> {
    answer(launcher, question, enclose, interrupt)?.ok()
}

/// Asks a program for its version. Returns the version, or what it says instead; `None` if it cannot be asked.
pub(super) fn answer(
    launcher: &Arc<Launcher>,
    question: VersionQuestion<'_>,
    enclose: impl FnOnce() -> Option<Enclosure>,
    interrupt: &Interrupt,
) -> Option<Result<String, String>> {
    let dir = question.dir;
    fs_err::create_dir(dir).ok()?;
    // A sandbox shows directories that are there.
    let enclosure = enclose();
    let (stdout, stderr) = (Output::create(dir).ok()?, Output::create(dir).ok()?);
    let mut env = question.env.clone();
    env.extend(["HOME", "TMPDIR"].map(|name| (name.to_owned(), dir.to_string())));
    let job = Job {
        program: question.program.to_owned(),
        args: (question.profile.version_args.iter())
            .map(|arg| (*arg).to_owned())
            .collect(),
        env,
        dir: dir.to_owned(),
        stdin: None,
        stdout: stdout.path.clone(),
        stderr: stderr.path.clone(),
        timeout: TIMEOUT,
        stop_signal: Signal::Terminate,
        fixed_root: None,
        grace: GRACE,
        sweep: true,
    };
    let supervisor = match &enclosure {
        Some(enclosure) => Supervisor::start_in(launcher, enclosure, interrupt),
        None => Supervisor::start(launcher),
    };
    let ended = supervisor
        .ok()?
        .run(&job, interrupt, &mut || Turn::Wait)
        .ok()?;
    // Some keep standard output for other things.
    let mut said = Vec::new();
    for output in [stdout, stderr] {
        let rewound = output.rewound().ok()?;
        rewound.take(4096).read_to_end(&mut said).ok()?;
        said.push(b'\n');
    }
    // Cut anywhere, a text may end in half a character.
    let said = String::from_utf8_lossy(&said);
    let version = version_in(&said).filter(|_| ended.exit.code() == Some(0));
    Some(version.ok_or_else(|| said.into_owned()))
}

/// Finds the first word that begins with a digit and has a dot: `codex-cli 0.61.0` is `0.61.0`.
pub(super) fn version_in(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || "()=,".contains(c))
        .map(|word| word.trim_start_matches('v').trim_end_matches('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_among_words() {
        for (text, version) in [
            ("0.61.0\n", Some("0.61.0")),
            ("codex-cli 0.99.1", Some("0.99.1")),
            ("2.1.0 (Claude Code)", Some("2.1.0")),
            ("tool v1.2.3, built today", Some("1.2.3")),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update'.",
                Some("1.0.102"),
            ),
            ("This is a tool of version 2.4.6.", Some("2.4.6")),
            (
                "aider-chat (0.86.1)\nAvailable versions: 0.86.1, 0.86.0",
                Some("0.86.1"),
            ),
            ("aider-chat==0.86.1\n", Some("0.86.1")),
            ("no version here", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version);
        }
    }
}
