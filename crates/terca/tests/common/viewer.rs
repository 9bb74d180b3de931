//! `terca view`, running.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use terca_testkit::Project;

pub struct View {
    child: Child,
    pub url: String,
}

impl View {
    pub fn open(project: &Project, args: &[&str]) -> Self {
        let args: Vec<&str> = ["view", "--no-open"].iter().chain(args).copied().collect();
        let mut child = project
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("standard output");
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("an address");
        View {
            child,
            url: url.trim().to_owned(),
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn wait(mut self) -> std::process::ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        self.url.split('/').nth(2).expect("a host")
    }

    pub fn token(&self) -> &str {
        self.url.split('/').nth(3).expect("a token")
    }

    /// An answer that never comes fails a test instead of holding it up: `cargo test` ends no test.
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).expect("a connection");
        let patience = Some(Duration::from_secs(120));
        stream.set_read_timeout(patience).expect("a limit");
        stream
    }

    /// Sends these bytes and gives what comes back, to its end.
    pub fn send(&self, request: &str) -> String {
        let mut stream = self.connect();
        // It may refuse before it has read all.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        without_chunks(&String::from_utf8_lossy(&answer))
    }

    /// Sends a document, as a page of this server would.
    pub fn post(&self, path: &str, body: &str) -> String {
        let (host, token) = (self.host(), self.token());
        let length = body.len();
        self.send(&format!(
            "POST /{token}/{path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Listens to the events of a page.
    pub fn listen(&self, path: &str) -> Events {
        let mut stream = self.connect();
        let (host, token) = (self.host(), self.token());
        write!(
            stream,
            "GET /{token}/{path} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        )
        .expect("sent");
        Events(BufReader::new(stream))
    }

    /// A page below the token, as a browser would ask for it.
    pub fn get(&self, path: &str) -> String {
        self.send(&format!(
            "GET /{}/{path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.token(),
            self.host()
        ))
    }
}

/// The events that a page hears.
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// Waits for the next event, and returns its name and its data.
    pub fn next(&mut self) -> (String, String) {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            let length = self.0.read_line(&mut line).expect("an event");
            assert!(length > 0, "there are no more events");
            if let Some(found) = line.trim_end().strip_prefix("event: ") {
                name = found.to_owned();
            }
            if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return (name, data.to_owned());
            }
        }
    }
}

/// Joins the pieces of a body that was sent in pieces, each with its length before it.
fn without_chunks(answer: &str) -> String {
    let Some((head, mut body)) = answer.split_once("\r\n\r\n") else {
        return answer.to_owned();
    };
    if !head.contains("Transfer-Encoding: chunked") {
        return answer.to_owned();
    }
    let mut joined = format!("{head}\r\n\r\n");
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("the length of a piece");
        joined.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    joined
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
