//! Connections: one thread each, a limited number, and a time limit for silence.

use std::io::{BufReader, BufWriter};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::gate::Gate;
use super::request::{Method, Refusal, Request};
use super::response::Response;

/// A browser opens about six, and one more for each page that follows a run.
const MOST_CONNECTIONS: usize = 64;
/// The time after which a silent connection is closed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes the answer to a request from the parts of its path.
pub type Handler = dyn Fn(&[&str]) -> Response + Send + Sync;

/// Answers requests until the program ends.
pub fn serve(listener: &TcpListener, gate: &Gate, handler: &Arc<Handler>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(gate.clone());
    for stream in listener.incoming().flatten() {
        if connections.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
            connections.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let place = Place(connections.clone());
        let (gate, handler) = (gate.clone(), handler.clone());
        let answer = move || {
            let _place = place;
            answer(&stream, &gate, handler.as_ref());
        };
        // If no thread can be started, the connection closes and its place is free again.
        let _ = std::thread::Builder::new()
            .name("view".into())
            .spawn(answer);
    }
}

/// A connection that counts. It is given back even if its thread panics.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(stream: &TcpStream, gate: &Gate, handler: &Handler) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let request = Request::read(&mut BufReader::new(stream));
    let method = request
        .as_ref()
        .map_or(Method::Get, |request| request.method);
    let response = match &request {
        Ok(request) => match gate.admit(request) {
            Ok(parts) => handler(&parts),
            Err(refusal) => Response::refusal(refusal),
        },
        Err(Refusal::Silence) => return,
        Err(refusal) => Response::refusal(*refusal),
    };
    // The browser may have gone away, which is not an error.
    let _ = response.write(method, &mut BufWriter::new(stream));
}
