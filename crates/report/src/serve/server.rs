//! Connections: a limited number, and a time limit for the head of a request.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response as HttpResponse};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::gate::Gate;
use super::request::{Asked, LARGEST_POST, Refusal, Request};
use super::response::{Body, Response};

/// A browser opens about six, and one more for each page that follows a run.
const MOST_CONNECTIONS: usize = 64;
/// The time for a request to arrive as a whole.
const PATIENCE: Duration = Duration::from_secs(10);
/// The bytes of the request line and all headers.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// The time to wait before the next attempt to accept a connection, if there is no room for it.
const PAUSE: Duration = Duration::from_millis(50);

/// Makes the answer to a request.
pub type Handler = dyn Fn(&Asked<'_>) -> Response + Send + Sync;

/// Answers requests until the program ends.
pub fn serve(listener: TcpListener, gate: &Gate, handler: &Arc<Handler>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    // Answers are made on threads of their own; here is only waiting.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let gate = Arc::new(gate.clone());
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            // A connection that says nothing is closed in time, so a place becomes free.
            let place = Arc::clone(&places).acquire_owned().await;
            let Ok((stream, _)) = listener.accept().await else {
                // Too many open files, for instance: there will be room again.
                sleep(PAUSE).await;
                continue;
            };
            let (gate, handler) = (Arc::clone(&gate), Arc::clone(handler));
            tokio::spawn(async move {
                connection(stream, gate, handler).await;
                drop(place);
            });
        }
    })
}

/// Answers the one request of a connection.
async fn connection(stream: TcpStream, gate: Arc<Gate>, handler: Arc<Handler>) {
    let service = service_fn(|request| answer(request, Arc::clone(&gate), Arc::clone(&handler)));
    // The browser may have gone away, which is not an error.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .keep_alive(false)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    request: HttpRequest<Incoming>,
    gate: Arc<Gate>,
    handler: Arc<Handler>,
) -> Result<HttpResponse<Body>, Infallible> {
    let response = match read(request, &gate).await {
        Ok((request, posted)) => spawn_blocking(move || {
            let parts = gate.admit(&request)?;
            Ok(handler(&Asked {
                parts: &parts,
                posted: posted.as_deref(),
            }))
        })
        .await
        .unwrap_or_else(|_| {
            let text = "the page could not be made; this is a bug in Terca";
            Ok(Response::trouble(text))
        }),
        Err(refusal) => Err(refusal),
    };
    Ok(response.unwrap_or_else(Response::refusal).0)
}

/// Reads the body of a request that may bring one. A request that is not admitted is not read.
async fn read(
    request: HttpRequest<Incoming>,
    gate: &Gate,
) -> Result<(Request, Option<Bytes>), Refusal> {
    let known = Request::of(&request)?;
    gate.admit(&known)?;
    if !known.is_post {
        return Ok((known, None));
    }
    let body = Limited::new(request.into_body(), LARGEST_POST).collect();
    match timeout(PATIENCE, body).await {
        Ok(Ok(body)) => Ok((known, Some(body.to_bytes()))),
        _ => Err(Refusal::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::serve::Event;

    /// Starts a server that says which parts of a path it was asked for. It ends with the program.
    fn start() -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gate = Gate {
            port: listener.local_addr().unwrap().port(),
            token: "0123abcd".to_owned(),
        };
        let of_server = gate.clone();
        std::thread::spawn(move || {
            let handler: Arc<Handler> = Arc::new(|asked| match asked.parts {
                ["panic"] => panic!("a page that panics"),
                ["events"] => Response::events(events().into_iter()),
                ["kept"] => Response::page(format!("{:?}", asked.posted.map(<[u8]>::len))),
                parts => Response::page(parts.join("|")),
            });
            serve(listener, &of_server, &handler)
        });
        gate
    }

    fn events() -> [Event; 3] {
        [
            Event::of("change", "-"),
            Event::QUIET,
            Event::of("end", "one\ntwo"),
        ]
    }

    /// Sends these bytes, and returns everything that comes back.
    fn send(gate: &Gate, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", gate.port)).unwrap();
        let request = request.replace("OWN", &format!("Host: 127.0.0.1:{}\r\n", gate.port));
        // It may refuse before it has read all.
        let _ = stream.write_all(request.as_bytes());
        if request.is_empty() {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn a_request_of_a_browser_is_answered() {
        let gate = start();
        let page = send(
            &gate,
            "GET /0123abcd/runs/one?x=1 HTTP/1.1\r\nOWNAccept: */*\r\n\r\n",
        );
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        assert!(page.contains("Connection: close\r\n"), "{page}");
        assert!(page.ends_with("\r\n\r\nruns|one"), "{page}");
        let head = send(&gate, "HEAD /0123abcd/runs/one HTTP/1.1\r\nOWN\r\n");
        assert!(head.contains("Content-Length: 8\r\n"), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        let events = send(&gate, "GET /0123abcd/events HTTP/1.0\r\nOWN\r\n");
        let expected =
            "\r\n\r\nevent: change\ndata: -\n\n:\n\nevent: end\ndata: one\ndata: two\n\n";
        assert!(events.ends_with(expected), "{events}");
    }

    #[test]
    fn only_a_page_of_this_server_may_bring_something() {
        let gate = start();
        let origin = format!("Origin: http://127.0.0.1:{}\r\n", gate.port);
        let json = "Content-Type: application/json\r\n";
        let post = |headers: &str, body: &str| {
            let length = body.len();
            send(
                &gate,
                &format!(
                    "POST /0123abcd/kept HTTP/1.1\r\nOWN{headers}Content-Length: {length}\r\n\r\n{body}"
                ),
            )
        };
        let kept = post(&format!("{origin}{json}"), "{}");
        assert!(
            kept.starts_with("HTTP/1.1 200") && kept.ends_with("Some(2)"),
            "{kept}"
        );
        for (status, headers, body) in [
            ("403", json.to_owned(), "{}".to_owned()),
            (
                "403",
                format!("Origin: http://evil\r\n{json}"),
                "{}".to_owned(),
            ),
            ("403", format!("Origin: null\r\n{json}"), "{}".to_owned()),
            ("400", origin.clone(), "{}".to_owned()),
            (
                "400",
                format!("{origin}Content-Type: text/plain\r\n"),
                "{}".to_owned(),
            ),
            ("400", format!("{origin}{json}"), String::new()),
            ("413", format!("{origin}{json}"), "x".repeat(70_000)),
        ] {
            let answer = post(&headers, &body);
            assert_eq!(
                answer.split(' ').nth(1),
                Some(status),
                "{headers}: {answer}"
            );
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let gate = start();
        let many = format!(
            "GET /0123abcd/ HTTP/1.1\r\nOWN{}\r\n",
            "A: b\r\n".repeat(65)
        );
        let long = format!(
            "GET /0123abcd/ HTTP/1.1\r\nOWNA: {}\r\n\r\n",
            "a".repeat(20_000)
        );
        let path = format!("GET /{} HTTP/1.1\r\nOWN\r\n", "a".repeat(20_000));
        for (text, expected) in [
            ("", ""),
            ("GET /\r\n\r\n", "400"),
            ("GET /0123abcd/ HTTP/1.1\r\n\r\n", "403"),
            ("GET http://evil/0123abcd/ HTTP/1.1\r\nOWN\r\n", "400"),
            ("POST /0123abcd/ HTTP/1.1\r\nOWN\r\n", "400"),
            ("PUT /0123abcd/ HTTP/1.1\r\nOWN\r\n", "405"),
            ("DELETE /0123abcd/ HTTP/1.1\r\nOWN\r\n", "405"),
            ("GET /0123abcd/ HTTP/1.1\r\nOWNOWN\r\n", "400"),
            (
                "GET /0123abcd/ HTTP/1.1\r\nOWNContent-Length: 5\r\n\r\nhello",
                "400",
            ),
            (
                "GET /0123abcd/ HTTP/1.1\r\nOWNTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "400",
            ),
            ("GET /0123abcd/ HTTP/1.1\r\nOWNno colon\r\n\r\n", "400"),
            ("GET /\u{0} HTTP/1.1\r\nOWN\r\n", "400"),
            ("GET /0123abcd/ HTTP/1.1\r\nHost : a\r\n\r\n", "400"),
            ("GET /0123abcd/ HTTP/1.1\r\nA: b\r\n OWN\r\n", "400"),
            ("GET /0123abcd/panic HTTP/1.1\r\nOWN\r\n", "500"),
            (&many, "431"),
            (&long, "431"),
            (&path, "431"),
        ] {
            let answer = send(&gate, text);
            let status = answer.split(' ').nth(1).unwrap_or_default();
            assert_eq!(status, expected, "{text:.60}: {answer}");
        }
    }
}
