//! Messages between Terca's own processes: one JSON value a line.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A socket that messages come from, and what was read of them too early: no `poll` would tell of it.
pub(super) type Messages = BufReader<UnixStream>;

/// Sends a message.
pub(super) fn send(socket: &mut Messages, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    socket.get_mut().write_all(&line)
}

/// Waits for the next message. The end of the socket is an error.
pub(super) fn receive<T: DeserializeOwned>(socket: &mut Messages) -> io::Result<T> {
    let mut line = String::new();
    socket.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_arrive_together_are_all_there() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut here, mut there) = (Messages::new(here), Messages::new(there));
        send(&mut here, &1).unwrap();
        send(&mut here, &2).unwrap();
        assert_eq!(receive::<u32>(&mut there).unwrap(), 1);
        assert!(
            !there.buffer().is_empty(),
            "the second came with the first, and no poll will tell of it"
        );
        assert_eq!(receive::<u32>(&mut there).unwrap(), 2);
        assert!(there.buffer().is_empty());
        drop(here);
        assert!(receive::<u32>(&mut there).is_err());
    }
}
