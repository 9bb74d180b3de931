//! The body of an answer from a recording, which ends as it did then.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use terca_core::wire::ExchangeEnd;

use crate::metered::BodyError;

/// The body of an answer from a recording.
pub(crate) struct PlayedBody {
    bytes: Option<Bytes>,
    end: ExchangeEnd,
}

impl PlayedBody {
    pub(crate) fn new(bytes: Bytes, end: ExchangeEnd) -> Self {
        PlayedBody {
            bytes: Some(bytes).filter(|bytes| !bytes.is_empty()),
            end,
        }
    }
}

impl Body for PlayedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.end {
            ExchangeEnd::Whole => Poll::Ready(None),
            ExchangeEnd::CutByService | ExchangeEnd::Unreachable => {
                let reason = "the service broke off when it was recorded";
                Poll::Ready(Some(Err(reason.into())))
            }
            // The agent did not wait for the rest, and hangs up now as it did then; or its trial ends.
            ExchangeEnd::LeftByAgent => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.end == ExchangeEnd::Whole && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.bytes.as_ref().map_or(0, Bytes::len);
        if self.end == ExchangeEnd::Whole {
            SizeHint::with_exact(left as u64)
        } else {
            SizeHint::default()
        }
    }
}
