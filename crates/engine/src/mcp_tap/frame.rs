//! The messages from a tap to Terca: a head of a fixed length, and bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use terca_core::process::Exit;

/// The longest part of a line that is sent.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;
/// The answer to the first message, if the tap is to send more.
pub(super) const WELCOME: u8 = b'+';
const HEAD: usize = 1 + 8 + 8 + 4;

/// The kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first message: a [`Hello`].
    Hello,
    /// A line that the agent wrote.
    FromAgent,
    /// A line that the server wrote.
    FromServer,
    /// The last message: a [`Goodbye`].
    Goodbye,
}

const KINDS: [Kind; 4] = [
    Kind::Hello,
    Kind::FromAgent,
    Kind::FromServer,
    Kind::Goodbye,
];

/// The server that a tap is about to start.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) server: String,
    pub(super) command: Vec<String>,
    /// The names of the tools that it hides.
    pub(super) hidden: Vec<String>,
}

/// The end of a server.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Goodbye {
    pub(super) exit: Exit,
    /// True if nobody had asked it to end.
    pub(super) by_itself: bool,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// The time since the tap was started, in milliseconds.
    pub(super) at_ms: u64,
    /// The length of the line, of which `text` may be the beginning.
    pub(super) bytes: u64,
    pub(super) text: Vec<u8>,
}

impl Frame {
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut head = Vec::with_capacity(HEAD + self.text.len());
        let kind = KINDS.iter().position(|kind| *kind == self.kind);
        head.push(kind.unwrap_or_default() as u8);
        head.extend(self.at_ms.to_le_bytes());
        head.extend(self.bytes.to_le_bytes());
        head.extend((self.text.len() as u32).to_le_bytes());
        head.extend(&self.text);
        to.write_all(&head)
    }

    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut kind = [0];
        let mut at_ms = [0; 8];
        let mut bytes = [0; 8];
        let mut length = [0; 4];
        from.read_exact(&mut kind)?;
        from.read_exact(&mut at_ms)?;
        from.read_exact(&mut bytes)?;
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let kind = KINDS.get(usize::from(kind[0]));
        let (Some(kind), 0..=LONGEST) = (kind, length) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        // Not made as long as the head says: the sender may not keep its word.
        let mut text = Vec::new();
        if from.take(length as u64).read_to_end(&mut text)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Frame {
            kind: *kind,
            at_ms: u64::from_le_bytes(at_ms),
            bytes: u64::from_le_bytes(bytes),
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_were() {
        let mut sent = Vec::new();
        for kind in KINDS {
            let frame = Frame {
                kind,
                at_ms: 1 << 40,
                bytes: 1 << 50,
                text: vec![0, 255, b'\n'],
            };
            frame.write(&mut sent).unwrap();
            assert_eq!(Frame::read(&mut &*sent).unwrap(), frame);
            assert!(Frame::read(&mut &sent[..sent.len() - 1]).is_err());
            sent.clear();
        }
        let endless = [&[1][..], &[0; 16], &u32::MAX.to_le_bytes()].concat();
        assert!(Frame::read(&mut &*endless).is_err());
        assert!(Frame::read(&mut &[9; 100][..]).is_err());
    }
}
