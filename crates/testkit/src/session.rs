//! The program while it runs.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::outcome::Outcome;
use crate::patience::wait_until;
use crate::processes::{Process, descendants_of};
use crate::signals;

#[derive(Debug)]
pub struct Session {
    child: Child,
}

impl Session {
    pub fn start(mut command: Command) -> Self {
        signals::hear_in_children();
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        Session { child }
    }

    /// The process that was started.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns every live process below it. An ordinary user sees no more of a Terca than its command line.
    pub fn processes(&self) -> Vec<Process> {
        descendants_of(self.id() as i32)
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process id");
        kill_process(pid, signal).expect("the program is there to be signalled");
    }

    /// Waits until something has come about, by looking again and again.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut come_about: impl FnMut() -> bool) {
        wait_until(what, || {
            let has_come = come_about();
            if !has_come && let Ok(Some(status)) = self.child.try_wait() {
                panic!(
                    "the program ended ({status}) before {what}: {}",
                    self.words()
                );
            }
            has_come
        });
    }

    fn words(&mut self) -> String {
        let mut words = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut words);
        }
        words
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the program's end.
    pub fn finish(self) -> Outcome {
        self.child
            .wait_with_output()
            .expect("the program ends")
            .into()
    }
}
