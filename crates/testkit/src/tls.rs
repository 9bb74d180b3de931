//! A server by TLS, with a certificate that was made for the test.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// A server by TLS that answers one request.
#[derive(Debug)]
pub struct TlsServer {
    /// Its port on `127.0.0.1`.
    pub port: u16,
    /// Its certificate as PEM, for those who trust it.
    pub certificate: String,
    thread: JoinHandle<Option<String>>,
}

impl TlsServer {
    /// Answers the first request with this status line, such as `200 OK`.
    pub fn answering(status: &'static str) -> Self {
        Self::answering_with(status, "")
    }

    /// Answers the first request with this status line and this JSON document.
    pub fn answering_with(status: &'static str, body: &'static str) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])
                .expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("its own certificate");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let thread = spawn(move || {
            let (mut socket, _) = listener.accept().ok()?;
            let mut connection = ServerConnection::new(Arc::new(config)).ok()?;
            let mut stream = Stream::new(&mut connection, &mut socket);
            let mut asked = [0; 4096];
            let count = stream.read(&mut asked).ok()?;
            let length = body.len();
            let head = "Content-Type: application/json\r\nConnection: close";
            write!(
                stream,
                "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .ok()?;
            stream.flush().ok()?;
            Some(String::from_utf8_lossy(&asked[..count]).into_owned())
        });
        TlsServer {
            port,
            certificate: cert.pem(),
            thread,
        }
    }

    /// Returns the beginning of the request, or `None` if nobody called, or the caller did not trust the server.
    pub fn asked(self) -> Option<String> {
        // The end of a server that nobody has called.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        self.thread.join().expect("the server")
    }
}
