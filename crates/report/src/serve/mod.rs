//! A small web server for one person on one machine.
//!
//! It speaks as much of HTTP/1.1 as a browser needs to read pages and to hear of changes: GET and HEAD, one request
//! per connection, one thread each. Few features leave little to attack. A request is refused unless it surely comes
//! from the browser of the person who started the server: [`gate`] wants a random token in the address, the right
//! `Host` (no other name that points to this machine leads in) and, if there is one, the right `Origin`.

pub mod gate;
pub mod places;
mod request;
pub mod response;
pub mod server;

pub use gate::Gate;
pub use request::{Method, Refusal, Request};
pub use response::Response;
pub use server::serve;
