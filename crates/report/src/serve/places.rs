//! The places for connections: a limited number, and none for long to those who only drip.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A browser opens about six, and one more for each page that follows a run.
pub(super) const MOST_CONNECTIONS: usize = 64;

/// The connections that are open.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    /// In the order in which they came.
    connections: Vec<Connection>,
    last: u64,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    /// `None` when its request has been read.
    unread: Option<TcpStream>,
}

/// The place of one connection. It is given back even if its thread panics.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    number: u64,
}

impl Places {
    /// Finds a place for a connection. If all are taken, the one that has taken longest to say what it wants is closed;
    /// if all have said it, there is no place.
    pub(super) fn take(&self, stream: &TcpStream) -> Option<Place> {
        let unread = stream.try_clone().ok()?;
        let mut open = self.open();
        if open.connections.len() >= MOST_CONNECTIONS {
            let mut all = open.connections.iter();
            let slowest = all.position(|connection| connection.unread.is_some())?;
            if let Some(stream) = open.connections.remove(slowest).unread {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        open.last += 1;
        let number = open.last;
        open.connections.push(Connection {
            number,
            unread: Some(unread),
        });
        Some(Place {
            places: self.clone(),
            number,
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that the request has been read. From now on the place is kept.
    pub(super) fn has_been_heard(&self) {
        let mut open = self.places.open();
        let mut all = open.connections.iter_mut();
        if let Some(connection) = all.find(|connection| connection.number == self.number) {
            connection.unread = None;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        open.connections
            .retain(|connection| connection.number != self.number);
    }
}

/// A connection that is read until a deadline, however many bytes come one by one.
#[derive(Debug)]
pub(super) struct UntilDeadline<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) deadline: Instant,
}

impl Read for UntilDeadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn the_slowest_makes_room_and_who_was_heard_stays() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let places = Places::default();
        let taken: Vec<_> = (0..MOST_CONNECTIONS)
            .map(|_| {
                let (client, server) = connection(&listener);
                let place = places.take(&server).unwrap();
                (client, server, place)
            })
            .collect();
        taken[0].2.has_been_heard();
        let (_client, server) = connection(&listener);
        let newest = places.take(&server).unwrap();
        // The second of all was closed: its client reads the end.
        let mut end = [0];
        assert_eq!((&taken[1].0).read(&mut end).unwrap(), 0);
        for (_, _, place) in &taken {
            place.has_been_heard();
        }
        newest.has_been_heard();
        let (_client, server) = connection(&listener);
        assert!(places.take(&server).is_none(), "all of them are answered");
        drop(newest);
        assert!(places.take(&server).is_some());
    }

    #[test]
    fn a_deadline_ends_a_connection_that_still_sends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (mut client, server) = connection(&listener);
        client.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let mut reader = UntilDeadline {
            stream: &server,
            deadline: Instant::now() + Duration::from_secs(600),
        };
        let mut byte = [0];
        assert_eq!(reader.read(&mut byte).unwrap(), 1);
        reader.deadline = Instant::now();
        let error = reader.read(&mut byte).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
