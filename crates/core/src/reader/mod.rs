//! Reads configuration: YAML to a tree with places, the tree to typed values, every mistake collected.
//!
//! A field is declared once. `fields.or("weight", positive(), 1.0, "Its share in the score.")` names the key, the
//! [`Kind`] of its value, the default and one sentence for people. The same line reads the field from a file and,
//! when the declaration is *described* instead, makes its entry of the JSON Schema and its row of the reference
//! ([`describe`]). So the three cannot differ.

mod acp_registry;
pub(crate) mod agent;
mod context;
pub(crate) mod describe;
mod doubts;
mod fields;
mod kind;
mod object;
pub(crate) mod paths;
pub(crate) mod patterns;
mod surroundings;
mod unclosed;
mod values;
mod yaml;
mod yaml_errors;

pub(crate) use context::Reader;
pub(crate) use fields::{Fields, Presence};
pub use kind::Patch;
pub(crate) use kind::{Entries, Kind, list_of, map_of, one_or_more, or_map, pairs_of, unlike};
pub(crate) use object::object;
pub use surroundings::{PathKind, Surroundings};
pub(crate) use surroundings::{Unstartable, unstartable};
pub(crate) use values::*;
pub(crate) use yaml::{Node, Value};
