//! A small web server for one person on one machine.
//!
//! A browser reads pages, hears of changes, and brings remarks: GET, HEAD and POST, one request per connection. Few
//! features leave little to attack. A request is refused unless it surely comes from the browser of the person who started the server: [`gate`]
//! wants a random token in the address, the right `Host` (no other name that points to this machine leads in) and, if
//! there is one, the right `Origin`.

pub mod gate;
mod request;
pub mod response;
pub mod server;

pub use gate::Gate;
pub use request::{Asked, Refusal, Request};
pub use response::{Event, Response};
pub use server::serve;
