//! A small web server for one person on one machine.
//!
//! It speaks as much of HTTP/1.1 as a browser needs to read pages and to be told of changes: GET and HEAD, one request
//! a connection, a thread each. What it does not do cannot be attacked. Everything is refused that is not surely the
//! browser of whoever started it: [`gate`] wants a random token in the address, the right `Host` (so that no name that
//! points to this machine leads in) and, where there is one, the right `Origin`.

pub mod gate;
pub mod request;
pub mod response;
pub mod server;

pub use gate::Gate;
pub use request::{Method, Refusal, Request};
pub use response::Response;
pub use server::serve;
