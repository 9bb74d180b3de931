//! A program that runs beside a trial, such as a database, on a thread and under a supervisor of its own.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use camino::Utf8PathBuf;

use crate::locked;
use crate::process::interrupt::Interrupt;
use crate::process::output_file::Output;
use crate::process::supervise::{Enclosure, Job, KeptContainer, Launcher, Supervisor, Turn};

/// The way in which a service is started.
#[derive(Debug)]
pub enum ServiceProgram {
    /// A command, behind walls or not.
    Command(Box<Job>, Option<Enclosure>),
    /// A container of an image.
    Container(KeptContainer),
}

/// A service that was started. It ends, with everything below it, when it is dropped. Its directory goes with it.
#[derive(Debug)]
pub struct ServiceProcess {
    state: Arc<State>,
    thread: Mutex<Option<JoinHandle<()>>>,
    output: Output,
    dir: Utf8PathBuf,
}

#[derive(Debug, Default)]
struct State {
    /// It is to end.
    stop: AtomicBool,
    /// How it ended, unless it was asked to.
    end: Mutex<Option<String>>,
}

impl ServiceProcess {
    /// Starts a program that prints to `output`. `dir` is removed when it has ended.
    pub fn start(
        launcher: &Arc<Launcher>,
        interrupt: &Arc<Interrupt>,
        program: ServiceProgram,
        output: Output,
        dir: Utf8PathBuf,
    ) -> io::Result<Self> {
        let state = Arc::new(State::default());
        let (launcher, interrupt, told) = (launcher.clone(), interrupt.clone(), state.clone());
        let thread = std::thread::Builder::new().spawn(move || {
            let should_end = || told.stop.load(Ordering::SeqCst) || interrupt.is_stop();
            *locked(&told.end) = run(&launcher, &interrupt, &program, &should_end);
        })?;
        Ok(ServiceProcess {
            state,
            thread: Mutex::new(Some(thread)),
            output,
            dir,
        })
    }

    /// Returns how it ended; `None` while it runs, and where it was asked to end.
    pub fn end(&self) -> Option<String> {
        locked(&self.state.end).clone()
    }

    /// Returns what it has printed after so many bytes. Each caller has a file of its own.
    pub fn log(&self, from: u64) -> io::Result<File> {
        let mut file = File::open(&self.output.path)?;
        file.seek(SeekFrom::Start(from))?;
        Ok(file)
    }

    /// Ends it, and waits for that.
    pub fn stop(&self) {
        self.state.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = locked(&self.thread).take() {
            // A thread that panicked has dropped its supervisor.
            let _ = thread.join();
        }
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        self.stop();
        // What stays is in the run's directory, which is removed later.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Runs a program to its end. Returns the end in words, unless it was asked to end.
fn run(
    launcher: &Arc<Launcher>,
    interrupt: &Interrupt,
    program: &ServiceProgram,
    should_end: &dyn Fn() -> bool,
) -> Option<String> {
    let (job, walls) = match program {
        ServiceProgram::Command(job, walls) => (job, walls),
        ServiceProgram::Container(container) => {
            return match container.run(launcher, should_end) {
                Ok(asked) => (!asked).then(|| "its container ended".to_owned()),
                Err(error) => Some(error.to_string()),
            };
        }
    };
    let supervisor = match walls {
        Some(walls) => Supervisor::start_in(launcher, walls, interrupt),
        None => Supervisor::start(launcher),
    };
    let ended = supervisor.and_then(|mut supervisor| {
        supervisor.run(job, interrupt, &mut || match should_end() {
            true => Turn::Stop,
            false => Turn::Wait,
        })
    });
    match ended {
        Ok(ended) => (!ended.stopped).then(|| ended.exit.describe()),
        Err(error) => (!should_end()).then(|| error.to_string()),
    }
}
