//! The machine that agents run on: its environment variables, credentials and installed programs.

pub mod agent_store;
pub mod credentials;
pub mod environment;
pub mod package_caches;
mod package_manager;
pub mod registries;
pub mod steady_clock;
pub mod version;
