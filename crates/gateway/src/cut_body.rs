//! The body of an answer that is cut off on purpose.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

use crate::metered::BodyError;

/// The body of an answer that breaks off in the middle of what comes first.
pub(crate) struct CutBody<B> {
    /// `None` once its part has been passed on.
    body: Option<B>,
}

impl<B> CutBody<B> {
    pub(crate) fn new(body: B) -> Self {
        CutBody { body: Some(body) }
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
