//! The end of a passage, which ends everything that is on its way.

use std::pin::Pin;
use std::task::Context;

use tokio::sync::watch;

/// The answer to a request whose trial has come to its end.
pub(crate) const TRIAL_IS_OVER: &str = "the trial is over";

/// Says when a passage is closed.
#[derive(Debug)]
pub(crate) struct Closing(watch::Sender<bool>);

impl Closing {
    pub(crate) fn new() -> Self {
        Closing(watch::Sender::new(false))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the passage is closed.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.0.subscribe();
        async move {
            // Nobody is there to close it when the sender is gone.
            let _ = receiver.wait_for(|is_closed| *is_closed).await;
        }
    }

    /// Returns the look-out for the end that a body on its way has.
    pub(crate) fn watch(&self) -> ClosedWatch {
        ClosedWatch(Box::pin(self.closed()))
    }
}

/// Looks out for the end of a passage.
pub(crate) struct ClosedWatch(Pin<Box<dyn Future<Output = ()> + Send>>);

impl ClosedWatch {
    /// Returns whether the passage is closed. The task is woken when it is.
    pub(crate) fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        self.0.as_mut().poll(context).is_ready()
    }
}
