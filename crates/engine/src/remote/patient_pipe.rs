//! The input of a worker. A write waits while the worker reads, and no longer.

use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The time between two looks at a run that may have ended meanwhile.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

const STOPPING: u8 = 1;
const OVER: u8 = 2;

/// Whether a run is about to end. All connections of a run share it, since one that waits hears nothing.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<AtomicU8>);

impl Ending {
    /// Agents are asked to end, and no trial is started any more.
    pub fn stop(&self) {
        self.0.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// Nothing waits for a worker any more.
    pub fn end(&self) {
        self.0.fetch_max(OVER, Ordering::Relaxed);
    }

    /// Returns whether no trial is to be started any more.
    pub fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= STOPPING
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= OVER
    }
}

/// The writing end of a pipe to a worker.
#[derive(Debug)]
pub struct PatientPipe {
    pipe: ChildStdin,
    /// A worker that reads nothing for so long is taken for lost.
    patience: Duration,
    ending: Ending,
    /// The worker has begun to work, and is told when it is to stop.
    pub is_ready: bool,
}

impl PatientPipe {
    /// Takes a pipe, whose writes never block from now on.
    pub fn new(pipe: ChildStdin, patience: Duration, ending: Ending) -> io::Result<Self> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(PatientPipe {
            pipe,
            patience,
            ending,
            is_ready: false,
        })
    }

    fn may_wait(&self, since: Instant) -> io::Result<()> {
        let is_over = match self.is_ready {
            true => self.ending.is_over(),
            false => self.ending.is_stopping(),
        };
        if is_over {
            return Err(io::Error::other("the run was ended"));
        }
        if since.elapsed() >= self.patience {
            let seconds = self.patience.as_secs();
            let message = format!("it has read nothing for {seconds} seconds");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }
}

impl Write for PatientPipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let since = Instant::now();
        loop {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.may_wait(since)?,
                written => return written,
            }
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::OUT)], Some(&LOOK)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A command that reads nothing.
    fn deaf(patience: Duration, ending: &Ending) -> (std::process::Child, PatientPipe) {
        let mut child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = child.stdin.take().unwrap();
        let pipe = PatientPipe::new(pipe, patience, ending.clone()).unwrap();
        (child, pipe)
    }

    fn written(pipe: &mut PatientPipe) -> String {
        // More than any pipe holds.
        pipe.write_all(&vec![0; 4 << 20]).unwrap_err().to_string()
    }

    #[test]
    fn a_reader_that_reads_nothing_is_given_up() {
        let (mut child, mut pipe) = deaf(Duration::from_secs(1), &Ending::default());
        assert_eq!(written(&mut pipe), "it has read nothing for 1 seconds");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn the_end_of_a_run_ends_a_write_that_waits() {
        for (is_ready, end) in [(false, Ending::stop as fn(&Ending)), (true, Ending::end)] {
            let ending = Ending::default();
            let (mut child, mut pipe) = deaf(Duration::from_secs(3600), &ending);
            pipe.is_ready = is_ready;
            let writer = std::thread::spawn(move || written(&mut pipe));
            end(&ending);
            assert_eq!(writer.join().unwrap(), "the run was ended");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
