//! A trial on a thread of its own, and the channel to the loop.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use terca_core::plan::TrialSpec;
use terca_core::run::event::EventKind;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::trial::{self, Context};

/// A message to the loop.
#[derive(Debug)]
pub enum Message {
    /// Something happened to a trial.
    Trial(Box<EventKind>),
    /// SIGINT, SIGTERM or SIGHUP.
    Signal,
}

/// The two ends of the loop's channel.
pub type Mailbox = (Sender<Message>, Receiver<Message>);

/// Makes the loop's channel; the sender also goes to the receiver of signals.
pub fn mailbox() -> Mailbox {
    channel()
}

/// Starts a trial on a thread of its own. A report comes back even after a panic.
pub(super) fn start(
    trial: TrialSpec,
    attempt: u32,
    context: Arc<Context>,
    sender: &Sender<Message>,
) {
    let id = trial.id;
    let work = {
        let sender = sender.clone();
        move || {
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
            emit(EventKind::TrialFinished {
                trial: id,
                report: Box::new(report),
            });
        }
    };
    if let Err(error) = std::thread::Builder::new()
        .name(format!("trial {id}"))
        .spawn(work)
    {
        let report = internal_error(format!("no thread could be started: {error}"), attempt);
        let _ = sender.send(Message::Trial(Box::new(EventKind::TrialFinished {
            trial: id,
            report: Box::new(report),
        })));
    }
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

fn internal_error(message: String, attempt: u32) -> TrialReport {
    TrialReport {
        status: Status::Error,
        error: Some(TrialError::new(ErrorKind::Internal, message)),
        attempts: attempt,
        ..TrialReport::pending()
    }
}
