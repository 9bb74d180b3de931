//! The bodies of requests, which are held as a whole until they are sent and searched.

use std::error::Error;
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest request. Services accept less.
pub(crate) const LARGEST: usize = 64 * 1024 * 1024;
/// The most bytes of all requests of one trial at a time. An agent must not fill the memory.
const MOST_OF_A_TRIAL: usize = 2 * LARGEST;

/// The room for the requests of one trial, in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Room(Arc::new(Semaphore::new(MOST_OF_A_TRIAL)))
    }
}

/// A body that takes room until the last copy of it is dropped.
#[derive(Debug, Default)]
struct HeldBody {
    bytes: Vec<u8>,
    room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body to its end. Returns the status and the reason if the request is not passed on.
pub(crate) async fn read<B>(mut body: B, room: &Room) -> Result<Bytes, (StatusCode, String)>
where
    B: Body + Unpin,
    B::Error: Error,
{
    let mut held = HeldBody::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if held.bytes.len() + data.remaining() > LARGEST {
            let reason = "the request is too large".to_owned();
            return Err((StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        let length = u32::try_from(data.remaining()).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&room.0).try_acquire_many_owned(length) else {
            let reason = "the requests of this trial take too much memory".to_owned();
            return Err((StatusCode::SERVICE_UNAVAILABLE, reason));
        };
        match &mut held.room {
            Some(all) => all.merge(permit),
            none => *none = Some(permit),
        }
        held.bytes.put(data);
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
        read.map_err(|(status, _)| status)
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
        assert_eq!(room.0.available_permits(), MOST_OF_A_TRIAL);
    }
}
