//! Faults of models that a suite asks for, to see what agents do about them.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use terca_core::config::gateway::Injection;

use crate::metered::BodyError;

/// Decides which requests of a trial are struck.
#[derive(Debug)]
pub(crate) struct Injector {
    injections: Vec<Injection>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asked: u64,
    /// The number of times that each has struck.
    struck: Vec<u32>,
}

impl Injector {
    pub(crate) fn new(injections: Vec<Injection>) -> Self {
        let state = State {
            asked: 0,
            struck: vec![0; injections.len()],
        };
        Injector {
            injections,
            state: Mutex::new(state),
        }
    }

    /// Returns the fault of the next request to a model: the first in the list that strikes.
    pub(crate) fn next(&self) -> Option<Injection> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let State { asked, struck } = &mut *state;
        let mut pairs = self.injections.iter().zip(struck);
        let (injection, struck) =
            pairs.find(|(injection, struck)| injection.strikes(*asked, **struck))?;
        *struck += 1;
        Some(*injection)
    }
}

/// The body of an answer that breaks off in the middle of what comes first.
pub(crate) struct CutBody<B> {
    /// `None` once its part has been passed on.
    body: Option<B>,
    /// The part has been written, so that the agent has it before the end.
    is_written: bool,
}

impl<B> CutBody<B> {
    pub(crate) fn new(body: B) -> Self {
        CutBody {
            body: Some(body),
            is_written: false,
        }
    }
}

impl<B> Body for CutBody<B>
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
        let cut = || Poll::Ready(Some(Err("the suite asks for it to be cut".into())));
        let Some(body) = &mut self.body else {
            // The connection writes when there is nothing to read, and not at all after an error.
            if !std::mem::replace(&mut self.is_written, true) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            return cut();
        };
        let Poll::Ready(frame) = Pin::new(body).poll_frame(context) else {
            return Poll::Pending;
        };
        self.body = None;
        match frame {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes.slice(..bytes.len() / 2))))),
                Err(_) => cut(),
            },
            Some(Err(error)) => Poll::Ready(Some(Err(error.into()))),
            None => cut(),
        }
    }
}
