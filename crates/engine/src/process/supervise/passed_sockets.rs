//! Sockets that pass from a supervisor to Terca: they listen in the supervisor's network, and Terca accepts from them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::os;
use super::protocol::Response;

/// The most sockets of one enclosure: the kernel passes few at once.
const MOST: usize = 32;
/// The longest answer.
const LONGEST: usize = 4096;

/// Listens on addresses, and passes the sockets on with the answer. The sockets are closed here.
pub(super) fn listen(socket: &UnixStream, addresses: &[SocketAddr]) -> io::Result<()> {
    let bound = addresses.iter().map(|address| {
        let listener = TcpListener::bind(address);
        listener.map_err(|error| format!("{address}: {error}"))
    });
    let bound: Result<Vec<TcpListener>, String> = bound.collect();
    let listeners = bound.as_deref().unwrap_or_default();
    let files: Vec<BorrowedFd<'_>> = listeners.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fits = files.is_empty() || ancillary.push(SendAncillaryMessage::ScmRights(&files));
    let answer = match &bound {
        Err(failure) => Err(failure.clone()),
        Ok(_) if !fits => Err(format!(
            "{} addresses are more than {MOST}",
            addresses.len()
        )),
        Ok(_) => Ok(()),
    };
    let mut line = serde_json::to_vec(&Response::Listening(answer))?;
    line.push(b'\n');
    // Far less than the buffer of a socket: it is sent whole.
    sendmsg(
        socket,
        &[IoSlice::new(&line)],
        &mut ancillary,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Receives the sockets that were asked for. Nothing else may be on its way.
pub(super) fn receive(socket: &UnixStream, patience: Duration) -> io::Result<Vec<TcpListener>> {
    if !os::wait_for(&[socket.as_fd()], patience) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut line = [0_u8; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut line)],
        &mut ancillary,
        os::CLOSED_IN_CHILDREN,
    )?;
    let mut files: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            files.extend(passed);
        }
    }
    if os::CLOSED_IN_CHILDREN.is_empty() {
        for file in &files {
            fcntl_setfd(file, FdFlags::CLOEXEC)?;
        }
    }
    match serde_json::from_slice(&line[..received.bytes])? {
        Response::Listening(Ok(())) => Ok(files.into_iter().map(TcpListener::from).collect()),
        Response::Listening(Err(failure)) => Err(io::Error::other(failure)),
        _ => Err(io::Error::other("the supervisor answered something else")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn a_socket_that_was_passed_accepts_connections() {
        let (here, there) = UnixStream::pair().unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        listen(&there, &[any, any]).unwrap();
        let listeners = receive(&here, PATIENCE).unwrap();
        assert_eq!(listeners.len(), 2);
        for listener in listeners {
            let mut agent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            agent.write_all(b"x").unwrap();
            let mut byte = [0];
            listener.accept().unwrap().0.read_exact(&mut byte).unwrap();
            assert_eq!(byte, *b"x");
        }
    }

    #[test]
    fn an_address_that_is_taken_is_named() {
        let (here, there) = UnixStream::pair().unwrap();
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        listen(&there, &[address]).unwrap();
        let error = receive(&here, PATIENCE).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()), "{error}");
        listen(&there, &[address; MOST + 1]).unwrap();
        assert!(receive(&here, PATIENCE).is_err());
    }
}
