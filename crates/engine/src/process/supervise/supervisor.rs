//! The supervisor itself: the process that `terca __supervise` becomes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rustix::process::{
    Pid, Resource, Signal as OsSignal, WaitOptions, getrlimit, kill_process, kill_process_group,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use terca_core::process::Exit;
use terca_core::process::Signal;

use super::launcher::pid_of;
use super::protocol::{ENCLOSED, Ended, FILTERED, Job, Request, Response, Swept};
use super::{os, passed_sockets};
use crate::process::json_lines::{Messages, receive, send};
use crate::process::pause::Looks;
use crate::process::{call_filter, open_file_limit, own_process};

/// The time between looks at what nothing announces: orphans to reap, a process group that may be gone.
const GLANCE: Duration = Duration::from_millis(20);

/// Serves requests from standard input, a socket, until it closes; then ends everything that is left.
pub fn serve() -> io::Result<()> {
    // A session of its own: Ctrl+C in the terminal reaches Terca alone, which then decides.
    let _ = rustix::process::setsid();
    own_process::prepare()?;
    survive_signals()?;
    if let Some(limit) = std::env::args().nth(2).and_then(|limit| limit.parse().ok()) {
        open_file_limit::restore(limit);
    }
    let enclosed = std::env::args().nth(3);
    if enclosed.as_deref() == Some(FILTERED) {
        call_filter::enter(None).inspect_err(|error| {
            let _ = io::Write::write_all(&mut io::stderr(), format!("{error}\n").as_bytes());
        })?;
    }
    os::become_subreaper();
    let at_start = condition();
    let socket = match std::env::args().nth(4) {
        // In a container, standard input is not Terca's.
        Some(path) => UnixStream::connect(path)?,
        None => UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?),
    };
    let mut socket = Messages::new(socket);
    if enclosed.is_some_and(|argument| argument == ENCLOSED || argument == FILTERED) {
        send(&mut socket, &Response::Ready)?;
    }
    loop {
        match receive(&mut socket) {
            Ok(Request::Run(job)) => match run(&job, &mut socket) {
                Some(response) => send(&mut socket, &response)?,
                None => break,
            },
            Ok(Request::Sweep) => {
                let left_behind = os::end_children(|_| true);
                let is_same = at_start.is_some() && condition() == at_start;
                let swept = Swept {
                    left_behind,
                    as_new: left_behind == 0 && is_same,
                };
                send(&mut socket, &Response::Swept(swept))?;
            }
            Ok(Request::Listen(addresses)) => {
                passed_sockets::listen(socket.get_ref(), &addresses)?;
            }
            // An interrupt that came when the command had just ended: Terca knows what to do next.
            Ok(Request::Stop | Request::Kill | Request::Pause(_)) => {}
            Err(_) => break,
        }
    }
    os::end_children(|_| true);
    Ok(())
}

/// Handles the signals that would end this process: an agent may signal its parents. Handlers, unlike ignored
/// signals, are not inherited, so commands start with the defaults even if Terca was started with some ignored.
fn survive_signals() -> io::Result<()> {
    let mut ends = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter();
    ends.try_for_each(own_process::handle)
}

/// Runs one command to its end. Returns `None` when Terca is gone.
fn run(job: &Job, socket: &mut Messages) -> Option<Response> {
    let started = Instant::now();
    let pid = match start(job) {
        Ok(pid) => pid,
        Err(error) => return Some(Response::CouldNotStart(error.to_string())),
    };
    let mut watch = Watch {
        pid,
        status: None,
        phase: Phase::Running,
        timed_out: false,
        stopped: false,
    };
    let mut clock = CommandClock {
        started,
        deadline: started.checked_add(job.timeout),
        frozen: None,
    };
    let exit_watch = os::exit_watch(pid);
    let mut looks = Looks::begin();
    let limit = getrlimit(Resource::Cpu);
    loop {
        watch.reap();
        if watch.is_over() {
            break;
        }
        // Whoever lowers this limit from inside wants the kernel to kill this process, which would look like a kill from outside.
        if getrlimit(Resource::Cpu) != limit {
            return None;
        }
        let has_request = !socket.buffer().is_empty()
            || wait(socket.get_ref(), exit_watch.as_ref(), clock.limit(), &watch);
        clock.move_on(looks.missed());
        if has_request {
            match receive(socket) {
                Ok(Request::Stop) => {
                    clock.go_on();
                    watch.stopped = true;
                    clock.deadline = watch.ask_to_end(job);
                }
                Ok(Request::Pause(true)) => clock.pause(),
                Ok(Request::Pause(false)) => clock.go_on(),
                Ok(Request::Kill) => {
                    clock.go_on();
                    watch.stopped = true;
                    watch.kill();
                }
                Ok(Request::Run(_) | Request::Sweep | Request::Listen(_)) => {}
                Err(_) => return None,
            }
        }
        if (clock.limit()).is_some_and(|deadline| Instant::now() >= deadline) {
            clock.deadline = watch.out_of_time(job);
        }
    }
    clock.go_on();
    let seconds = clock.started.elapsed().as_secs_f64();
    let sweep = job.sweep || watch.phase != Phase::Running;
    let left_behind = if sweep { os::end_children(|_| true) } else { 0 };
    let exit = watch.status.unwrap_or(Exit::Signal(9));
    Some(Response::Ended(Ended {
        exit,
        timed_out: watch.timed_out,
        stopped: watch.stopped,
        seconds,
        left_behind,
        lost: false,
        killed_from_outside: false,
    }))
}

fn start(job: &Job) -> io::Result<Pid> {
    let stdin = match &job.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    };
    let child = Command::new(&job.program)
        .args(&job.args)
        .env_clear()
        .envs(&job.env)
        .current_dir(&job.dir)
        .stdin(stdin)
        .stdout(append_to(&job.stdout)?)
        .stderr(append_to(&job.stderr)?)
        .process_group(0)
        .spawn()?;
    pid_of(&child).ok_or_else(|| io::Error::other("the new process has no id"))
}

fn append_to(path: &Utf8Path) -> io::Result<Stdio> {
    OpenOptions::new().append(true).open(path).map(Stdio::from)
}

/// Waits for a request, the end of the command, or the next look. Returns whether a request is there.
fn wait(
    socket: &UnixStream,
    exit: Option<&OwnedFd>,
    deadline: Option<Instant>,
    watch: &Watch,
) -> bool {
    let mut files = vec![socket.as_fd()];
    if watch.status.is_none() {
        files.extend(exit.map(AsFd::as_fd));
    }
    // With the exit watched and nothing to time, one look a second reaps what was orphaned meanwhile.
    let glance = if exit.is_some() && watch.phase == Phase::Running {
        Duration::from_secs(1)
    } else {
        GLANCE
    };
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    os::wait_for(&files, left.map_or(glance, |left| left.min(glance)))
}

/// The time of the command that is running. It stands still in a pause.
struct CommandClock {
    /// Its start, moved on by the length of each pause.
    started: Instant,
    deadline: Option<Instant>,
    frozen: Option<Frozen>,
}

impl CommandClock {
    /// Returns the next moment to act at. There is none in a pause.
    fn limit(&self) -> Option<Instant> {
        self.deadline.filter(|_| self.frozen.is_none())
    }

    fn pause(&mut self) {
        if self.frozen.is_none() {
            self.frozen = Some(Frozen::all());
        }
    }

    fn go_on(&mut self) {
        if let Some(frozen) = self.frozen.take() {
            self.move_on(frozen.thaw());
        }
    }

    /// Leaves out a time that does not count. In a pause, nothing counts anyway.
    fn move_on(&mut self, time: Duration) {
        if self.frozen.is_none() {
            self.started += time;
            self.deadline = self.deadline.and_then(|at| at.checked_add(time));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Asked to end, and waited for.
    Ending,
    Killed,
}

/// The command that is running.
struct Watch {
    pid: Pid,
    status: Option<Exit>,
    phase: Phase,
    timed_out: bool,
    stopped: bool,
}

impl Watch {
    /// Reaps every process that has ended: the command itself, or orphans of its tree.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                self.status = Some(own_process::exit_of(ExitStatus::from_raw(status.as_raw())));
            }
        }
    }

    /// Returns whether the command has ended. One that was asked to end is over when its whole group is.
    fn is_over(&self) -> bool {
        match self.phase {
            Phase::Running | Phase::Killed => self.status.is_some(),
            Phase::Ending => {
                self.status.is_some() && rustix::process::test_kill_process_group(self.pid).is_err()
            }
        }
    }

    /// Acts on a limit that has passed: the timeout, or the grace after it. Returns the next limit.
    fn out_of_time(&mut self, job: &Job) -> Option<Instant> {
        match self.phase {
            Phase::Running => {
                self.timed_out = true;
                self.ask_to_end(job)
            }
            Phase::Ending | Phase::Killed => {
                self.kill();
                None
            }
        }
    }

    fn ask_to_end(&mut self, job: &Job) -> Option<Instant> {
        if self.phase == Phase::Running {
            let signal = match job.stop_signal {
                Signal::Interrupt => OsSignal::INT,
                Signal::Terminate => OsSignal::TERM,
            };
            let _ = kill_process_group(self.pid, signal);
            self.phase = Phase::Ending;
        }
        Instant::now().checked_add(job.grace)
    }

    fn kill(&mut self) {
        let _ = kill_process_group(self.pid, OsSignal::KILL);
        let _ = kill_process(self.pid, OsSignal::KILL);
        self.phase = Phase::Killed;
    }
}

/// The lines of `/proc/self/status` with properties that are inherited.
const INHERITED: [&str; 7] = [
    "Umask:", "TracerPid:", "SigIgn:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:",
];

/// Returns the properties of this process that its children can change and that its next children inherit: limits,
/// priorities and the like. A supervisor in which any of them has changed is not used for another trial. `None` where
/// the system does not tell them.
fn condition() -> Option<Vec<String>> {
    let nice = rustix::process::getpriority_process(None).ok()?;
    let mut condition = vec![
        nice.to_string(),
        read("limits")?,
        read("oom_score_adj")?,
        read("cgroup")?,
    ];
    let status = read("status")?;
    let inherited = status
        .lines()
        .filter(|line| INHERITED.iter().any(|start| line.starts_with(start)));
    condition.extend(inherited.map(str::to_owned));
    Some(condition)
}

fn read(name: &str) -> Option<String> {
    // The kernel writes the whole text anew for each piece that is read.
    let mut text = String::with_capacity(8 * 1024);
    let file = std::fs::File::open(format!("/proc/self/{name}"));
    file.ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// A process that starts others while it is being stopped is looked at so often.
const MOST_LOOKS: usize = 100;

/// Processes that were stopped.
#[derive(Debug)]
struct Frozen {
    since: Instant,
    /// Parents before their children. Those that were stopped by somebody else are not among them.
    stopped: Vec<Pid>,
}

impl Frozen {
    /// Stops everything below this process. Parents come first: a shell must not see its children stop.
    fn all() -> Self {
        let mut frozen = Frozen {
            since: Instant::now(),
            stopped: Vec::new(),
        };
        let mut seen: Vec<Pid> = Vec::new();
        for _ in 0..MOST_LOOKS {
            let before = seen.len();
            let mut next = os::children();
            while let Some(pid) = next.pop() {
                if !seen.contains(&pid) {
                    seen.push(pid);
                    if !is_stopped(pid) && kill_process(pid, OsSignal::STOP).is_ok() {
                        frozen.stopped.push(pid);
                    }
                }
                next.extend(os::children_of(&pid.to_string()).unwrap_or_default());
            }
            // Signals take a moment: nobody may have started another process meanwhile.
            if seen.len() == before && frozen.stopped.iter().all(|pid| is_stopped(*pid)) {
                break;
            }
        }
        frozen
    }

    /// Lets them go on, children first. Returns how long they were stopped.
    fn thaw(self) -> Duration {
        for pid in self.stopped.iter().rev() {
            // It may be gone.
            let _ = kill_process(*pid, OsSignal::CONT);
        }
        self.since.elapsed()
    }
}

/// Tells whether a process is stopped, or is no more.
fn is_stopped(pid: Pid) -> bool {
    let found = own_process::state_and_parent(pid.as_raw_nonzero().get());
    found.is_none_or(|(state, _)| "TtZX".contains(state))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_condition_is_the_same_until_somebody_changes_it() {
        let before = condition().unwrap();
        assert_eq!(condition().unwrap(), before);
        assert_eq!(before.len(), 4 + INHERITED.len(), "{before:?}");
    }
}
