//! Asks a server that is a program.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use terca_core::agent::RawLine;
use terca_core::agent::mcp::McpServer;
use terca_core::mcp_tap::ToolsTalk;
use terca_core::process::Signal;
use terca_core::text::excerpt::beginning;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use super::silence;
use crate::host::environment::{Variables, find_program};
use crate::process::output_file::{Output, read_text};
use crate::process::supervise::{Enclosure, Ended, Job, SuperviseError, Turn};
use crate::process::tail::{Lines, Tail};
use crate::trial::containment::ContainedAgent;
use crate::trial::context::Context;
use crate::trial::mcp_answers::ServerAnswer;
use crate::trial::stage_error::StageError;

/// The time that a server has to end after its answers.
const GRACE: Duration = Duration::from_secs(2);
/// The most of its output that is looked at.
const MOST_OUTPUT: u64 = 16 * 1024 * 1024;
/// The longest part of its words that is shown, in characters.
const LONGEST_WORDS: usize = 300;

/// Starts the server in a directory and does the handshake.
pub(super) fn ask(
    context: &Context,
    server: &McpServer<String>,
    contained: ContainedAgent<'_>,
    limit: Duration,
) -> Result<ServerAnswer, StageError> {
    let McpServer::Stdio {
        command,
        args,
        env: own,
        cwd,
    } = server
    else {
        return Ok(ServerAnswer::NotAsked("it is not a program".to_owned()));
    };
    let mut env = contained.env.clone();
    env.extend(own.iter().cloned());
    let (dir, io_dir) = (contained.dirs.workspace, contained.io);
    let enclosure = contained.enclosure(context);
    let dir = cwd
        .as_ref()
        .map_or_else(|| dir.to_owned(), |cwd| dir.join(cwd));
    if !dir.is_dir() {
        return Ok(ServerAnswer::Failed(format!(
            "its directory {dir} is not there"
        )));
    }
    let is_in_image = context.sandboxes.image(contained.sandbox).is_some();
    let Some(program) = program(command, &dir, &env, is_in_image) else {
        let why = format!("`{command}` is not installed, or not on the trial's PATH");
        return Ok(ServerAnswer::Failed(why));
    };
    let stdout = Output::create(io_dir)?;
    let stderr = Output::create(io_dir)?;
    let (requests, requests_path) = pipe(io_dir)?;
    let job = Job {
        program,
        args: args.clone(),
        env,
        dir,
        stdin: Some(requests_path),
        stdout: stdout.path.clone(),
        stderr: stderr.path.clone(),
        timeout: limit,
        stop_signal: Signal::Terminate,
        grace: GRACE,
        sweep: true,
        fixed_root: contained.fixed_root.cloned(),
    };
    let (job, enclosure) = Enclosure::with_fixed_root(job, enclosure);
    let mut handshake = Handshake::begin(requests, Tail::new(File::open(&stdout.path)?));
    // Under a supervisor of its own: what `before` has left running stays.
    let mut supervisor = context.supervisors.acquire(&context.interrupt)?;
    let ended = supervisor.run(&job, enclosure.as_ref(), &mut |_| {
        handshake.read();
        match handshake.talk.outcome {
            Some(_) => Turn::Stop,
            None => Turn::Wait,
        }
    });
    if context.interrupt.is_stop() {
        return Err(StageError::Interrupted);
    }
    let ended = match ended {
        Ok(ended) => ended,
        Err(SuperviseError::Program { reason, .. }) => {
            let why = not_started(context, command, cwd.as_ref(), &reason);
            return Ok(ServerAnswer::Failed(why));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(handshake.outcome(&ended, &stderr, limit, &context.mask))
}

/// Says why a program could not be started.
fn not_started(context: &Context, command: &str, cwd: Option<&String>, reason: &str) -> String {
    // Where evals are, a sandbox shows nothing.
    let is_hidden = cwd.is_some_and(|cwd| context.suite_dir.starts_with(cwd));
    let hint = match is_hidden {
        true => {
            "; a sandbox hides the suite's own directory, so put the server into one below it and name that in `cwd`"
        }
        false => "",
    };
    format!("`{command}` could not be started: {reason}{hint}")
}

/// Returns the program's file: on `PATH`, or relative to the directory if it has a `/`. The files of an image are
/// not known
/// here: the program is looked for when it is started.
fn program(
    command: &str,
    dir: &Utf8Path,
    env: &Variables,
    is_in_image: bool,
) -> Option<Utf8PathBuf> {
    if is_in_image {
        return Some(command.into());
    }
    if command.contains('/') {
        let path = dir.join(command);
        return path.is_file().then_some(path);
    }
    find_program(command, env.get("PATH").map_or("", String::as_str))
}

/// Makes a pipe with a name. The end that is returned can be read too, so that the program's end opens at once,
/// and stays
/// open until it is dropped: many servers end when their input ends.
fn pipe(dir: &Utf8Path) -> io::Result<(File, Utf8PathBuf)> {
    let path = dir.join(format!("requests-{:016x}", fastrand::u64(..)));
    mkfifo(path.as_std_path(), Mode::S_IRUSR | Mode::S_IWUSR)?;
    let file = File::options().read(true).write(true).open(&path)?;
    Ok((file, path))
}

/// The handshake with a server.
struct Handshake {
    requests: File,
    stdout: Tail,
    lines: Lines,
    /// Output that is not the protocol.
    other: Option<String>,
    talk: ToolsTalk,
}

impl Handshake {
    /// Begins to ask. The question waits in the pipe until the program reads it.
    fn begin(requests: File, stdout: Tail) -> Self {
        let mut handshake = Handshake {
            requests,
            stdout,
            lines: Lines::default(),
            other: None,
            talk: ToolsTalk::begin(),
        };
        handshake.send();
        handshake
    }

    /// Sends what is to be sent. Messages are much shorter than a pipe is long, so nothing waits for the program.
    fn send(&mut self) {
        for message in self.talk.to_send.drain(..) {
            let line = format!("{message}\n");
            if let Err(error) = self.requests.write_all(line.as_bytes()) {
                self.talk.outcome = Some(Err(format!("it could not be asked: {error}")));
            }
        }
    }

    /// Returns what came of it. The program may have ended just after its answer.
    fn outcome(
        mut self,
        ended: &Ended,
        stderr: &Output,
        limit: Duration,
        mask: &Mask,
    ) -> ServerAnswer {
        while self.talk.outcome.is_none() && self.read() {}
        let mut why = match self.talk.outcome {
            Some(Ok(tools)) => return ServerAnswer::Ready(Some(tools)),
            Some(Err(why)) => why,
            None if ended.timed_out => silence(limit),
            None => format!("it ended before it answered ({})", ended.exit.describe()),
        };
        if let Some(text) = self.other {
            let beginning = beginning(&mask.text(&text), LONGEST_WORDS);
            why += &format!("; its standard output is not the protocol: {beginning}");
        }
        let why = with_last_errors(why, stderr, mask);
        match ended.timed_out {
            true => ServerAnswer::Silent(why),
            false => ServerAnswer::Failed(why),
        }
    }

    /// Reads what the program has printed since the last time. Returns whether there is more.
    fn read(&mut self) -> bool {
        if self.stdout.bytes >= MOST_OUTPUT {
            return false;
        }
        let (talk, other) = (&mut self.talk, &mut self.other);
        let on_line = &mut |line: RawLine<'_>| {
            let text = String::from_utf8_lossy(line.text);
            if !talk.read(line.text) && !text.trim().is_empty() {
                other.get_or_insert_with(|| text.trim().to_owned());
            }
        };
        let read = self
            .stdout
            .read(&mut |block| self.lines.feed(block, on_line));
        self.send();
        read.unwrap_or(false)
    }
}

/// Adds the end of standard error, without secrets.
fn with_last_errors(why: String, stderr: &Output, mask: &Mask) -> String {
    let text = stderr.rewound().and_then(read_text).unwrap_or_default();
    let text = mask.text(text.trim());
    if text.is_empty() {
        return why;
    }
    let skipped = text.chars().count().saturating_sub(LONGEST_WORDS);
    let end: String = text.chars().skip(skipped).collect();
    let lines = end.lines().map(str::trim).filter(|line| !line.is_empty());
    format!("{why}: {}", prose::joined(lines, " / "))
}
