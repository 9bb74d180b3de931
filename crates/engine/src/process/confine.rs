//! The step between Terca and a supervisor that has limits or rules: the same program once more, which puts itself into
//! control groups, joins the mounts of its run, applies the kernel's rules to itself, and then becomes the program that it is told to start.
//!
//! A process that is put into a group by another may have started others before. One that puts itself in has not.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::fixed_root::FixedRoot;
use super::mount_holder;
use super::walls::Walls;

/// The hidden first argument that makes the program take this step.
const ARGUMENT: &str = "__confine";
/// The argument before the program to become.
const PROGRAM: &str = "--";

/// The most characters of the rules in one argument. The kernel takes 128 KiB.
const LONGEST: usize = 30_000;

/// The running program, for the process itself.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// The rules for a process and everything that it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The files that it puts itself into control groups by.
    pub groups: Vec<Utf8PathBuf>,
    /// The most processes and threads of the user, all others included, beyond which it can start no more.
    pub user_processes: Option<u64>,
    /// The process whose mounts it sees, in the place of the machine's own.
    pub mounts_of: Option<u32>,
    /// The directory that it finds at another path, too.
    pub fixed_root: Option<FixedRoot>,
    /// Rules for files and the network.
    pub walls: Option<Walls>,
    /// It is asked to end when the thread that started it does. That is for the process alone, not for what it starts.
    pub ends_with_parent: bool,
}

impl Confinement {
    /// Returns the arguments with which [`OWN_PROGRAM`] keeps these rules and then becomes the program that follows.
    pub fn args(&self) -> Vec<String> {
        // No part of it can fail; without the rules, nothing is started.
        let rules = serde_json::to_string(self).unwrap_or_default();
        let rules: Vec<char> = rules.chars().collect();
        let pieces = rules.chunks(LONGEST).map(|piece| piece.iter().collect());
        let first = [ARGUMENT.to_owned()].into_iter();
        first.chain(pieces).chain([PROGRAM.to_owned()]).collect()
    }

    /// Reads the arguments after the first. The rest is the program and its arguments.
    fn read(args: &mut impl Iterator<Item = String>) -> io::Result<Self> {
        let rules: String = args.take_while(|arg| arg != PROGRAM).collect();
        Ok(serde_json::from_str(&rules)?)
    }
}

/// Takes the step, if the program was started for it. Returns only if it was not, or if it failed; then the reason is on
/// standard error.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    let error = run(args);
    let _ = io::Write::write_all(&mut io::stderr(), format!("{error}\n").as_bytes());
    Some(ExitCode::FAILURE)
}

fn run(mut args: impl Iterator<Item = String>) -> io::Error {
    // A session of its own: Ctrl+C in the terminal reaches Terca alone.
    let _ = rustix::process::setsid();
    let confinement = match Confinement::read(&mut args) {
        Ok(confinement) => confinement,
        Err(error) => return error,
    };
    if confinement.ends_with_parent {
        end_with_parent();
    }
    for group in &confinement.groups {
        // 0 is the process that writes it.
        if let Err(error) = fs_err::write(group, "0") {
            return error;
        }
    }
    if let Some(most) = confinement.user_processes {
        limit_user_processes(most);
    }
    if let Some(Err(error)) = confinement.mounts_of.map(mount_holder::os::enter) {
        let kind = error.kind();
        return io::Error::new(kind, format!("the workspace cannot be reached: {error}"));
    }
    if let Some(FixedRoot { real, shown, .. }) = &confinement.fixed_root
        && let Err(error) = mount_holder::os::show(real, shown)
    {
        return io::Error::new(error.kind(), format!("{shown} cannot be mounted: {error}"));
    }
    let Some(program) = args.next() else {
        return io::Error::other("there is no program to start");
    };
    // The last: from here on nothing else of the machine is in reach.
    if let Some(Err(error)) = confinement.walls.as_ref().map(Walls::enter) {
        return error;
    }
    let error = Command::new(&program).args(args).exec();
    io::Error::new(error.kind(), format!("{program}: {error}"))
}

/// Asks the kernel for a signal when the parent ends. Without it, the end of the input must do.
#[cfg(target_os = "linux")]
fn end_with_parent() {
    use rustix::process::{Signal, set_parent_process_death_signal};
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() {}

/// Lowers the most processes of the user, for this process and those that it starts.
fn limit_user_processes(most: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nproc);
    let most = maximum.map_or(most, |maximum| maximum.min(most));
    // Lowering it is always allowed.
    let _ = setrlimit(
        Resource::Nproc,
        Rlimit {
            current: Some(most),
            maximum: Some(most),
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::walls::Tcp;

    #[test]
    fn what_is_written_is_read() {
        let confinement = Confinement {
            fixed_root: None,
            groups: vec!["/a/cgroup.procs".into(), "--".into()],
            user_processes: Some(700),
            ends_with_parent: true,
            mounts_of: Some(7),
            walls: Some(Walls {
                readable: vec!["/usr".into()],
                writable: vec!["/--write".into(), "/w".into()],
                fillable: vec!["/f".into()],
                refused: vec![(1, 2)],
                tcp: Tcp::Ports(vec![3128, 1]),
                is_service: true,
            }),
        };
        let args = confinement.args();
        let mut args = args.into_iter().chain(["program".to_owned()]).skip(1);
        assert_eq!(Confinement::read(&mut args).unwrap(), confinement);
        assert_eq!(args.next().as_deref(), Some("program"));
        let many = Confinement {
            groups: vec!["/ä/cgroup.procs".into(); 10_000],
            ..confinement
        };
        let args = many.args();
        assert!(args.len() > 4 && args.iter().all(|arg| arg.len() < 128 * 1024));
        assert_eq!(
            Confinement::read(&mut args.into_iter().skip(1)).unwrap(),
            many
        );
        assert!(Confinement::read(&mut ["program".to_owned()].into_iter()).is_err());
    }
}
