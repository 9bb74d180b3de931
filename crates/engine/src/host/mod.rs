//! The machine that agents run on: its environment variables, credentials and installed programs.

pub mod credentials;
pub mod environment;
pub mod package_caches;
pub mod registries;
pub mod steady_clock;
pub mod version;
