//! Connections: one thread each, a limited number, and a time limit for the head of a request.

use std::io::{BufReader, BufWriter};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::gate::Gate;
use super::places::{Place, Places, UntilDeadline};
use super::request::{Method, Refusal, Request};
use super::response::Response;

/// The time for a request to arrive as a whole, and for each piece of an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes the answer to a request from the parts of its path.
pub type Handler = dyn Fn(&[&str]) -> Response + Send + Sync;

/// Answers requests until the program ends.
pub fn serve(listener: &TcpListener, gate: &Gate, handler: &Arc<Handler>) {
    let places = Places::default();
    let gate = Arc::new(gate.clone());
    for stream in listener.incoming().flatten() {
        let Some(place) = places.take(&stream) else {
            continue;
        };
        let (gate, handler) = (gate.clone(), handler.clone());
        let answer = move || answer(&stream, &place, &gate, handler.as_ref());
        // If no thread can be started, the connection closes and its place is free again.
        let _ = std::thread::Builder::new()
            .name("view".into())
            .spawn(answer);
    }
}

fn answer(stream: &TcpStream, place: &Place, gate: &Gate, handler: &Handler) {
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let head = UntilDeadline {
        stream,
        deadline: Instant::now() + PATIENCE,
    };
    let request = Request::read(&mut BufReader::new(head));
    place.has_been_heard();
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
