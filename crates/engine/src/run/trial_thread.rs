//! A trial on a thread of its own, and the channel to the scheduler's loop.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use serde::{Deserialize, Serialize};
use terca_core::plan::TrialSpec;
use terca_core::run::event::EventKind;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::trial::{self, Context};

/// The number of a slot.
pub type SlotId = usize;

/// Something that happened to a slot.
#[derive(Debug)]
pub enum SlotNews {
    /// It can take a trial.
    Ready {
        /// The slot.
        slot: SlotId,
        /// The name of its node; `None` for this machine.
        node: Option<String>,
    },
    /// It cannot take a trial before it is ready again.
    Gone {
        /// The slot.
        slot: SlotId,
    },
    /// It will not take another trial.
    Failed {
        /// The name of its place.
        place: String,
        /// The reason.
        reason: GivenUp,
    },
}

/// The reason why a slot was given up, or cannot be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GivenUp {
    /// The reason.
    pub reason: String,
    /// The next step.
    pub help: Option<String>,
}

impl<E: std::fmt::Display> From<E> for GivenUp {
    fn from(error: E) -> Self {
        GivenUp {
            reason: error.to_string(),
            help: None,
        }
    }
}

/// A message to the loop.
#[derive(Debug)]
pub enum Message {
    /// Something happened to a trial.
    Trial(Box<EventKind>),
    /// Something happened to a slot.
    Slot(Box<SlotNews>),
    /// SIGINT, SIGTERM or SIGHUP.
    Signal,
    /// Ctrl+Z: the terminal goes to another program.
    Suspend {
        /// Told when the screen is given back.
        ready: Sender<()>,
        /// Told, or closed, when Terca has it again.
        go_on: Receiver<()>,
    },
}

/// The two ends of the loop's channel. The sender also goes to the receiver of signals.
pub type Mailbox = (Sender<Message>, Receiver<Message>);

/// Starts a trial on a thread of its own. A report comes back even after a panic; after it the slot is free again.
pub fn start(
    trial: TrialSpec,
    attempt: u32,
    context: Arc<Context>,
    sender: &Sender<Message>,
    slot: Option<SlotId>,
) {
    let id = trial.id;
    let end = {
        let sender = sender.clone();
        move |report| {
            tell_end(&sender, id, report);
            if let Some(slot) = slot {
                let ready = SlotNews::Ready { slot, node: None };
                let _ = sender.send(Message::Slot(Box::new(ready)));
            }
        }
    };
    let sender = sender.clone();
    let end_of_work = end.clone();
    let work = move || {
        let emit = |kind| {
            // The loop has left when this fails: nobody is listening any more.
            let _ = sender.send(Message::Trial(Box::new(kind)));
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            trial::run(&trial, attempt, &context, &emit)
        }));
        let report = outcome.unwrap_or_else(|panic| broken(&*panic, attempt));
        // Let go before the end is told: after the last end the work directory may be removed.
        drop(context);
        end_of_work(report);
    };
    let thread = std::thread::Builder::new().name(format!("trial {id}"));
    if let Err(error) = thread.spawn(work) {
        end(internal_error(
            format!("no thread could be started: {error}"),
            attempt,
        ));
    }
}

/// Tells the loop that a trial has ended.
pub fn tell_end(to: &Sender<Message>, trial: u32, report: TrialReport) {
    let report = Box::new(report);
    let finished = EventKind::TrialFinished { trial, report };
    // The loop has left when this fails.
    let _ = to.send(Message::Trial(Box::new(finished)));
}

fn broken(panic: &(dyn Any + Send), attempt: u32) -> TrialReport {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied());
    internal_error(
        format!(
            "a bug in Terca: {}",
            words.unwrap_or("a panic without words")
        ),
        attempt,
    )
}

/// Returns the report of a trial that Terca itself could not run.
pub fn internal_error(message: String, attempt: u32) -> TrialReport {
    TrialReport {
        status: Status::Error,
        error: Some(TrialError::new(ErrorKind::Internal, message)),
        attempts: attempt,
        ..TrialReport::pending()
    }
}
