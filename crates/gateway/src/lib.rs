//! A server on loopback between agents and the services that they ask models of.
//!
//! ```text
//! agent ── http://127.0.0.1:PORT/TOKEN/0/v1/messages, x-api-key: TOKEN ──► gateway
//! gateway ── https://api.anthropic.com/v1/messages, x-api-key: KEY ──► service
//! ```
//!
//! A trial has a [`Passage`]: an address for each service, and a token for each key. The tokens are random and are worth
//! nothing once the passage is closed, so an agent never holds a key. Everything that passes is passed on at once, as it
//! is; of answers to requests for models the gateway reads the figures as they go by.
//!
//! MCP servers by HTTP have a passage each, too ([`McpPassage`]): the gateway puts their headers in, and reads the talk.
//!
//! Reasons for this design:
//!
//! - **A token takes the place of a key wherever a key may be**: in the header that the agent chose. So there is no table
//!   of headers by service, and a service that nobody has heard of works like any other.
//! - **The passage is in the path**, not in the key: services on this machine need none.
//! - **Answers are never collected.** What is kept of an answer is one event, or one JSON document up to a limit.
//! - **Compression is switched off** between the gateway and the service: the figures are in the body.
//! - **Threads of its own.** The rest of Terca waits by `poll(2)` on threads of its own; here hundreds of connections
//!   wait for slow services, which is what an async runtime is for. It is started when the first trial needs it.

#![warn(missing_docs)]

mod gateway;
mod http;
mod mcp;
mod models;
mod proxy;
mod server;
mod tape;
mod upstream;

pub use gateway::{Closed, Gateway, McpPassage, OpenError, Passage, Playback};
pub use mcp::{NoAnswer, RemoteMcpServer};
pub use proxy::{Door, NetworkExit};
pub use tape::{NewRecording, Played, Recording, RecordingError, Replay};
pub use upstream::BadAddress;
