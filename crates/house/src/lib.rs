//! Measures Terca's own source: circles among modules, sizes, documentation.
//!
//! ```text
//! source ─► modules ─► mentions ─► scopes ─► references ─► circles ─┐
//!              └────────────────────────────────────────► figures ─► budget, text
//! ```

pub mod budget;
pub mod circles;
pub mod figures;
mod items;
mod mentions;
pub mod modules;
mod references;
mod scopes;
mod source;
pub mod text;

/// An error with the file that it is about.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The crates that are shipped.
pub const PRODUCT_CRATES: [&str; 5] = ["core", "engine", "gateway", "report", "terca"];

/// The checkout that this program was built from.
pub const OWN_CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
