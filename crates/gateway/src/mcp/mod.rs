//! MCP servers by HTTP: led through the gateway, watched, and asked for their tools.

pub(crate) mod answer;
pub(crate) mod forward;
mod remote_server;
pub(crate) mod tools;
pub(crate) mod way;

pub use tools::NoAnswer;
pub use way::RemoteMcpServer;
