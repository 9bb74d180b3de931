//! Messages between Terca's own processes: one JSON value a line.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Sends a message.
pub(super) fn send(socket: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// Collects bytes until a whole line is there.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
}

/// The result of one read.
pub(super) enum Received<T> {
    Message(T),
    /// Nothing whole yet.
    Partial,
    Closed,
}

impl Lines {
    /// Reads once from a socket that `poll` called readable.
    pub(super) fn receive<T: DeserializeOwned>(
        &mut self,
        socket: &mut UnixStream,
    ) -> io::Result<Received<T>> {
        if let Some(message) = self.next()? {
            return Ok(Received::Message(message));
        }
        let mut chunk = [0; 16 * 1024];
        match socket.read(&mut chunk) {
            Ok(0) => return Ok(Received::Closed),
            Ok(length) => self.buffer.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Ok(Received::Closed);
            }
            Err(error) => return Err(error),
        }
        Ok(self.next()?.map_or(Received::Partial, Received::Message))
    }

    /// Returns whether a whole message is in the buffer, which no `poll` would report.
    pub(super) fn has_message(&self) -> bool {
        self.buffer.contains(&b'\n')
    }

    fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_arrive_together_are_all_there() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        send(&mut here, &1).unwrap();
        send(&mut here, &2).unwrap();
        let mut lines = Lines::default();
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(1)
        ));
        assert!(
            lines.has_message(),
            "the second came with the first, and no poll will tell of it"
        );
        assert!(matches!(
            lines.receive(&mut there).unwrap(),
            Received::Message(2)
        ));
        assert!(!lines.has_message());
    }
}
