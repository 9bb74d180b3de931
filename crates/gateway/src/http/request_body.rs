//! The bodies of requests, which are held as a whole until they are sent and searched.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf, Bytes};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Body;

/// The largest request. Services accept less.
pub(crate) const LARGEST: usize = 64 * 1024 * 1024;
/// The most bytes of all requests of one trial at a time. An agent must not fill the memory.
const MOST_OF_A_TRIAL: usize = 2 * LARGEST;

/// The room that the requests of one trial take.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    taken: Arc<AtomicUsize>,
}

/// A body that takes room until the last copy of it is dropped.
#[derive(Debug)]
struct Held {
    bytes: Vec<u8>,
    room: Room,
}

/// A request that is not passed on, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotHeld {
    pub(crate) status: StatusCode,
    pub(crate) reason: String,
}

impl NotHeld {
    fn new(status: StatusCode, reason: &str) -> Self {
        NotHeld {
            status,
            reason: reason.to_owned(),
        }
    }
}

impl Held {
    fn push(&mut self, data: impl Buf) -> Result<(), NotHeld> {
        let length = data.remaining();
        if self.bytes.len() + length > LARGEST {
            let reason = "the request is too large";
            return Err(NotHeld::new(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        let before = self.room.taken.fetch_add(length, Ordering::Relaxed);
        if before + length > MOST_OF_A_TRIAL {
            self.room.taken.fetch_sub(length, Ordering::Relaxed);
            let reason = "the requests of this trial take too much memory";
            return Err(NotHeld::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        }
        let mut data = data;
        while data.has_remaining() {
            let chunk = data.chunk();
            self.bytes.extend_from_slice(chunk);
            let read = chunk.len();
            data.advance(read);
        }
        Ok(())
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let length = self.bytes.len();
        self.room.taken.fetch_sub(length, Ordering::Relaxed);
    }
}

/// Reads a body to its end.
pub(crate) async fn read<B>(mut body: B, room: &Room) -> Result<Bytes, NotHeld>
where
    B: Body + Unpin,
    B::Error: Error,
{
    let mut held = Held {
        bytes: Vec::new(),
        room: room.clone(),
    };
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| NotHeld::new(StatusCode::BAD_REQUEST, &error.to_string()))?;
        if let Ok(data) = frame.into_data() {
            held.push(data)?;
        }
    }
    Ok(Bytes::from_owner(held))
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use tokio::runtime::Builder;

    use super::*;

    fn read_now(length: usize, room: &Room) -> Result<Bytes, StatusCode> {
        let runtime = Builder::new_current_thread().build().unwrap();
        let body = Full::new(Bytes::from(vec![7; length]));
        let read = runtime.block_on(read(body, room));
        read.map_err(|not_held| not_held.status)
    }

    #[test]
    fn a_trial_has_room_for_so_much_and_gets_it_back() {
        let room = Room::default();
        assert_eq!(
            read_now(LARGEST + 1, &room),
            Err(StatusCode::PAYLOAD_TOO_LARGE)
        );
        let one = read_now(LARGEST, &room).unwrap();
        assert_eq!(one.len(), LARGEST);
        let other = read_now(LARGEST, &room).unwrap();
        assert_eq!(read_now(1, &room), Err(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(read_now(0, &room), Ok(Bytes::new()));
        // A copy is no other body.
        let copy = other.clone();
        drop(other);
        assert_eq!(read_now(1, &room), Err(StatusCode::SERVICE_UNAVAILABLE));
        drop(copy);
        assert_eq!(read_now(1, &room).unwrap(), Bytes::from_static(&[7]));
        drop(one);
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }
}
