//! Frames: a kind, a length, so many bytes, and the end of a line.
//!
//! Some programs between the two sides pass on whole lines alone: the daemon of a job step of Slurm holds back what comes
//! after the last one. So each frame ends a line.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the protocol. Both sides have the same.
pub const PROTOCOL: u32 = 1;
/// The line that a worker begins with. Everything before it is the chatter of shells and is skipped.
pub const GREETING: &str = "terca-worker-speaks";
/// The line of a script that asks for the program.
pub const PROGRAM_WANTED: &str = "terca-program-wanted";
/// The line of a script that has the program, and becomes it.
pub const PROGRAM_HERE: &str = "terca-program-here";
/// The most bytes of chatter before the greeting.
const MOST_CHATTER: usize = 256 * 1024;
/// The longest message. Reports of trials are far shorter.
const LONGEST_MESSAGE: u32 = 256 << 20;
/// The longest piece of data.
pub const LONGEST_DATA: usize = 256 * 1024;

const MESSAGE: u8 = b'm';
const DATA: u8 = b'd';
const END: u8 = b'\n';

/// A frame that was received.
#[derive(Debug)]
pub enum Frame<M> {
    /// A message.
    Message(M),
    /// A piece of data. An empty one is the end.
    Data(Vec<u8>),
}

/// Sends a message.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    write(to, MESSAGE, &bytes)
}

/// Sends a piece of data of at most [`LONGEST_DATA`] bytes.
pub fn send_data(to: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    write(to, DATA, piece)
}

/// Sends everything that can be read as pieces of data, and the end.
pub fn send_all(to: &mut impl Write, from: &mut impl Read) -> io::Result<u64> {
    let mut piece = vec![0; LONGEST_DATA];
    let mut sent = 0;
    loop {
        let length = from.read(&mut piece)?;
        send_data(to, &piece[..length])?;
        sent += length as u64;
        if length == 0 {
            return Ok(sent);
        }
    }
}

fn write(to: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(bytes.len() + 6);
    frame.push(kind);
    frame.extend(length.to_be_bytes());
    frame.extend(bytes);
    frame.push(END);
    // At once, so that a frame is whole even if the other end looks between two writes.
    to.write_all(&frame)?;
    to.flush()
}

/// Receives the next frame. Returns `None` where the other side has closed between two frames.
pub fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<Frame<M>>> {
    let mut kind = [0];
    if from.read(&mut kind)? == 0 {
        return Ok(None);
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    let most = match kind[0] {
        MESSAGE => LONGEST_MESSAGE,
        DATA => LONGEST_DATA as u32,
        _ => return Err(io::Error::other("it says something that is no frame")),
    };
    if length > most {
        let message = format!("a frame of {length} bytes is longer than {most}");
        return Err(io::Error::other(message));
    }
    let mut bytes = Vec::new();
    // Not made beforehand: who says a length need not send it.
    if from.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut end = [0];
    from.read_exact(&mut end)?;
    if end[0] != END {
        return Err(io::Error::other("a frame does not end where it should"));
    }
    Ok(Some(match kind[0] {
        DATA => Frame::Data(bytes),
        _ => Frame::Message(serde_json::from_slice(&bytes).map_err(|error| {
            io::Error::other(format!("it sent a message that is not understood: {error}"))
        })?),
    }))
}

/// Says the greeting.
pub fn greet(to: &mut impl Write) -> io::Result<()> {
    // On a line of its own: a shell may have said something that does not end its line.
    to.write_all(format!("\n{GREETING} {PROTOCOL}\n").as_bytes())?;
    to.flush()
}

/// The beginning of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub enum Greeting {
    /// The other side speaks this version of the protocol.
    Protocol(u32),
    /// A script asks for the program that is to be the other side.
    ProgramWanted,
    /// A script has that program, and becomes it.
    ProgramHere,
    /// There was none. These are the last words that were said instead.
    None(String),
}

fn greeting_of(line: &[u8]) -> Option<Greeting> {
    let text = String::from_utf8_lossy(line);
    match text.trim() {
        PROGRAM_WANTED => Some(Greeting::ProgramWanted),
        PROGRAM_HERE => Some(Greeting::ProgramHere),
        text => {
            let version = text.strip_prefix(GREETING)?;
            version.trim().parse().ok().map(Greeting::Protocol)
        }
    }
}

/// Waits for the greeting, and skips what is said before it. Reads not a byte beyond it.
pub fn await_greeting(from: &mut impl Read) -> io::Result<Greeting> {
    let mut chatter = Vec::new();
    let mut line = Vec::new();
    let mut byte = [0];
    while chatter.len() + line.len() < MOST_CHATTER && from.read(&mut byte)? > 0 {
        if byte[0] != b'\n' {
            line.push(byte[0]);
            continue;
        }
        if let Some(greeting) = greeting_of(&line) {
            return Ok(greeting);
        }
        chatter.append(&mut line);
        chatter.push(b'\n');
    }
    chatter.append(&mut line);
    let words = String::from_utf8_lossy(&chatter).trim().to_owned();
    Ok(Greeting::None(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_as_they_were_sent() {
        let mut wire = Vec::new();
        send(&mut wire, &vec!["a", "b"]).unwrap();
        let data = vec![7; LONGEST_DATA + 3];
        assert_eq!(
            send_all(&mut wire, &mut &data[..]).unwrap(),
            data.len() as u64
        );
        let mut wire = &wire[..];
        match receive::<Vec<String>>(&mut wire).unwrap() {
            Some(Frame::Message(message)) => assert_eq!(message, ["a", "b"]),
            other => panic!("{other:?}"),
        }
        let mut received = Vec::new();
        loop {
            match receive::<()>(&mut wire).unwrap() {
                Some(Frame::Data(piece)) if piece.is_empty() => break,
                Some(Frame::Data(piece)) => received.extend(piece),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(received, data);
        assert!(receive::<()>(&mut wire).unwrap().is_none());
    }

    #[test]
    fn a_broken_frame_is_an_error_and_takes_no_memory() {
        let long = [b"m".as_slice(), &u32::MAX.to_be_bytes(), b"x"].concat();
        assert!(receive::<()>(&mut &long[..]).is_err());
        let cut = [b"m".as_slice(), &1000_u32.to_be_bytes(), b"x"].concat();
        assert!(receive::<()>(&mut &cut[..]).is_err());
        assert!(receive::<()>(&mut &b"x\0\0\0\0"[..]).is_err());
        assert!(receive::<()>(&mut &b"m\0"[..]).is_err());
    }

    #[test]
    fn chatter_before_the_greeting_is_skipped_and_kept() {
        let mut wire = &b"Welcome to n1\nterca-worker-speaks 1\nmore"[..];
        assert_eq!(await_greeting(&mut wire).unwrap(), Greeting::Protocol(1));
        assert_eq!(wire, b"more");
        let mut wire = &b"sh: 1: terca: not found\n"[..];
        assert_eq!(
            await_greeting(&mut wire).unwrap(),
            Greeting::None("sh: 1: terca: not found".to_owned())
        );
    }
}
