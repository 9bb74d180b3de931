//! `$TERCA_WORK COMMAND …`: runs a command of the agent's work for a test, where the hidden files cannot be read and the network is
//! off. It is this program under another name, which lays the kernel's rules on itself and then becomes the command: input,
//! output, arguments, exit status and signals are the command's own.
//!
//! Rules hold for everything beneath a directory. The workspace has hidden files in it, so that a rule for all of it would
//! allow those too. In a sandbox that can mount, the command works in a mirror of the workspace: the same directory once more, with
//! nothing to be read in the place of each hidden file. Without a sandbox, it covers them for itself alone. Where neither is possible,
//! there are rules for what is around them: a file that the command makes beside a hidden one can be written, and be read
//! by the next command alone.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{FileType, fstat, stat};
use serde::{Deserialize, Serialize};

use super::mount_holder::os;
use super::walls::{Tcp, Walls, strength};

/// The name under which the program does this.
const NAME: &str = "terca-work";
/// The file beside it with the rules.
const RULES: &str = "rules.json";
/// The file beside it that is there once a command has run without rules.
const UNRULED: &str = "unruled";
/// The exit status of a command that was not started.
const NOT_STARTED: u8 = 126;

/// The rules for commands of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRules {
    /// Files and directories that can be read, but for what is hidden in them.
    pub readable: Vec<Utf8PathBuf>,
    /// Directories that can be changed, but for what is hidden in them.
    pub writable: Vec<Utf8PathBuf>,
    /// Files and directories that cannot be read.
    pub hidden: BTreeSet<Utf8PathBuf>,
    /// Devices and numbers of files and directories that no rule allows, wherever the work has moved them.
    pub refused: Vec<(u64, u64)>,
    /// Connections by TCP.
    pub tcp: Tcp,
    /// The workspace, and the files in it to cover.
    pub covered: Option<(Utf8PathBuf, Vec<Utf8PathBuf>)>,
    /// The workspace, and the directory that has the mirror of it.
    pub mirror: Option<(Utf8PathBuf, Utf8PathBuf)>,
}

/// The name of the workspace in the directory that has the mirror.
pub const MIRRORED: &str = "workspace";

/// The program in a directory of a trial, with its rules.
#[derive(Debug)]
pub struct WorkCommand {
    dir: Utf8PathBuf,
}

impl WorkCommand {
    /// Puts it into an empty directory. Commands find Terca's own program at `program`.
    pub fn make(dir: Utf8PathBuf, program: &Utf8Path, rules: &WorkRules) -> io::Result<Self> {
        fs_err::os::unix::fs::symlink(program, dir.join(NAME))?;
        fs_err::write(dir.join(RULES), serde_json::to_vec(rules)?)?;
        Ok(WorkCommand { dir })
    }

    /// Returns its path.
    pub fn path(&self) -> Utf8PathBuf {
        self.dir.join(NAME)
    }

    /// Returns whether a command has run without rules, because the kernel has none.
    pub fn has_hidden_nothing(&self) -> bool {
        self.dir.join(UNRULED).exists()
    }
}

/// Becomes a command of the work, if the program was started under that name. Returns only if it was not, or if it failed; then
/// the reason is on standard error.
pub fn run_if_asked() -> Option<ExitCode> {
    let program = std::env::args_os().next()?;
    let program = Path::new(&program);
    if program.file_name()? != NAME {
        return None;
    }
    let error = run(program.parent().unwrap_or(Path::new("/")));
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("TERCA_WORK: {error}\n").as_bytes(),
    );
    Some(NOT_STARTED.into())
}

fn run(dir: &Path) -> io::Error {
    match prepare(dir) {
        Ok(mut command) => {
            let error = command.exec();
            let program = command.get_program().to_string_lossy();
            io::Error::new(error.kind(), format!("{program}: {error}"))
        }
        Err(error) => error,
    }
}

/// Lays the rules on this process. Returns the command to become.
fn prepare(dir: &Path) -> io::Result<Command> {
    let mut rules: WorkRules = serde_json::from_slice(&std::fs::read(dir.join(RULES))?)?;
    let mut words = std::env::args_os().skip(1);
    let program = words.next();
    let program = program.ok_or_else(|| io::Error::other("a command must follow"))?;
    if strength().is_err() {
        std::fs::write(dir.join(UNRULED), "")?;
        let mut command = Command::new(program);
        command.args(words);
        return Ok(command);
    }
    rules.check_input()?;
    rules.cover_hidden()?;
    let here = std::env::current_dir()?;
    let text = |text: std::ffi::OsString| match text.into_string() {
        Ok(text) => rules.mirrored(&text).into(),
        Err(text) => text,
    };
    let walls = rules.walls();
    let mut command = Command::new(text(program));
    command.args(words.map(text));
    if let Some(here) = here.to_str().filter(|_| rules.mirror.is_some()) {
        std::env::set_current_dir(rules.mirrored(here))?;
        command.envs(std::env::vars_os().map(|(name, value)| (name, text(value))));
    }
    walls.enter()?;
    Ok(command)
}

impl WorkRules {
    /// Returns a text with the mirror's path in the place of the workspace's.
    fn mirrored(&self, text: &str) -> String {
        match &self.mirror {
            Some((workspace, mirror)) => {
                text.replace(workspace.as_str(), mirror.join(MIRRORED).as_str())
            }
            None => text.to_owned(),
        }
    }

    /// Refuses a hidden file as standard input, which could be read whatever the rules are.
    fn check_input(&self) -> io::Result<()> {
        let input = fstat(io::stdin())?;
        if FileType::from_raw_mode(input.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        let is_input = |path: &&Utf8PathBuf| {
            let found = stat(path.as_std_path());
            found.is_ok_and(|found| (found.st_dev, found.st_ino) == (input.st_dev, input.st_ino))
        };
        match self.hidden.iter().find(is_input) {
            Some(path) => Err(io::Error::other(format!(
                "its input is the hidden file {path}; give it another, such as `< /dev/null`"
            ))),
            None => Ok(()),
        }
    }

    /// Covers the hidden files of the workspace, if it can be done here. No rule has to go around them then.
    fn cover_hidden(&mut self) -> io::Result<()> {
        if let Some((workspace, files)) = self.covered.take() {
            os::cover(&files, &workspace)?;
            self.hidden.retain(|path| !files.contains(path));
            self.refused.clear();
            // It is in the directory as it is without the covers.
            std::env::set_current_dir(std::env::current_dir()?)?;
        }
        Ok(())
    }

    fn walls(&self) -> Walls {
        let mut walls = Walls {
            tcp: self.tcp.clone(),
            refused: self.refused.clone(),
            ..Walls::default()
        };
        let is_shown =
            |path: &&Utf8PathBuf| !self.hidden.iter().any(|hidden| path.starts_with(hidden));
        for path in self.readable.iter().filter(is_shown) {
            self.around_hidden(path, &mut walls.readable);
        }
        for path in &self.writable {
            let around = self.around_hidden(path, &mut walls.writable);
            walls.fillable.extend(around);
        }
        walls
            .writable
            .extend(self.mirror.iter().map(|(_, mirror)| mirror.clone()));
        walls
    }

    /// Adds a path, or what is in it, so that nothing hidden is beneath what is added. Returns the directories that have
    /// something hidden beneath them.
    fn around_hidden(&self, path: &Utf8Path, found: &mut Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let mut around = Vec::new();
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if self.hidden.contains(&path) {
                continue;
            }
            let mut beneath = self.hidden.range(path.clone()..);
            if !beneath
                .next()
                .is_some_and(|hidden| hidden.starts_with(&path))
            {
                found.push(path);
                continue;
            }
            for entry in path.read_dir_utf8().into_iter().flatten().flatten() {
                // A link leads to something that has a rule of its own, or none.
                if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                    open.push(entry.into_path());
                }
            }
            around.push(path);
        }
        around
    }
}
