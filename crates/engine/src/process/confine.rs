//! The step between Terca and a supervisor that has limits or rules: the same program once more, which puts itself into
//! control groups, joins the mounts of its run, applies the kernel's rules to itself, and then becomes the program that it is told to start.
//!
//! A process that is put into a group by another may have started others before. One that puts itself in has not.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::mount_holder;
use super::walls::{Tcp, Walls};

/// The hidden first argument that makes the program take this step.
const ARGUMENT: &str = "__confine";
/// The argument before a file that the process puts itself into a group by.
const GROUP: &str = "--group";
/// The argument before the most processes of the user.
const USER_PROCESSES: &str = "--user-processes";
/// The argument that ends the process when its parent does.
const WITH_PARENT: &str = "--with-parent";
/// The argument before the process whose mounts it sees.
const MOUNTS_OF: &str = "--mounts-of";
/// The argument that begins rules for files and the network.
const WALLS: &str = "--walls";
/// The argument before a file or directory that can be read.
const READABLE: &str = "--read";
/// The argument before a file or directory that can be changed.
const WRITABLE: &str = "--write";
/// The argument before a port that connections can be made to; others cannot.
const PORT: &str = "--port";
/// The argument that allows no connection.
const NO_TCP: &str = "--no-tcp";
/// The argument before the program to become.
const PROGRAM: &str = "--";

/// The running program, for the process itself.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// The rules for a process and everything that it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// The files that it puts itself into control groups by.
    pub groups: Vec<Utf8PathBuf>,
    /// The most processes and threads of the user, all others included, beyond which it can start no more.
    pub user_processes: Option<u64>,
    /// The process whose mounts it sees, in the place of the machine's own.
    pub mounts_of: Option<u32>,
    /// Rules for files and the network.
    pub walls: Option<Walls>,
    /// It is asked to end when the thread that started it does. That is for the process alone, not for what it starts.
    pub ends_with_parent: bool,
}

impl Confinement {
    /// Returns the arguments with which [`OWN_PROGRAM`] keeps these rules and then becomes the program that follows.
    pub fn args(&self) -> Vec<String> {
        let mut args = vec![ARGUMENT.to_owned()];
        for group in &self.groups {
            args.extend([GROUP.to_owned(), group.to_string()]);
        }
        if let Some(most) = self.user_processes {
            args.extend([USER_PROCESSES.to_owned(), most.to_string()]);
        }
        if self.ends_with_parent {
            args.push(WITH_PARENT.to_owned());
        }
        if let Some(process) = self.mounts_of {
            args.extend([MOUNTS_OF.to_owned(), process.to_string()]);
        }
        if let Some(walls) = &self.walls {
            args.push(WALLS.to_owned());
            for path in &walls.readable {
                args.extend([READABLE.to_owned(), path.to_string()]);
            }
            for path in &walls.writable {
                args.extend([WRITABLE.to_owned(), path.to_string()]);
            }
            match &walls.tcp {
                Tcp::Open => {}
                Tcp::Off => args.push(NO_TCP.to_owned()),
                Tcp::Ports(ports) => {
                    for port in ports {
                        args.extend([PORT.to_owned(), port.to_string()]);
                    }
                }
            }
        }
        args.push(PROGRAM.to_owned());
        args
    }

    /// Reads the arguments after the first. The rest is the program and its arguments.
    fn read(args: &mut impl Iterator<Item = String>) -> io::Result<Self> {
        let mut confinement = Confinement::default();
        loop {
            let value = |args: &mut dyn Iterator<Item = String>| {
                args.next()
                    .ok_or_else(|| io::Error::other("an argument is missing"))
            };
            let walls = confinement.walls.as_mut();
            match (args.next().as_deref(), walls) {
                (Some(GROUP), _) => confinement.groups.push(value(args)?.into()),
                (Some(WITH_PARENT), _) => confinement.ends_with_parent = true,
                (Some(WALLS), _) => confinement.walls = Some(Walls::default()),
                (Some(READABLE), Some(walls)) => walls.readable.push(value(args)?.into()),
                (Some(WRITABLE), Some(walls)) => walls.writable.push(value(args)?.into()),
                (Some(NO_TCP), Some(walls)) => walls.tcp = Tcp::Off,
                (Some(PORT), Some(walls)) => {
                    let port = value(args)?.parse().map_err(io::Error::other)?;
                    match &mut walls.tcp {
                        Tcp::Ports(ports) => ports.push(port),
                        tcp => *tcp = Tcp::Ports(vec![port]),
                    }
                }
                (Some(USER_PROCESSES), _) => {
                    let most = value(args)?.parse().map_err(io::Error::other)?;
                    confinement.user_processes = Some(most);
                }
                (Some(MOUNTS_OF), _) => {
                    let process = value(args)?.parse().map_err(io::Error::other)?;
                    confinement.mounts_of = Some(process);
                }
                (Some(PROGRAM), _) => return Ok(confinement),
                _ => return Err(io::Error::other("the arguments are not those of a step")),
            }
        }
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

    #[test]
    fn what_is_written_is_read() {
        let confinement = Confinement {
            groups: vec!["/a/cgroup.procs".into(), "--".into()],
            user_processes: Some(700),
            ends_with_parent: true,
            mounts_of: Some(7),
            walls: Some(Walls {
                readable: vec!["/usr".into()],
                writable: vec!["/--write".into(), "/w".into()],
                tcp: Tcp::Ports(vec![3128, 1]),
            }),
        };
        let args = confinement.args();
        let mut args = args.into_iter().chain(["program".to_owned()]).skip(1);
        assert_eq!(Confinement::read(&mut args).unwrap(), confinement);
        assert_eq!(args.next().as_deref(), Some("program"));
        assert!(Confinement::read(&mut ["--group".to_owned()].into_iter()).is_err());
        assert!(Confinement::read(&mut ["program".to_owned()].into_iter()).is_err());
    }
}
