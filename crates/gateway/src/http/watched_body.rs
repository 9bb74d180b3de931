//! The body of an answer on its way to the agent: passed on as it comes, and read as it goes by.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::{BodyError, Closing, TRIAL_IS_OVER};

/// Somebody who sees an answer go by.
pub(crate) trait Watcher {
    /// Takes the next bytes. Returns those for the agent.
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, BodyError>;

    /// Takes the end of the answer, or the reason why it is not whole. Returns the rest for the agent.
    fn end(&mut self, broken: Option<&BodyError>) -> Result<Bytes, BodyError>;

    /// Returns whether as many bytes are passed on as come in.
    fn keeps_length(&self) -> bool {
        true
    }
}

/// A body that is passed on.
pub(crate) struct WatchedBody<B, W> {
    body: B,
    /// Ready when the trial is over.
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// `None` once the end was seen.
    watcher: Option<W>,
    /// The error that it breaks off with, until it is passed on.
    broken: Option<BodyError>,
}

impl<B, W: Watcher> WatchedBody<B, W> {
    pub(crate) fn new(body: B, closing: &Closing, watcher: W) -> Self {
        WatchedBody {
            body,
            closed: Box::pin(closing.closed()),
            watcher: Some(watcher),
            broken: None,
        }
    }
}

type PolledFrame = Poll<Option<Result<Frame<Bytes>, BodyError>>>;

impl<B, W> Body for WatchedBody<B, W>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
    W: Watcher + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledFrame {
        let this = self.get_mut();
        if this.closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(TRIAL_IS_OVER.into())));
        }
        if let Some(error) = this.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        while let Some(watcher) = &mut this.watcher {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
            // Nobody asks again for a body whose length was told.
            let is_over = frame.is_none() || this.body.is_end_stream();
            let passed = match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(bytes))) => watcher.pass(bytes),
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => Err(error.into()),
                None => Ok(Bytes::new()),
            };
            let passed = passed.and_then(|bytes| match is_over {
                true => watcher.end(None).map(|rest| joined(bytes, rest)),
                false => Ok(bytes),
            });
            if let Err(error) = &passed {
                let _ = watcher.end(Some(error));
            }
            if is_over || passed.is_err() {
                this.watcher = None;
            }
            match passed {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(error) => {
                    // After an error nothing more is written: the agent is to have all that came before it.
                    this.broken = Some(error);
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        // The end is to be seen here, too.
        self.watcher.is_none() && self.broken.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let keeps_length = self.watcher.as_ref().is_none_or(Watcher::keeps_length);
        if keeps_length {
            self.body.size_hint()
        } else {
            SizeHint::default()
        }
    }
}

fn joined(bytes: Bytes, rest: Bytes) -> Bytes {
    if rest.is_empty() {
        bytes
    } else {
        Bytes::from([bytes, rest].concat())
    }
}
