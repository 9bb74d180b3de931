//! (h) Requests through the gateway beside the same requests without it.
//!
//! The service is on this machine and answers at once, so that everything that is added is the gateway's.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use terca_core::agent::redirect::ServiceKey;
use terca_gateway::{Gateway, Passage, Playback};

use crate::table::{Row, Table, Target};

/// The trials that ask at once.
const TRIALS: usize = 64;
/// The length of the large answer.
const LARGE: usize = 100 * 1024 * 1024;
/// The time between the two events of a streamed answer.
const BETWEEN: Duration = Duration::from_millis(30);

pub fn measure(quick: bool, table: &mut Table) -> io::Result<()> {
    let requests = if quick { 300 } else { 2000 };
    let (service, first_bytes) = Service::start()?;
    let gateway = Gateway::start(&|_| None)?;
    one_by_one(&service, &gateway, requests, table)?;
    first_byte(&service, &gateway, &first_bytes, table)?;
    at_once(&service, &gateway, requests / 20, table)?;
    large(&service, &gateway, table)
}

/// Asks by turns, with and without the gateway, over connections that stay open.
fn one_by_one(
    service: &Service,
    gateway: &Gateway,
    requests: usize,
    table: &mut Table,
) -> io::Result<()> {
    let passage = open(gateway, service)?;
    let mut through = Client::to(&passage.addresses[0])?;
    let mut direct = Client::to(&service.url())?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..requests {
        with.push(through.ask("/v1/chat/completions")?);
        without.push(direct.ask("/v1/chat/completions")?);
    }
    let more = median(&mut with).saturating_sub(median(&mut without));
    table.add(&Row {
        what: format!("{requests} requests, one at a time: added by the gateway, median"),
        figure: milliseconds(more),
        unit: " ms",
        target: Target::AtMost(2.0),
        detail: format!(
            "{:.2} ms / {:.2} ms",
            milliseconds(median(&mut with)),
            milliseconds(median(&mut without))
        ),
    })
}

/// Measures from the moment in which the service sends the first event to that in which the client has it.
fn first_byte(
    service: &Service,
    gateway: &Gateway,
    sent: &std::sync::mpsc::Receiver<Instant>,
    table: &mut Table,
) -> io::Result<()> {
    let passage = open(gateway, service)?;
    let mut client = Client::to(&passage.addresses[0])?;
    let mut late = Vec::new();
    for _ in 0..30 {
        let arrived = client.first_byte("/v1/stream/chat/completions")?;
        let sent = sent.recv().map_err(io::Error::other)?;
        late.push(arrived.saturating_duration_since(sent));
    }
    table.add(&Row {
        what: "the first event of a stream: later than the service sent it, median".to_owned(),
        figure: milliseconds(median(&mut late)),
        unit: " ms",
        target: Target::AtMost(5.0),
        detail: format!(
            "at most {:.2} ms",
            milliseconds(late.last().copied().unwrap_or_default())
        ),
    })
}

/// Asks for many trials at once, with and without the gateway.
fn at_once(
    service: &Service,
    gateway: &Gateway,
    requests: usize,
    table: &mut Table,
) -> io::Result<()> {
    let mut passages = Vec::new();
    for _ in 0..TRIALS {
        passages.push(open(gateway, service)?);
    }
    let through: Vec<String> = passages
        .iter()
        .map(|passage| passage.addresses[0].clone())
        .collect();
    let direct: Vec<String> = (0..TRIALS).map(|_| service.url()).collect();
    let without = all_at_once(&direct, requests)?;
    let with = all_at_once(&through, requests)?;
    let number = (TRIALS * requests) as f64;
    let counted: usize = passages
        .into_iter()
        .map(|passage| passage.close().exchanges.len())
        .sum();
    table.add(&Row {
        what: format!("{TRIALS} trials at once: added to each of {counted} requests"),
        figure: milliseconds(with.saturating_sub(without)) / number,
        unit: " ms",
        target: Target::AtMost(2.0),
        detail: format!(
            "{:.0} ms / {:.0} ms in all",
            milliseconds(with),
            milliseconds(without)
        ),
    })
}

fn all_at_once(addresses: &[String], requests: usize) -> io::Result<Duration> {
    let started = Instant::now();
    let mut clients = Vec::new();
    for address in addresses {
        let address = address.clone();
        clients.push(thread::spawn(move || -> io::Result<()> {
            let mut client = Client::to(&address)?;
            for _ in 0..requests {
                client.ask("/v1/chat/completions")?;
            }
            Ok(())
        }));
    }
    for client in clients {
        client
            .join()
            .map_err(|_| io::Error::other("a client ended early"))??;
    }
    Ok(started.elapsed())
}

/// Measures by how much the memory grows while a large answer passes. Service and client hold a buffer each.
fn large(service: &Service, gateway: &Gateway, table: &mut Table) -> io::Result<()> {
    let passage = open(gateway, service)?;
    let mut client = Client::to(&passage.addresses[0])?;
    client.ask("/v1/chat/completions")?;
    let before = peak_memory()?;
    client.ask("/v1/large/chat/completions")?;
    let grown = peak_memory()?.saturating_sub(before);
    table.add(&Row {
        what: "memory that an answer of 100 MiB takes in the gateway".to_owned(),
        figure: grown as f64 / 1024.0,
        unit: " MiB",
        target: Target::AtMost(16.0),
        detail: String::new(),
    })
}

fn open(gateway: &Gateway, service: &Service) -> io::Result<Passage> {
    let key = ServiceKey {
        key: "a key".to_owned(),
        origins: BTreeSet::from([0]),
    };
    let passage = gateway.open(&[service.url()], &[key], Vec::new(), &[], Playback::None);
    passage.map_err(io::Error::other)
}

/// Returns the most memory that this process has had so far, in KiB.
fn peak_memory() -> io::Result<u64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other("/proc has no VmHWM"))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Sorts times, and returns the one in the middle.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A service that answers at once.
struct Service {
    port: u16,
}

impl Service {
    /// Starts it. The moments in which it sends the first event of a stream come out of the channel.
    fn start() -> io::Result<(Self, std::sync::mpsc::Receiver<Instant>)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let (sender, moments) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                // A client that hangs up ends it.
                thread::spawn(move || drop(serve(stream, &sender)));
            }
        });
        Ok((Service { port }, moments))
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn serve(stream: TcpStream, moments: &Sender<Instant>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (first, length) = read_head(&mut reader)?;
        io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
        let answer = r#"{"model":"m","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
        if first.contains("/stream/") {
            let event = "10\r\ndata: {\"a\": 1}\n\n\r\n";
            out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
            thread::sleep(BETWEEN);
            let _ = moments.send(Instant::now());
            out.write_all(event.as_bytes())?;
            thread::sleep(BETWEEN);
            out.write_all(format!("{event}0\r\n\r\n").as_bytes())?;
        } else if first.contains("/large/") {
            write!(
                out,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {LARGE}\r\n\r\n"
            )?;
            io::copy(&mut io::repeat(b'x').take(LARGE as u64), &mut out)?;
        } else {
            let length = answer.len();
            out.write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}").as_bytes())?;
        }
    }
}

/// Reads the head of a message. Returns its first line, and the length of its body; of one in pieces it is 0.
fn read_head(reader: &mut impl BufRead) -> io::Result<(String, u64)> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            return Ok((first, length));
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
}

/// A client over one connection.
struct Client {
    out: TcpStream,
    reader: BufReader<TcpStream>,
    path: String,
}

impl Client {
    fn to(url: &str) -> io::Result<Self> {
        let rest = url.trim_start_matches("http://");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let out = TcpStream::connect(host)?;
        out.set_nodelay(true)?;
        let path = if path.is_empty() {
            String::new()
        } else {
            format!("/{path}")
        };
        Ok(Client {
            reader: BufReader::new(out.try_clone()?),
            out,
            path,
        })
    }

    fn send(&mut self, path: &str) -> io::Result<()> {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#;
        let head = format!(
            "POST {}{path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
            self.path,
            body.len()
        );
        self.out.write_all(head.as_bytes())
    }

    /// Asks, reads the whole answer, and returns the time that it took.
    fn ask(&mut self, path: &str) -> io::Result<Duration> {
        let started = Instant::now();
        self.send(path)?;
        let (_, length) = read_head(&mut self.reader)?;
        io::copy(&mut (&mut self.reader).take(length), &mut io::sink())?;
        Ok(started.elapsed())
    }

    /// Asks for a stream, and returns the moment in which its first event was there.
    fn first_byte(&mut self, path: &str) -> io::Result<Instant> {
        self.send(path)?;
        read_head(&mut self.reader)?;
        self.reader.fill_buf()?;
        let arrived = Instant::now();
        let mut line = String::new();
        while line.trim() != "0" {
            line.clear();
            self.reader.read_line(&mut line)?;
        }
        self.reader.read_line(&mut line)?;
        Ok(arrived)
    }
}
