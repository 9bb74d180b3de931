//! The tap itself: the process that `terca __mcp-tap` becomes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use terca_core::mcp_tap::{HiddenTools, HidingStream, MessageTooLong, Side};

use super::SERVER;
use super::record::{Recorder, SideRecorder};
use crate::process::own_process;

/// The exit status of a shell whose command could not be started.
const NOT_STARTED: u8 = 127;
const NOT_OF_TERCA: &str = "its arguments are not those of Terca";
const CHUNK: usize = 64 * 1024;
/// The longest wait for the end of a server whose output has ended.
const AFTER_OUTPUT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 250_000_000,
};

/// The time in which a tap may be asked to end after its server has ended.
const GRACE: Duration = Duration::from_millis(250);
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Passes everything on between the agent, which has started this process, and a server, until the server ends. Then
/// ends in the same way.
pub(super) fn tap(args: &[OsString]) -> ExitCode {
    let words: Option<Vec<String>> = args
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect();
    let [dir, server, number, rest @ ..] = words.as_deref().unwrap_or_default() else {
        return not_started("the tap", NOT_OF_TERCA);
    };
    let number = number.parse().unwrap_or(usize::MAX);
    let Some((hidden, command)) = rest.split_at_checked(number) else {
        return not_started("the tap", NOT_OF_TERCA);
    };
    let recorder = Recorder::begin(Utf8Path::new(dir), server);
    let _ = own_process::prepare();
    let ended = match pass(command, HiddenTools::new(hidden), &recorder) {
        Ok(ended) => ended,
        Err(error) => return not_started(server, &error.to_string()),
    };
    let status = ended.status;
    recorder.end(own_process::exit_of(status), ended.by_itself);
    // Not before: some agents kill a server as soon as its output ends, and its death would be in no record.
    drop(ended.agent_out);
    end_like(status)
}

/// A server that has ended.
struct EndedServer {
    status: ExitStatus,
    /// True if nobody had asked it to end.
    by_itself: bool,
    /// The way to the agent, if it is still open.
    agent_out: Option<File>,
}

/// Passes everything on until the server has ended.
fn pass(
    command: &[String],
    hides: Option<HiddenTools>,
    recorder: &Recorder,
) -> io::Result<EndedServer> {
    let (agent_in, agent_out) = take_standard_streams()?;
    let signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let mut child = server_command(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let is_asked_to_end = Arc::new(AtomicBool::new(false));
    forward_signals(signals, &child, &is_asked_to_end);
    let input = child.stdin.take();
    let (mut to_server, asked) = (recorder.side(Side::Agent), is_asked_to_end.clone());
    let mut requests = HidingStream::new(hides.clone(), Side::Agent);
    std::thread::spawn(move || {
        let Some(mut input) = input else { return };
        let mut agent = agent_in;
        let mut buffer = vec![0; CHUNK];
        loop {
            match agent.read(&mut buffer) {
                Ok(0) => {
                    asked.store(true, Ordering::SeqCst);
                    to_server.end();
                    let _ = input.write_all(&requests.finish());
                    return;
                }
                Ok(length) => {
                    // As the agent asked it, although a hidden tool is called by another name.
                    to_server.copy(&buffer[..length]);
                    let Ok(bytes) = requests.pass(&buffer[..length]).inspect_err(complain) else {
                        return;
                    };
                    // A server that does not listen: the agent's own writes fail from now on, as they would without a tap.
                    if input.write_all(&bytes).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    let output = child.stdout.take();
    let (ended, end) = io::pipe()?;
    let from_server = recorder.side(Side::Server);
    let answers = HidingStream::new(hides, Side::Server);
    let passing = std::thread::spawn(move || {
        pass_output(output?, agent_out, &ended.into(), answers, from_server)
    });
    let status = child.wait()?;
    // The way to the agent stays open meanwhile: an agent that sees its end would ask the tap to end, too.
    drop(end);
    let by_itself = is_end_by_itself(status, &is_asked_to_end);
    Ok(EndedServer {
        status,
        by_itself,
        agent_out: passing.join().ok().flatten(),
    })
}

/// Returns whether a server ended and nobody had asked it to. Some agents end a server and all that belongs to it one by one,
/// so the server may hear of it before the tap does.
fn is_end_by_itself(status: ExitStatus, is_asked_to_end: &AtomicBool) -> bool {
    if matches!(status.signal(), Some(SIGHUP | SIGINT | SIGTERM)) {
        return false;
    }
    let ended = Instant::now();
    loop {
        if is_asked_to_end.load(Ordering::SeqCst) {
            return false;
        }
        if ended.elapsed() >= GRACE {
            return true;
        }
        std::thread::sleep(LOOK);
    }
}

/// Passes the server's output on until it is closed, or until the server has ended and nothing is left: processes that it
/// leaves behind may hold its output open. Returns the way to the agent, if both are at their end.
fn pass_output(
    mut output: ChildStdout,
    mut agent: File,
    ended: &OwnedFd,
    mut answers: HidingStream,
    mut recorder: SideRecorder,
) -> Option<File> {
    let mut buffer = vec![0; CHUNK];
    let mut pass_on = |agent: &mut File, bytes: &[u8]| {
        if bytes.is_empty() {
            return Ok(());
        }
        recorder.copy(bytes);
        agent.write_all(bytes)
    };
    loop {
        let mut files = [
            PollFd::new(&output, PollFlags::IN),
            PollFd::new(ended, PollFlags::IN),
        ];
        if poll(&mut files, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
            return None;
        }
        let [has_output, has_ended] = files.map(|file| !file.revents().is_empty());
        if !has_output {
            if has_ended {
                break;
            }
            continue;
        }
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                let bytes = answers.pass(&buffer[..length]).inspect_err(complain).ok()?;
                // An agent that does not listen: the server's own writes fail from now on.
                pass_on(&mut agent, &bytes).ok()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    pass_on(&mut agent, &answers.finish()).ok()?;
    recorder.end();
    // A server that has ended is about to be heard of; one that goes on without an output is not.
    let mut end = [PollFd::new(ended, PollFlags::IN)];
    let has_ended = poll(&mut end, Some(&AFTER_OUTPUT)).is_ok_and(|count| count > 0);
    has_ended.then_some(agent)
}

/// Takes standard input and output, so that each is closed when it is dropped.
fn take_standard_streams() -> io::Result<(File, File)> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((input, output))
}

/// Passes signals on to the server. One to end counts as asking it to end.
fn forward_signals(mut signals: Signals, child: &Child, is_asked_to_end: &Arc<AtomicBool>) {
    let pid = Pid::from_raw(child.id() as i32);
    let asked = is_asked_to_end.clone();
    std::thread::spawn(move || {
        for number in signals.forever() {
            if !matches!(number, SIGUSR1 | SIGUSR2) {
                asked.store(true, Ordering::SeqCst);
            }
            if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(number)) {
                let _ = kill_process(pid, signal);
            }
        }
    });
}

/// Returns the command of the server.
fn server_command(words: &[String]) -> Command {
    if cfg!(target_os = "linux") {
        // By way of this program again, which has the server killed with the tap.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("terca").arg(SERVER).args(words);
        return command;
    }
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.iter().skip(1));
    command
}

/// Becomes the server.
pub(super) fn become_server(words: &[OsString]) -> ExitCode {
    die_with_parent();
    let Some((program, args)) = words.split_first() else {
        return not_started("the tap", NOT_OF_TERCA);
    };
    let error = Command::new(program).args(args).exec();
    not_started(&program.to_string_lossy(), &error.to_string())
}

#[cfg(target_os = "linux")]
fn die_with_parent() {
    // Without it the server still sees the end of its input.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() {}

fn not_started(name: &str, reason: &str) -> ExitCode {
    let message = format!("terca: the MCP server `{name}` could not be started: {reason}\n");
    let _ = io::stderr().write_all(message.as_bytes());
    ExitCode::from(NOT_STARTED)
}

/// Says why the tap passes nothing on any more.
fn complain(error: &MessageTooLong) {
    let _ = io::stderr().write_all(format!("terca: {error}\n").as_bytes());
}

/// Ends this process as another has ended.
fn end_like(status: ExitStatus) -> ExitCode {
    let Some(signal) = status.signal() else {
        return ExitCode::from(status.code().unwrap_or_default() as u8);
    };
    // One dump of memory is enough.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    if signal == SIGKILL {
        let _ = kill_process(rustix::process::getpid(), Signal::KILL);
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    ExitCode::from(128_u8.wrapping_add(signal as u8))
}
