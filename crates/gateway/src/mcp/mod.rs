//! MCP servers by HTTP: led through the gateway, watched, and asked for their tools.

pub(crate) mod address;
pub(crate) mod answer;
pub(crate) mod forward;
pub(crate) mod hiding;
mod tools;
pub(crate) mod way;

pub use tools::{NoAnswer, ToolsQuestion};
pub use way::{EventSink, RemoteMcpServer};
