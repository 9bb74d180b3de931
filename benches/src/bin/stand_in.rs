//! A worker that runs no trials: `bench-stand-in SECONDS EVENTS PARCEL worker`.
//!
//! Each trial takes so many seconds, in which so many events are sent. It ends with the parcel as its files.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use terca_core::run::event::{EventKind, Phase};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::transcript::Usage;
use terca_engine::remote::frame::{self, Frame};
use terca_engine::remote::message::{FromWorker, Hello, Opened, ToWorker};

/// A worker that has nothing to do says so often that it is there.
const BEAT: Duration = Duration::from_secs(3);

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(seconds), Some(events), Some(parcel)) = (words.next(), words.next(), words.next())
    else {
        return Err(io::Error::other("bench-stand-in SECONDS EVENTS PARCEL"));
    };
    let seconds: u64 = seconds.parse().map_err(io::Error::other)?;
    let events = events.parse().map_err(io::Error::other)?;
    let mut worker = StandIn {
        // As files: what is in a buffer would not wake up.
        input: File::from(io::stdin().as_fd().try_clone_to_owned()?),
        output: File::from(io::stdout().as_fd().try_clone_to_owned()?),
        pause: Duration::from_secs(seconds) / events,
        events,
        parcel,
        current: None,
        next: Instant::now() + BEAT,
    };
    worker.greet()?;
    while worker.step()? {}
    Ok(())
}

struct StandIn {
    input: File,
    output: File,
    pause: Duration,
    events: u32,
    parcel: String,
    /// The trial, its attempt, and the number of events that were sent.
    current: Option<(u32, u32, u32)>,
    /// The time to say something.
    next: Instant,
}

impl StandIn {
    fn greet(&mut self) -> io::Result<()> {
        frame::greet(&mut self.output)?;
        self.send(&FromWorker::Hello(Box::new(Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            node: "stand-in".to_owned(),
            now: Timestamp::now(),
        })))
    }

    fn send(&mut self, message: &FromWorker) -> io::Result<()> {
        frame::send(&mut self.output, message)
    }

    /// Waits for a message or for the time to say something. Returns whether the coordinator is still there.
    fn step(&mut self) -> io::Result<bool> {
        let left = self.next.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let is_message = poll(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(&left))? > 0;
        if !is_message {
            return self.say().map(|()| true);
        }
        match frame::receive(&mut self.input)? {
            Some(Frame::Message(message)) => self.hear(message).map(|()| true),
            Some(Frame::Data(_)) => Err(io::Error::other("nobody asked for data")),
            None => Ok(false),
        }
    }

    fn hear(&mut self, message: ToWorker) -> io::Result<()> {
        match message {
            ToWorker::Open(_) => self.send(&FromWorker::Opened(Opened {
                sandboxes: Vec::new(),
                networks: Vec::new(),
                not_contained: None,
            })),
            ToWorker::Run { trial, attempt } => {
                self.current = Some((trial.id, attempt, 0));
                self.next = Instant::now() + self.pause;
                Ok(())
            }
            ToWorker::Ping => self.send(&FromWorker::Pong),
            ToWorker::Stop | ToWorker::Kill | ToWorker::Inspect(_) => Ok(()),
        }
    }

    fn say(&mut self) -> io::Result<()> {
        let Some((trial, attempt, sent)) = self.current else {
            self.next = Instant::now() + BEAT;
            return self.send(&FromWorker::Beat);
        };
        if sent == self.events {
            self.current = None;
            self.next = Instant::now() + BEAT;
            frame::send_all(&mut self.output, &mut fs_err::File::open(&self.parcel)?)?;
            return self.send(&FromWorker::Ended {
                trial,
                attempt,
                report: Box::new(TrialReport {
                    status: Status::Passed,
                    score: Some(1.0),
                    ..TrialReport::pending()
                }),
            });
        }
        self.current = Some((trial, attempt, sent + 1));
        self.next += self.pause;
        let kind = match sent {
            0 => EventKind::PhaseStarted {
                trial,
                phase: Phase::Agent,
            },
            _ => EventKind::Progress {
                trial,
                doing: format!("reads src/module_{sent}.rs and thinks about it"),
                usage: Usage::default(),
            },
        };
        self.send(&FromWorker::Event(Box::new(kind)))
    }
}
