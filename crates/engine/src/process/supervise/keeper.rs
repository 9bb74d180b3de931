//! The keeper of a container: the process that `terca __keep-container` becomes.
//!
//! A container is no child of the program that asks for it. The keeper starts that program, and sees to it that the
//! container is gone when its leash is cut: the socket to Terca that is its standard input, which also ends when Terca is
//! killed. It is a subreaper, so that helpers of the program (Podman's monitors) stay its own and are not taken for
//! strays of a trial.

use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use super::os;
use crate::process::own_process;

/// The hidden first argument. The engine's program, the container's name, and the program's arguments follow.
pub const KEEPER: &str = "__keep-container";
/// The exit status if the container could not be removed. The last line of errors says why.
pub(super) const NOT_REMOVED: i32 = 3;
/// The exit status of what holds a sandbox, if the sandbox's first process was killed (`128 + SIGKILL`).
pub(super) const KILLED: i32 = 137;

/// The time between two looks.
const GLANCE: Duration = Duration::from_millis(100);
/// The attempts to remove a container that nobody makes any more. The pause between them doubles.
const MOST_ATTEMPTS: u32 = 5;
/// The time that a container has to be removed, on a machine that is very busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(40);

/// Keeps a container until it ends or the leash is cut.
pub fn keep() -> io::Result<ExitCode> {
    own_process::prepare()?;
    os::become_subreaper();
    let mut args = std::env::args().skip(2);
    let (Some(program), Some(name)) = (args.next(), args.next()) else {
        return Ok(ExitCode::FAILURE);
    };
    let container = Container { program, name };
    let mut client = container.command();
    // The output of a service; nobody reads that of a supervisor's client.
    let mut client = client.args(args).stdout(Stdio::inherit()).spawn()?;
    let exit = loop {
        // Nothing is ever sent: what can be read is the end.
        if os::wait_for(&[io::stdin().as_fd()], GLANCE) {
            break None;
        }
        if let Some(exit) = client.try_wait()? {
            break Some(exit);
        }
    };
    if exit.is_some_and(|exit| exit.success()) {
        return Ok(ExitCode::SUCCESS);
    }
    match container.remove(&mut client) {
        Ok(()) => Ok(match exit.and_then(|exit| exit.code()) {
            Some(KILLED) => ExitCode::from(KILLED as u8),
            _ => ExitCode::FAILURE,
        }),
        Err(why) => {
            let Container { program, name } = container;
            // To whoever started the keeper, which has nothing else to say it with.
            let words =
                format!("the container {name} ({why}); remove it with `{program} rm -f {name}`\n");
            io::Write::write_all(&mut io::stderr(), words.as_bytes())?;
            Ok(ExitCode::from(NOT_REMOVED as u8))
        }
    }
}

struct Container {
    program: String,
    name: String,
}

impl Container {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .current_dir("/");
        command
    }

    /// Removes the container. Its client may still be about to make it, so it is asked again until the client has ended.
    fn remove(&self, client: &mut Child) -> Result<(), String> {
        let started = Instant::now();
        let mut attempts = 0;
        loop {
            let client_is_gone = !matches!(client.try_wait(), Ok(None));
            let removed = self.ask(&["rm", "--force", "--volumes", &self.name])?;
            let filter = format!("name={}", self.name);
            let left = self.ask(&["ps", "--all", "--quiet", "--filter", &filter])?;
            if client_is_gone {
                if left.status.success() && left.stdout.is_empty() {
                    return Ok(());
                }
                attempts += 1;
            }
            if attempts >= MOST_ATTEMPTS || started.elapsed() >= PATIENCE {
                let _ = client.kill();
                let output = if left.status.success() { removed } else { left };
                let words = String::from_utf8_lossy(&output.stderr);
                let last = words.trim().lines().last();
                return Err(last.unwrap_or("it is still there").to_owned());
            }
            std::thread::sleep(GLANCE * (1 << attempts));
        }
    }

    fn ask(&self, args: &[&str]) -> Result<Output, String> {
        let mut command = self.command();
        command.args(args).stdout(Stdio::piped());
        command
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| error.to_string())
    }
}
