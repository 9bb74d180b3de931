//! The part of the machine that a command sees, beside the system's software.

use camino::{Utf8Path, Utf8PathBuf};

use crate::host::environment::Variables;
use crate::workspace::trial_dirs::CommandDirs;

/// The part of the machine that a command sees, beside the system's software and the programs on its `PATH`.
#[derive(Debug)]
pub struct View<'a> {
    /// Its home, its temporary directory, and the workspace.
    pub dirs: CommandDirs<'a>,
    /// Its environment: `PATH`, and the places of toolchains and certificates.
    pub env: &'a Variables,
    /// Other directories that it can write to.
    pub writable: Vec<Utf8PathBuf>,
    /// Files and directories that it can read.
    pub readable: Vec<Utf8PathBuf>,
    /// Files and directories that it cannot see, although they are in one that it can read.
    pub hidden: Vec<Utf8PathBuf>,
    /// Its network is one of its own, in which nothing but loopback is there.
    pub own_network: bool,
    /// Its own words, which may name programs and scripts: they are shown with what they need.
    pub words: Words<'a>,
}

impl View<'_> {
    /// Returns the directories that it can write to.
    pub(super) fn own_dirs(&self) -> Vec<&Utf8Path> {
        let dirs = self.dirs;
        let own = [dirs.workspace, dirs.home, dirs.tmp];
        let writable = self.writable.iter().map(Utf8PathBuf::as_path);
        own.into_iter().chain(writable).collect()
    }
}

/// The words of a command that may name files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// The file of its program.
    pub program: Option<&'a Utf8Path>,
    /// Other words, of which those that are absolute paths count.
    pub others: &'a [String],
}
