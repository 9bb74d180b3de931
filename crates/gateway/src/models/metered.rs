//! The body of an answer: passed on as it comes, and read as it goes by.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use terca_core::wire::ExchangeEnd;

use crate::http::{BodyError, ClosedWatch, TRIAL_IS_OVER};
use crate::models::answer_reader::AnswerReader;
use crate::models::way::Way;
use crate::tape::Taking;

/// An answer of a service on its way to the agent.
pub(crate) struct Metered<B> {
    body: B,
    closed: ClosedWatch,
    /// Reads the answer to a request for a model.
    reading: Option<Reading>,
    /// Takes the answer for a recording.
    taking: Option<Taking>,
    /// The error that it breaks off with, until it is passed on.
    broken: Option<BodyError>,
}

/// An answer that is read.
pub(crate) struct Reading {
    way: Arc<Way>,
    number: usize,
    reader: AnswerReader,
    has_begun: bool,
}

impl Reading {
    pub(crate) fn new(way: Arc<Way>, number: usize, reader: AnswerReader) -> Self {
        Reading {
            way,
            number,
            reader,
            has_begun: false,
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.way.first_byte(self.number);
        }
        if self.reader.feed(bytes) {
            self.way.told(self.number, self.reader.answer());
        }
    }

    /// Returns whether the protocol's own end was seen.
    fn has_ended(&self) -> bool {
        self.reader.answer().has_ended
    }

    fn finish(&mut self, broken: Option<String>) {
        self.reader.finish();
        let answer = self.reader.answer();
        self.way.told(self.number, answer);
        // A stream without its last event is half an answer, however politely the connection was closed.
        let is_whole = broken.is_none() && (answer.has_ended || answer.error.is_some());
        let end = if is_whole {
            ExchangeEnd::Whole
        } else {
            ExchangeEnd::CutByService
        };
        self.way.end(self.number, end, broken);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Nothing, if it has ended already.
        self.way.end(self.number, ExchangeEnd::LeftByAgent, None);
    }
}

impl<B> Metered<B> {
    pub(crate) fn new(
        body: B,
        way: &Way,
        reading: Option<Reading>,
        taking: Option<Taking>,
    ) -> Self {
        Metered {
            body,
            closed: way.closing.watch(),
            reading,
            taking,
            broken: None,
        }
    }

    /// Passes bytes by those who read them.
    fn see(&mut self, bytes: &[u8]) {
        if let Some(reading) = &mut self.reading {
            reading.feed(bytes);
        }
        if let Some(taking) = &self.taking {
            taking.feed(bytes);
            if self.reading.as_ref().is_some_and(Reading::has_ended) {
                taking.is_whole();
            }
        }
    }

    /// Tells the end to those who wait for it.
    fn end(&mut self, broken: Option<String>) {
        if let Some(mut reading) = self.reading.take() {
            reading.finish(broken.clone());
        }
        if let Some(taking) = self.taking.take() {
            // Half an answer that ends properly is to end properly again.
            let end = match broken {
                None => ExchangeEnd::Whole,
                Some(_) => ExchangeEnd::CutByService,
            };
            taking.end(end, broken);
        }
    }
}

impl<B> Body for Metered<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.closed.is_over(context) {
            return Poll::Ready(Some(Err(TRIAL_IS_OVER.into())));
        }
        if let Some(error) = self.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Poll::Ready(frame) = polled else {
            return Poll::Pending;
        };
        match frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.see(bytes);
                }
                // Nobody asks again for a body whose length was told.
                if self.body.is_end_stream() {
                    self.end(None);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                let error: BodyError = error.into();
                self.end(Some(error.to_string()));
                // After an error nothing more is written: the agent is to have all that came before it.
                self.broken = Some(error);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            None => {
                self.end(None);
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // The end is to be seen here, too.
        let is_over = self.reading.is_none() && self.taking.is_none() && self.broken.is_none();
        is_over && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
