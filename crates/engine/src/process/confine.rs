//! The step between Terca and a supervisor that has limits: the same program once more, which puts itself into control
//! groups and then becomes the program that it is told to start.
//!
//! A process that is put into a group by another may have started others before. One that puts itself in has not.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The hidden first argument that makes the program take this step.
const ARGUMENT: &str = "__confine";
/// The argument before a file that the process puts itself into a group by.
const GROUP: &str = "--group";
/// The argument before the most processes of the user.
const USER_PROCESSES: &str = "--user-processes";
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
            match args.next().as_deref() {
                Some(GROUP) => confinement.groups.push(value(args)?.into()),
                Some(USER_PROCESSES) => {
                    let most = value(args)?.parse().map_err(io::Error::other)?;
                    confinement.user_processes = Some(most);
                }
                Some(PROGRAM) => return Ok(confinement),
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
    for group in &confinement.groups {
        // 0 is the process that writes it.
        if let Err(error) = fs_err::write(group, "0") {
            return error;
        }
    }
    if let Some(most) = confinement.user_processes {
        limit_user_processes(most);
    }
    let Some(program) = args.next() else {
        return io::Error::other("there is no program to start");
    };
    let error = Command::new(&program).args(args).exec();
    io::Error::new(error.kind(), format!("{program}: {error}"))
}

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
        };
        let args = confinement.args();
        let mut args = args.into_iter().chain(["program".to_owned()]).skip(1);
        assert_eq!(Confinement::read(&mut args).unwrap(), confinement);
        assert_eq!(args.next().as_deref(), Some("program"));
        assert!(Confinement::read(&mut ["--group".to_owned()].into_iter()).is_err());
        assert!(Confinement::read(&mut ["program".to_owned()].into_iter()).is_err());
    }
}
